"""A made site: every link leads to a file, names are only names, and nothing is replaced that is not a site."""

from __future__ import annotations

import html
import json
import os
import posixpath
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

import oodometer as odo
from oodometer.core.errors import UsageError
from oodometer.explorer.links import path_link
from oodometer.explorer.site_folder import MARKER
from oodometer.explorer.site_links import with_files
from oodometer.explorer.site_names import file_of
from oodometer.store.store import Store


@pytest.fixture(scope="module")
def made(shop: Any, tmp_path_factory: pytest.TempPathFactory) -> odo.Site:
    """The site of the shop, whose names are hostile."""
    return odo.site(shop.store, tmp_path_factory.mktemp("web") / "site", images=10)


@pytest.fixture
def small(bare_shop: Any) -> Store:
    """A store that is quickly made a site of."""
    for model, skill in (("a", 1.0), ("b", 2.0)):
        for condition in ("clean", "sketch"):
            bare_shop.add(model, condition, skill=skill)
    return bare_shop.store


def pages_in(folder: Path) -> Iterator[Path]:
    return iter(sorted(folder.rglob("*.html")))


def broken_links(folder: Path) -> list[str]:
    """Links of all pages that lead to no file of the site, or out of it."""
    wrong = []
    for page in pages_in(folder):
        for _, link in re.findall(r'\b(href|src|action)="([^"]*)"', page.read_text(encoding="utf-8")):
            parts = urlsplit(html.unescape(link))
            if link.startswith(("#", "data:,")) or (parts.scheme, parts.netloc) == ("data", ""):
                continue
            target = Path(posixpath.normpath(page.parent.as_posix() + "/" + unquote(parts.path)))
            if parts.scheme or parts.netloc or not target.is_file() or not target.is_relative_to(folder):
                wrong.append(f"{page.name}: {link}")
    return wrong


def test_every_link_leads_to_a_file(made):
    assert broken_links(made.folder) == []
    pages = [page.relative_to(made.folder).as_posix() for page in pages_in(made.folder)]
    assert len(pages) == made.n_pages
    assert {"index.html", "compare.html", "images.html", "calibration.html", "corruptions.html"} <= set(pages)
    assert all((made.folder / page).with_suffix(".json").is_file() for page in pages)
    assert "<form" not in "".join(page.read_text(encoding="utf-8") for page in pages_in(made.folder))


def test_every_page_of_a_model_and_every_pair_is_there(made, shop):
    for name in shop.models:
        place = made.folder / file_of(path_link("model", name))
        assert json.loads(place.with_suffix(".json").read_text(encoding="utf-8"))["name"] == name
    titles = [
        json.loads(place.read_text(encoding="utf-8"))["title"] for place in (made.folder / "compare").glob("*.json")
    ]
    assert {f"{a} and {b}" for a in shop.models for b in shop.models if a != b} <= set(titles)


def test_a_site_has_the_numbers_of_the_explorer(made, pages):
    found = json.loads((made.folder / "index.json").read_text(encoding="utf-8"))
    assert found == pages.get("/.json").json()


def test_as_many_images_as_asked_for_have_a_page(made, shop):
    files = (made.folder / "image").glob("*.json")
    ids = {json.loads(place.read_text(encoding="utf-8"))["id"] for place in files}
    assert len(ids) == made.n_images == 10
    said = f"has pages for 10 of {len(shop.data)} images"
    assert said in made.extent
    assert all(said in page.read_text(encoding="utf-8") for page in pages_in(made.folder))


def test_pictures_are_files(shop, tmp_path, monkeypatch):
    import oodometer.study.pictures as pictures

    pixels = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    monkeypatch.setattr(pictures, "album_of", lambda addresses, index: lambda cell, id_: pixels)
    made = odo.site(shop.store, tmp_path / "site", data=["some"], images=2)
    assert broken_links(made.folder) == []
    shown = list((made.folder / "picture").glob("*.png"))
    # Two images: small under each of four conditions, large under the two that are no members of a family.
    assert len(shown) == 2 * (4 + 2)
    assert all(place.read_bytes().startswith(b"\x89PNG") for place in shown)


NAMES = (
    "..", ".", "", "/", "a/b", "a\\b", "../../x", "CON", "con", "nul.txt", "a" * 5000, "a" * 5000 + "b", "A", "a", "ä",
    "a.", "a ", "%2e%2e", "x.json", "a-0123456789ab", "<b>", "a?b", "a#b", "\x00", "\n", "模型",
)  # fmt: skip


def test_no_name_is_a_path_and_no_two_share_a_file():
    files = [file_of(path_link(kind, name)) for name in NAMES for kind in ("model", "shift")]
    assert len({name.lower() for name in files}) == len(files)
    for name in files:
        assert re.fullmatch(r"(model|shift)(/[a-z0-9][a-z0-9_-]{0,80})?\.html", name), name
        assert Path(name).stem not in ("con", "nul")


def test_a_link_to_what_is_not_there_is_taken_out():
    page = (
        '<a href="/model/a#x">A</a> <a href="/model/b">B</a> <img alt="" src="/picture?id=1"><form action="/">x</form>'
    )
    found = with_files(page, "/shift/s", {"/model/a"}.__contains__)
    assert found == ('<a href="../model/a.html#x">A</a> <a data-absent title="Not among the pages of this site">B</a> ')


def test_a_site_is_replaced_and_nothing_else(small, tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("web")
    place = tmp_path / "site"
    first = odo.site(small, place, images=0)
    before = {file.name: file.read_bytes() for file in place.rglob("*") if file.is_file()}
    again = odo.site(small, place, images=0)
    assert (again.n_pages, again.n_bytes) == (first.n_pages, first.n_bytes)
    assert {file.name: file.read_bytes() for file in place.rglob("*") if file.is_file()} == before
    (place / "mine.txt").write_text("keep me")
    with pytest.raises(UsageError, match="has a file that oodometer did not make"):
        odo.site(small, place, images=0)
    assert (place / "mine.txt").read_text() == "keep me"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_folder_of_others_is_left_as_it_is(small, tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("web")
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(UsageError, match="is no site that oodometer made"):
        odo.site(small, tmp_path)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="is a file"):
        odo.site(small, tmp_path / "file")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "index.html"]


def test_a_killed_run_leaves_nothing_in_the_place(small, tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("web")
    place = tmp_path / "site"
    command = [sys.executable, "-m", "oodometer", "site", str(small), "-o", str(place)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        while not list(tmp_path.glob(".site.*.making/index.html")):
            assert process.poll() is None, "ended before it could be killed"
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    assert not place.exists()
    odo.site(small, place, images=0)  # and the next takes away what it left
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    assert (place / MARKER).is_file()


def test_an_error_leaves_nothing(small, tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("web")

    def stop(done: int, total: int) -> None:
        if done > 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        odo.site(small, tmp_path / "site", progress=stop)
    assert list(tmp_path.iterdir()) == []
