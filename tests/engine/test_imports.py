"""Answers from elsewhere: whose classes, which images, and that files of one data set agree."""

from __future__ import annotations

import numpy as np
import pytest

import oodometer as odo
from oodometer.core.labels import numbered
from oodometer.core.stored_answers import StoredAnswers
from oodometer.engine.imports import begin_import
from oodometer.store.index import look

IDS = tuple("abcde")
LABELS = np.array([0, 1, 2, 3, 4])
PETS = odo.LabelSpace("pets", ("ant", "bee", "cat", "dog", "elk", "fox", "gnu", "hen", "ibis", "jay"))


def best(name: str, classes: list[int], ids: tuple[str, ...] = IDS) -> StoredAnswers:
    return StoredAnswers(name, name.ljust(32, "0"), ids, np.array(classes)[:, None], "classes")


def logits(name: str, n_classes: int, ids: tuple[str, ...] = IDS) -> StoredAnswers:
    return StoredAnswers(name, name.ljust(32, "0"), ids, np.eye(len(ids), n_classes), "logits")


def labels(values=LABELS, *, ids=None, classes=None) -> odo.TrueLabels:
    return odo.TrueLabels(np.asarray(values), ids, classes)


@pytest.fixture
def imports(tmp_path):
    """Bring answers into one store under a name of data."""

    def bring(answers, truth, *, data="mine", condition="clean"):
        return odo.import_predictions(answers, truth, store=str(tmp_path / "runs"), data=data, condition=condition)

    return bring


def refused(call, kind=odo.DataError) -> str:
    with pytest.raises(kind) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def data_of(store: odo.Store) -> dict[str, tuple[str, int]]:
    """Model to the digest and the classes of its data."""
    return {cell.model_name: (cell.data.digest, cell.n_classes) for cell in look(store).cells}


def test_models_of_one_set_have_one_data_set_whatever_they_answer(imports):
    # By the largest class of each file these were sets of 5, 8 and 10 classes.
    many = [best("x", [0, 1, 2, 3, 4]), best("y", [7, 0, 0, 0, 0]), best("z", [9, 9, 9, 9, 9])]
    store = imports(many, labels(classes=numbered(10)))
    assert len(set(data_of(store).values())) == 1
    assert data_of(store)["x"][1] == 10


def test_the_order_of_a_file_does_not_matter(imports):
    store = imports(best("x", [0, 1, 2, 3, 0]), labels(ids=IDS, classes=numbered(5)))
    store = imports(best("y", [0, 3, 2, 1, 0], IDS[::-1]), labels(ids=IDS, classes=numbered(5)))
    assert len(set(data_of(store).values())) == 1
    x, y = (store.read(cell) for cell in look(store).cells)
    assert x.prediction.tolist() == y.prediction.tolist() == [0, 1, 2, 3, 0]
    assert x.rank.tolist() == y.rank.tolist() == [0, 0, 0, 0, 1]


def test_where_the_number_of_classes_comes_from(imports):
    message = refused(lambda: imports(best("x", [0] * 5), LABELS), odo.UsageError)
    assert message == (
        "predictions x: how many classes are there? A file of the best ones does not tell: give --n-classes N, or "
        "--classes FILE with their names"
    )
    assert data_of(imports(logits("l", 7), LABELS, data="by columns"))["l"][1] == 7
    assert data_of(imports(best("b", [0] * 5), LABELS, data="by columns"))["b"][1] == 7  # an earlier import
    assert data_of(imports(best("i", [0] * 5), LABELS, data="imagenet"))["i"][1] == 1000  # published: 1,000 classes
    assert data_of(imports(best("c", [0] * 5), LABELS, data="imported", condition="cifar-10"))["c"][1] == 10
    assert data_of(imports(best("p", [0] * 5), labels(classes=PETS), data="pets"))["p"][1] == 10


def test_names_of_classes_stay_with_the_data(imports):
    store = imports(best("x", [0] * 5), labels(classes=PETS))
    store = imports(logits("y", 10), LABELS)
    store = imports(best("z", [9] * 5), labels(classes=numbered(10)))
    assert len(set(data_of(store).values())) == 1
    assert look(store).images(look(store).cells[0]).space.classes == PETS.classes


def test_files_of_another_number_of_classes_are_refused(imports):
    imports(best("x", [0] * 5), labels(classes=PETS))
    otherwise = "if these are other data, name them otherwise (--data NAME)"
    assert refused(lambda: imports(logits("y", 7), LABELS)) == (
        f"predictions y: 7 columns, but mine has 10 classes; {otherwise}"
    )
    assert refused(lambda: imports(best("y", [0] * 5), labels(classes=numbered(11)))) == (
        f"predictions y: 11 classes, but mine has 10; {otherwise}"
    )
    others = odo.LabelSpace("others", (*PETS.classes[:9], "kiwi"))
    assert refused(lambda: imports(best("y", [0] * 5), labels(classes=others))) == (
        f"predictions y: other classes than mine has: class 9 is 'kiwi' here and 'jay' there; {otherwise}"
    )
    assert refused(lambda: imports(best("y", [10] * 5), LABELS)) == (
        "predictions y: the class 10 is outside those of mine, 0 to 9"
    )
    # Under another name they are welcome.
    imports(logits("y", 7), LABELS, data="others")


def test_logits_must_have_the_columns_that_are_given(imports):
    message = refused(lambda: imports(logits("y", 7), labels(classes=numbered(8))))
    assert message.startswith("predictions y: 7 columns, but mine has 8 classes")


def test_other_labels_for_the_same_images_are_refused(imports):
    imports(logits("x", 5), LABELS)
    assert refused(lambda: imports(logits("y", 5), np.array([0, 1, 2, 4, 3]))) == (
        "predictions y: 2 images have another label than in mine, for example 'd' (4 here, 3 there); if these are "
        "other data, name them otherwise (--data NAME)"
    )


