"""Models under each corruption as a table."""

from __future__ import annotations

import pytest

from made_tables import bold_in, column_of, keys_of
from oodometer.analysis.score import score
from oodometer.core.errors import StoreError, UsageError
from oodometer.data.imagenet import imagenet
from oodometer.metrics.corruption_error import COMMON
from oodometer.report.tables import TableOptions, corruptions_table
from oodometer.study import study_of
from oodometer.study.corruption_grid import grids_of


@pytest.fixture
def corrupted(filled, make_dataset, right):
    data = make_dataset(200)
    for model, less in (("a", 0), ("b", 60)):
        about = {"model": model, "digest": model * 32}
        filled.add(data, right(190 - less, 200), **about)
        for name, hard in (("fog", 10), ("gaussian_noise", 20)):
            for severity in range(1, 6):
                condition = f"imagenet-c/{name}/{severity}"
                filled.add(data, right(190 - less - hard * severity, 200), condition=condition, **about)
    return study_of(filled.store)


def test_means_over_severities_in_the_order_of_the_paper(corrupted):
    table = corruptions_table(corrupted)
    assert [(one.key, one.title, one.over) for one in table.columns[3:]] == [
        ("clean", "clean", ""),
        ("mean", "mean", ""),
        ("gaussian_noise", "Gauss.", "noise"),
        ("fog", "Fog", "weather"),
    ]
    # By hand: 190/200; fog 190 - 10 x 3 of 200 in the mean over severities 1 to 5; noise 190 - 20 x 3.
    values = [[cell.value for cell in row[3:]] for row in table.rows]
    assert values[0] == pytest.approx([0.95, (0.8 + 0.65) / 2, 0.65, 0.8])
    assert values[1] == pytest.approx([0.65, (0.5 + 0.35) / 2, 0.35, 0.5])
    (grid,) = grids_of(corrupted)
    assert column_of(table, "fog")["a"] == grid.over_severities("a", "fog")
    assert bold_in(table, "a") == {"clean", "mean", "gaussian_noise", "fog"}
    assert "Each corruption: the mean over severities 1 to 5; mean: over 10 conditions." in table.footnotes
    assert "Clean: clean." not in table.footnotes


def test_severities_that_were_not_measured_are_not_told(filled, make_dataset, right):
    data = make_dataset(100)
    for condition in ("clean", "imagenet-c/fog/1", "imagenet-c/fog/3"):
        filled.add(data, right(50, 100), condition=condition, model="a", digest="a" * 32)
    table = corruptions_table(study_of(filled.store))
    assert "Each corruption: the mean over severities 1, 3; mean: over 2 conditions." in table.footnotes


@pytest.mark.parametrize(
    ("ratio", "mean", "title"), [("ce", "mce", "mCE"), ("relative-ce", "relative-mce", "rel. mCE")]
)
def test_corruption_errors_are_those_of_score(filled, make_dataset, right, ratio, mean, title):
    data = make_dataset(200, space=imagenet(), name="imagenet")
    for model, less in (("a", 0), ("b", 60)):
        about = {"model": model, "digest": model * 32}
        filled.add(data, right(190 - less, 200), **about)
        for place, name in enumerate(COMMON):
            for severity in range(1, 6):
                hits = right(190 - less - (2 + place) * severity, 200)
                filled.add(data, hits, condition=f"imagenet-c/{name}/{severity}", **about)
    study = study_of(filled.store)
    table = corruptions_table(study, TableOptions(columns=(ratio,)))
    assert keys_of(table)[:2] == ["error", mean]
    assert [column.title for column in table.columns if column.key == mean] == [title]
    shown = {column.key for column in table.columns if not column.hidden}
    assert shown == {"model", "error", mean, *COMMON}
    scored = {(row.model, row.condition): row.estimate for row in score(filled.store, metrics=[ratio, mean]).rows}
    for model in ("a", "b"):
        assert column_of(table, "error")[model].value == pytest.approx(0.05 if model == "a" else 0.35)
        assert column_of(table, mean)[model] == scored[model, "imagenet-c"]
        for name in COMMON:
            assert column_of(table, name)[model] == scored[model, f"imagenet-c/{name}"]
    assert any("AlexNet" in note for note in table.footnotes)
    assert table.caption.startswith("Corruption error" if ratio == "ce" else "Relative corruption error")


def test_no_corruption_error_without_a_normaliser(corrupted):
    with pytest.raises(StoreError, match="no CE under imagenet-c"):
        corruptions_table(corrupted, TableOptions(columns=("ce",)))


def test_one_family_at_a_time(corrupted):
    with pytest.raises(UsageError, match="no family of corruptions 'cifar10-c'"):
        corruptions_table(corrupted, TableOptions(shifts=("cifar10-c",)))
    with pytest.raises(UsageError, match="one family; give --shift once"):
        corruptions_table(corrupted, TableOptions(shifts=("imagenet-c", "cifar10-c")))
    assert corruptions_table(corrupted, TableOptions(shifts=("imagenet-c",))).rows


def test_without_corruptions(four):
    with pytest.raises(StoreError, match="no corruptions in it"):
        corruptions_table(four)
