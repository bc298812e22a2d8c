"""The bundled tables can all be read, and what can't be read is said."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.core.errors import DataError, UsageError
from oodometer.published.tables import parse_table, read_table, table_names


@pytest.mark.parametrize("name", table_names())
def test_every_table_is_whole(name):
    table = read_table(name)
    assert table.name == name
    assert len(table.models) == len(set(table.models)) > 1
    assert all(column.shape == (len(table.models),) for column in table.columns.values())


def test_cells_are_as_printed():
    # Recht et al. 2019, Table 15; Hendrycks et al. 2021, Table 1
    assert read_table("recht2019_imagenet").value("resnet50", "matched_frequency_top1") == 63.3
    signs = read_table("hendrycks2021_hypotheses")
    assert signs.column("imagenet_r")[signs.row("larger_models")] == "+"


def test_an_empty_cell_is_not_measured():
    table = parse_table("t", ["model,a,b", "m,1.5,", "", "n,,+"])
    assert table.models == ("m", "n")
    assert np.isnan(table.columns["a"][1])
    assert table.columns["b"].tolist() == ["", "+"]
    with pytest.raises(DataError, match="'a' of 'n' is no number"):
        table.value("n", "a")
    with pytest.raises(DataError, match="'b' of 'n' is no number"):
        table.value("n", "b")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "expected a header and at least one row"),
        (["model,a"], "expected a header and at least one row"),
        (["model,a", "m,1", "n,1,2"], "row 3 has 3 cells, the header 2"),
        (["model,a", "m,1", "m,2"], "the row 'm' is there twice"),
        (["model,a,a", "m,1,2"], "the column 'a' is there twice"),
    ],
)
def test_a_broken_table_is_an_error(lines, message):
    with pytest.raises(DataError, match=f"t: {message}"):
        parse_table("t", lines)


def test_unknown_names_are_errors_with_a_hint():
    with pytest.raises(UsageError, match="no published table named 'recht2019_cifar'; did you mean recht2019_cifar10"):
        read_table("recht2019_cifar")
    table = read_table("recht2019_cifar10")
    with pytest.raises(DataError, match=r"no column named 'cifar10\.2'; did you mean"):
        table.column("cifar10.2")
    with pytest.raises(DataError, match="no row named 'vgg16_kera'; did you mean vgg16_keras"):
        table.row("vgg16_kera")
