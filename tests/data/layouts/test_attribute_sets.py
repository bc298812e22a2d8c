"""DeepFashion2 in its published layout, and manifests of both sets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from oodometer.core.errors import DataError
from oodometer.data.check.check_set import check
from oodometer.data.layouts.attribute_sets import STOREFRONTS, open_deepfashion_halves
from oodometer.data.layouts.deepfashion2 import CLASSES
from oodometer.data.root import DataRoot
from oodometer.data.training_set import training_set


def item(category: int, scale: int, occlusion: int, viewpoint: int, zoom_in: int) -> dict[str, object]:
    """An item with the fields that DeepFashion2 has."""
    return {
        "category_name": CLASSES.classes[category - 1],
        "category_id": category,
        "style": 1,
        "bounding_box": [1, 1, 3, 3],
        "landmarks": [1, 1, 2],
        "segmentation": [[1, 1, 3, 3, 1, 3]],
        "scale": scale,
        "occlusion": occlusion,
        "zoom_in": zoom_in,
        "viewpoint": viewpoint,
    }


def put(root: Path, number: int, *items: dict[str, object], part: str = "validation") -> None:
    """An image and its annotation, as ``validation/image/000001.jpg`` and ``validation/annos/000001.json``."""
    for folder in ("image", "annos"):
        (root / "deepfashion2" / part / folder).mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (4, 4), (number,) * 3).save(root / "deepfashion2" / part / "image" / f"{number:06d}.jpg")
    about = {"source": "shop", "pair_id": number, **{f"item{n}": one for n, one in enumerate(items, start=1)}}
    (root / "deepfashion2" / part / "annos" / f"{number:06d}.json").write_text(json.dumps(about))


def test_one_row_for_each_combination_of_attributes(tmp_path):
    put(tmp_path, 1, item(8, 2, 2, 2, 1), item(1, 2, 2, 2, 1), item(1, 2, 2, 2, 1), item(9, 1, 2, 2, 1))
    put(tmp_path, 2, item(13, 3, 1, 1, 3))
    put(tmp_path, 3, item(5, 2, 2, 2, 1), part="train")
    data = DataRoot(str(tmp_path), partial=True).open("deepfashion-remixed")
    assert data.ids == ("000001-1221", "000001-2221", "000002-3113")
    # category_id counts from 1: 9 is skirt, 1 and 8 are top and trousers, 13 is sling dress
    assert (data.labels.tolist(), data.other_labels) == ([8, 0, 12], ((), (7,), ()))
    assert data.space == CLASSES
    assert {name: column.tolist() for name, column in data.columns.items()} == {
        "split": ["validation"] * 3,
        "image": ["000001", "000001", "000002"],
        "source": ["shop"] * 3,
        "pair_id": [1, 1, 2],
        "scale": [1, 2, 3],
        "occlusion": [2, 2, 1],
        "viewpoint": [2, 2, 1],
        "zoom_in": [1, 1, 3],
    }
    assert not data.scan().broken
    assert data.scan().contents[0] == data.scan().contents[1] != data.scan().contents[2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not an annotation of DeepFashion2 (JSONDecodeError: "),
        ("[]", "not an annotation of DeepFashion2 (AttributeError: "),
        ('{"item1": {}, "source": "shop", "pair_id": 1}', "not an annotation of DeepFashion2 (KeyError: 'scale')"),
        (json.dumps({"item1": item(1, 2, 2, 2, 4), "source": "shop", "pair_id": 1}),
         "not an annotation of DeepFashion2 (ValueError: attributes (2, 2, 2, 4), category_id 1)"),
    ],
)  # fmt: skip
def test_annotations_that_are_none(tmp_path, text, message):
    put(tmp_path, 1, item(1, 2, 2, 2, 1))
    (tmp_path / "deepfashion2/validation/annos/000001.json").write_text(text)
    with pytest.raises(DataError) as caught:
        DataRoot(str(tmp_path), partial=True).open("deepfashion-remixed")
    assert f"000001.json: {message}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_image_that_is_missing(tmp_path):
    put(tmp_path, 1, item(1, 2, 2, 2, 1))
    put(tmp_path, 2, item(1, 2, 2, 2, 1))
    (tmp_path / "deepfashion2/validation/image/000002.jpg").unlink()
    with pytest.raises(DataError, match=r"000002\.json: no image of that number in .*image; is it unpacked whole\?"):
        DataRoot(str(tmp_path), partial=True).open("deepfashion-remixed")


def test_the_train_half_is_read_for_training_alone(tmp_path):
    put(tmp_path, 1, item(8, 2, 2, 2, 1))
    put(tmp_path, 1, item(8, 2, 2, 2, 1), item(1, 2, 2, 2, 1), item(9, 1, 2, 2, 1), part="train")
    put(tmp_path, 2, item(13, 2, 2, 2, 1), part="train")
    put(tmp_path, 3, item(13, 2, 2, 3, 1), part="train")  # seen from the side: a shift
    data = training_set("dfr", data_root=str(tmp_path))
    assert (data.ids, data.other_labels) == (("train-000001-2221", "train-000002-2221"), ((7,), ()))
    assert set(data.columns["split"]) == {"train"}
    assert DataRoot(str(tmp_path), partial=True).open("deepfashion-remixed").ids == ("000001-2221",)
    halves = open_deepfashion_halves(str(tmp_path / "deepfashion2"), name="both")
    assert [str(one) for one in halves.columns["split"]] == ["train"] * 4 + ["validation"]
    assert len(halves.scan().contents) == 5


def test_without_a_train_half_there_is_nothing_to_train_on(tmp_path):
    put(tmp_path, 1, item(8, 2, 2, 2, 1))
    with pytest.raises(DataError, match="no train/image and train/annos of DeepFashion2 in it"):
        training_set("dfr", data_root=str(tmp_path))
    put(tmp_path, 1, item(8, 2, 2, 3, 1), part="train")
    with pytest.raises(DataError, match=r"no training image with scale 2, occlusion 2, viewpoint 2, zoom_in 1"):
        training_set("dfr", data_root=str(tmp_path))


@pytest.mark.parametrize("spoiled", [False, True])
def test_check_knows_both_halves(tmp_path, spoiled):
    put(tmp_path, 1, item(8, 2, 2, 2, 1))
    put(tmp_path, 1, item(8, 2, 2, 2, 1), part="train")
    if spoiled:
        (tmp_path / "deepfashion2/train/annos/000001.json").write_text("{")
    (row,) = [row for row in check(str(tmp_path / "deepfashion2")).rows if row.check == "training part"]
    assert (row.found, row.verdict) == (("not readable", "wrong") if spoiled else ("1 image", "ok"))
    (tmp_path / "deepfashion2/train/annos/000001.json").unlink()
    (tmp_path / "deepfashion2/train/annos").rmdir()
    rows = check(str(tmp_path / "deepfashion2")).rows
    assert "training part" not in {row.check for row in rows}


def open_list(root: Path, name: str, text: str):
    (root / name).mkdir(exist_ok=True)
    (root / name / "manifest.csv").write_text(text)
    return DataRoot(str(root), partial=True).open(name)


def test_a_manifest_of_clothes_in_the_order_of_the_categories(tmp_path):
    text = (
        "path,labels,scale,occlusion,viewpoint,zoom_in\n"
        "a.jpg,trousers|Short sleeve top,2,2,2,1\nb.jpg,long sleeve outerwear,1,2,2,1\n"
    )
    data = open_list(tmp_path, "deepfashion-remixed", text)
    assert (data.labels.tolist(), data.other_labels, data.space) == ([7, 3], ((0,), ()), CLASSES)
    numbers = text.replace("trousers|Short sleeve top", "7|0").replace("long sleeve outerwear", "3")
    assert open_list(tmp_path, "deepfashion-remixed", numbers).other_labels == data.other_labels
    one = text.replace("labels", "label").replace("trousers|", "")
    assert open_list(tmp_path, "deepfashion-remixed", one).other_labels == ((), ())


def test_a_manifest_of_storefronts(tmp_path):
    text = "path,label,country,year,camera\na.jpg,gym,us,2019,new\nb.jpg,bank,fr,2019,new\n"
    data = open_list(tmp_path, "streetview-storefronts", text)
    assert (data.labels.tolist(), data.space, data.other_labels) == ([12, 2], STOREFRONTS, None)
    assert len(STOREFRONTS) == 20  # Hendrycks et al. 2021, section 3.2


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("streetview-storefronts", "path,label,country,year\na.jpg,gym,us,2019\n",
         "manifest.csv: no column 'camera'; needed are country, year, camera"),
        ("streetview-storefronts", "path,label,country,year,camera\na.jpg,gim,us,2019,new\n",
         "streetview-storefronts: it has no class 'gim'; did you mean gym?"),
        ("deepfashion-remixed", "path,labels,scale,occlusion,viewpoint,zoom_in\na.jpg,1|13,2,2,2,1\n",
         "deepfashion-remixed: label 13; its classes are 0 to 12, or names"),
    ],
)  # fmt: skip
def test_manifests_that_lack_something(tmp_path, name, text, message):
    with pytest.raises(DataError) as caught:
        open_list(tmp_path, name, text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_folders_that_hold_something_else(tmp_path):
    for name in ("deepfashion2", "svsf"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "readme.txt").write_text("x")
    root = DataRoot(str(tmp_path), partial=True)
    with pytest.raises(DataError, match=r"neither manifest.csv nor validation/image and validation/annos of Deep"):
        root.open("deepfashion-remixed")
    with pytest.raises(DataError, match=r"no manifest.csv in it; it lists path, label, country, year and camera"):
        root.open("streetview-storefronts")


def test_half_a_set_is_an_error_unless_it_is_meant(tmp_path):
    text = "path,label,country,year,camera\na.jpg,gym,us,2019,new\n"
    open_list(tmp_path, "streetview-storefronts", text)
    with pytest.raises(DataError, match="1 classes instead of 20"):
        DataRoot(str(tmp_path)).open("streetview-storefronts")
