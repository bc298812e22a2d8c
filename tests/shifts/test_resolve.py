"""Names after ``--on``: what each stands for, what is left out where data are missing, what means nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

import oodometer as odo
from oodometer.catalogue.names import find_shift, shift_names
from oodometer.catalogue.shifts import declared_shifts
from oodometer.core.condition import Condition, Family, Shift, clean
from oodometer.core.errors import DataError, UsageError
from oodometer.core.records import record_of_condition
from oodometer.data.imagenet import imagenet
from oodometer.data.root import DataRoot
from oodometer.shifts.asked import named_by_groups_alone, tell_what_was_trained_on
from oodometer.shifts.installed import InstalledShift, installed_groups, installed_shifts
from oodometer.shifts.resolve import asked_for, check_names, group_names, load_shifts, members_of, missing_sets
from oodometer.shifts.sources import Sources

FISH = ("n01440764", "n01443537")  # tench, goldfish
IN_A = "n01498041"  # stingray, which is in ImageNet-A too


def picture(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 8)).save(path)


@pytest.fixture
def root(tmp_path: Path) -> DataRoot:
    """A clean ImageNet of three classes, ImageNet-A of one and ImageNetV2 of two, in the published layouts."""
    for wnid in (*FISH, IN_A):
        picture(tmp_path / "imagenet" / "val" / wnid / f"{wnid}.JPEG")
    picture(tmp_path / "imagenet-a" / IN_A / "0.001_stingray.jpg")
    for number in ("0", "6"):
        picture(tmp_path / "imagenetv2-matched-frequency-format-val" / number / "a.jpeg")
    return DataRoot(str(tmp_path), partial=True)


def test_a_group_is_what_of_it_is_there(root):
    asked = asked_for(["natural"], Sources(root=root))
    assert [one.name for one in asked.found] == ["imagenet-a", "imagenetv2-matched-frequency-format-val"]
    assert all(isinstance(one, Shift) for one in asked.found)
    assert set(asked.missing) == {*members_of("natural", Sources())} - {one.name for one in asked.found}


def test_both_sides_share_what_they_can(root):
    first, second = asked_for(["imagenet-a", "imagenetv2-matched-frequency-format-val"], Sources(root=root)).found
    assert isinstance(first, Shift)
    assert isinstance(second, Shift)
    assert first.standard.dataset.source is second.standard.dataset.source
    assert first.standard.label_map is first.shifted.label_map


def test_a_name_is_run_once_however_often_it_is_asked_for(root):
    found = asked_for(["imagenet-a", "natural", "imagenet-a"], Sources(root=root)).found
    assert [one.name for one in found].count("imagenet-a") == 1


def test_data_of_one_s_own_take_the_place_of_the_clean_imagenet(root, make_dataset):
    mine = make_dataset(1000, space=imagenet(), name="mine")
    (pair,) = asked_for(["imagenet-a"], Sources(dataset=mine, root=root)).found
    assert isinstance(pair, Shift)
    assert pair.standard.dataset.source is mine.source
    assert len(pair.standard.dataset) == 200


def test_a_shift_alone_says_what_it_lacks(root):
    with pytest.raises(DataError) as caught:
        asked_for(["imagenet-r"], Sources(root=root))
    assert str(caught.value) == (
        f"imagenet-r is not in {root.address}: expected imagenet-r (200 class folders named by WordNet id; files named "
        "after the rendition, such as art_0.jpg); get it from https://github.com/hendrycks/imagenet-r"
    )


def test_a_group_of_which_nothing_is_there(tmp_path):
    with pytest.raises(DataError, match="cifar: none of the data are there; cifar-10"):
        asked_for(["cifar"], Sources(root=DataRoot(str(tmp_path))))


def test_whatever_is_asked_for_is_a_pair(root):
    found = asked_for(["imagenet-c/fog/3", "pgd-linf-2", "greyscale", "imagenet-p/rotate/30"], Sources(root=root)).found
    assert [one.name for one in found] == ["imagenet-c/fog/3", "pgd-linf-2", "greyscale", "imagenet-p/rotate/30"]
    pairs = [one for one in found if isinstance(one, Shift)]
    assert len(pairs) == len(found)
    assert all(one.standard is pairs[0].standard for one in pairs)
    assert [one.family for one in pairs] == [
        Family("imagenet-c", "fog", 3), None, None, Family("imagenet-p", "rotate", 30)
    ]  # fmt: skip


def test_clean_images_alone_are_no_pair(root):
    (alone,) = asked_for(["clean"], Sources(root=root)).found
    assert isinstance(alone, Condition)


def test_a_shift_has_the_kind_and_the_measure_of_the_catalogue(root):
    for one in asked_for(["natural", "imagenet-c/fog/1", "own"][:2], Sources(root=root)).found:
        assert isinstance(one, Shift)
        entry = find_shift(one.name)
        assert entry is not None
        assert (entry.kind, entry.measure, entry.family, entry.clean) == (
            one.kind, one.measure, one.family, one.standard.name
        )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("imagenet-x", "no condition named 'imagenet-x'; did you mean imagenet-"),
        (
            "imagenet-c/fog/0",
            "no condition named 'imagenet-c/fog/0': '0' is no severity; those of imagenet-c are 1 to 5",
        ),
        ("pgd", "attack 'pgd': expected NAME-NORM-EPSILON, for example pgd-linf-2 or pgd-l2-0.5"),
        ("pgd-linf", "attack 'pgd-linf': expected NAME-NORM-EPSILON"),
    ],
)
def test_names_that_mean_nothing_are_told_before_any_data_are_read(text, message):
    with pytest.raises(UsageError) as caught:
        check_names([text])
    assert str(caught.value).startswith(message)


def test_every_name_means_something():
    check_names([*shift_names(), *group_names(), "pgd-l2-0.5", "pm-10", "imagenet-c.fog.1_in-memory", "imagenetv2"])


def test_an_installed_package_may_bring_shifts_and_groups(monkeypatch, make_dataset):
    data = make_dataset(4)

    def make(sources: Sources) -> list[Shift]:
        return [Shift(f"mine/{n}", "style", sources.clean(), Condition(f"mine/{n}", data)) for n in (1, 2)]

    monkeypatch.setitem(installed_shifts._loaded, "mine", InstalledShift("mine", "style", make))
    monkeypatch.setitem(installed_groups._loaded, "ours", ("mine", "greyscale"))
    check_names(["mine", "mine/2", "ours"])
    assert [one.name for one in asked_for(["mine/2"], Sources(data)).found] == ["mine/2"]
    assert [one.name for one in asked_for(["ours"], Sources(data)).found] == ["mine/1", "mine/2", "greyscale"]
    with pytest.raises(UsageError, match="no shift named 'mine/3'"):
        asked_for(["mine/3"], Sources(data))


def test_corruptions_of_small_images_are_made_of_what_is_given(make_dataset):
    data = make_dataset(4)
    pairs = asked_for(["cifar10-c/fog"], Sources(data)).found
    assert [one.name for one in pairs] == [f"cifar-10-c/fog/{severity}" for severity in range(1, 6)]
    standard = record_of_condition(clean(data))
    assert all(isinstance(one, Shift) and record_of_condition(one.standard) == standard for one in pairs)


def test_nothing_to_look_at_is_told():
    with pytest.raises(UsageError, match="say which images: --data ADDRESS, or --data-root FOLDER"):
        asked_for(["clean"], Sources())


def test_every_shift_says_what_is_missing():
    for name in declared_shifts():
        assert set(missing_sets(name, Sources())) == set(declared_shifts()[name].sets)


def test_the_library_asks_in_the_same_words(root, tmp_path):
    found = load_shifts("natural", data_root=root.address, partial=True)
    assert [one.name for one in found] == ["imagenet-a", "imagenetv2-matched-frequency-format-val"]
    assert odo.load_shifts is load_shifts


def test_the_environment_names_the_root(root, monkeypatch):
    monkeypatch.setenv("OODOMETER_DATA", root.address)
    assert [one.name for one in load_shifts("imagenet-a", partial=True)] == ["imagenet-a"]
    monkeypatch.setenv("OODOMETER_DATA", "/nowhere")
    with pytest.raises(UsageError, match="OODOMETER_DATA"):
        load_shifts("imagenet-a")


def test_a_group_without_a_root_asks_for_one(make_dataset):
    for sources in (Sources(), Sources(dataset=make_dataset(4))):
        with pytest.raises(UsageError) as caught:
            asked_for(["natural"], sources)
        assert str(caught.value) == "natural: say where your data sets are, with --data-root FOLDER or OODOMETER_DATA"


def test_a_group_goes_without_shifts_of_whose_classes_there_are_no_clean_images(root, make_dataset):
    tench = make_dataset(3, space=imagenet(), labels=[0, 0, 0])  # which is not in ImageNet-A
    asked = asked_for(["natural"], Sources(dataset=tench, root=root))
    assert [one.name for one in asked.found] == ["imagenetv2-matched-frequency-format-val"]
    assert asked.unmatched == ("imagenet-a",)
    assert "imagenet-a" not in asked.missing
    with pytest.raises(UsageError, match="no image of the classes of imagenet-a-classes, to compare with"):
        asked_for(["imagenet-a"], Sources(dataset=tench, root=root))


def test_a_group_of_which_all_is_unmatched(root, make_dataset, monkeypatch):
    monkeypatch.setitem(installed_groups._loaded, "alone", ("imagenet-a",))
    tench = make_dataset(3, space=imagenet(), labels=[0, 0, 0])
    with pytest.raises(UsageError, match="no image of the classes of imagenet-a-classes, to compare with"):
        asked_for(["alone"], Sources(dataset=tench, root=root))


@pytest.mark.parametrize(
    ("training_data", "seen"),
    [
        ("ImageNet-22K", True),
        ("imagenet-21k, then ImageNet-1k", True),
        ("ImageNet 21K-P", True),
        ("IN-22k", True),
        ("ImageNet-1k", False),
        ("JFT-300M", False),
        (None, False),
    ],
)
def test_a_model_that_was_trained_on_all_of_imagenet_is_told(make_dataset, training_data, seen):
    """Hendrycks et al. 2021 (natural adversarial examples): models trained on ImageNet-22K make ImageNet-O trivial."""
    view, card = odo.Input(view=odo.Geometry(8, 8)), odo.Card(training_data=training_data)
    model = odo.Model("net", "callable", "digest", view, imagenet(), open=lambda compute: compute, card=card)
    asked = [odo.Condition(name, make_dataset(2)) for name in ("clean", "imagenet-o", "imagenet-22k-subtypes")]
    told: list[str] = []
    tell_what_was_trained_on(asked, [model], told.append)
    assert told == [
        f"warning: net was trained on {training_data}, where the classes are that imagenet-o, imagenet-22k-subtypes "
        "have and ImageNet-1k lacks: to it they are not new"
    ] * int(seen)
    told.clear()
    tell_what_was_trained_on(asked[:1], [model], told.append)
    assert told == []


def test_what_only_a_group_names_may_be_left_out(make_dataset):
    data = make_dataset(2)
    asked = [odo.Condition(name, data) for name in ("imagenet-r", "dfr/size_small", "svsf/camera_old")]
    assert named_by_groups_alone(asked, ["many-faces"]) == {"imagenet-r", "dfr/size_small", "svsf/camera_old"}
    assert named_by_groups_alone(asked, ["Many_Faces", "dfr"]) == {"imagenet-r", "svsf/camera_old"}
    assert named_by_groups_alone(asked, ["imagenet-r", "dfr", "svsf"]) == frozenset()
