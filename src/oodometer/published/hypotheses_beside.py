"""The hypotheses judged from a store's own runs, with the paper's verdict beside each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from oodometer.analysis.hypotheses import (
    DEFAULT_OPTIONS,
    Hypotheses,
    HypothesisOptions,
    Question,
    Source,
    hypotheses_in,
)
from oodometer.analysis.origins import Origin
from oodometer.catalogue.hypotheses import MULTIVARIATE, ONLY_IID, SYNTHETIC, TEXTURE
from oodometer.catalogue.names import find_shift
from oodometer.published.hypotheses import printed_signs
from oodometer.published.tables import read_table

COLUMNS = {
    "imagenet_c": "ImageNet-C",
    "real_blurry_images": "Real Blurry Images",
    "imagenet_a": "ImageNet-A",
    "imagenet_r": "ImageNet-R",
    "dfr": "DFR",
    "svsf": "SVSF",
}
"""The columns of Tables 4 and 6, as they are printed."""

OF_SHIFT = {
    "real-blurry": "real_blurry_images",
    "imagenet-a": "imagenet_a",
    "imagenet-r": "imagenet_r",
    "dfr": "dfr",
    "dfr:both-halves": "dfr",
    "svsf": "svsf",
}
"""A shift of the catalogue to its column."""

OF_KIND = {"corruption": "imagenet_c", "style": "imagenet_r", "adversarially filtered": "imagenet_a"}
"""The kind of a shift that the paper has not to the column of the same kind."""

ABSTRACT = {TEXTURE: "+", ONLY_IID: "-", SYNTHETIC: "-", MULTIVARIATE: "+"}
"""What Section 6 says of the hypotheses that have no row in the tables."""


def hypotheses(
    store: Source, *, origins: Mapping[str, Origin] | None = None, options: HypothesisOptions = DEFAULT_OPTIONS
) -> Hypotheses:
    """What the runs of a store say about each hypothesis about robustness, beside what Hendrycks et al. 2021 say.

    Args:
        origins: Category, parent, parameters and interventions of models whose cards do not say.
    """
    return beside_paper(hypotheses_in(store, origins=origins, options=options))


def beside_paper(judged: Hypotheses) -> Hypotheses:
    """The same with the paper's verdicts."""
    return replace(judged, questions=tuple(_with_paper(question) for question in judged.questions))


def _with_paper(question: Question) -> Question:
    if question.hypothesis in ABSTRACT:
        return replace(question, paper=ABSTRACT[question.hypothesis], paper_on="the whole")
    column = paper_column(question.shift)
    sign = _signs().get((question.hypothesis, column)) if column else None
    return replace(question, paper=sign, paper_on=COLUMNS[column]) if column and sign else question


def paper_column(shift: str) -> str | None:
    """The column of the paper's tables that a shift is held against: its own, or that of its kind.

    >>> paper_column("imagenet-r"), paper_column("cifar-10-c"), paper_column("imagenetv2-matched-frequency")
    ('imagenet_r', 'imagenet_c', None)
    """
    entry = find_shift(shift)
    if entry is None:
        return None
    return OF_SHIFT.get(entry.of) or OF_KIND.get(entry.kind)


@cache
def _signs() -> dict[tuple[str, str], str]:
    return printed_signs(read_table("hendrycks2021_hypotheses"))
