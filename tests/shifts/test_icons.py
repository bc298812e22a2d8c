"""The shifts of icons, with a model that reads its answer off the pixels."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from oodometer.core.condition import Shift
from oodometer.data.icon_protocols import held_out_rows, iid_rows
from oodometer.data.load import load_data
from oodometer.data.root import DataRoot
from oodometer.shifts.resolve import asked_for
from oodometer.shifts.sources import Sources

STYLES = ("apple", "google", "htc", "lg", "microsoft")
KINDS = {"bird": ["duck", "owl", "eagle"], "hat": ["cap", "crown", "womans_hat"]}
LABELS = {"bird": 4, "hat": 25}


def reader() -> odo.Model:
    """A model of the 50 classes whose answer is the value of the red channel in the middle."""

    def read(images: np.ndarray) -> np.ndarray:
        return np.eye(50, dtype=np.float32)[images[:, 16, 16, 0]]

    plain = {"mean": (0, 0, 0), "std": (1 / 255,) * 3}
    return odo.load_model(read, name="reader", input=odo.Input(view=odo.Geometry(32, 32), **plain))


def paint(root: Path, versions: tuple[str, ...]) -> None:
    """Icons of five vendors; the reader knows all but those of Microsoft and the ducks."""
    for folder, kinds in KINDS.items():
        (root / folder).mkdir(parents=True)
        for place, style in enumerate(STYLES):
            for kind in kinds:
                for number, version in enumerate(versions):
                    answer = 0 if style == "microsoft" or kind == "duck" else LABELS[folder]
                    pixels = np.full((32, 32, 3), (answer, place, number), np.uint8)
                    Image.fromarray(pixels).save(root / folder / f"{style}_{version}_{kind}.png")


def list_files(root: Path) -> None:
    """A manifest as ``oodometer build icons`` writes it; labels as numbers, so that two classes are enough."""
    with (root / "manifest.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "label", "style", "version", "subtype"])
        for path in sorted(root.glob("*/*.png")):
            writer.writerow([path.relative_to(root).as_posix(), LABELS[path.parent.name], *path.stem.split("_", 2)])


def measure(names: list[str], sources: Sources, store: Path) -> dict[str, tuple[float, int]]:
    """The share of right answers and the number of icons of each condition."""
    found = odo.run([reader()], asked_for(names, sources).found, store=str(store))
    rows = {cell.condition_name: found.store.read(cell) for cell in found.cells}
    return {name: (float((row.rank == 0).mean()), len(row)) for name, row in rows.items()}


def test_icons_50_below_a_root(tmp_path: Path) -> None:
    paint(tmp_path / "Icons-50", ("0", "1", "2"))
    sources = Sources(root=DataRoot(str(tmp_path), partial=True))
    found = measure(["icons"], sources, tmp_path / "runs")
    n_iid = found.pop("icons-iid")[1]
    assert found == {
        # four subtypes that are not held out, in versions 0 and 1
        "icons-style": (0.0, 4 * 2),
        # ducks and women's hats of four other vendors, in versions 0 and 1; the hats are known
        "icons-subtypes": (0.5, 2 * 4 * 2),
        # version 2 of four subtypes by four vendors
        "icons-versions": (1.0, 4 * 4),
    }
    data = sources.whole("icons-50")
    by_any = np.any([held_out_rows(data, one) for one in ("style=microsoft", "subtypes", "versions")], axis=0)
    assert n_iid == (~by_any & iid_rows(data)).sum() > 0
    papers = measure([f"{name}:paper" for name in found], sources, tmp_path / "runs")
    assert papers.pop("icons-iid:paper")[1] > 0
    assert {name: n for name, (_, n) in papers.items()} == {
        "icons-style:paper": 6 * 3,
        "icons-subtypes:paper": 2 * 5 * 3,
        "icons-versions:paper": 6 * 5,
    }


def test_icons_that_were_built(tmp_path: Path) -> None:
    paint(tmp_path / "icons", ("flat", "new", "old"))
    list_files(tmp_path / "icons")
    sources = Sources(dataset=load_data(tmp_path / "icons"))
    found = measure(["icons"], sources, tmp_path / "runs")
    assert set(found) == {"icons-iid", "icons-style", "icons-subtypes", "icons-versions"}
    assert [found[name][0] for name in ("icons-iid", "icons-style", "icons-versions")] == [1.0, 0.0, 1.0]
    assert sources.given().name == "icons", "and other conditions are about all of them"


def test_every_vendor_may_be_the_one_that_is_held_out(tmp_path: Path) -> None:
    paint(tmp_path / "icons", ("new", "old"))
    list_files(tmp_path / "icons")
    sources = Sources(dataset=load_data(tmp_path / "icons"))
    assert [one.name for one in asked_for(["icons-styles"], sources).found] == [f"icons-styles/{one}" for one in STYLES]
    (shift,) = asked_for(["icons-styles/google"], sources).found
    assert isinstance(shift, Shift)
    assert set(shift.shifted.dataset.columns["style"].tolist()) == {"google"}
    assert "google" not in shift.standard.dataset.columns["style"]
    assert shift.standard.name == "icons-iid-without-google"


def test_the_three_share_their_standard_side(tmp_path: Path) -> None:
    paint(tmp_path / "Icons-50", ("0", "1", "2"))
    sources = Sources(root=DataRoot(str(tmp_path), partial=True), images=2)
    found = [one for one in asked_for(["icons"], sources).found if isinstance(one, Shift)]
    assert len(found) == 3
    assert all(one.standard is found[0].standard for one in found)
    assert all(len(one.shifted.dataset) == 2 for one in found), "as few as are wanted"
    assert {one.name: one.kind for one in found} == {
        "icons-style": "style",
        "icons-subtypes": "attribute",
        "icons-versions": "attribute",
    }


def test_data_without_the_columns_are_no_icons(tmp_path: Path) -> None:
    paint(tmp_path / "icons", ("new",))
    sources = Sources(dataset=load_data(tmp_path / "icons"))
    with pytest.raises(odo.UsageError, match="icons: say where your data sets are"):
        asked_for(["icons"], sources)


@pytest.mark.parametrize("name", ["icons-style", "icons-subtypes", "icons-versions", "icons-styles"])
def test_without_any_icons_it_says_where_to_say(name: str) -> None:
    with pytest.raises(odo.UsageError, match="say where your data sets are"):
        asked_for([name], Sources())
