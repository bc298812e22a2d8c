"""From names to entries: every rule, and every name that there is."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from oodometer.catalogue.names import (
    family_of,
    find_shift,
    group_members,
    shift_named,
    shift_names,
    testbed_settings,
)
from oodometer.catalogue.sets import set_entries
from oodometer.catalogue.shifts import best_known, clean_names, clean_sides, declared_groups, declared_shifts, patterns
from oodometer.catalogue.tables import key_of
from oodometer.core.condition import Family
from oodometer.core.errors import UsageError
from oodometer.corruptions.registry import BAR, COMMON, EXTRA
from oodometer.corruptions.sequences import SEQUENCES, n_frames
from oodometer.metrics.corruption_error import COMMON as MEASURED

testbed_settings.__test__ = False  # type: ignore[attr-defined]

EVERY = [*clean_sides().values(), *declared_shifts().values()]


def names_of(text: str) -> tuple[str, str, str]:
    entry = find_shift(text)
    assert entry is not None, text
    return entry.name, entry.kind, entry.clean


@pytest.mark.parametrize("declared", EVERY, ids=lambda declared: declared.name)
def test_every_entry_resolves_by_its_name_and_its_aliases(declared):
    for name in (declared.name, *declared.aliases, declared.name.upper(), declared.name.replace("-", "_")):
        entry = find_shift(name)
        assert entry is not None
        assert (entry.name, entry.of, entry.kind) == (declared.name, declared.name, declared.kind)


def test_names_and_aliases_are_unique_however_they_are_spelled():
    names = [name for declared in EVERY for name in (declared.name, *declared.aliases)]
    keys = Counter(key_of(name) for name in [*names, *declared_groups()])
    assert [key for key, n in keys.items() if n > 1] == []


@pytest.mark.parametrize("declared", EVERY, ids=lambda declared: declared.name)
def test_what_an_entry_needs_is_there(declared):
    assert set(declared.sets) <= set(set_entries())
    clean = find_shift(declared.clean.format(part="x"))
    assert clean is not None
    assert clean.kind == "clean" or clean.name.endswith("_pm0")
    if declared.kind != "clean":
        assert declared.make
    if declared.side_of:
        assert find_shift(declared.side_of) is not None


def test_members_of_groups_are_entries():
    for name, choices in declared_groups().items():
        for choice in choices:
            assert all(find_shift(one) is not None for one in choice), name
    assert set(best_known()) <= set(declared_shifts())


# --- the spellings ---


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("imagenetv2", "imagenetv2-matched-frequency"),
        ("ImageNet-V2", "imagenetv2-matched-frequency"),
        ("imagenetv2-threshold-0.7", "imagenetv2-threshold0.7"),
        ("deepfashion-remixed", "dfr"),
        ("stylized-imagenet", "stylized_imagenet"),
        ("objectnet", "objectnet-1.0-beta"),
        ("grayscale", "greyscale"),
        ("cifar10-c", "cifar-10-c"),
        ("cifar10-c/fog/3", "cifar-10-c/fog/3"),
        ("imagenet_c/Motion-Blur/2", "imagenet-c/motion_blur/2"),
        ("imagenet-p/brightness/7", "imagenet-p/brightness/07"),
        ("deepfashion_remixed/size_small", "dfr/size_small"),
    ],
)
def test_a_name_in_another_spelling_is_the_same_thing(text, name):
    assert names_of(text)[0] == name


def test_a_member_of_a_family_is_found_with_its_family():
    entry = find_shift("imagenet-c/fog/3")
    assert entry is not None
    assert (entry.of, entry.family) == ("imagenet-c", Family("imagenet-c", "fog", 3))
    whole, part = find_shift("imagenet-c"), find_shift("imagenet-c/fog")
    assert whole is not None
    assert part is not None
    assert (whole.family, whole.is_part, part.family, part.is_part) == (None, False, None, True)


@pytest.mark.parametrize("text", ["imagenet-c/fog/0", "imagenet-c/fog/6", "imagenet-c/fgo", "imagenet-c/fog/x", "mine"])
def test_what_means_nothing_is_not_found(text):
    assert find_shift(text) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("dfr/size_small", ("dfr/size_small", "attribute", "dfr/iid")),
        ("dfr/iid", ("dfr/iid", "clean", "dfr/iid")),
        ("icons-styles/google", ("icons-styles/google", "style", "icons-iid-without-google")),
        ("icons-iid-without-google", ("icons-iid-without-google", "clean", "icons-iid-without-google")),
        ("cifar-100-subtypes/3", ("cifar-100-subtypes/3", "attribute", "cifar-100-kept-subtypes/3")),
        ("pm-10", ("pm-10", "consistency", "pm-0")),
        ("pgd-linf-2", ("pgd-linf-2", "adversarial", "clean")),
        ("pgd-l2-0.5,steps=20", ("pgd-l2-0.5,steps=20", "adversarial", "clean")),
        ("pgd.linf.eps2", ("pgd.linf.eps2", "adversarial", "clean")),
    ],
)
def test_parts_attacks_and_distances_have_their_kind_and_clean_side(text, found):
    assert names_of(text) == found


def test_every_pattern_says_what_it_is_made_by():
    assert [one.declared.make for one in patterns()] == ["adversarial:attacked", "consistency:near_anchors"]


# --- families ---


def test_a_family_keeps_the_name_that_a_table_has_for_it():
    assert family_of("cifar10-c/fog/3") == Family("cifar10-c", "fog", 3)
    assert family_of("mine/rain/2") == Family("mine", "rain", 2)
    assert family_of("imagenet-c.fog.3_on-disk") == Family("imagenet-c_on-disk", "fog", 3)
    assert family_of("adain/3") == Family("adain", "style_transfer", 3)
    no_members = ("clean", "adain", "adain/0", "adain/6", "adain/x", "icons-styles/apple", "a/b/c")
    assert [family_of(name) for name in no_members] == [None] * len(no_members)


def test_the_corruptions_are_those_that_can_be_made():
    declared = declared_shifts()
    assert declared["imagenet-c"].corruptions == tuple(COMMON) == MEASURED
    assert declared["imagenet-c-extra"].corruptions == tuple(EXTRA)
    assert declared["imagenet-c-bar"].corruptions == tuple(BAR)
    # Hendrycks and Dietterich 2019: ten sequences; ours has four more behind them.
    assert declared["imagenet-p"].corruptions == SEQUENCES[:10]
    assert max(n_frames(name) for name in SEQUENCES[:10]) == declared["imagenet-p"].severities[1] + 1


# --- the 213 settings ---


def test_the_settings_are_the_published_ones():
    path = Path(__file__).resolve().parents[3] / "shared" / "reference" / "testbed_213_settings.txt"
    if not path.is_file():
        pytest.skip("the list of settings is not here")
    assert set(testbed_settings()) == set(path.read_text().split())


def test_every_setting_has_its_kind_its_family_and_its_clean_side():
    entries = [find_shift(name) for name in testbed_settings()]
    assert [entry.name for entry in entries if entry] == list(testbed_settings())
    kinds = Counter(entry.kind for entry in entries if entry)
    # Taori et al. 2020: 95 corruptions on disk, 90 in memory, greyscale; stylized; 4 PGD; 7 in-distribution settings;
    # 14 natural ones and one over an eighth of the classes, of which two are consistency and one filtered
    assert kinds == {
        "corruption": 95 + 90 + 1,
        "style": 1,
        "adversarial": 4,
        "clean": 7,
        "dataset": 12,
        "consistency": 2,
        "adversarially filtered": 1,
    }
    families = Counter(entry.family.name for entry in entries if entry and entry.family)
    assert families == {"imagenet-c_on-disk": 95, "imagenet-c_in-memory": 90}
    natural = {entry.name for entry in entries if entry and entry.natural}
    assert len(natural) == 15
    assert "stylized_imagenet" not in natural
    assert {entry.name: entry.clean for entry in entries if entry and entry.clean not in ("clean", entry.name)} == {
        "imagenet-a": "val-on-imagenet-a-classes",
        "imagenet-r": "val-on-imagenet-r-classes",
        "objectnet-1.0-beta": "val-on-objectnet-classes",
        "imagenet-vid-robust_pm0": "val-on-vid-robust-classes",
        "imagenet-vid-robust_pm10": "imagenet-vid-robust_pm0",
        "ytbb-robust_pm0": "val-on-ytbb-robust-classes",
        "ytbb-robust_pm10": "ytbb-robust_pm0",
        "imagenetv2-matched-frequency-format-val_subsampled_class_1_8": "val_subsampled_class_1_8",
    }


def test_every_setting_says_behind_how_many_images_its_accuracy_is():
    import csv

    assert all(entry is not None and entry.n for entry in map(find_shift, testbed_settings()))
    table = Path(__file__).resolve().parents[3] / "shared" / "testbed" / "robustness_top1s.csv"
    if not table.exists():
        pytest.skip("the testbed's accuracies are not here")
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for name in testbed_settings():
        entry = find_shift(name)
        assert entry is not None
        assert entry.n is not None
        rights = [float(row[name]) / 100 * entry.n for row in rows if row[name]]
        # The table is the reference: its accuracies are whole shares of that number, to the digits of float32.
        assert max(abs(right - round(right)) for right in rights) < 0.01, name


def test_the_clean_set_has_two_names():
    assert clean_names() == ("clean", "val")


def test_a_group_takes_what_is_there_of_a_choice():
    assert group_members("cifar", lambda name: False)[-1] == "cifar-10-c"
    assert group_members("cifar", lambda name: True)[-1] == "cifar-10-c:disk"


def test_the_model_that_chose_the_images_is_known_by_its_names():
    entry = find_shift("imagenet-a")
    assert entry is not None
    assert entry.filtered_by is not None
    assert entry.filtered_by.is_called("ResNet-50")
    assert not entry.filtered_by.is_called("resnet50_augmix")
    # Taori et al. 2020 place the knee at 91.86 percent of the clean images of its classes.
    assert entry.filtered_by.clean_accuracy == 0.9186


def test_what_shifts_are_judged_by():
    measures = {name: declared.measure for name, declared in declared_shifts().items() if declared.measure != "top-1"}
    assert measures == {"dfr": "map", "dfr:both-halves": "map", "imagenet-o": "none"}


# --- hints ---


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "imagenet-c/fog/0",
            "no condition named 'imagenet-c/fog/0': '0' is no severity; those of imagenet-c are 1 to 5",
        ),
        ("imagenet-c/fgo", "no condition named 'imagenet-c/fgo'; did you mean imagenet-c/fog?"),
        ("imagenet-c/fgo/3", "no condition named 'imagenet-c/fgo/3'; did you mean imagenet-c/fog?"),
        ("clen", "no condition named 'clen'; did you mean clean?"),
        ("imagenet-vid-robust", "did you mean imagenet-vid-robust_pm0 or imagenet-vid-robust_pm10?"),
        ("cifar-10.1", "did you mean cifar-10.1-v4 or cifar-10.1-v6?"),
        ("mine", "no condition named 'mine'"),
    ],
)
def test_a_name_that_means_nothing_gets_a_hint(text, message):
    with pytest.raises(UsageError) as caught:
        shift_named(text)
    assert message in str(caught.value)


def test_names_to_choose_from_hold_every_shift_and_group():
    assert {*declared_shifts(), *declared_groups(), "clean"} <= set(shift_names())
