"""What a store knows, typed: it comes back from JSON as it was, and keys hold what answers depend on and no more."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oodometer.core.attack import Attack
from oodometer.core.condition import Condition, Family, Shift, Transform, clean
from oodometer.core.labels import LabelSpace, mask, numbered
from oodometer.core.model import Card, Input, Model
from oodometer.core.preprocessing import Geometry
from oodometer.core.records import (
    PREDICTIONS,
    AttackRecord,
    ConditionRecord,
    DataRef,
    ModelRecord,
    ShiftRecord,
    TransformRecord,
    read_condition,
    read_model,
    read_shift,
    record_of_condition,
    record_of_model,
    record_of_shift,
)
from oodometer.core.stored_answers import StoredAnswers

quick = settings(deadline=None, derandomize=True, max_examples=60)
DATA = DataRef("0" * 32, "imagenet-c", "fog/3", "100, seed 0")
VIEW = Geometry(224, 224, resize=256)
NET = ModelRecord(
    "net",
    "onnx",
    "a" * 32,
    Input(),
    "imagenet",
    1000,
    "c" * 32,
    Card("more data", parent="plain", interventions=("AugMix", "more"), training_data="JFT"),
    {"opset": "17"},
)
FOG = ConditionRecord(
    "fog/3",
    DATA,
    "b" * 32,
    TransformRecord("fog", {"severity": 3, "seed": 0, "quality": None}, VIEW),
    unit="anchor",
    groups="d" * 32,
)
ATTACKED = ConditionRecord("pgd", DATA, attack=AttackRecord("pgd", {"epsilon": 2.0, "steps": 10}))
PAIR = ShiftRecord(
    "imagenet-c/fog/3", "corruption", ConditionRecord("clean", DATA), FOG, Family("imagenet-c", "fog", 3), "map"
)
READERS: list[tuple[Any, Callable[[Any], Any]]] = [
    (NET, read_model),
    (replace(NET, input=None), read_model),
    (ModelRecord("theirs", PREDICTIONS, "e" * 32), read_model),
    (FOG, read_condition),
    (ATTACKED, read_condition),
    (ConditionRecord("clean", DataRef("f", "mine")), read_condition),
    (PAIR, read_shift),
    (replace(PAIR, family=None, measure="top-1"), read_shift),
]


def in_json(record: Any) -> Any:
    return json.loads(json.dumps(asdict(record)))


# Round trips


@pytest.mark.parametrize(("record", "read"), READERS)
def test_a_record_comes_back_from_json(record, read):
    again = read(in_json(record))
    assert again == record
    assert again.key == record.key


texts = st.text(max_size=5)
maybe = st.none() | texts
numbers = st.floats(0.01, 1.0)
views = st.builds(
    Geometry,
    st.integers(1, 300),
    st.integers(1, 300),
    st.none() | st.integers(300, 400),
    st.sampled_from(["bilinear", "bicubic"]),
)
parameters = st.dictionaries(texts, st.none() | st.booleans() | st.integers() | numbers | texts, max_size=3)
data = st.builds(DataRef, texts, texts, texts, texts)
conditions = st.builds(
    ConditionRecord,
    texts,
    data,
    maybe,
    st.none() | st.builds(TransformRecord, texts, parameters, views),
    st.none() | st.builds(AttackRecord, texts, parameters),
    maybe,
    maybe,
)
models = st.builds(
    ModelRecord,
    texts,
    texts,
    texts,
    st.none() | st.builds(Input, views, st.tuples(numbers, numbers, numbers), st.tuples(numbers, numbers, numbers)),
    texts,
    st.none() | st.integers(),
    maybe,
    st.builds(Card, st.sampled_from(["standard", "more data"]), maybe, st.lists(texts).map(tuple), maybe),
    st.dictionaries(texts, texts, max_size=2),
)
shifts = st.builds(
    ShiftRecord,
    texts,
    st.sampled_from(["dataset", "corruption"]),
    conditions,
    conditions,
    st.none() | st.builds(Family, texts, texts, st.integers()),
    st.sampled_from(["top-1", "none"]),
)


@quick
@given(model=models, condition=conditions, shift=shifts)
def test_any_record_comes_back_from_json_with_its_key(model, condition, shift):
    for record, read in ((model, read_model), (condition, read_condition), (shift, read_shift)):
        again = read(in_json(record))
        assert again == record
        assert again.key == record.key


# Keys


def others(record: Any, **values: Any) -> Iterator[Any]:
    for name, value in values.items():
        yield replace(record, **{name: value})


def test_the_key_of_a_model_is_of_all_that_its_answers_depend_on_and_of_its_name():
    seen = NET.input
    assert seen is not None
    different = [
        *others(NET, name="other", digest="b" * 32, input=None, classes="another order"),
        *(replace(NET, input=one) for one in others(seen, view=Geometry(224, 224), mean=(0.5,) * 3, std=(0.5,) * 3)),
    ]
    assert len({one.key for one in (NET, *different)}) == 1 + len(different)
    same = list(others(NET, kind="torch", space="mine", n_classes=9, card=Card(), notes={}))
    assert {one.key for one in same} == {NET.key}
    # Every field is spoken of here.
    assert {"name", "digest", "input", "classes"} | {"kind", "space", "n_classes", "card", "notes"} == {
        one.name for one in fields(ModelRecord)
    }


def test_equal_preprocessing_has_equal_keys_however_it_was_written():
    whole, broken = (
        replace(NET, input=Input(mean=(zero, zero, zero), std=(one, one, one))) for zero, one in ((0, 1), (0.0, 1.0))
    )
    assert whole == broken
    assert whole.key == broken.key


def test_answers_from_elsewhere_are_one_model_by_its_name():
    first, second = (ModelRecord("theirs", PREDICTIONS, digest * 32) for digest in "ab")
    assert first.key == second.key != replace(first, name="others").key
    assert (first.weights, NET.weights) == ("", NET.digest)
    assert first.identity != second.identity, "their cells are two"


def test_the_key_of_a_condition_is_of_everything_but_what_the_data_are_called():
    transform = FOG.transform
    assert transform is not None
    different = [
        *others(FOG, name="fog", label_map=None, transform=None, attack=ATTACKED.attack, unit=None, groups="other"),
        replace(FOG, data=replace(DATA, digest="1" * 32)),
        *(replace(FOG, transform=one) for one in others(transform, name="snow", view=Geometry(224, 224))),
        replace(FOG, transform=replace(transform, parameters={"severity": 3, "seed": 1, "quality": None})),
    ]
    assert len({one.key for one in (FOG, *different)}) == 1 + len(different)
    assert replace(FOG, data=DataRef(DATA.digest, "another name")).key == FOG.key
    turned = dict(reversed(list(transform.parameters.items())))
    assert replace(FOG, transform=replace(transform, parameters=turned)).key == FOG.key


def test_the_key_of_a_shift_is_of_the_pair_and_of_all_that_is_said_about_it():
    different = list(
        others(PAIR, name="x", kind="style", standard=ATTACKED, shifted=ATTACKED, family=None, measure="none")
    )
    assert [one.name for one in fields(ShiftRecord)] == ["name", "kind", "standard", "shifted", "family", "measure"]
    assert len({one.key for one in (PAIR, *different)}) == 1 + len(different)
    renamed = replace(PAIR.standard, data=replace(DATA, name="another"))
    assert replace(PAIR, standard=renamed).key == PAIR.key


def test_parts_of_one_data_set_have_one_source():
    fog, snow = (DataRef(digest, "imagenet-c", part, "100, seed 0") for digest, part in (("a", "fog/3"), ("b", "snow")))
    assert fog.source == snow.source == "imagenet-c[100, seed 0]"
    assert DataRef("a", "val").source == "a", "what has no parts is known by its digest"
    assert replace(fog, subset="").source != fog.source


@pytest.mark.parametrize(
    ("kind", "other"),
    [("dataset", True), ("adversarially filtered", True), ("attribute", True), ("corruption", False), ("style", False)],
)
def test_whether_the_shifted_images_are_others(kind, other):
    assert replace(PAIR, kind=kind).of_other_images == other


# From the nouns


def fog(severity: int, view: Geometry = VIEW) -> Transform:
    return Transform("fog", {"severity": severity, "seed": 0}, lambda image, _: image, view)


def test_the_record_of_a_condition(make_dataset):
    data, two = make_dataset(4), mask("two", numbered(3), ["0", "2"])
    ref = DataRef(data.digest, "val")
    assert record_of_condition(clean(data)) == ConditionRecord("clean", ref)
    assert record_of_condition(clean(data, label_map=two)) == ConditionRecord("clean", ref, two.digest)
    assert record_of_condition(Condition("fog/1", data, transform=fog(1))) == ConditionRecord(
        "fog/1", ref, transform=TransformRecord("fog", {"severity": 1, "seed": 0}, VIEW)
    )
    attack = Attack("pgd", {"epsilon": 2.0}, apply=lambda *_: None)
    assert record_of_condition(Condition("pgd", data, attack=attack)).attack == AttackRecord("pgd", {"epsilon": 2.0})
    some = replace(data.take(np.array([0, 2]), subset="2, seed 0"), part="fog/3")
    assert record_of_condition(clean(some)).data == DataRef(some.digest, "val", "fog/3", "2, seed 0")


def test_groups_are_part_of_a_condition_that_is_judged_by_them(make_dataset):
    data = make_dataset(4, columns={"anchor": np.array([0, 0, 1, 1]), "offset": np.array([0, 1, 0, 1])})
    regrouped = replace(data, columns={**data.columns, "anchor": np.array([0, 1, 1, 0])})
    reordered = replace(data, columns={**data.columns, "offset": np.array([1, 0, 0, 1])})
    assert regrouped.digest == reordered.digest == data.digest
    judged = [record_of_condition(Condition("pm-1", one, unit="anchor")) for one in (data, regrouped, reordered)]
    assert len({one.key for one in judged}) == 3
    plain = [record_of_condition(Condition("pm-1", one)) for one in (data, regrouped)]
    assert plain[0] == plain[1]
    assert plain[0].groups is None


def test_the_record_of_a_shift(make_dataset):
    data, family = make_dataset(4), Family("imagenet-c", "fog", 1)
    shifted = Condition("imagenet-c/fog/1", data, transform=fog(1))
    record = record_of_shift(Shift(str(family), "corruption", clean(data), shifted, family, "none"))
    assert record == ShiftRecord(
        "imagenet-c/fog/1",
        "corruption",
        record_of_condition(clean(data)),
        record_of_condition(shifted),
        family,
        "none",
    )


def make_model(space: LabelSpace) -> Model:
    card = Card("more data", interventions=("AugMix",))
    about = {"card": card, "notes": {"a": "b"}}
    return Model("m", "test", "d" * 32, Input(), space, lambda compute: lambda images: images, **about)


def test_the_record_of_a_model():
    pets = LabelSpace("pets", ("cat", "dog", "eel"))
    record = record_of_model(make_model(pets))
    assert (record.name, record.kind, record.digest, record.input) == ("m", "test", "d" * 32, Input())
    assert (record.space, record.n_classes, record.notes) == ("pets", 3, {"a": "b"})
    assert record.card == Card("more data", interventions=("AugMix",))
    turned = record_of_model(make_model(LabelSpace("pets", ("dog", "cat", "eel"))))
    assert record.key != turned.key, "by the names of the classes labels become indices of the outputs"


def test_the_record_of_stored_answers():
    answers = StoredAnswers("theirs", "d" * 32, ("a", "b"), np.zeros((2, 3)), "logits", Card("more data"))
    record = record_of_model(answers)
    assert record == ModelRecord("theirs", PREDICTIONS, "d" * 32, card=Card("more data"))


# Damage


@pytest.mark.parametrize(("record", "read"), READERS)
@pytest.mark.parametrize("value", [None, 7, "text", [], [1], {}, {"name": "net"}])
def test_what_is_no_record_is_refused(record, read, value):
    with pytest.raises((ValueError, TypeError)):
        read(value)


@pytest.mark.parametrize(("record", "read"), READERS)
def test_a_record_with_a_field_too_many_or_too_few_is_refused(record, read):
    whole = in_json(record)
    with pytest.raises(ValueError, match="expected the fields name, "):
        read({**whole, "surprise": 1})
    for name in whole:
        with pytest.raises(ValueError, match="expected the fields name, "):
            read({key: value for key, value in whole.items() if key != name})


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all values of a record in JSON but those of free form, which may be anything."""
    for key, inner in value.items():
        yield (*path, key)
        if isinstance(inner, dict) and key not in ("parameters", "notes"):
            yield from places(inner, (*path, key))


