"""The papers' own figures from their printed tables: the lines and errors that they print."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.core.errors import UsageError
from oodometer.figures import FigureOptions, draw
from oodometer.figures.published import CORRUPTION, PUBLISHED, published_store
from oodometer.published.recht2019 import CIFAR, CIFAR_LINE, IMAGENET, IMAGENET_LINE
from oodometer.published.tables import read_table
from oodometer.stats.bootstrap import Resampling
from oodometer.study import study_of


def study(table: str, only: list[str], **line):
    index = published_store(table)
    origins = {row.model: Origin("standard") for row in index.tables}
    options = RobustnessOptions(resampling=Resampling(100), **line)
    return study_of(index, origins=origins, options=options, only=only)


@pytest.mark.parametrize(
    ("table", "shift", "printed", "leave_out", "n"),
    [
        (CIFAR, "cifar10.1", CIFAR_LINE, (), 34),
        (IMAGENET, "imagenetv2-matched-frequency", IMAGENET_LINE, ("fv_*",), 67),
    ],
)
def test_figure_1_of_recht_has_the_printed_line(table, shift, printed, leave_out, n, gid):
    found = study(table, [shift], scale="linear", leave_out=leave_out)
    axes = draw(found, "scatter", FigureOptions((shift,))).axes[0]
    (line,) = gid(axes, "line")
    x, y = line.get_data()
    slope = (y[-1] - y[0]) / (x[-1] - x[0])
    # Section 3.3: slope and offset in percent, printed with two and one decimals from unrounded accuracies
    assert slope == pytest.approx(printed.slope[0], abs=0.02)
    assert y[0] - slope * x[0] == pytest.approx(printed.offset[0], abs=1.0)
    assert sum(len(one.get_offsets()) for one in gid(axes, "models")) == n


def test_figure_6_of_recht_says_that_probit_fits_better():
    found = study(IMAGENET, ["imagenetv2-matched-frequency"])
    titles = [axes.get_title(loc="left") for axes in draw(found, "scales", FigureOptions(columns=2)).axes]
    linear, probit = (float(title.split("off by ")[1].split()[0]) for title in titles)
    assert probit < linear


def test_figure_2_of_imagenet_c_has_the_printed_errors(gid):
    axes = draw(study(CORRUPTION, []), "mce").axes[0]
    mean, relative = (np.asarray(one.get_offsets()) for one in gid(axes, "models"))
    table = read_table(CORRUPTION)
    assert mean[:, 1] == pytest.approx(table.column("mean"))
    assert relative[:, 1] == pytest.approx(read_table("hendrycks2019_imagenet_c_relative_ce").column("mean"))
    assert mean[:, 0] == pytest.approx(100 - table.column("clean_error"))
    # Table 3 of the paper: ResNet-50 has 76.7 % mCE and 23.9 % clean error
    assert [76.1, 76.7] in mean.round(6).tolist()


@pytest.mark.parametrize("kind", ["ce", "errors"])
def test_figures_3_and_4_of_imagenet_c_can_be_drawn(kind):
    assert draw(study(CORRUPTION, []), kind).axes


def test_a_table_that_there_is_not():
    with pytest.raises(UsageError, match=r"--published recht: no such table; (did you mean|known)"):
        published_store("recht")


@pytest.mark.parametrize("table", PUBLISHED)
def test_a_second_store_of_a_table_is_the_same(table):
    assert published_store(table).tables == published_store(table).tables
