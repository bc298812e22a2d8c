"""What people with bad intentions send and hand in: each is refused with a sentence, and nothing else changes."""

from __future__ import annotations

import io
import json
import re
import socket
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image

from made_testset import made_project, picture
from oodometer.build.testset.project.annotators import add_workers, block_worker
from oodometer.build.testset.project.classes import ClassEntry
from oodometer.build.testset.project.pool import pool_images
from oodometer.build.testset.project.project import Project, new_project
from oodometer.build.testset.project.schema import ANSWER, METADATA, sa
from oodometer.build.testset.project.tasks import Layout, make_tasks
from oodometer.cli.main import main
from oodometer.core.errors import DataError
from served_testset import Person, serving

SCRIPT = "</script><script>document.title='run'</script>"
IMAGE = '"><img src=x onerror=alert(1)>'
NAMES = (SCRIPT, IMAGE, 'it\'s "quoted" & {{ 7*7 }}', "owl\u200d\u0301ö", "x" * 3000)
CLASSES = [ClassEntry(name, name, name) for name in NAMES]


@dataclass(frozen=True)
class Place:
    """A project that is served, and people who annotate it."""

    project: Project
    port: int
    tokens: tuple[str, ...]

    def person(self, number: int) -> Person:
        """One with a token."""
        return Person(self.port, self.tokens[number])

    def stored(self) -> list[tuple[object, ...]]:
        """All that the tables hold."""
        return [tuple(row) for table in METADATA.sorted_tables for row in self.project.database.rows(sa.select(table))]

    def answers(self) -> list[tuple[object, ...]]:
        """All answers."""
        return [tuple(row) for row in self.project.database.rows(sa.select(ANSWER))]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Five classes with hostile names, and a worker for each test that answers something."""
    folder = tmp_path_factory.mktemp("hostile") / "p"
    with made_project(folder, classes=CLASSES, candidates=6, originals=4) as project:
        make_tasks(project, Layout(size=12, workers=30))
        tokens = tuple(add_workers(project, 12))
        with serving(folder) as served:
            yield Place(project, served.port, tokens)


@contextmanager
def unchanged(place: Place) -> Iterator[None]:
    """An error where a table changes meanwhile."""
    before = place.stored()
    yield
    assert place.stored() == before


# ---- who asks ----


@pytest.mark.parametrize("token", ["", "no-such-token", "x" * 5000, "' OR 1=1 --", "%00", "../../etc", "ö"])
def test_a_forged_token_opens_nothing(place: Place, token: str) -> None:
    with unchanged(place):
        for ask in (
            lambda: Person(place.port, token.encode().decode("latin-1")).ask("/annotate"),
            lambda: Person(place.port).ask(f"/annotate?worker={token.encode().hex()}"),
            lambda: Person(place.port, token.encode().decode("latin-1")).submit("any", [True]),
        ):
            answer = ask()
            assert answer.status == 401
            assert "Open the whole address that you were given" in answer.text
            assert "set-cookie" not in answer.headers


def test_a_blocked_worker_is_told_so_and_answers_no_more(place: Place) -> None:
    person = place.person(0)
    task, n = person.task()
    block_worker(place.project, 1)
    with unchanged(place):
        for answer in (person.ask("/annotate"), person.submit(task, [True] * n)):
            assert answer.status == 403
            assert "no longer in use" in answer.text


def test_the_token_leaves_the_address_and_no_script_can_read_it(place: Place) -> None:
    answer = Person(place.port).ask(f"/annotate?worker={place.tokens[1]}")
    assert (answer.status, answer.headers["location"]) == (303, "/annotate")
    assert "httponly" in answer.headers["set-cookie"].lower()
    assert "samesite=lax" in answer.headers["set-cookie"].lower()
    assert answer.headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("path", ["//evil.example/annotate", "///evil.example", "/\\evil.example", "/%5cevil.example"])
def test_a_token_leads_to_no_other_machine(place: Place, path: str) -> None:
    for query in (f"worker={place.tokens[1]}", "owner=any"):
        where = Person(place.port).ask(f"{path}?{query}").headers.get("location", "/")
        assert re.match(r"/(?![/\\])", where)


def test_a_name_that_points_here_is_not_ours(place: Place) -> None:
    """DNS rebinding: a page of evil.example whose name leads to this machine afterwards."""
    for host in ("evil.example", f"evil.example:{place.port}", "", "127.0.0.1.evil.example"):
        answer = place.person(1).ask("/annotate", headers={"host": host})
        assert (answer.status, "Call this page by its address" in answer.text) == (403, True)
    for host in (f"localhost:{place.port}", "127.0.0.1", f"LOCALHOST:{place.port}"):
        assert place.person(1).ask("/annotate", headers={"host": host}).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"referer": "https://evil.example/page"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://127.0.0.1:1"},
    ],
)
def test_another_site_can_not_answer_in_somebodys_name(place: Place, headers: dict[str, str]) -> None:
    person = place.person(1)
    task, n = person.task()
    said = json.dumps({"task": task, "selected": [True] * n}).encode()
    with unchanged(place):
        answer = person.ask(
            "/annotate/answer", method="POST", body=said, headers={"content-type": "application/json", **headers}
        )
    assert (answer.status, "another site" in answer.text) == (403, True)


# ---- what they say ----


def test_whoever_answers_twice_has_answered_once(place: Place) -> None:
    person, before = place.person(2), len(place.answers())
    task, n = person.task()
    first = [at % 2 == 0 for at in range(n)]
    assert person.submit(task, first).json == {"new": True}
    with unchanged(place):
        assert person.submit(task, first).json == {"new": False}
        other = person.submit(task, [not one for one in first])
    assert (other.status, other.json) == (
        409,
        {"error": "You answered this task already, and otherwise; the first answer stands."},
    )
    assert len(place.answers()) == before + 1


def test_a_task_of_somebody_else_and_one_of_another_length_are_refused(place: Place) -> None:
    person, other = place.person(3), place.person(4)
    task, n = person.task()
    with unchanged(place):
        assert "was not given to you" in other.submit(task, [True] * n).text
        assert "was not given to you" in person.submit("no-such-task", [True] * n).text
        for wrong in (0, n - 1, n + 1, 400):
            answer = person.submit(task, [True] * wrong)
            assert (answer.status, f"an answer about {wrong} images" in answer.text.lower()) == (409, True)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe",
        b'{"task": 1, "selected": []}',
        b'{"task": "a"}',
        b'{"task": "a", "selected": "111"}',
        b'{"task": "a", "selected": [1, 0]}',
        b'{"task": "a", "selected": ["true"]}',
        b'{"task": "a", "selected": [], "worker": 1}',
        b'{"task": "a", "selected": [], "seconds": -1}',
        b'{"task": "a", "selected": [], "seconds": NaN}',
        b'{"task": "' + b"a" * 65 + b'", "selected": []}',
        b'{"task": "a", "selected": [' + b"true," * 500 + b"true]}",
        b'{"task": "a\\u0000", "selected": []}',
        b'{"task": "\\ud800", "selected": []}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_answer_is_told_so(place: Place, body: bytes) -> None:
    headers = {"content-type": "application/json", "accept": "application/json"}
    with unchanged(place):
        answer = place.person(5).ask("/annotate/answer", method="POST", body=body, headers=headers)
    assert answer.status in (400, 422)
    assert len(answer.json["error"]) > 10


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "x"])
def test_other_kinds_of_content_are_refused(place: Place, kind: str) -> None:
    """Those that a form of another site could send without being asked for leave."""
    person = place.person(6)
    task, n = person.task()
    said = json.dumps({"task": task, "selected": [True] * n}).encode()
    with unchanged(place):
        answer = person.ask("/annotate/answer", method="POST", body=said, headers={"content-type": kind})
    assert answer.status in (415, 422)


def test_too_much_is_not_read(place: Place) -> None:
    head = f"POST /annotate/answer HTTP/1.1\r\nhost: 127.0.0.1:{place.port}\r\ncontent-type: application/json\r\n"
    head += f"cookie: oodometer_worker={place.tokens[6]}\r\n"
    for length, status in (("content-length: 2000000000", b"413"), ("transfer-encoding: chunked", b"411")):
        with socket.create_connection(("127.0.0.1", place.port), timeout=60) as line:
            line.sendall(f"{head}{length}\r\n\r\n".encode())
            assert line.recv(100).split()[1] == status  # before any of it was sent
    for length in ("-1", "abc", "1, 2"):
        with socket.create_connection(("127.0.0.1", place.port), timeout=60) as line:
            line.sendall(f"{head}content-length: {length}\r\n\r\n".encode())
            assert line.recv(100).split()[1] == b"400"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "GET"])
def test_answers_are_posted_and_nothing_else(place: Place, method: str) -> None:
    with unchanged(place):
        answer = place.person(6).ask("/annotate/answer", method=method)
    assert (answer.status, "be done" in answer.text) == (405, True)


# ---- where they look ----


@pytest.mark.parametrize(
    "path",
    [
        "/shown/../testset.db",
        "/shown/..%2f..%2ftestset.json",
        "/shown/%2e%2e%2ftestset.db.jpg",
        "/shown/....//testset.db",
        "/shown/%00.jpg",
        "/shown/.jpg",
        "/shown/%c3%b6.jpg",
        "/shown/*",
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/pages.py",
        "/static/base.html.j2",
        "/static//etc/passwd",
        "/static/",
        "/images/00/",
        "/testset.json",
        "/annotate/../testset.db",
        "/docs",
        "/openapi.json",
    ],
)
def test_no_path_leads_to_a_file_that_is_not_shown(place: Place, path: str) -> None:
    answer = place.person(6).ask(path)
    assert answer.status in (400, 404)
    assert "text/html" in answer.headers["content-type"]
    assert str(place.project.folder) not in answer.text
    assert "SQLite format" not in answer.text


def test_names_of_classes_are_text_on_pages(place: Place) -> None:
    titles = set()
    for number in range(len(NAMES)):
        person = place.person(7)
        page = person.ask("/annotate")
        assert page.text.count("<script") == 2  # of the theme, and of the page: none from a name
        assert "<img src=x" not in page.text
        assert "script-src 'self'" in page.headers["content-security-policy"]
        titles |= {name for name in NAMES if f'data-about="{_escaped(name)}"' in page.text}
        assert len(titles) == number + 1
        person.submit(person.task()[0], [False] * person.task()[1])
    assert titles == set(NAMES)


def _escaped(text: str) -> str:
    from markupsafe import escape

    return str(escape(text))


def test_nothing_on_a_page_tells_a_control_from_a_candidate(place: Place) -> None:
    person = place.person(8)
    shown = re.findall(r'<li>.*?src="(/shown/[^"]+)"[^>]*>.*?</li>', person.ask("/annotate").text, re.DOTALL)
    pictures = [person.ask(path) for path in shown]
    assert {one.headers["content-type"] for one in pictures} == {"image/jpeg"}
    assert {tuple(sorted(set(one.headers) - {"content-length", "date"})) for one in pictures} == {
        tuple(sorted(set(pictures[0].headers) - {"content-length", "date"}))
    }
    opened = [Image.open(io.BytesIO(one.body)) for one in pictures]
    assert {(one.size, one.mode, bool(one.getexif())) for one in opened} == {((256, 256), "RGB", False)}
    keys = {image.key for image in pool_images(place.project)} | {image.digest for image in pool_images(place.project)}
    assert not any(key[:8] in path for key in keys for path in shown)


# ---- what is handed in at the command line ----


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def bomb() -> bytes:
    """A PNG of a few hundred bytes that says it has 60,000 x 60,000 pixels."""
    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    parts = _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(bytes(1000))) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def jpeg() -> bytes:
    out = io.BytesIO()
    Image.open(io.BytesIO(picture(0, "x", 1))).save(out, "JPEG")
    return out.getvalue()


SVG = f'<svg xmlns="http://www.w3.org/2000/svg">{SCRIPT}</svg>'.encode()
FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "text.jpg": (lambda: b"not an image", "not an image that can be read"),
    "empty.png": (lambda: b"", "the file is empty"),
    "page.jpg": (lambda: f"<html>{SCRIPT}</html>".encode(), "not an image that can be read"),
    "drawing.png": (lambda: SVG, "not an image that can be read"),
    "cut.jpg": (lambda: jpeg()[: len(jpeg()) // 2], "damaged image"),
    "bomb.png": (bomb, "too many pixels"),
    "postscript.jpg": (lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not an image that can be read"),
}


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """The folder of an empty project with the class owl."""
    with new_project(tmp_path / "p", classes=[ClassEntry("owl")]):
        return tmp_path / "p"


def add(*words: object) -> tuple[int, str, str]:
    """Exit code, what is printed, and what is said beside it."""
    result = CliRunner().invoke(main, ["testset", "add", *map(str, words)])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.stdout, result.stderr


def test_each_file_that_is_no_image_is_refused_and_the_others_come_in(tmp_path: Path, pool: Path) -> None:
    folder = tmp_path / "export" / "owl"
    folder.mkdir(parents=True)
    (folder / "good.jpg").write_bytes(jpeg())
    for name, (content, _) in FILES.items():
        (folder / name).write_bytes(content())
    code, printed, _ = add(pool, folder.parent, "--json")
    told = json.loads(printed)
    assert (code, told["offered"], told["added"]) == (0, len(FILES) + 1, 1)
    for name, (_, why) in FILES.items():
        assert why in told["refused"][f"owl/{Path(name).stem}"]
    assert len(list((pool / "images").rglob("*.*"))) == 1


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path, pool: Path) -> None:
    secret, folder = tmp_path / "secret.jpg", tmp_path / "export" / "owl"
    secret.write_bytes(jpeg())
    folder.mkdir(parents=True)
    (folder / "link.jpg").symlink_to(secret)
    (folder / "good.png").write_bytes(picture(0, "x", 2))
    (folder / "inside.png").symlink_to(folder / "good.png")
    _, printed, _ = add(pool, folder.parent, "--json")
    told = json.loads(printed)
    assert (told["added"], told["there_already"]) == (1, 1)
    assert "a link that leads out" in told["refused"]["owl/link"]
    assert _digests(pool) == 1


@pytest.mark.parametrize("path", ["../secret.jpg", "owl/../../secret.jpg", "{}/secret.jpg", "..\\secret.jpg"])
def test_a_path_out_of_the_folder_is_refused(tmp_path: Path, pool: Path, path: str) -> None:
    folder, table = tmp_path / "export", tmp_path / "table.csv"
    (folder / "owl").mkdir(parents=True)
    (tmp_path / "secret.jpg").write_bytes(jpeg())
    table.write_text(f"path,label\n{path.format(tmp_path)},owl\n")
    code, printed, _ = add(pool, folder, "--from", table, "--json")
    (why,) = json.loads(printed)["refused"].values()
    assert (code, "only images below the folder are taken" in why) == (0, True)
    assert _digests(pool) == 0


def test_a_table_by_itself_leads_nowhere_else_either(tmp_path: Path, pool: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    (tmp_path / "secret.jpg").write_bytes(jpeg())
    (folder / "good.jpg").write_bytes(picture(0, "x", 2))
    (folder / "table.csv").write_text("path,label\n../secret.jpg,owl\ngood.jpg,owl\n")
    _, printed, _ = add(pool, folder / "table.csv", "--json")
    told = json.loads(printed)
    assert (told["added"], len(told["refused"])) == (1, 1)
    assert "it is not in the folder" in next(iter(told["refused"].values()))


def _digests(pool: Path) -> int:
    return len(list((pool / "images").rglob("*.*"))) if (pool / "images").exists() else 0


@pytest.mark.parametrize("name", ["a\nb", "a\rb", "\x1b[31mred", "a\x00b", "gpj.\u202eowl", "a\u2028b", "\u2066a"])
def test_a_class_whose_name_is_not_what_it_looks_like_is_refused(name: str) -> None:
    for entry in ({"name": name}, {"name": "a", "title": name}, {"name": "a", "gloss": name}):
        with pytest.raises(DataError, match="characters that nobody sees"):
            ClassEntry(**entry)


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "data:text/html,x", "//evil.example", " https://a", "file:///a"]
)
def test_a_link_that_is_not_of_the_web_is_refused(link: str) -> None:
    with pytest.raises(DataError, match="is no address of the web"):
        ClassEntry("owl", link=link)
