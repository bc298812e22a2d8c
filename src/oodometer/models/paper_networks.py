"""The papers' large networks by the papers' names: ``ResNet-50`` has the weights that the papers measured."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

WEIGHTS = {
    "first": "torchvision's first",
    "authors": "those of the network's authors",
    "other": "another training of the same network",
}
"""Whose weights they are, in words."""


@dataclass(frozen=True)
class PaperNetwork:
    """A network of the papers.

    Args:
        name: As the papers write it.
        model: What follows ``--model``.
        weights: One of `WEIGHTS`.
        papers: Those with numbers of it.
    """

    name: str
    model: str
    weights: str
    papers: tuple[str, ...]

    def in_words(self) -> str:
        """Which weights they are, for the card.

        >>> print(paper_networks()["resnet50"].in_words())
        resnet50.tv_in1k: torchvision's first
        """
        return f"{self.model.partition(':')[2]}: {WEIGHTS[self.weights]}"


@cache
def paper_networks() -> Mapping[str, PaperNetwork]:
    """All of them, by their names in small letters and digits alone, in the order of the table."""
    text = (files("oodometer.models") / "paper_networks.toml").read_text(encoding="utf-8")
    rows = [PaperNetwork(**{**row, "papers": tuple(row["papers"])}) for row in tomllib.loads(text)["network"]]
    return {_key(row.name): row for row in rows}


def find_paper_network(name: str) -> PaperNetwork | None:
    """The network of a name as the papers write it (``ResNet-50``); None for any other, ``resnet50`` for one.

    The names of timm and torchvision have neither capitals nor hyphens, so that none of them is taken for a paper's.

    >>> find_paper_network("resnet-50").model, find_paper_network("resnet50")
    ('timm:resnet50.tv_in1k', None)
    """
    return paper_networks().get(_key(name)) if re.search(r"[A-Z+-]", name) else None


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
