"""The section about hypotheses: the numbers of ``oodometer hypotheses``, and nothing where no two models are a pair."""

from __future__ import annotations

import pytest

import oodometer as odo
from oodometer.analysis.origins import Origin
from oodometer.core.errors import StoreError
from oodometer.document.section import Words
from oodometer.report.html.sections.hypotheses import section
from oodometer.study import study_of

PAIR = {"base": Origin("standard"), "mixed": Origin("robust intervention", "base", None, ("augmix",))}
HITS = {"base": (700, 300), "mixed": (700, 520)}


@pytest.fixture
def store(filled, make_dataset, right):
    clean = make_dataset(1000)
    shifted = make_dataset(1000, name="imagenet-r", ids=[f"r{at}" for at in range(1000)])
    for place, (model, hits) in enumerate(HITS.items()):
        about = {"model": model, "digest": f"{place:032d}", "card": {"category": ""}}
        filled.add(clean, right(hits[0], 1000), condition="clean", **about)
        filled.add(shifted, right(hits[1], 1000), condition="imagenet-r", **about)
    return filled.store


def test_the_table_has_the_numbers_of_the_command(store):
    made = section(study_of(store, origins=PAIR))
    verdicts, pairs, notes = made.parts
    judged = odo.hypotheses(store, origins=PAIR)
    assert [row[:2] for row in verdicts.rows] == [(one.title, one.shift) for one in judged.answered]
    for row, one in zip(verdicts.rows, judged.answered, strict=True):
        assert row[2] == one.value
        assert (row[6], row[7]) == (one.p_corrected, one.verdict)
    assert verdicts.rows[0][-1] == "+ on ImageNet-R"
    assert [row[2:5] for row in pairs.rows] == [("base", "mixed", "augmix")] * 2
    assert isinstance(notes, Words)
    assert "Larger Models on every shift: undefined, no two models differ in this alone" in notes.lines


def test_the_lead_counts_what_can_be_answered(store):
    lead = section(study_of(store, origins=PAIR)).lead
    # 22 points, of which the augmentation and every synthetic intervention have the same evidence
    assert lead[0] == (
        "2 questions can be asked of these runs, and 2 can be answered: Diverse Data Augmentation on imagenet-r (+), "
        "Synthetic does not imply Natural on imagenet-r (-). 2 of 2 are as in the paper."
    )


def test_without_pairs_there_is_no_section_and_no_table(store):
    assert section(study_of(store)) is None
    with pytest.raises(StoreError, match="no two models differ in one thing only"):
        odo.table(store, "hypotheses")


def test_the_table_for_papers_is_the_same(store):
    made = odo.table(store, "hypotheses", origins=PAIR)
    assert made.rows == section(study_of(store, origins=PAIR)).parts[0].rows
    latex = made.written("latex")
    assert "Diverse Data Augmentation" in latex
    assert "+22.0" in made.written("markdown")
    with pytest.raises(odo.UsageError, match="columns of its own"):
        odo.table(store, "hypotheses", options=odo.TableOptions(columns=("ece",)))
