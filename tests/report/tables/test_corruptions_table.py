"""Models under each corruption as a table."""

from __future__ import annotations

import pytest

from oodometer.core.errors import StoreError, UsageError
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
    assert [(one.id, one.title, one.over) for one in table.columns] == [
        ("clean", "clean", ""),
        ("mean", "mean", ""),
        ("gaussian_noise", "Gauss.", "noise"),
        ("fog", "Fog", "weather"),
    ]
    # By hand: 190/200; fog 190 - 10 x 3 of 200 in the mean over severities 1 to 5; noise 190 - 20 x 3.
    values = [[cell.value for cell in row.cells] for row in table.rows]
    assert values[0] == pytest.approx([0.95, (0.8 + 0.65) / 2, 0.65, 0.8])
    assert values[1] == pytest.approx([0.65, (0.5 + 0.35) / 2, 0.35, 0.5])
    (grid,) = grids_of(corrupted)
    assert table.rows[0].cells[3] == grid.over_severities("a", "fog")
    assert table.rows[0].bold == (True, True, True, True)
    assert "Each corruption: the mean over severities 1 to 5; mean: over 2 corruptions." in table.footnotes


def test_severities_that_were_not_measured_are_not_told(filled, make_dataset, right):
    data = make_dataset(100)
    for condition in ("clean", "imagenet-c/fog/1", "imagenet-c/fog/3"):
        filled.add(data, right(50, 100), condition=condition, model="a", digest="a" * 32)
    table = corruptions_table(study_of(filled.store))
    assert "Each corruption: the mean over severities 1, 3; mean: over 1 corruption." in table.footnotes


def test_one_family_at_a_time(corrupted):
    with pytest.raises(UsageError, match="no family of corruptions 'cifar10-c'"):
        corruptions_table(corrupted, TableOptions(shifts=("cifar10-c",)))
    with pytest.raises(UsageError, match="one family; give --shift once"):
        corruptions_table(corrupted, TableOptions(shifts=("imagenet-c", "cifar10-c")))
    assert corruptions_table(corrupted, TableOptions(shifts=("imagenet-c",))).rows


def test_without_corruptions(four):
    with pytest.raises(StoreError, match="no corruptions in it"):
        corruptions_table(four)
