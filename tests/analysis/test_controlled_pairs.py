"""Which models differ in one thing only: by their cards."""

from __future__ import annotations

from dataclasses import replace

import pytest

from oodometer.analysis.controlled_pairs import Candidate, controlled_pairs
from oodometer.analysis.origins import Origin
from oodometer.catalogue.hypotheses import about, is_about_none, is_known
from oodometer.core.errors import UsageError
from oodometer.train.adversaries.registry import adversaries
from oodometer.train.augment.registry import augmentations, copy_methods, parted
from oodometer.train.networks.registry import FAMILIES
from oodometer.train.objectives.registry import PLAIN, objectives

NOTES = {"architecture": "resnet20", "epochs": "40", "augment": "mirror, crop"}


def model(name: str, *interventions: str, parent: str | None = None, size: int | None = None, **more) -> Candidate:
    origin = Origin(more.pop("category", "standard"), parent, size, interventions)
    called = frozenset({name, name.partition("@")[0]})
    notes = more.pop("notes", {})
    return Candidate(name, origin, called, more.pop("data", "icons"), notes)


def told(*models: Candidate, sizes=()) -> list[tuple[str, str, str]]:
    return [(pair.before, pair.after, pair.about) for pair in controlled_pairs(models, sizes).pairs]


def test_what_a_child_has_and_its_parent_has_not_is_what_they_differ_in():
    base = model("base")
    assert told(base, model("a", "augmix", parent="base")) == [("base", "a", "diverse_data_augmentation")]
    assert told(base, model("s", "SE", parent="base")) == [("base", "s", "self_attention")]
    assert told(base, model("l", "larger", parent="base")) == [("base", "l", "larger_models")]
    both = model("both", "se", "augmix", parent="s")
    assert told(model("s", "se"), both) == [("s", "both", "diverse_data_augmentation")]


def test_several_augmentations_are_one_thing_and_several_hypotheses_are_none():
    base = model("base")
    together = model("da", "deepaugment", "augmix", parent="base")
    assert told(base, together) == [("base", "da", "diverse_data_augmentation")]
    mixed = controlled_pairs([base, model("m", "se", "augmix", parent="base")])
    assert mixed.pairs == ()
    assert mixed.notes == ("m and base are no pair: they differ in se and augmix, which are about several hypotheses",)


@pytest.mark.parametrize("name", ["gaussian-noise", "speckle", "pgd", "fgsm", "fast", "fast_adversarial"])
def test_noise_and_adversarial_training_are_controls(name):
    assert told(model("base"), model("n", name, parent="base")) == [("base", "n", "control")]


def test_all_that_training_writes_on_a_card_has_its_place():
    plain, further = parted((*augmentations.names(), *copy_methods.names()))
    assert plain
    of_networks = {family.intervention for family in FAMILIES.values()} - {None}
    written = {*further, *adversaries.names(), *objectives.names(), *of_networks} - {PLAIN}
    assert len(written) >= 20
    assert [name for name in sorted(written) if not is_known(name) and not is_about_none(name)] == []
    # reference: Hendrycks et al. (2021), Table 1: AugMix and random erasing are diverse, SE and CBAM self-attention
    homes = {"augmix-10": "diverse_data_augmentation", "erase": "diverse_data_augmentation", "cbam": "self_attention"}
    assert {name: about([name]) for name in homes} == homes
    assert about(["augmix", "consistency"]) == "diverse_data_augmentation"
    aside = controlled_pairs([model("base"), model("s", "shake-shake", parent="base")])
    assert aside.notes == ("s and base are no pair: shake-shake is about none of the hypotheses",)


def test_a_category_counts_where_no_intervention_is_named():
    more = model("m", parent="base", category="more data")
    assert told(model("base"), more) == [("base", "m", "pretraining")]
    silent = controlled_pairs([model("base"), model("m", parent="base", category="standard")])
    assert silent.notes == ("m and base are no pair: its card names no intervention",)


def test_what_nobody_knows_is_said():
    base = model("base")
    assert controlled_pairs([base, model("m", "magic", parent="base")]).notes == (
        "m and base are no pair: nobody says which hypothesis magic is about",
    )
    assert controlled_pairs([base, model("m", "augmix", parent="gone")]).notes == (
        "no pair of m: the parent was not measured, or several models have its name",
    )
    undone = controlled_pairs([model("base", "se"), model("m", "augmix", parent="base")])
    assert undone.notes == ("m and base are no pair: base has interventions that m has not",)


def test_a_parent_is_found_by_the_name_of_its_card():
    assert told(model("base@ab12"), model("m", "augmix", parent="base")) == [
        ("base@ab12", "m", "diverse_data_augmentation")
    ]


def sized(name: str, architecture: str, size: int, *interventions: str, **notes: str) -> Candidate:
    return model(name, *interventions, size=size, notes={**NOTES, "architecture": architecture, **notes})


def test_sizes_of_one_network_are_pairs_with_the_smallest():
    models = [sized("c", "resnet56", 855), sized("a", "resnet20", 272), sized("b", "resnet32", 466)]
    assert told(*models) == [("a", "b", "larger_models"), ("a", "c", "larger_models")]
    assert controlled_pairs(models).pairs[0].differs == "1.71 times the parameters"  # 466 / 272


def test_a_wider_child_is_a_pair_by_its_size():
    wide = sized("wide", "resnet20x2", 1073)
    wide = replace(wide, origin=replace(wide.origin, parent="a"))
    both = controlled_pairs([sized("a", "resnet20", 272), wide])
    assert [(pair.before, pair.after, pair.about) for pair in both.pairs] == [("a", "wide", "larger_models")]
    assert both.notes == (), "that its card names no intervention matters no more"


@pytest.mark.parametrize("note", ["share", "classes", "fold", "warm_up", "objective", "eps"])
def test_sizes_that_were_trained_otherwise_are_no_pairs(note):
    models = [sized("a", "resnet20", 272), sized("b", "resnet32", 466, **{note: "2"})]
    assert controlled_pairs(models).pairs == ()
    assert told(models[0], sized("b", "resnet32", 466)) == [("a", "b", "larger_models")]


def test_sizes_that_differ_in_something_else_are_no_pairs():
    small = sized("a", "resnet20", 272)
    assert told(small, sized("b", "densenet40", 466)) == []
    assert told(small, sized("b", "resnet20-se", 466)) == []
    assert told(small, sized("b", "resnet32", 466, "augmix")) == []
    assert told(small, sized("b", "resnet20", 272)) == []
    longer = controlled_pairs([small, sized("b", "resnet32", 466, epochs="80")])
    assert longer.pairs == ()
    assert longer.notes == ("not all of a, b are pairs by their size: they differ in epochs too",)


def test_a_pattern_says_which_models_are_sizes_of_one_thing():
    models = [model("r50", size=25), model("r101", size=44), model("r50+se", "se", size=28), model("x", size=9)]
    assert told(*models, sizes=["r*"]) == [("r50", "r101", "larger_models")]
    with pytest.raises(UsageError, match="fits no two models"):
        controlled_pairs(models, ["x*"])
