"""The settings of the 204-model testbed: the published list, and what each is made of."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from oodometer.catalogue.names import testbed_settings as settings
from oodometer.core.condition import Condition, Shift
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.data.imagenet import imagenet
from oodometer.data.root import DataRoot
from oodometer.shifts.availability import overview
from oodometer.shifts.resolve import asked_for, needs_of
from oodometer.shifts.sources import Sources, UnmatchedError


@pytest.fixture
def sources(make_dataset) -> Sources:
    """One clean image of every ImageNet class."""
    return Sources(dataset=make_dataset(1000, space=imagenet()))


def test_there_are_as_many_of_each_kind_as_the_paper_says():
    # Taori et al. 2020: 95 on-disk and 90 in-memory corruptions, 4 PGD, greyscale and stylized.
    names = settings()
    assert len(names) == len(set(names)) == 213
    assert sum(name.endswith("_on-disk") for name in names) == 95
    assert sum(name.endswith("_in-memory") for name in names) == 90
    assert not [name for name in names if "glass_blur" in name and name.endswith("_in-memory")]
    assert sum(name.startswith("pgd.") for name in names) == 4
    assert sum(name.startswith("val") for name in names) == 7


def setting(name: str, sources: Sources) -> Condition | Shift:
    (found,) = asked_for([name], sources).found
    return found


def made(name: str, sources: Sources) -> Shift:
    found = setting(name, sources)
    assert isinstance(found, Shift)
    assert found.name == found.shifted.name == name
    return found


def test_corruptions_in_memory_are_ours_without_jpeg(sources):
    pair = made("imagenet-c.fog.3_in-memory", sources)
    assert pair.kind == "corruption"
    assert pair.standard is sources.clean()
    assert pair.shifted.transform.name == "fog"
    assert (pair.shifted.transform.parameters["severity"], pair.shifted.transform.parameters["quality"]) == (3, None)


def test_attacks_have_the_testbed_s_names_and_budgets(sources):
    parameters = {name: made(name, sources).shifted.attack.parameters for name in settings() if name.startswith("pgd")}
    budgets = {name: (one["norm"], one["epsilon"]) for name, one in parameters.items()}
    # L∞ in units of 1/255, L2 on pixels in [0, 1] at 224 px
    assert budgets == {
        "pgd.l2.eps0.1": ("l2", 0.1),
        "pgd.l2.eps0.5": ("l2", 0.5),
        "pgd.linf.eps0.5": ("linf", 0.5),
        "pgd.linf.eps2": ("linf", 2.0),
    }
    assert {one["steps"] for one in parameters.values()} == {100}


def test_the_clean_images_go_by_their_name_there(sources):
    found = setting("val", sources)
    assert isinstance(found, Condition)
    assert (found.name, found.label_map) == ("val", None)
    assert found.dataset is sources.given()


def test_an_eighth_of_the_classes(sources):
    found = setting("val_subsampled_class_1_8", sources)
    assert isinstance(found, Condition)
    # The testbed: 6,250 of 50,000 images, so 125 of 1,000 classes.
    assert len(found.dataset) == len(found.label_map.target) == 125
    kept = [imagenet().classes.index(one) for one in found.label_map.target.classes]
    assert found.dataset.labels.tolist() == kept
    logits = np.zeros((1, 1000))
    logits[0, 3] = 9  # a class outside the eighth can't be answered
    logits[0, 4] = 1
    assert found.label_map.logits(logits).argmax() == 0


def test_greyscale_is_a_pair(sources):
    assert made("greyscale", sources).standard is sources.clean()


def test_what_each_needs():
    assert needs_of("imagenet-c.fog.3_on-disk", Sources()) == ("imagenet", "imagenet-c")
    assert needs_of("imagenet-c.fog.3_in-memory", Sources()) == ("imagenet",)
    assert set(needs_of("val-on-objectnet-classes", Sources())) == {"imagenet", "objectnet"}
    assert "imagenetv2-matched-frequency-format-val" in needs_of(
        "imagenetv2-matched-frequency-format-val_subsampled_class_1_8", Sources()
    )


def test_a_corruption_that_is_not_on_disk_is_told(make_dataset):
    columns = {"corruption": np.array(["fog", "fog", "fog"]), "severity": np.array([2, 1, 2])}
    disk: Dataset = make_dataset(3, space=imagenet(), columns=columns, ids=["fog/2/a/x", "fog/1/a/x", "fog/2/b/y"])
    root = DataRoot("nowhere", partial=True)
    root._opened["imagenet-c"] = disk
    sources = Sources(dataset=make_dataset(1000, space=imagenet()), root=root)
    assert made("imagenet-c.fog.2_on-disk", sources).shifted.dataset.ids == ("a/x", "b/y")
    with pytest.raises(DataError, match=r"imagenet-c.snow.1_on-disk: imagenet-c on disk has no snow/1"):
        setting("imagenet-c.snow.1_on-disk", sources)


def test_of_imagenet_c_only_what_is_unpacked_is_asked_for(tmp_path):
    """Its archives are unpacked one by one, side by side or each in the folder of its group."""
    for path in ("imagenet/val/n01494475/a.JPEG", "imagenet-c/fog/2/n01494475/a.JPEG"):
        (tmp_path / path).parent.mkdir(parents=True)
        Image.new("RGB", (224, 224)).save(tmp_path / path)
    (tmp_path / "imagenet-c/noise/shot_noise/5/n01494475").mkdir(parents=True)
    Image.new("RGB", (224, 224)).save(tmp_path / "imagenet-c/noise/shot_noise/5/n01494475/a.JPEG")
    sources = Sources(root=DataRoot(str(tmp_path), partial=True))
    asked = asked_for(["testbed"], sources)
    on_disk = ["imagenet-c.fog.2_on-disk", "imagenet-c.shot_noise.5_on-disk"]
    assert sorted(one.name for one in asked.found if one.name.endswith("on-disk")) == on_disk
    assert sum(name.endswith("on-disk") for name in asked.missing) == 95 - 2
    (listed,) = [one for one in overview(sources.root).groups if one.name == "testbed"]
    assert set(listed.there) == set(settings()) - set(asked.missing)


def test_few_images_of_an_eighth_are_taken_of_all_of_it(make_dataset, tmp_path):
    root = DataRoot(str(tmp_path), partial=True)
    v2 = "imagenetv2-matched-frequency-format-val"
    root._opened[v2] = make_dataset(2000, space=imagenet(), labels=np.repeat(np.arange(1000), 2), name=v2)
    clean = make_dataset(1000, space=imagenet())
    pair = made(f"{v2}_subsampled_class_1_8", Sources(dataset=clean, root=root, images=10))
    assert (len(pair.standard.dataset), len(pair.shifted.dataset)) == (10, 10)
    root._opened[v2] = make_dataset(3, space=imagenet(), labels=[0, 0, 1], name=v2)
    with pytest.raises(UnmatchedError, match=f"{v2}: no image of the classes of testbed-1-8"):
        setting(f"{v2}_subsampled_class_1_8", Sources(dataset=clean, root=root))
