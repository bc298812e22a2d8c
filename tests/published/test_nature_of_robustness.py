"""Verdicts of The Many Faces of Robustness on what robustness is, by rules, and that the rules can say otherwise."""

from __future__ import annotations

import pytest

from oodometer.published import many_faces2021
from oodometer.published.many_faces2021 import reproduce
from oodometer.published.nature_of_robustness import places_changed, same_clean_pairs
from oodometer.published.tables import read_table

NAMES = ("imagenet_r", "dfr", "svsf", "real_blur", "imagenet_c_ce", "imagenet_a")
R, DFR, SVSF, BLUR, CE, A = (f"hendrycks2021_{name}" for name in NAMES)
AUGMENTED = ("Style Transfer", "AugMix", "DeepAugment", "DeepAugment + AugMix")


def verdicts() -> dict[str, tuple[object, object]]:
    return {check.what: (check.published, check.ours) for check in reproduce().checks}


@pytest.mark.parametrize(
    ("what", "words"),
    [
        # Sections 5.2 and 6 of the paper
        ("Texture Bias on imagenet_r", "support"),
        ("Texture Bias on imagenet_c", "support"),
        ("Only IID Accuracy Matters on imagenet_r", "contradicted"),
        ("Only IID Accuracy Matters on imagenet_c", "contradicted"),
        ("Only IID Accuracy Matters on dfr", "not contradicted"),
        ("Synthetic ⇏ Natural on imagenet_r", "contradicted"),
        ("Synthetic ⇏ Natural on real_blurry_images", "contradicted"),
        ("method that helps across all distribution shifts, of 4", "none"),
        ("Multivariate: one number does not govern natural robustness", "support"),
    ],
)
def test_a_verdict_is_the_papers(what, words):
    assert verdicts()[what] == (words, words)


def test_networks_of_the_same_clean_error_are_found():
    pairs = same_clean_pairs({name: read_table(f"hendrycks2021_{name}") for name in NAMES}, "imagenet_r")
    # Table 7: 7.9 and 8.0 % on ImageNet-200, 63.9 and 53.2 % on ImageNet-R
    assert ("ResNet-50", "ResNet-50 + DeepAugment + AugMix", pytest.approx(10.7)) in pairs
    assert pairs[0].points == max(pair.points for pair in pairs)
    assert not [pair for pair in pairs if "Linf" in pair.worse + pair.better]  # 25.1 % on ImageNet-200, alone


def test_networks_that_change_places_are_found():
    swaps = places_changed({name: read_table(f"hendrycks2021_{name}") for name in NAMES})
    # Tables 1 and 9: 62.8 and 53.2 % error on ImageNet-R, 11.4 and 3.9 % accuracy on ImageNet-A
    assert str(swaps[0]) == (
        "ResNet-50 + ImageNet-21K Pretraining is better than ResNet-50 + DeepAugment + AugMix on imagenet_a by 7.5, "
        "worse on imagenet_r by 9.6"
    )


def all_alike(change, table: str, column: str, value: float, models: tuple[str, ...] | None = None) -> None:
    for model in models or read_table(table).models:
        change(many_faces2021, table, model, column, value)


def test_augmentation_that_does_not_help_is_no_support(change):
    same = tuple(f"ResNet-50 + {name}" for name in AUGMENTED)
    all_alike(change, R, "imagenet_r_error", 63.9, same)
    all_alike(change, R, "imagenet_200_error", 7.9, same)
    change(many_faces2021, R, "ResNeXt-101 32x8d + DeepAugment + AugMix", "imagenet_r_error", 57.5)
    found = verdicts()
    assert found["Texture Bias on imagenet_r"] == ("support", "none")
    assert found["Synthetic ⇏ Natural on imagenet_r"] == ("contradicted", "not contradicted")
    what = next(what for what in found if what.startswith("larger models and diverse augmentation"))
    assert found[what] == ("help on all", "not diverse_data_augmentation on imagenet_r")


def test_a_shift_that_goes_with_the_clean_result_contradicts_nothing(change):
    table = read_table(R)
    for model in table.models:
        change(many_faces2021, R, model, "imagenet_r_error", 50 + table.value(model, "imagenet_200_error"))
    assert verdicts()["Only IID Accuracy Matters on imagenet_r"] == ("contradicted", "not contradicted")


def test_networks_that_are_apart_contradict_iid_on_fashion(change):
    change(many_faces2021, DFR, "ResNet-50 + Speckle Noise", "size_small", 18.4)
    assert verdicts()["Only IID Accuracy Matters on dfr"] == ("not contradicted", "contradicted")


def test_without_networks_of_the_same_clean_result_nothing_is_shown(change):
    for place, model in enumerate(read_table(DFR).models):
        change(many_faces2021, DFR, model, "iid_map", 70.0 + place)
    ours = verdicts()["Only IID Accuracy Matters on dfr"][1]
    assert ours == "not shown: no two networks have the same clean result"


def test_help_in_france_is_noticed(change):
    all_alike(change, SVSF, "country_france", 50.0, tuple(f"ResNet-50 + {name}" for name in AUGMENTED[:3]))
    assert ("little", "more than 1.5 points") in verdicts().values()


def test_what_the_tables_can_not_show_is_remarked_on():
    texts = [remark.text for remark in reproduce().remarks]
    for hypothesis in ("Texture Bias", "Only IID Accuracy Matters", "Synthetic ⇏ Natural"):
        assert len([text for text in texts if text.startswith(f"{hypothesis}: ")]) == 1
