"""``oodometer build icons``: what it prints, and that it talks on stderr."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from oodometer.build.icons import build, outside
from oodometer.build.icons.packages import Package
from oodometer.cli.main import main

pytest.importorskip("resvg_py")

TABLE = """\
class  icons  apple  google  mozilla
bird   4      1      2       1
flag   2      0      1       1
hand   2      0      2       0
heart  3      1      1       1
all    11     2      6       3
"""


@pytest.fixture
def icons(tmp_path: Path, packages: tuple[Package, ...], monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the icons of the tiny packages will be; pictures come only with --full, as with the real ones."""

    def pinned(*, full: bool) -> tuple[Package, ...]:
        return packages if full else packages[:-1]

    monkeypatch.setattr(build, "pinned_packages", pinned)
    return str(tmp_path / "icons")


def asked(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["build", "icons", *arguments])


def test_the_table_and_the_second_call(icons: str) -> None:
    first = asked("--out", icons, "--full")
    assert (first.exit_code, first.stdout) == (0, TABLE)
    # Where the machine is slow, a line about progress comes before.
    assert first.stderr.splitlines()[-1] == f"11 icons in {icons}; what they are and whose: {icons}/CARD.md"
    second = asked("--out", icons, "--full")
    assert (second.exit_code, second.stdout) == (0, TABLE)
    assert second.stderr == f"nothing new to do: the 11 icons in {icons} are as they were built\n"


def test_json(icons: str) -> None:
    done = asked("--out", icons, "--offline", "--json")
    assert done.exit_code == 1, "nothing is in the cache yet"
    done = asked("--out", icons, "--skin-tones", "--size", "64", "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert (found["folder"], found["icons"], len(found["digest"])) == (icons, 10, 32)
    assert found["classes"][2] == {"class": "hand", "icons": 3, "google": 3, "mozilla": 0}


def test_outside(icons: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside, "MIN_ICONS", 1)
    done = asked("--out", icons, "--outside", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["classes"] == [{"class": "animal_bug", "icons": 1, "google": 1}]


def test_an_error_is_one_line(icons: str) -> None:
    done = asked("--out", icons, "--offline")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert done.stderr.startswith("Error: emoji.json@1.0.0: not in the cache (")
    assert done.stderr.count("\n") == 1
    assert asked("--out", icons, "--size", "48").exit_code == 2