def changed(value: dict[str, Any], path: tuple[Any, ...], new: Any) -> dict[str, Any]:
    key, *rest = path
    return {**value, key: changed(value[key], tuple(rest), new) if rest else new}


@pytest.mark.parametrize(
    ("record", "read", "path"),
    [(record, read, path) for record, read in READERS for path in places(in_json(record))],
)
def test_a_value_of_another_kind_is_refused(record, read, path):
    with pytest.raises((ValueError, TypeError)):
        read(changed(in_json(record), path, 1.5))


@pytest.mark.parametrize(
    ("record", "read", "path", "new"),
    [
        (NET, read_model, ("card", "category"), "unheard of"),
        (NET, read_model, ("input", "mean"), [0.5, 0.5]),
        (NET, read_model, ("input", "std"), [0.0, 0.5, 0.5]),
        (NET, read_model, ("input", "view", "height"), 0),
        (NET, read_model, ("input", "view", "interpolation"), "by hand"),
        (FOG, read_condition, ("transform", "view", "resize"), 3),
        (PAIR, read_shift, ("kind",), "unheard of"),
        (PAIR, read_shift, ("measure",), "unheard of"),
        (PAIR, read_shift, ("shifted", "data"), None),
    ],
)
def test_a_value_that_means_nothing_is_refused(record, read, path, new):
    with pytest.raises((ValueError, TypeError)):
        read(changed(in_json(record), path, new))


def test_a_card_from_before_it_had_a_number_of_parameters():
    """Stores already written still open."""
    written = json.loads(json.dumps(asdict(NET)))
    del written["card"]["parameters"]
    assert read_model(written) == NET
    assert NET.card.parameters is None


def test_the_number_of_parameters_is_kept_and_no_part_of_the_key():
    sized = replace(NET, card=replace(NET.card, parameters=25_557_032))
    assert read_model(json.loads(json.dumps(asdict(sized)))) == sized
    assert sized.key == NET.key
