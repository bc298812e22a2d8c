"""``oodometer figure``: a file comes out, or one line that says why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from oodometer.cli.main import main
from oodometer.store.store import open_store
from oodometer.store.tables import Accuracy, write_table

pytest.importorskip("matplotlib")

CLEAN = [0.5, 0.6, 0.7, 0.8, 0.9]


@pytest.fixture
def store(tmp_path: Path) -> str:
    opened = open_store(str(tmp_path / "runs"), create=True)
    lost = {"val": 0.0, "v2": 0.1, "sketch": 0.3}
    write_table(
        opened,
        [Accuracy(f"m{at}", name, one - less, 500, "t") for name, less in lost.items() for at, one in enumerate(CLEAN)],
    )
    return str(tmp_path / "runs")


@pytest.fixture
def categories(tmp_path: Path) -> str:
    place = tmp_path / "categories.csv"
    place.write_text("model,category,parent\n" + "".join(f"m{at},standard,\n" for at in range(4)) + "m4,mine,m3\n")
    return str(place)


def figure(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["figure", *arguments])


def test_a_file_of_the_size_that_is_told(store, categories, tmp_path):
    target = tmp_path / "scatter.svg"
    done = figure(store, "scatter", "--shift", "v2", "--categories", categories, "-o", str(target))
    assert done.exit_code == 0
    assert done.stdout.startswith(f"{target}  3.25 x ")
    content = target.read_text()
    assert content.startswith("<?xml")
    assert 'width="234pt"' in content  # 3.25 in of 72 points


def test_by_default_a_pdf_of_the_kind_where_one_is(store, categories, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = figure(store, "quadrants", "--shift", "v2", "--categories", categories, "--columns", "2")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("quadrants.pdf  6.75 x ")
    assert (tmp_path / "quadrants.pdf").read_bytes().startswith(b"%PDF")


def test_the_options_of_the_line_are_those_of_robustness(store, tmp_path, monkeypatch):
    import oodometer.figures.figure as figures

    seen = []

    def keep(study, kind, options):
        seen.append((study, kind, options))
        return drawn(study, kind, options)

    drawn = figures.draw
    monkeypatch.setattr(figures, "draw", keep)
    flags = ["--baseline", "all", "--scale", "probit", "--leave-out", "m0", "--level", "0.9", "--draws", "200"]
    done = figure(store, "scatter", "--shift", "v2~val", *flags, "--knee", "0.65", "-o", str(tmp_path / "a.svg"))
    # One model on one side of the knee is too few for a line, which is told.
    assert done.exit_code == 0
    assert "below the knee at 0.65: 1 model: a line needs at least 3" in done.stderr
    study, kind, options = seen[0]
    assert (kind, options.shifts) == ("scatter", ("v2~val",))
    line = study.options
    assert (line.scale, line.baseline, line.leave_out, line.knee) == ("probit", "", ("m0",), 0.65)
    assert (line.resampling.level, line.resampling.draws) == (0.9, 200)


def test_the_kinds_and_what_a_store_allows(store, categories):
    shown = figure("--list")
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    assert lines[0].split() == ["kind", "shows", "after"]
    assert any(line.startswith("scatter") and "Recht 2019: 1, 2" in line for line in lines)
    of_store = figure(store, "--list", "--categories", categories)
    rows = {line.split()[0]: line for line in of_store.stdout.splitlines()[1:]}
    assert rows["quadrants"].split()[1] == "yes"
    assert "needs predictions, not only accuracies of a table" in rows["response"]
    without = {line.split()[0]: line for line in figure(store, "--list").stdout.splitlines()[1:]}
    assert "needs models with their parents" in without["quadrants"]
    assert rows["effective"].split()[1] == "yes"
    for kind in ("effective", "scales", "correlation"):
        assert "needs 3 models of category 'standard' for a line; there are 0" in without[kind]
    every = {line.split()[0]: line for line in figure(store, "--list", "--baseline", "all").stdout.splitlines()[1:]}
    assert every["effective"].split()[1] == "yes"


def test_the_list_for_programs(store):
    rows = json.loads(figure(store, "--list", "--json").stdout)
    assert {tuple(row) for row in rows} == {("kind", "about", "after", "needs", "lacking")}
    plain = json.loads(figure("--list", "--json").stdout)
    assert {tuple(row) for row in plain} == {("kind", "about", "after", "needs")}


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["{store}", "scater", "--shift", "v2"], 2, "no kind of figure named 'scater'; did you mean scatter?"),
        (["{store}", "scatter"], 2, "scatter: name a shift with --shift; measured were v2, sketch"),
        (["{store}", "scatter", "--shift", "v3"], 2, "nothing was measured on 'v3'"),
        (["{store}", "scatter", "--shift", "v2", "-o", "a.eps"], 2, "a.eps: a figure ends in .pdf, .svg or .png"),
        (["{store}", "response", "--shift", "v2"], 1, "response needs predictions, not only accuracies of a table"),
        (["{store}", "mce"], 1, "mce needs corruptions at all five severities"),
        (
            ["{store}", "effective", "--shift", "v2"],
            1,
            "effective needs 3 models of category 'standard' for a line; there are 0",
        ),
        (["{store}"], 2, "give a STORE and a KIND"),
        (["{store}", "scatter", "--json"], 2, "--json goes with --list"),
        (["nowhere", "scatter", "--shift", "v2"], 1, "nowhere"),
    ],
)
def test_errors_are_one_line(store, arguments, code, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = figure(*(one.format(store=store) for one in arguments))
    assert done.exit_code == code
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert said in line
    assert not list(tmp_path.glob("*.pdf"))


def test_what_is_left_out_is_told(store, categories, tmp_path):
    opened = open_store(store)
    write_table(opened, [Accuracy("late", "val", 0.4, 500, "t")])
    done = figure(store, "scatter", "--shift", "v2", "--categories", categories, "-o", str(tmp_path / "a.png"))
    assert done.exit_code == 0
    assert "left out, not measured on val and v2: late" in done.stderr


def test_a_printed_table_in_place_of_a_store(tmp_path):
    target = tmp_path / "a.svg"
    done = figure("--published", "recht2019_cifar10", "scatter", "--shift", "cifar10.1", "-o", str(target))
    assert (done.exit_code, done.stderr) == (0, "")
    assert target.exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (
            ["--published", "recht2019_imagenet", "scatter"],
            2,
            "scatter: name a shift with --shift; measured were imagenet",
        ),
        (["--published", "nothing", "mce"], 2, "--published nothing: no such table; known: hendrycks2019"),
        (["--published", "recht2019_imagenet", "mce"], 1, "mce needs corruptions at all five severities"),
        (["runs", "mce", "--published", "recht2019_imagenet"], 2, "give a STORE or --published TABLE, one of the two"),
    ],
)
def test_errors_about_printed_tables(arguments, code, said):
    done = figure(*arguments)
    assert done.exit_code == code
    assert said in done.stderr


def test_the_only_shift_needs_no_name(tmp_path):
    opened = open_store(str(tmp_path / "runs"), create=True)
    rows = [Accuracy(f"m{at}", name, one, 500, "t") for name in ("clean", "style") for at, one in enumerate(CLEAN)]
    write_table(opened, rows)
    done = figure(str(tmp_path / "runs"), "scatter", "--baseline", "all", "-o", str(tmp_path / "a.svg"))
    assert (done.exit_code, done.stderr) == (0, "")


def test_options_hold_where_no_shift_is_named(monkeypatch, tmp_path):
    import oodometer.figures.figure as figures

    seen = []
    drawn = figures.draw
    monkeypatch.setattr(figures, "draw", lambda study, *rest: seen.append(study) or drawn(study, *rest))
    table = ["--published", "hendrycks2019_imagenet_c_ce"]
    done = figure(*table, "mce", "--level", "0.9", "--draws", "300", "-o", str(tmp_path / "a.svg"))
    assert done.exit_code == 0
    assert (seen[0].options.resampling.level, seen[0].options.resampling.draws) == (0.9, 300)


def test_a_hypothetical_model_and_the_highest(store, categories, tmp_path):
    target = tmp_path / "a.svg"
    done = figure(
        store, "scatter", "--shift", "v2", "--categories", categories, "--hypothetical", "0.7,0.69", "--mark-top", "1",
        "-o", str(target),
    )  # fmt: skip
    assert done.exit_code == 0
    assert 'id="hypothetical"' in target.read_text()
    assert 'id="top"' in target.read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0.7", "--hypothetical 0.7: expected two shares, as 0.76,0.72"),
        ("a,b", "--hypothetical a,b: expected two shares, as 0.76,0.72"),
        ("76,72", "a hypothetical model is two shares between 0 and 1"),
        ("nan,0.5", "a hypothetical model is two shares between 0 and 1"),
    ],
)
def test_a_hypothetical_model_that_is_none(store, text, said):
    done = figure(store, "scatter", "--shift", "v2", "--hypothetical", text)
    assert done.exit_code == 2
    assert said in done.stderr


def test_by_size_with_a_column_of_the_table(store, tmp_path):
    place = tmp_path / "sizes.csv"
    place.write_text("model,category,parameters\n" + "".join(f"m{at},standard,{10 ** (at + 5)}\n" for at in range(4)))
    target = tmp_path / "size.svg"
    done = figure(store, "size", "--shift", "v2", "--categories", str(place), "--join", "m?", "-o", str(target))
    assert done.exit_code == 0
    assert done.stderr.startswith("left out: m4; nobody says their number of parameters")
    assert target.read_text().count('id="join"') == 1
    lacking = figure(store, "size", "--shift", "v2", "-o", str(target))
    assert lacking.exit_code == 1
    assert "size needs the number of parameters of models" in lacking.stderr
