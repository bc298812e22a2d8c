"""The section of the hardest images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import oodometer as odo
from oodometer.core.condition import Condition, Shift
from oodometer.core.labels import LabelSpace
from oodometer.core.records import record_of_shift
from oodometer.document.section import Pictures, Words
from oodometer.document.table import Table
from oodometer.report.html.page import page_html
from oodometer.report.html.sections.hardest import MOST_BYTES, MOST_PICTURES, section
from oodometer.study import study_of

PETS = LabelSpace("pets", ("cat", "dog", "<b>eel</b>"))


def only(parts, kind):
    (found,) = [one for one in parts if isinstance(one, kind)]
    return found


@pytest.fixture
def pets(make_dataset):
    return make_dataset(6, k=3, labels=[0, 1, 2, 0, 1, 2], space=PETS)


@pytest.fixture
def three_models(filled, pets):
    # With rank 1 the answer is the first other class: dog for a cat, cat for a dog or an eel.
    for number, ranks in enumerate(([0, 1, 1, 1, 0, 0], [0, 1, 0, 1, 0, 0], [0, 1, 0, 0, 0, 0])):
        filled.add(pets, ranks, model=f"m{number}", digest=f"{number}" * 32)
    return filled.store


def grey(_cell, image_id):
    return np.full((8, 8, 3), int(image_id), dtype=np.uint8)


def test_pictures_with_class_count_and_what_was_said_instead(three_models, pets):
    made = section(replace(study_of(three_models), picture=grey))
    pictures = only(made.parts, Pictures)
    assert [lines for _, _, lines in pictures.images] == [
        ("dog", "missed by 3 of 3", "3 call it cat"),
        ("cat", "missed by 2 of 3", "2 call it dog"),
        ("<b>eel</b>", "missed by 1 of 3", "1 calls it cat"),  # as it is: the template escapes it
    ]
    assert pictures.caption == "clean on val: of 6 images, 1 is missed by all 3 models. Shown: 3."
    assert all(source.startswith("data:image/png;base64,") for source, _, _ in pictures.images)
    table = only(made.parts, Table)
    assert table.folded
    assert table.rows[0] == ("clean", pets.ids[1], "dog", 3, 3, "cat", 3)


def test_without_pictures_the_same_as_a_table(three_models):
    made = section(study_of(three_models))
    assert not [one for one in made.parts if isinstance(one, Pictures)]
    table = only(made.parts, Table)
    assert not table.folded
    assert [row[3] for row in table.rows] == [3, 2, 1]
    assert "--data" in made.lead[-1]


def test_a_picture_that_is_not_there_is_left_out(three_models, pets):
    made = section(replace(study_of(three_models), picture=lambda *at: None if at[1] == pets.ids[1] else grey(*at)))
    assert [lines[0] for _, _, lines in only(made.parts, Pictures).images] == ["cat", "<b>eel</b>"]
    assert len(only(made.parts, Table).rows) == 3


def test_one_model_alone_is_said(filled, pets):
    filled.add(pets, [1, 0, 0, 1, 0, 0])
    made = section(replace(study_of(filled.store), picture=grey))
    assert made.lead[0].startswith("Only mine was asked, so there is no hardest image")
    pictures = only(made.parts, Pictures)
    assert pictures.caption == "clean on val: 2 of 2 images that mine misses, of 6."
    assert pictures.images[0][2] == ("cat", "called dog")


def test_nothing_where_nobody_errs(filled, pets):
    filled.add(pets, [0] * 6)
    assert section(study_of(filled.store)) is None


def test_of_equals_each_class_in_turn_and_agreement_first(filled, make_dataset):
    data = make_dataset(40, k=4, labels=np.repeat([0, 1], 20), space=LabelSpace("l", ("a", "b", "c", "d")))
    for number in range(3):
        ranks = np.ones(40, dtype=int)
        filled.add(data, ranks, model=f"m{number}", digest=f"{number}" * 32)
    made = section(study_of(filled.store))
    assert [row[2] for row in only(made.parts, Table).rows] == ["a", "b"] * 6


@pytest.fixture
def with_shifts(filled, make_dataset, right):
    """A clean set, and as many natural shifts of it as asked for, of 40 images each, all missed by two models."""

    def fill(n):
        clean = Condition("iid", make_dataset(40, name="iid"))
        for number in range(n):
            data = make_dataset(40, name=f"s{number}", ids=[f"{number}-{one}" for one in range(40)])
            filled.store.add_shift(record_of_shift(Shift(f"s{number}", "style", clean, Condition(f"s{number}", data))))
            for model in "ab":
                filled.add(data, right(2 + number, 40), model=model, digest=model * 32, condition=f"s{number}")
        for model, hits in (("a", 20), ("b", 30)):
            filled.add(clean.dataset, right(hits, 40), model=model, digest=model * 32, condition="iid")
        return filled.store

    return fill


def test_the_clean_set_and_each_natural_shift(with_shifts):
    made = section(replace(study_of(with_shifts(2)), picture=grey_of_text))
    pictures = [one for one in made.parts if isinstance(one, Pictures)]
    assert [one.caption for one in pictures] == [
        "iid: of 40 images, 10 are missed by both models. Shown: 8.",
        "s0: of 40 images, 38 are missed by both models. Shown: 8.",
        "s1: of 40 images, 37 are missed by both models. Shown: 8.",
    ]


def grey_of_text(_cell, image_id):
    return np.full((8, 8, 3), len(image_id), dtype=np.uint8)


def test_never_more_than_a_page_bears(with_shifts):
    rng = np.random.default_rng(0)

    def noise(_cell, _image_id):
        return rng.integers(0, 255, (200, 200, 3), dtype=np.uint8)  # nothing is larger when compressed

    made = section(replace(study_of(with_shifts(8)), picture=noise))
    sources = [source for one in made.parts if isinstance(one, Pictures) for source, _, _ in one.images]
    assert 0 < len(sources) <= MOST_PICTURES
    assert sum(map(len, sources)) <= MOST_BYTES
    (note,) = only(made.parts, Words).lines
    assert note == "Not shown: s5, s6, s7."


def test_the_same_name_on_other_data_is_kept_apart(filled, make_dataset):
    for number, model in enumerate("abc"):
        data = make_dataset(4, name=f"d{number}", ids=[f"{number}-{one}" for one in range(4)])
        filled.add(data, [1, 0, 0, 0], model=model, digest=model * 32)
    made = section(study_of(filled.store))
    assert len(only(made.parts, Table).rows) == 1  # of one data set alone


def test_a_store_of_accuracies_alone_has_no_images(tmp_path):
    (tmp_path / "t.csv").write_text("model,val,imagenetv2\na,0.7,0.6\nb,0.8,0.7\n")
    odo.import_table(str(tmp_path / "t.csv"), store=str(tmp_path / "runs"))
    assert section(study_of(str(tmp_path / "runs"))) is None


def test_names_can_write_nothing_into_the_page(three_models):
    made = section(replace(study_of(three_models), picture=grey))
    html = page_html([made], ["standard"], title="t")
    assert "<b>eel</b>" not in html
    assert "&lt;b&gt;eel&lt;/b&gt;" in html
    assert html.count('src="data:image/png;base64,') == 3
