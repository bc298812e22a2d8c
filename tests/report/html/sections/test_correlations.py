"""The section of synthetic against natural shifts: the numbers of `correlate`, in a matrix and in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit

from oodometer.analysis.correlate import CorrelateOptions, correlate
from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.document.html_environment import json_in_html
from oodometer.document.section import Plot, Words
from oodometer.document.table import Table
from oodometer.report.html.sections.correlations import section
from oodometer.stats.bootstrap import Resampling
from oodometer.store.tables import Accuracy, write_table
from oodometer.study import study_of

M = 24
OPTIONS = RobustnessOptions(resampling=Resampling(draws=100))


def columns(of_hidden=1.0, seed=5):
    """Clean accuracy, a natural shift, and attacks that share something hidden with it, or do not."""
    rng = np.random.default_rng(seed)
    clean, hidden = expit(rng.uniform(0, 1.5, M)), 0.3 * rng.normal(size=M)

    def shifted(drop, share):
        return expit(0.9 * logit(clean) - drop + share * hidden + 0.1 * rng.normal(size=M))

    return {
        "clean": clean,
        "imagenetv2": shifted(0.5, 1.0),
        "imagenet-sketch": shifted(1.0, 0.0),
        "pgd-linf-2": shifted(1.5, of_hidden),
        "pgd-l2-0.5": shifted(1.0, 0.0),
    }


def study(filled, table=None, *, models=M, origins=True):
    names = [f"m{at:02d}" for at in range(models)]
    rows = [
        Accuracy(name, condition, float(shares[at]), None, "t.csv")
        for condition, shares in (table or columns()).items()
        for at, name in enumerate(names)
    ]
    write_table(filled.store, rows)
    said = {name: Origin("more data" if at % 2 else "standard") for at, name in enumerate(names)} if origins else {}
    return study_of(filled.store, origins=said, options=OPTIONS), said


def part(found, kind):
    return next(one for one in found.parts if isinstance(one, kind))


def test_the_matrix_is_what_correlate_says(filled):
    made, origins = study(filled)
    plot = part(section(made), Plot)
    asked = correlate(
        filled.store,
        ["pgd-linf-2", "pgd-l2-0.5"],
        ["imagenetv2", "imagenet-sketch"],
        origins=origins,
        options=CorrelateOptions(line=OPTIONS),
    )
    natural = [one["name"] for one in plot.data["natural"]]
    (level,) = plot.data["levels"]
    cells = {
        (row["name"], name): cell for row in level["rows"] for name, cell in zip(natural, row["cells"], strict=True)
    }
    assert [row["name"] for row in level["rows"]] == ["all attacks", "pgd-linf-2", "pgd-l2-0.5"]
    for one in asked.pairs:
        expected = [one.r.value, one.r.low, one.r.high, one.n]
        assert cells[one.synthetic, one.natural] == pytest.approx(expected, abs=1e-4)
    rows = {(row[1], row[0]): (row[2], row[3]) for row in plot.table.rows}
    assert {(one.synthetic, one.natural): (one.r, one.n) for one in asked.pairs}.items() <= rows.items()


def test_the_best_predictor_is_named_with_its_numbers(filled):
    made, _ = study(filled)
    found = section(made)
    rows = {row[0]: row for row in part(found, Table).rows}
    best = rows["imagenetv2"]
    assert (best[1], best[4]) == ("pgd-linf-2", "yes")
    assert best[2].low > 0
    assert rows["imagenet-sketch"][4] == "no"
    said = found.lead[-1]
    assert said.startswith("1 of 2 natural shifts has a synthetic one whose interval is above 0")
    assert f"pgd-linf-2 and imagenetv2, r = {best[2].value:.2f} [{best[2].low:.2f}, {best[2].high:.2f}]" in said
    assert said.endswith("None predicts imagenet-sketch.")


def test_none_above_zero_is_said(filled):
    made, _ = study(filled, columns(of_hidden=-1.0, seed=9))
    found = section(made)
    assert "No synthetic shift has an interval above 0 for any of the 2 natural shifts" in found.lead[-1]
    assert {row[4] for row in part(found, Table).rows} == {"no"}


def test_one_natural_shift_is_not_called_several(filled):
    table = columns(of_hidden=-1.0, seed=9)
    del table["imagenet-sketch"]
    made, _ = study(filled, table)
    said = section(made).lead[-1]
    assert said.startswith("No synthetic shift has an interval above 0 for the only natural shift, so none can be said")


def test_without_categories_all_models_count_and_it_is_said(filled):
    made, _ = study(filled, origins=False)
    found = section(made)
    assert any("the lines go through all models" in line for line in found.lead)
    assert {cell[3] for row in part(found, Plot).data["levels"][0]["rows"] for cell in row["cells"]} == {M}


def test_few_models_are_words_and_no_plot(filled):
    made, _ = study(filled, models=7)  # three of them are not standard
    found = section(made)
    assert "3 models were measured on both sorts, and a correlation needs at least 4" in found.lead[-1]
    assert found.parts == ()


def test_no_line_is_words_and_no_plot(filled):
    made, _ = study(filled, models=2)
    found = section(made)
    assert "there is no line to measure ρ from (all attacks: 1 model: a line needs at least 3" in found.lead[-1]
    assert found.parts == ()


def test_one_sort_of_shifts_has_no_section(filled):
    table = columns()
    made, _ = study(filled, {name: table[name] for name in ("clean", "imagenetv2")})
    assert section(made) is None


def test_many_pairs_are_warned_of(filled):
    table = columns()
    rng = np.random.default_rng(1)
    for at in range(20):
        table[f"fgsm-linf-{at}"] = expit(0.9 * logit(table["clean"]) - 1 + 0.1 * rng.normal(size=M))
    made, _ = study(filled, table)
    note = part(section(made), Words)
    # 22 attacks and their mean by 2 natural shifts; of 95 % intervals 2.5 % lie above by chance
    assert note.lines[0].startswith("46 pairs are compared: about 1 of their intervals")


def test_a_shift_without_a_line_is_named_in_a_note(filled):
    made, _ = study(filled, {**columns(), "objectnet": np.zeros(M)})
    found = section(made)
    assert part(found, Words).lines[0].startswith("Left out, there is no line: objectnet")
    assert [one["name"] for one in part(found, Plot).data["natural"]] == ["imagenetv2", "imagenet-sketch"]


def test_names_from_tables_stay_text(filled):
    hostile = "pgd</script><b>"
    made, _ = study(filled)
    shifts = tuple(replace(one, name=hostile) if one.name == "pgd-linf-2" else one for one in made.shifts)
    made = replace(made, shifts=shifts)
    data = part(section(made), Plot).data
    assert hostile in [row["name"] for row in data["levels"][0]["rows"]]
    assert "</script" not in json_in_html(data)
