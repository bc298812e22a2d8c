"""Tables as plain text."""

from __future__ import annotations

from oodometer.analysis.origins import Origin
from oodometer.report.tables import TableOptions, leaderboard_table, text_of


def test_as_it_is_written(four):
    table = leaderboard_table(four, TableOptions(columns=("clean", "accuracy")))
    lines = text_of(table, "none").splitlines()
    assert lines[:8] == [
        "Top-1 accuracy of each model in per cent, clean and under shift.",
        "",
        "            new",
        "   clean   acc.",
        "a   95.0*  60.0",
        "b   80.0   59.9",
        "c   70.0   30.0",
        "d   60.0   20.0",
    ]
    assert any(line.startswith("*: better than all others") for line in lines)


def test_groups_have_headings_and_numbers_stand_in_line(study):
    origins = {"long-name-of-a-model": Origin("more data")}
    made = study({"a": (900, 500), "long-name-of-a-model": (910, 560)}, origins=origins)
    lines = text_of(leaderboard_table(made, TableOptions(columns=("clean", "accuracy")))).splitlines()
    assert lines[4] == "standard:"
    assert lines[6] == "more data:"
    assert lines[5].index("[") == lines[7].index("[")
    assert lines[5].rindex("]") == lines[7].rindex("]")


def test_no_name_breaks_the_lines_or_the_terminal(study, names):
    made = study({name: (900 - 100 * place, 500) for place, name in enumerate(names)})
    text = text_of(leaderboard_table(made))
    assert all(line.isprintable() for line in text.split("\n"))
    assert sum(name[:3] in text for name in names) == len(names)
