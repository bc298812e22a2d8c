"""The papers' networks by name: the table is true of timm, and the documentation shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import oodometer
from oodometer.core.errors import UsageError
from oodometer.models.load import load_model
from oodometer.models.paper_networks import WEIGHTS, find_paper_network, paper_networks


def test_timm_has_these_weights(timm):
    known = set(timm.list_pretrained())
    asked = [row.model.removeprefix("timm:") for row in paper_networks().values() if row.model.startswith("timm:")]
    assert len(asked) >= 20
    assert [name for name in asked if name not in known] == []


def test_torchvisions_first_weights_are_taken_where_timm_has_them(timm):
    known = set(timm.list_pretrained())
    for row in paper_networks().values():
        kind, _, name = row.model.partition(":")
        is_first = kind == "torchvision" or name.endswith(".tv_in1k")
        assert is_first == (row.weights == "first"), row.name
        # Torchvision's ResNeXt-101 64x4d is of 2022, later than the papers.
        if kind == "timm" and row.weights == "other" and "64x4d" not in name:
            assert f"{name.partition('.')[0]}.tv_in1k" not in known, row.name


def test_names_of_timm_are_left_alone(timm):
    assert [name for name in timm.list_models() if find_paper_network(name) is not None] == []


@pytest.mark.parametrize("spelled", ["ResNet-50", "resnet-50", "ResNet50", "RESNET-50"])
def test_a_paper_s_name_in_any_spelling(spelled):
    assert find_paper_network(spelled).model == "timm:resnet50.tv_in1k"


def test_the_model_says_which_weights_it_has(timm, monkeypatch):
    import torch

    from oodometer.models import timm as ours

    asked = []

    def create(library, name, *, pretrained):
        asked.append((name, pretrained))
        torch.manual_seed(0)
        return timm.create_model("test_vit", pretrained=False)

    monkeypatch.setattr(ours, "_create", create)
    assert load_model("timm:ResNet-50").notes["weights"] == "resnet50.tv_in1k: torchvision's first"
    assert load_model("timm:test_vit").notes["weights"].startswith("test_vit")
    assert asked[0] == ("resnet50.tv_in1k", True)


def test_what_timm_lacks_is_said(timm):
    with pytest.raises(UsageError, match="timm has no AlexNet; give torchvision:alexnet"):
        load_model("timm:AlexNet")


def test_the_documentation_shows_the_table():
    page = (Path(oodometer.__file__).parents[2] / "docs" / "howto-models.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\| ([\w.+-]+) \| `((?:timm|torchvision):[\w.]+)` \| ([\w' ]+) \|$", page, re.MULTILINE)
    words = {"first": "torchvision's first", "authors": "of its authors", "other": "another training"}
    assert words.keys() == WEIGHTS.keys()
    assert shown == [(row.name, row.model, words[row.weights]) for row in paper_networks().values()]
