"""What people call the classes of answers: ImageNet's by number and by id, masks, groups, and what nobody knows."""

from __future__ import annotations

import numpy as np

from oodometer.analysis.class_names import answer_names
from oodometer.core.labels import LabelSpace, numbered
from oodometer.core.predictions import from_logits
from oodometer.store.index import look

ZOO = LabelSpace("zoo", ("ant", "cat", "sea_lion"))
# imagenet_classes.csv: the classes 207, 511 and 609
RETRIEVER, CONVERTIBLE, JEEP = "golden retriever", "convertible", "jeep"


def test_a_thousand_numbers_are_those_of_imagenet(filled, make_dataset):
    cell = filled.add(make_dataset(3, labels=[207, 511, 609], space=numbered(1000)), [0, 0, 1])
    names = answer_names(look(filled.store), cell)
    assert [names[place] for place in (207, 511, 609)] == [RETRIEVER, CONVERTIBLE, JEEP]
    assert len(names) == 1000
    assert len(set(names.values())) == 1000  # two are called crane, and are told apart


def test_folders_of_some_numbers_are_imagenet_under_its_models(filled, make_dataset):
    data = make_dataset(2, labels=[207, 511], space=numbered(512))
    cell = filled.put(
        data, from_logits(np.eye(1000)[[207, 609]], data.labels, np.arange(2)), n_classes=1000, space="imagenet-1k"
    )
    names = answer_names(look(filled.store), cell)
    assert (names[207], names[609]) == (RETRIEVER, JEEP)  # the latter is no class of the data


def test_other_numbers_stay_numbers(filled, make_dataset):
    cell = filled.add(make_dataset(3, labels=[0, 1, 2], space=numbered(3)), [0, 0, 0])
    assert answer_names(look(filled.store), cell) == {0: "0", 1: "1", 2: "2"}


def test_images_of_no_class_give_no_names(filled, make_dataset):
    data = make_dataset(2, labels=[-1, -1], space=numbered(1), name="street")
    about = {"n_classes": 3, "condition": "street"}
    cell = filled.put(data, from_logits(np.eye(3)[[0, 1]], data.labels, np.arange(2)), **about)
    assert answer_names(look(filled.store), cell) == {}
    filled.add(make_dataset(3, labels=[0, 1, 2], space=ZOO), [0, 0, 0])  # the same model, on images with labels
    assert answer_names(look(filled.store), cell) == {0: "ant", 1: "cat", 2: "sea lion"}


def test_models_may_number_the_classes_in_another_order(filled, make_dataset):
    data = make_dataset(3, labels=[0, 1, 2], space=ZOO)
    place = np.array([2, 0, 1])  # the model's outputs are cat, sea lion, ant
    cell = filled.put(data, from_logits(np.eye(3)[[0, 1, 2]], place[data.labels], np.arange(3)))
    assert answer_names(look(filled.store), cell) == {2: "ant", 0: "cat", 1: "sea lion"}


def test_classes_that_stand_for_several_and_those_of_other_cells(filled, make_dataset):
    pets = np.array([0, 1, 1, 2])  # ant; cat or sea lion; and something that occurs elsewhere alone
    data = make_dataset(3, labels=[0, 1, 2], space=ZOO)
    about = {"n_classes": 3, "label_map": "pets"}
    cell = filled.put(data, from_logits(np.eye(3)[[0, 1, 0]], pets[:3], np.arange(3)), **about)
    assert answer_names(look(filled.store), cell) == {0: "ant", 1: "cat and sea lion"}
    more = make_dataset(1, labels=[0], space=LabelSpace("more", ("eel",)), ids=["x"], name="more")
    filled.put(more, from_logits(np.eye(3)[[2]], pets[3:], np.arange(1)), condition="more", **about)
    assert answer_names(look(filled.store), cell) == {0: "ant", 1: "cat and sea lion", 2: "eel"}
