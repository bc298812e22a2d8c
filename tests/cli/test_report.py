"""``oodometer report`` as a person types it."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path

import pytest

from as_typed import oodometer
from six_models import CATEGORIES, TABLE


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a store of a small table, and categories."""
    monkeypatch.chdir(tmp_path)
    Path("grid.csv").write_text(TABLE)
    Path("cats.csv").write_text(CATEGORIES)
    assert oodometer("import", "grid.csv", "--n", "1000", "--store", "runs").exit_code == 0
    return tmp_path


def test_a_report_is_written_and_its_place_and_size_are_said() -> None:
    result = oodometer("report", "runs", "-o", "mine.html", "--categories", "cats.csv", "--title", "Six <models>")
    assert result.exit_code == 0, result.output
    size = Path("mine.html").stat().st_size
    assert result.stdout == f"mine.html  {size / 1e6:.1f} MB\n"
    page = Path("mine.html").read_text("utf-8")
    assert "<title>Six &lt;models&gt;</title>" in page
    assert '<p class="facts">6 models, 4 conditions, 2 shifts</p>' in page


def test_a_second_call_writes_the_same_bytes() -> None:
    assert oodometer("report", "runs", "-o", "one.html").exit_code == 0
    assert oodometer("report", "runs", "-o", "two.html").exit_code == 0
    assert Path("one.html").read_bytes() == Path("two.html").read_bytes()


def test_json_is_what_the_store_knows_and_writes_no_file() -> None:
    result = oodometer("report", "runs", "--json", "--categories", "cats.csv")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert {model["name"] for model in found["models"]} == {"a", "b", "c", "d", "e", "robust"}
    assert not Path("report.html").exists()


def test_it_opens_in_the_browser_when_asked(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    assert oodometer("report", "runs", "--open").exit_code == 0
    assert opened == [(folder / "report.html").as_uri()]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("report", "nowhere"), 1, "nowhere"),
        (("report", "runs", "-o", "no/where/report.html"), 2, "no/where/report.html: can't be written"),
        (("report", "runs", "--scale", "cubic"), 2, "cubic"),
        (("report", "runs", "--categories", "none.csv"), 1, "none.csv"),
    ],
)
def test_errors_are_one_line_that_says_what(words: tuple[str, ...], code: int, said: str) -> None:
    result = oodometer(*words)
    assert result.exit_code == code
    assert said in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr
