"""SVSF and DFR on small manifests: which row is in which set."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict
from itertools import product
from pathlib import Path

import pytest
from PIL import Image

from oodometer.core.condition import Shift
from oodometer.core.errors import DataError
from oodometer.core.records import read_shift, record_of_shift
from oodometer.data.layouts.attribute_sets import STOREFRONTS
from oodometer.data.root import DataRoot
from oodometer.metrics import average_precision
from oodometer.published.tables import read_table
from oodometer.shifts.resolve import asked_for
from oodometer.shifts.sources import Sources


def sources(root: Path, *, partial: bool = True, **more) -> Sources:
    return Sources(root=DataRoot(str(root), partial), **more)


def storefronts(root: Path, rows: list[tuple[str, str, int, str]]) -> None:
    (root / "streetview-storefronts").mkdir(parents=True, exist_ok=True)
    with (root / "streetview-storefronts" / "manifest.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "label", "country", "year", "camera", "split"])
        for number, row in enumerate(rows):
            path = f"{number:03d}.png"
            Image.new("RGB", (4, 4), (number,) * 3).save(root / "streetview-storefronts" / path)
            writer.writerow([path, *row, "test"])


def made(name: str, sources: Sources) -> list[Shift]:
    """The pairs of a name."""
    return [one for one in asked_for([name], sources).found if isinstance(one, Shift)]


def every_storefront() -> list[tuple[str, str, int, str]]:
    """Two classes at every combination of country, year and camera."""
    grid = product(("bank", "gym"), ("us", "mx", "ca", "fr"), (2017, 2018, 2019), ("new", "old"))
    return list(grid)


def test_storefronts_change_one_attribute_at_a_time(tmp_path):
    storefronts(tmp_path, every_storefront())
    pairs = made("svsf", sources(tmp_path))
    published = [name for name in read_table("hendrycks2021_svsf").columns if name not in ("model", "iid_error")]
    assert [one.name for one in pairs] == [f"svsf/{name}" for name in published]
    assert {one.standard.name for one in pairs} == {"svsf/iid"}
    rows = every_storefront()

    def those(country, year, camera) -> set[str]:
        found = [
            n for n, row in enumerate(rows) if (row[1] in country, row[2] == year, row[3] == camera) == (True,) * 3
        ]
        return {f"{n:03d}" for n in found}

    base = ("us", "mx", "ca")
    assert set(pairs[0].standard.dataset.ids) == those(base, 2019, "new")
    assert {one.name.partition("/")[2]: set(one.shifted.dataset.ids) for one in pairs} == {
        "camera_old": those(base, 2019, "old"),
        "year_2017": those(base, 2017, "new"),
        "year_2018": those(base, 2018, "new"),
        "country_france": those(("fr",), 2019, "new"),
    }


def test_what_is_not_there_is_an_error_or_left_out(tmp_path):
    rows = [row for row in every_storefront() if row[1] not in ("fr", "mx")]
    storefronts(tmp_path, rows)
    names = [one.name for one in made("svsf", sources(tmp_path))]
    assert names == ["svsf/camera_old", "svsf/year_2017", "svsf/year_2018"]
    storefronts(tmp_path, [row for row in rows if row[2] == 2019 and row[3] == "new"])
    with pytest.raises(DataError) as caught:
        made("svsf", sources(tmp_path))
    assert str(caught.value) == (
        "svsf: shift camera=old: no image of streetview-storefronts has camera=old; its values are new"
    )
    storefronts(tmp_path, [(one, "us", 2019, "new") for one in STOREFRONTS.classes])
    with pytest.raises(DataError, match="its values are new; --partial runs on what is there"):
        made("svsf", sources(tmp_path, partial=False))


@pytest.mark.parametrize(
    "names",
    [
        {"us": "US", "mx": "MX", "ca": "CA", "fr": "FR", "new": "New", "old": "OLD"},
        {"us": "United States", "mx": "Mexico", "ca": "Canada", "fr": "France"},
        {"us": "usa", "mx": "México", "ca": "CANADA", "fr": "fra"},
    ],
)
def test_countries_may_be_written_as_people_do(tmp_path, names):
    rows = every_storefront()
    storefronts(tmp_path / "plain", rows)
    storefronts(tmp_path / "written", [tuple(names.get(value, value) for value in row) for row in rows])

    def ids(root: Path) -> dict[str, tuple[str, ...]]:
        return {one.name: one.shifted.dataset.ids for one in made("svsf", sources(root))}

    assert ids(tmp_path / "written") == ids(tmp_path / "plain")
    assert len(ids(tmp_path / "written")) == 4


def test_shift_by_shift_shares_the_iid_test(tmp_path):
    storefronts(tmp_path, every_storefront())
    asked = asked_for(["svsf/camera_old", "svsf/year_2017"], sources(tmp_path))
    assert [one.name for one in asked.found] == ["svsf/camera_old", "svsf/year_2017"]
    assert asked.found[0].standard is asked.found[1].standard


def test_fewer_images_are_of_each_test_set(tmp_path):
    storefronts(tmp_path, every_storefront())
    pairs = made("svsf", sources(tmp_path, images=2))
    assert {len(side.dataset) for one in pairs for side in (one.standard, one.shifted)} == {2}


def clothes(root: Path) -> list[tuple[int, ...]]:
    """An image of a top for every combination of the four attributes, and one with a skirt of the base too."""
    grid = list(product((1, 2, 3), repeat=4))
    for folder in ("image", "annos"):
        (root / "deepfashion2" / "validation" / folder).mkdir(parents=True)
    for number, attributes in enumerate(grid, start=1):
        names = ("scale", "occlusion", "viewpoint", "zoom_in")
        item = {"category_id": 1, **dict(zip(names, attributes, strict=True))}
        items = {"item1": item}
        if attributes == (1, 2, 2, 1):
            items["item2"] = {"category_id": 9, "scale": 2, "occlusion": 2, "viewpoint": 2, "zoom_in": 1}
        stem = root / "deepfashion2" / "validation"
        Image.new("RGB", (4, 4), (number,) * 3).save(stem / "image" / f"{number:06d}.jpg")
        about = {"source": "user", "pair_id": number, **items}
        (stem / "annos" / f"{number:06d}.json").write_text(json.dumps(about))
    return grid


def test_clothes_change_one_attribute_at_a_time(tmp_path):
    grid = clothes(tmp_path)
    pairs = made("dfr", sources(tmp_path))
    published = [n for n in read_table("hendrycks2021_dfr").columns if n not in ("model", "iid_map", "ood_mean_map")]
    assert published == list(average_precision.DFR_SHIFTS)
    assert [one.name for one in pairs] == [f"dfr/{name}" for name in published]
    number = {attributes: f"{n:06d}" for n, attributes in enumerate(grid, start=1)}
    # Attributes in the order scale, occlusion, viewpoint, zoom. Viewpoint in DeepFashion2: 1 not worn, 2 frontal,
    # 3 side or back; the others: 1 small/slight/none, 2 medium, 3 large/heavy.
    expected = {
        "size_small": (1, 2, 2, 1),
        "size_large": (3, 2, 2, 1),
        "occlusion_slight": (2, 1, 2, 1),
        "occlusion_heavy": (2, 3, 2, 1),
        "viewpoint_not_worn": (2, 2, 1, 1),
        "viewpoint_side_back": (2, 2, 3, 1),
        "zoom_medium": (2, 2, 2, 2),
        "zoom_large": (2, 2, 2, 3),
    }
    for one in pairs:
        attributes = expected[one.name.partition("/")[2]]
        assert one.shifted.dataset.ids == (f"{number[attributes]}-{''.join(map(str, attributes))}",)
        assert one.shifted.dataset.labels.tolist() == [0]
    iid = pairs[0].standard.dataset
    # The photograph of a small top is in the base too, with its skirt alone.
    assert iid.ids == (f"{number[1, 2, 2, 1]}-2221", f"{number[2, 2, 2, 1]}-2221")
    assert iid.labels.tolist() == [8, 0]


def test_the_pairs_are_those_of_the_store(tmp_path):
    storefronts(tmp_path, every_storefront())
    record = record_of_shift(made("svsf", sources(tmp_path))[0])
    assert record.kind == "attribute"
    assert read_shift(json.loads(json.dumps(asdict(record)))) == record


def test_both_halves_of_deepfashion2(tmp_path):
    """A train image of another scale is a test image, but for one that is trained on for another garment."""
    base, small = {"scale": 2, "occlusion": 2, "viewpoint": 2, "zoom_in": 1}, {"scale": 1}
    worn = {
        "train/000001": [base],
        "train/000002": [base | small],
        "train/000003": [base, base | small],
        "validation/000001": [base],
        "validation/000002": [base | small],
    }
    for name, items in worn.items():
        half, _, number = name.partition("/")
        for part in ("image", "annos"):
            (tmp_path / "deepfashion2" / half / part).mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (4, 4), (len(name), int(number), 0)).save(
            tmp_path / "deepfashion2" / half / "image" / f"{number}.png"
        )
        about = {f"item{n}": {"category_id": 1 + n, **one} for n, one in enumerate(items)}
        text = json.dumps({"source": "shop", "pair_id": 1, **about})
        (tmp_path / "deepfashion2" / half / "annos" / f"{number}.json").write_text(text)
    (pair,) = made("dfr:both-halves", sources(tmp_path))
    assert (pair.name, pair.standard.name, pair.measure) == (
        "dfr:both-halves/size_small",
        "dfr:both-halves/iid",
        "map",
    )
    assert pair.standard.dataset.ids == ("000001-2221",)
    assert set(pair.shifted.dataset.ids) == {"000002-1221", "train-000002-1221"}
    (plain,) = made("dfr", sources(tmp_path))
    assert plain.shifted.dataset.ids == ("000002-1221",)