def test_other_images_are_refused(imports):
    imports(logits("x", 5), LABELS)
    assert refused(lambda: imports(logits("y", 5, tuple("abcxy")), LABELS)) == (
        "predictions y: 2 of 5 images are not among the 5 of mine, for example 'x' (its first is 'a'); if these are "
        "other data, name them otherwise (--data NAME)"
    )


def test_data_without_a_name_are_another_set_on_each_condition(imports):
    imports(logits("x", 5), LABELS, data="imported")
    store = imports(logits("x", 7), LABELS[::-1].copy(), data="imported", condition="shifted")
    assert sorted(cell.n_classes for cell in look(store).cells) == [5, 7]
    assert "7 columns, but imported has 5" in refused(lambda: imports(logits("y", 7), LABELS, data="imported"))


def test_named_data_are_the_same_on_every_condition(imports):
    imports(logits("x", 5), LABELS)
    assert "7 columns, but mine has 5" in refused(lambda: imports(logits("x", 7), LABELS, condition="fog"))
    store = imports(best("y", [0] * 5), LABELS, condition="fog")
    assert len(set(data_of(store).values())) == 1


def test_a_file_about_some_images_is_about_a_subset(tmp_path):
    begun = begin_import(
        labels(ids=IDS), store=str(tmp_path / "runs"), condition="clean", data="mine", keep_logits=False
    )
    whole = begun.add(logits("whole", 5))
    part, same = begun.add(best("part", [3, 1], ("d", "b"))), begun.add(best("same", [1, 3], ("b", "d")))
    assert (whole.dataset.subset, part.dataset.subset) == ("", "2 of 5")
    assert part.dataset.ids == ("b", "d")
    assert part.dataset.space == whole.dataset.space
    assert part.dataset.digest == same.dataset.digest != whole.dataset.digest
    by_name = {cell.model_name: begun.store.read(cell) for cell in look(begun.store).cells}
    assert by_name["part"].rank.tolist() == [0, 0]


def test_subsets_of_what_is_in_the_store(imports):
    imports(logits("x", 5), LABELS)
    store = imports(best("y", [1, 1], ("b", "c")), np.array([1, 2]))
    sizes = {cell.model_name: (cell.n_images, cell.n_classes) for cell in look(store).cells}
    assert sizes == {"x": (5, 5), "y": (2, 5)}
    assert "other label" in refused(lambda: imports(best("z", [1, 1], ("b", "c")), np.array([2, 1])))


def test_the_whole_may_come_after_its_subsets(imports):
    imports(best("some", [1, 1], ("b", "c")), labels(ids=IDS, classes=numbered(5)))
    store = imports(best("others", [0, 4], ("a", "e")), labels(ids=IDS, classes=numbered(5)))
    store = imports(logits("all", 5), LABELS)
    assert {cell.model_name: cell.n_images for cell in look(store).cells} == {"some": 2, "others": 2, "all": 5}
    # Without the labels of all images nobody knows that two choices of images are of one set.
    assert "1 of 2 images are not among" in refused(lambda: imports(best("more", [0, 1], ("a", "z")), np.array([0, 1])))


def test_a_subset_keeps_the_order_in_which_it_came_first(imports):
    imports(best("x", [3, 1], ("d", "b")), labels([3, 1], classes=numbered(5)))
    store = imports(best("y", [1, 3], ("b", "d")), labels(ids=IDS))
    assert len(set(data_of(store).values())) == 1
    assert [store.read(cell).prediction.tolist() for cell in look(store).cells] == [[3, 1], [3, 1]]


def test_labels_and_answers_must_fit(imports):
    assert refused(lambda: imports(logits("x", 5), LABELS[:4])) == "predictions x: 5 images but 4 labels"
    assert refused(lambda: imports(logits("x", 5), labels(ids=tuple("abcdx")))) == (
        "predictions x: no label for 1 of 5 images, for example 'e' (the first label is that of 'a'); write -1 where "
        "there is none"
    )
    assert refused(lambda: imports(logits("x", 4), LABELS)) == ("mine: label 4 is outside the label space of 4 classes")
    assert "2000000000" in refused(lambda: imports(logits("x", 5), np.array([0, 1, 2, 3, 2_000_000_000])))


def test_logits_of_many_images_are_the_same_in_batches(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    ids = tuple(map(str, range(50)))
    answers = StoredAnswers("x", "x" * 32, ids, rng.normal(size=(50, 7)), "logits")
    truth = rng.integers(0, 7, 50)
    stores = [odo.import_predictions(answers, truth, store=str(tmp_path / "whole"), keep_logits=True)]
    monkeypatch.setattr("oodometer.engine.stored_answers.BATCH", 8)
    stores.append(odo.import_predictions(answers, truth, store=str(tmp_path / "batches"), keep_logits=True))
    whole, batches = (store.read(look(store).cells[0], logits=True) for store in stores)
    for name in ("rank", "top5", "confidence", "energy", "entropy", "logits"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(batches, name))


def test_what_looks_wrong_is_kept_with_the_answers(tmp_path):
    ids = tuple(map(str, range(40)))
    truth = np.arange(40) % 9
    answers = StoredAnswers("x", "x" * 32, ids, (truth + 1)[:, None], "classes")
    store = odo.import_predictions(answers, labels(truth, classes=numbered(10)), store=str(tmp_path / "runs"))
    (cell,) = look(store).cells
    assert store.warnings(cell) == [
        "100.0% of the answers are the label plus 1 and 0.0% the label itself; is one of them counted from 1?"
    ]
