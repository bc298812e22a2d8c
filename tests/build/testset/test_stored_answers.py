"""What models answered about given images, whatever data set and whatever order of classes they were asked with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import oodometer as odo
from oodometer.build.testset.stored_answers import Asked, filter_answers, largest_confidence, models_asked, rows_about
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace, super_classes
from oodometer.core.model import Input, Model
from oodometer.core.preprocessing import Geometry
from oodometer.core.stored_answers import StoredAnswers
from oodometer.data.imagenet import imagenet

MakeDataset = Callable[..., Dataset]
ANIMALS = LabelSpace("animals", ("ant", "cat", "dog"))


def says(name: str, space: LabelSpace, answers: dict[int, str], sure: float = 3.0) -> Model:
    """A model that answers by the value of the pixels, which is the position of the image."""

    def answer(images: np.ndarray) -> np.ndarray:
        logits = np.zeros((len(images), len(space)), np.float32)
        for row, position in enumerate(images[:, 0, 0, 0].tolist()):
            logits[row, space.classes.index(answers[position])] = sure
        return logits

    return Model(name, "test", name.ljust(32, "0"), Input(Geometry(1, 1)), space, lambda _: answer)


def test_models_with_their_classes_in_other_orders(make_dataset: MakeDataset, tmp_path) -> None:
    data = make_dataset(4, space=ANIMALS, labels=[0, 1, 2, 0])
    other = LabelSpace("zoo", ("dog", "cat", "ant"))
    said = {0: "ant", 1: "dog", 2: "dog", 3: "cat"}
    models = [says("a", ANIMALS, said), says("b", other, said, sure=1.0)]
    odo.run(models, [odo.clean(data)], store=str(tmp_path / "runs"))
    ids = (data.ids[3], data.ids[1])  # some of them, in another order
    rows = rows_about(str(tmp_path / "runs"), ids)
    assert [(one.model, one.names, one.right.tolist()) for one in rows] == [
        ("a", ["cat", "dog"], [False, False]),
        ("b", ["cat", "dog"], [False, False]),
    ]
    asked = Asked(ids, ("ant", "cat"))
    answers, names = filter_answers(models_asked(str(tmp_path / "runs"), asked), asked, ANIMALS.classes)
    assert names == ["ant", "cat", "dog"]
    assert answers.labels.tolist() == [0, 1]
    assert answers.predictions.tolist() == [[1, 2], [1, 2]]
    assert answers.called.tolist() == [1, 2]
    # closed form: softmax of one logit of 3 (or 1) among zeros
    expected = [[1 / (np.exp(sure) + 2)] * 2 for sure in (3.0, 1.0)]
    assert answers.on_true_class == pytest.approx(np.array(expected), rel=1e-5)


def test_answers_of_all_imagenet_have_names_that_the_data_lack(make_dataset: MakeDataset, tmp_path) -> None:
    space = imagenet()
    tench, goldfish, stingray = space.classes[0], space.classes[1], space.classes[6]
    data = make_dataset(2, space=space, labels=[0, 1])
    odo.run([says("net", space, {0: stingray, 1: goldfish})], [odo.clean(data)], store=str(tmp_path / "runs"))
    (rows,) = rows_about(str(tmp_path / "runs"), data.ids)
    assert rows.names == [stingray, goldfish]
    asked = Asked(data.ids, (tench, goldfish))
    answers, names = filter_answers(models_asked(str(tmp_path / "runs"), asked), asked, ())
    assert [names[at] for at in answers.called] == [stingray, goldfish]


def test_answers_nobody_has_a_name_for(make_dataset: MakeDataset, tmp_path) -> None:
    data = make_dataset(2, space=ANIMALS, labels=[0, 1])
    odo.run([says("net", ANIMALS, {0: "dog", 1: "cat"})], [odo.clean(data)], store=str(tmp_path / "runs"))
    (rows,) = rows_about(str(tmp_path / "runs"), data.ids)
    assert rows.names == ["class 2 of animals", "cat"]


def test_super_classes_are_right_for_all_of_their_members(make_dataset: MakeDataset, tmp_path) -> None:
    data = make_dataset(3, space=ANIMALS, labels=[0, 1, 2])
    broad = super_classes("broad", ANIMALS, {"insect": ["ant"], "mammal": ["cat", "dog"]})
    model = says("net", ANIMALS, {0: "ant", 1: "dog", 2: "ant"})
    odo.run([model], [odo.clean(data, label_map=broad)], store=str(tmp_path / "runs"))
    asked = Asked(data.ids, ANIMALS.classes)
    answers, _ = filter_answers(models_asked(str(tmp_path / "runs"), asked), asked, ())
    assert (answers.predictions == answers.labels).tolist() == [[True, True, False]]


def test_changed_images_are_others(make_dataset: MakeDataset, tmp_path) -> None:
    data = make_dataset(2, space=ANIMALS, labels=[0, 1])
    inverted = odo.Transform("inverted", {}, lambda image, _: 255 - image, None)
    condition = odo.Condition("inverted", data, transform=inverted)
    sees = dict.fromkeys((254, 255), "ant")
    odo.run([says("net", ANIMALS, sees)], [condition], store=str(tmp_path / "runs"))
    assert rows_about(str(tmp_path / "runs"), data.ids) == []


def test_answers_without_confidence(make_dataset: MakeDataset, tmp_path) -> None:
    """Files of predictions may name the best classes alone."""
    data = make_dataset(3, space=ANIMALS, labels=[0, 1, 2])
    best = StoredAnswers("theirs", "c" * 32, data.ids, np.array([[1, 0], [2, 1], [0, 2]]), "classes")
    odo.run([best], [odo.clean(data)], store=str(tmp_path / "runs"))
    asked = Asked(data.ids, ANIMALS.classes)
    models = models_asked(str(tmp_path / "runs"), asked)
    with pytest.raises(
        DataError, match=r"of 3 answers of theirs nobody knows its confidence in the true class.*logits"
    ):
        filter_answers(models, asked, ())
    with pytest.raises(DataError, match="of 3 answers of theirs nobody knows how confident its answers are"):
        largest_confidence(models, asked)


def test_of_two_runs_of_a_model_the_fuller_one_counts(make_dataset: MakeDataset, tmp_path) -> None:
    data = make_dataset(6, space=ANIMALS, labels=[0, 1, 2, 0, 1, 2])
    model = says("net", ANIMALS, dict.fromkeys(range(6), "ant"))
    for some in (data.take(np.arange(2)), replace(data, name="again"), data.take(np.arange(3))):
        odo.run([model], [odo.clean(some)], store=str(tmp_path / "runs"))
    (rows,) = rows_about(str(tmp_path / "runs"), data.ids)
    assert len(rows.at) == 6
    (some_rows,) = rows_about(str(tmp_path / "runs"), data.ids[4:])
    assert some_rows.rows.image.tolist() == [4, 5]
