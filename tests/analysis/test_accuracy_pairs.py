"""Models as points: accuracies counted by numpy, the same photographs on both sides, and whatever can't be compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest, t

from made_cells import made_cell
from oodometer.analysis.accuracy_pairs import pairs_of
from oodometer.analysis.asked_shifts import asked_shift
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.origins import Origin, read_origins
from oodometer.analysis.points import named
from oodometer.analysis.table_pairs import points_of_table
from oodometer.core.errors import DataError, StoreError, UsageError
from oodometer.core.predictions import from_logits
from oodometer.store.cells import Cell
from oodometer.store.index import index_of_table, look
from oodometer.store.tables import parse_table, write_table


def add(store, data, right, *, model="mine", condition="clean", positions=None, finished=True, **more) -> Cell:
    """A cell of which the answers are right or wrong, with whatever else a cell may say."""
    positions = np.arange(len(data)) if positions is None else np.asarray(positions, dtype=np.int64)
    labels, k = data.labels[positions], len(data.space)
    logits = np.eye(k)[np.where(right, labels, (labels + 1) % k)]
    cell = made_cell(data, model=model, condition=condition, **more)
    store.add_cell(cell, data)
    if len(positions):
        rows = from_logits(logits, labels, positions)
        store.write_part(cell.key, 0, len(data) if finished else int(positions.max()) + 1, rows)
    store.seal(cell, keep_logits=False)
    return cell


@pytest.fixture
def store(filled):
    return filled.store


def answers(seed: int, n: int, share: float = 0.6) -> np.ndarray:
    return np.random.default_rng(seed).random(n) < share


def points_from(store, y, x=(), origins=None, level=0.95):
    index = look(store)
    return pairs_of(index, asked_shift(index, y, x), origins=origins or {}, how=IntervalOptions(level=level))


# From a store


def test_a_corruption_is_of_the_same_photographs(store, make_dataset):
    data = make_dataset(200)
    right = {(m, c): answers(hash_of(m, c), 200) for m in ("a", "b") for c in ("clean", "fog/3")}
    for (model, condition), one in right.items():
        add(store, data, one, model=model, condition=condition)
    found = points_from(store, "fog/3")
    assert found.same_images
    assert [point.model for point in found.models] == ["a", "b"]
    for at, point in enumerate(found.models):
        for estimate, condition, rows in ((point.x[0], "clean", found.right_x), (point.y, "fog/3", found.right_y)):
            expected = right[point.model, condition]
            np.testing.assert_array_equal(rows[at], expected)
            bounds = binomtest(int(expected.sum()), 200).proportion_ci()  # reference: scipy
            assert estimate.value == expected.mean()
            assert (estimate.low, estimate.high) == pytest.approx((bounds.low, bounds.high), abs=1e-9)
    assert found.notes == ()
    assert found.conditions == ("fog/3",)


def hash_of(*words: str) -> int:
    return sum(1000**place * ord(letter) for place, letter in enumerate("".join(words)[:3]))


def test_other_images_are_not_the_same(store, make_dataset):
    val = make_dataset(100, ids=[f"val/{n}" for n in range(100)])
    new = make_dataset(100, ids=[f"new/{n}" for n in range(100)], name="v2")
    # The same ids, as of positions, but other labels: no photographs of the first set.
    other = make_dataset(100, ids=val.ids, labels=np.arange(100)[::-1] % 10, name="v3")
    for data, condition in ((val, "clean"), (new, "v2"), (other, "v3")):
        add(store, data, answers(1, 100), condition=condition)
    assert not points_from(store, "v2").same_images
    assert not points_from(store, "v3").same_images


def test_files_of_a_corruption_on_disk_are_the_same_photographs(store, make_dataset):
    val = make_dataset(50)
    some = range(5, 45, 2)
    disk = make_dataset(
        20, ids=[val.ids[n] for n in some], labels=val.labels[list(some)], contents=[b"c" * 16] * 20, name="fog"
    )
    right = answers(2, 50)
    add(store, val, right)
    add(store, disk, answers(3, 20), condition="fog/3")
    found = points_from(store, "fog/3")
    assert found.same_images
    assert found.models[0].x[0].value == right[list(some)].mean()
    assert found.notes == ("clean and fog/3: 30 images left out that not all models (or conditions) have",)


def test_only_images_that_all_cells_have_count(store, make_dataset):
    data = make_dataset(100)
    clean, fog = answers(4, 100), answers(5, 100)
    add(store, data, clean)
    add(store, data, fog[:97], condition="fog/3", positions=range(97))  # three are broken
    add(store, data, clean[10:], model="other", positions=range(10, 100))
    add(store, data, fog, model="other", condition="fog/3")
    found = points_from(store, "fog/3")
    assert found.same_images
    assert {(point.x[0].n, point.y.n) for point in found.models} == {(87, 87)}
    assert found.models[0].x[0].value == clean[10:97].mean()
    assert found.models[0].y.value == fog[10:97].mean()
    assert found.notes == ("clean and fog/3: 13 images left out that not all models (or conditions) have",)


def test_images_of_two_sets_are_left_out_apart(store, make_dataset):
    val, new = make_dataset(60), make_dataset(40, ids=[f"new/{n}" for n in range(40)], name="v2")
    for model in ("a", "b"):
        add(store, val, answers(6, 60), model=model)
    add(store, new, answers(7, 38), model="a", condition="v2", positions=range(38))
    add(store, new, answers(7, 40), model="b", condition="v2")
    found = points_from(store, "v2")
    assert [(point.x[0].n, point.y.n) for point in found.models] == [(60, 38)] * 2
    assert found.notes == ("v2: 2 images left out that not all models (or conditions) have",)


def test_unlabelled_images_do_not_count(store, make_dataset):
    data = make_dataset(30, labels=np.where(np.arange(30) < 6, -1, np.arange(30) % 10))
    right = answers(8, 30)
    add(store, data, right)
    add(store, data, right, condition="fog/3")
    assert points_from(store, "fog/3").models[0].x[0].value == right[6:].mean()


def test_one_image(store, make_dataset):
    data = make_dataset(1)
    add(store, data, [True])
    add(store, data, [False], condition="fog/3")
    (point,) = points_from(store, "fog/3").models
    assert (point.x[0].value, point.y.value, point.y.n) == (1.0, 0.0, 1)


def test_an_unfinished_cell_is_told_and_one_without_rows_does_not_count(store, make_dataset):
    data = make_dataset(100)
    for model in ("a", "b", "c"):
        add(store, data, answers(9, 100), model=model)
    add(store, data, answers(10, 100), model="a", condition="fog/3")
    add(store, data, answers(11, 40), model="b", condition="fog/3", positions=range(40), finished=False)
    add(store, data, [], model="c", condition="fog/3", positions=[], finished=False)
    found = points_from(store, "fog/3")
    # One that is still running takes no images away from the others.
    assert [point.model for point in found.models] == ["a"]
    assert {point.y.n for point in found.models} == {100}
    assert found.notes == (
        "left out, not run on clean and fog/3 over the same classes: c",
        "unfinished, left out: b on fog/3",
    )


def test_where_nothing_is_finished_what_is_there_counts(store, make_dataset):
    data = make_dataset(100)
    for model, n in (("a", 40), ("b", 60)):
        add(store, data, answers(9, 100), model=model)
        add(store, data, answers(11, n), model=model, condition="fog/3", positions=range(n), finished=False)
    found = points_from(store, "fog/3")
    assert {point.model: point.y.n for point in found.models} == {"a": 40, "b": 40}
    assert found.notes == (
        "unfinished: a on fog/3, b on fog/3",
        "clean and fog/3: 60 images left out that not all models (or conditions) have",
    )


def test_a_family_is_averaged_image_by_image(store, make_dataset):
    data = make_dataset(80)
    names = [f"imagenet-c/{kind}/{severity}" for kind in ("fog", "snow") for severity in (1, 2)]
    right = np.array([answers(20 + at, 80, 0.3 + 0.1 * at) for at in range(4)])
    add(store, data, answers(19, 80))
    for name, one in zip(names, right, strict=True):
        add(store, data, one, condition=name)
    found = points_from(store, "imagenet-c", level=0.9)
    assert found.conditions == tuple(names)
    assert found.right_x.dtype == bool
    np.testing.assert_allclose(found.right_y[0], right.mean(axis=0))
    estimate, shares = found.models[0].y, right.mean(axis=0)
    # reference: scipy's Student's t
    low, high = t.interval(0.9, 79, loc=shares.mean(), scale=shares.std(ddof=1) / np.sqrt(80))
    assert estimate.value == pytest.approx(shares.mean())
    assert (estimate.low, estimate.high) == pytest.approx((low, high))
    assert points_from(store, "imagenet-c/fog").conditions == tuple(names[:2])
    assert points_from(store, "*/2").conditions == (names[1], names[3])


def test_the_accuracy_of_a_family_is_never_below_0(store, make_dataset):
    data = make_dataset(80)
    add(store, data, answers(19, 80))
    for severity in (1, 2):
        add(store, data, np.arange(80) < severity, condition=f"imagenet-c/fog/{severity}")
    estimate = points_from(store, "imagenet-c").models[0].y
    # right on one of 80 images in both conditions, and on another in one of them
    assert estimate.value == pytest.approx(1.5 / 80)
    assert estimate.low == 0


def test_a_family_on_disk_has_data_of_its_own_for_each_condition(store, make_dataset):
    val = make_dataset(20)
    add(store, val, answers(1, 20))
    for severity in (1, 2):
        disk = make_dataset(20, contents=[bytes([severity]) * 16] * 20, name="disk")
        disk = replace(disk, part=f"fog/{severity}")
        add(store, disk, answers(severity, 20), condition=f"fog/{severity}")
    found = points_from(store, "fog")
    assert (found.same_images, found.conditions, found.models[0].y.n) == (True, ("fog/1", "fog/2"), 20)


def test_a_data_set_may_be_the_shift(store, make_dataset):
    val, new = make_dataset(60), make_dataset(40, ids=[f"new/{n}" for n in range(40)], name="imagenetv2")
    right = answers(12, 60), answers(13, 40)
    for data, one in zip((val, new), right, strict=True):
        add(store, data, one)  # both under the condition "clean", as 'oodometer run --data' does it
    for x in ("clean", "val"):
        (point,) = points_from(store, "imagenetv2", x=(x,)).models
        assert (point.x[0].value, point.y.value) == (right[0].mean(), right[1].mean())


def test_the_clean_set_has_the_classes_of_the_shift(store, make_dataset):
    val, few = make_dataset(100), make_dataset(40, ids=[f"r/{n}" for n in range(40)], name="imagenet-r")
    right = {label_map: answers(14 + at, 100) for at, label_map in enumerate((None, "map of r", "map of a"))}
    for label_map, one in right.items():
        add(store, val, one, label_map=label_map)
    add(store, few, answers(17, 40), condition="imagenet-r", label_map="map of r")
    (point,) = points_from(store, "imagenet-r").models
    assert point.x[0].value == right["map of r"].mean()


def test_without_a_clean_set_of_these_classes_there_is_nothing_to_compare(store, make_dataset):
    add(store, make_dataset(10), answers(1, 10))
    add(store, make_dataset(10, k=4, name="small"), answers(1, 10), condition="fog/3")
    with pytest.raises(StoreError, match=r"no model was run on clean and fog/3 over the same classes; run both with"):
        points_from(store, "fog/3")


def test_sets_with_images_of_other_classes_are_told(store, make_dataset):
    add(store, make_dataset(100), answers(1, 100))
    few = make_dataset(30, ids=[f"a/{n}" for n in range(30)], labels=np.arange(30) % 3, name="imagenet-a")
    add(store, few, answers(2, 30), condition="imagenet-a")
    assert points_from(store, "imagenet-a").notes == (
        "clean has images of 10 classes and imagenet-a of 3, 3 of them the same: a clean set of the same classes would "
        "be fairer",
    )


def test_several_data_sets_under_one_condition_must_be_told_apart(store, make_dataset):
    sizes = {"val": 60, "val[20, seed 0]": 20}
    for name, n in sizes.items():
        for condition in ("clean", "fog/3"):
            add(store, make_dataset(n, name=name), answers(n, n), condition=condition)
    with pytest.raises(UsageError) as caught:
        points_from(store, "fog/3")
    assert str(caught.value) == (
        f"{store}: fog/3 stands for several shifts; say which: fog/3@val, fog/3@val[20, seed 0]"
    )
    asked = [("fog/3", (name,), n) for name, n in sizes.items()]
    for y, x, n in [*asked, *((f"fog/3@{name}", (), n) for name, n in sizes.items())]:
        (point,) = points_from(store, y, x=x).models
        assert (point.x[0].n, point.y.n) == (n, n)


def test_several_clean_sets_for_one_shift_must_be_told_apart(store, make_dataset):
    for name, n in (("val", 60), ("train", 30)):
        add(store, make_dataset(n, ids=[f"{name}/{at}" for at in range(n)], name=name), answers(n, n))
    add(store, make_dataset(20, ids=[f"n/{at}" for at in range(20)], name="n"), answers(5, 20), condition="new")
    with pytest.raises(
        UsageError, match=r"clean of several data sets or classes was measured; say which: --x 'train' or --x"
    ):
        points_from(store, "new")
    assert points_from(store, "new", x=("train",)).models[0].x[0].n == 30
    assert [one.n for one in points_from(store, "new", x=("train", "val")).models[0].x] == [30, 60]


def test_data_sets_of_one_name_are_told_apart_by_their_digests(store, make_dataset):
    names = {}
    for n in (10, 20):
        data = make_dataset(n)
        names[f"fog/3@val@{data.digest[:8]}"] = n
        for condition in ("clean", "fog/3"):
            add(store, data, answers(n, n), condition=condition)
    with pytest.raises(UsageError, match=f"fog/3 stands for several shifts; say which: {', '.join(sorted(names))}"):
        points_from(store, "fog/3")
    with pytest.raises(UsageError, match="they are all of val, so keep them in stores of their own"):
        points_from(store, "fog/3", x=("clean",))
    assert {name: points_from(store, name).models[0].y.n for name in names} == names


def test_a_shift_over_several_classes_is_told_apart_by_numbers(store, make_dataset):
    right = {None: answers(1, 20), "map of r": answers(2, 20)}
    for label_map, one in right.items():
        for condition in ("clean", "fog/3"):
            add(store, make_dataset(20), one, condition=condition, label_map=label_map)
    with pytest.raises(UsageError, match="fog/3 stands for several shifts; say which: fog/3#1, fog/3#2"):
        points_from(store, "fog/3")
    with pytest.raises(UsageError, match="several data sets or classes; say which: they are all of val, so keep them"):
        points_from(store, "fog/3", x=("clean",))
    shares = {points_from(store, name).models[0].y.value for name in ("fog/3#1", "fog/3#2")}
    assert shares == {one.mean() for one in right.values()}


def test_models_of_one_name_are_told_apart(store, make_dataset):
    data = make_dataset(10)
    for condition in ("clean", "fog/3"):
        for at, digest in enumerate("12"):
            add(store, data, answers(at, 10), condition=condition, digest=digest * 32)
        for at, precision in enumerate(("float32", "mixed")):
            add(store, data, answers(at, 10), condition=condition, model="other", precision=precision)
    names = [point.model for point in points_from(store, "fog/3").models]
    assert names == ["mine@11111111", "mine@22222222", "other (float32)", "other (mixed)"]


def test_cards_and_the_users_word(store, make_dataset):
    data = make_dataset(10)
    cards = {
        "base": {"category": "standard", "parent": None},
        "augmix": {"category": "robust intervention", "parent": "base"},
        "silent": None,
    }
    for model, card in cards.items():
        for condition in ("clean", "fog/3"):
            add(store, data, answers(1, 10), model=model, condition=condition, card=card)
    by_card = {point.model: point.origin for point in points_from(store, "fog/3").models}
    assert by_card == {
        "base": Origin("standard"),
        "augmix": Origin("robust intervention", "base"),
        "silent": Origin("standard"),  # as a model is of which nobody says more
    }
    said = {"augmix": Origin("data augmentation"), "silent": Origin("", "augmix")}
    by_user = {point.model: point.origin for point in points_from(store, "fog/3", origins=said).models}
    # What the user leaves open is taken from the card.
    assert by_user["augmix"] == Origin("data augmentation", "base")
    assert by_user["silent"] == Origin("standard", "augmix")


def test_the_users_word_holds_for_all_weights_of_a_name(store, make_dataset):
    data = make_dataset(10)
    for condition in ("clean", "fog/3"):
        for digest in "12":
            add(store, data, answers(1, 10), condition=condition, digest=digest * 32)
    said = {"mine": Origin("one"), "mine@22222222": Origin("other")}
    assert [point.origin.category for point in points_from(store, "fog/3", origins=said).models] == ["one", "other"]


def test_models_that_were_not_run_on_both_are_left_out(store, make_dataset):
    data = make_dataset(10)
    for number in range(7):
        add(store, data, answers(1, 10), model=f"m{number}")
    add(store, data, answers(1, 10), model="m0", condition="fog/3")
    found = points_from(store, "fog/3")
    assert [point.model for point in found.models] == ["m0"]
    assert found.notes == ("left out, not run on clean and fog/3 over the same classes: 6 models",)


def test_names_that_mean_nothing(store, make_dataset):
    add(store, make_dataset(10), answers(1, 10))
    add(store, make_dataset(10), answers(1, 10), condition="imagenet-c/fog/3")
    with pytest.raises(UsageError, match=r"nothing was measured on 'imagenet-d'; did you mean imagenet-c\?"):
        points_from(store, "imagenet-d")
    with pytest.raises(UsageError, match="nothing was measured on 'imagenet-c'"):  # a family is no clean set
        points_from(store, "imagenet-c/fog/3", x=("imagenet-c",))
    with pytest.raises(UsageError, match="clean is given twice"):
        points_from(store, "clean")
    with pytest.raises(UsageError, match="clean is given twice"):
        points_from(store, "imagenet-c", x=("clean", "clean"))


def test_an_empty_store(store):
    with pytest.raises(StoreError, match="nothing in it yet; 'oodometer run' or 'oodometer import' makes it"):
        points_from(store, "fog/3")


def test_imported_accuracies_are_taken_where_there_are_no_predictions_of_these(store, make_dataset):
    write_table(store, parse_table("model,val,a\nnet,76.1,0.3\n", source="t.csv", n=1000))
    assert points_from(store, "a", x=("val",)).models[0].y.value == 0.003
    for condition in ("clean", "fog/3"):
        add(store, make_dataset(10), answers(1, 10), condition=condition)
    assert [point.model for point in points_from(store, "a", x=("val",)).models] == ["net"]
    found = points_from(store, "fog/3")
    assert [point.model for point in found.models] == ["mine"]
    assert found.notes == ()


def test_imported_accuracies_of_the_same_shift_stand_beside_predictions(store, make_dataset):
    data, right = make_dataset(10), answers(1, 10)
    for condition in ("clean", "greyscale"):
        add(store, data, right, condition=condition)
    write_table(store, parse_table("model,val,greyscale\nnet,76.1,60\nmine,10,20\n", source="t.csv", n=1000))
    found = points_from(store, "greyscale")
    # The predictions of "mine" are known, so that what the table says of it does not count.
    assert {point.model: point.y.value for point in found.models} == {"mine": right.mean(), "net": 0.6}
    assert (found.right_x, found.right_y, found.same_images) == (None, None, False)
    assert found.notes == (
        "of mine the predictions count, not the table's accuracies",
        "beside 1 with predictions stand models of t.csv: net",
    )


# From a table


def table(text: str, **more):
    return parse_table(text, source="t.csv", **more)


def points_in(rows, x=("val",), y="v2", origins=None, level=0.95):
    shift = asked_shift(index_of_table(rows), y, x)
    return points_of_table(rows, shift, origins=origins or {}, level=level)


def test_a_table_gives_its_accuracies_with_intervals_where_n_is_known():
    rows = table("model,condition,accuracy,n\na,val,0.8,1000\na,v2,0.7,500\nb,val,0.6,\nb,v2,0.5,500\n")
    known, unknown = points_in(rows, origins={"a": Origin("standard")}, level=0.9).models
    bounds = binomtest(350, 500).proportion_ci(0.9)  # reference: scipy
    assert (known.y.value, known.y.n) == (0.7, 500)
    assert (known.y.low, known.y.high) == pytest.approx((bounds.low, bounds.high), abs=1e-9)
    assert (known.origin, unknown.origin) == (Origin("standard"), Origin())
    assert (unknown.x[0].low, unknown.x[0].n, unknown.x[0].interval) == (None, None, "none: n is not known")


def test_models_with_empty_cells_are_left_out():
    found = points_in(table("model,val,v2\na,80,70\nb,80,\nc,,70\n"))
    assert [point.model for point in found.models] == ["a"]
    assert found.notes == ("left out, not measured on val and v2: b, c",)
    assert not found.same_images


def test_a_family_of_a_table_is_averaged():
    rows = table("model,val,c/fog/1,c/fog/2,d.x.1,d.x.2\na,0.8,0.6,0.5,0.1,0.2\nb,0.8,0.6,,0.1,0.2\n", n=100)
    found = points_in(rows, y="c")
    assert [point.model for point in found.models] == ["a"]
    assert found.models[0].y.value == pytest.approx(0.55)
    assert found.models[0].y.interval == "none: a mean over 2 conditions of a table"
    assert [round(point.y.value, 6) for point in points_in(rows, y="d.*").models] == [0.15, 0.15]
    assert points_in(rows, y="d.*").conditions == ("d.x.1", "d.x.2")


def test_a_table_that_lacks_a_side():
    rows = table("model,val,v2\na,80,70\n")
    with pytest.raises(UsageError, match=r"the table: nothing was measured on 'v3'; known: v2, val"):
        points_in(rows, y="v3")
    with pytest.raises(UsageError, match="the table: nothing was measured on 'clean'; known: v2, val"):
        points_in(rows, x=("clean",))
    with pytest.raises(DataError, match="the table: no model was measured on val and v2"):
        points_in(table("model,val,v2\na,80,\nb,,70\n"))


def test_two_tables_that_say_two_things():
    rows = table("model,val,v2\na,80,70\n") + parse_table("model,val\na,81\n", source="other.csv")
    with pytest.raises(DataError) as caught:
        points_in(rows)
    assert str(caught.value) == "two accuracies of a on val (t.csv and other.csv); give one table with --table"


def test_few_models_are_named_and_many_counted():
    assert named(list("abcde")) == "a, b, c, d, e"
    assert named(list("abcdef")) == "6 models"


# Categories


def test_categories_are_free_text(tmp_path):
    path = tmp_path / "cats.csv"
    path.write_text("\ufeffmodel, category,parent,notes\n a ,more_data, base ,x\nb,,,\nc\na,more_data,base,again\n")
    assert read_origins(str(path)) == {"a": Origin("more_data", "base"), "b": Origin(), "c": Origin()}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model,kind\na,x\n", "expected the columns model,category and maybe parent"),
        ("", "expected the columns model,category and maybe parent"),
        ("model,category\na,x\na,y\n", "two different lines about a"),
        (b"\xff\xfe\x00", "not a CSV table"),
    ],
)
def test_a_table_of_categories_that_is_none(tmp_path, text, message):
    path = tmp_path / "cats.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError, match=message):
        read_origins(str(path))


def test_a_table_of_categories_with_numbers_of_parameters(tmp_path):
    path = tmp_path / "cats.csv"
    path.write_text("model,category,parameters\na,standard,25557032\nb,standard,\n")
    assert read_origins(str(path)) == {"a": Origin("standard", None, 25_557_032), "b": Origin("standard")}
    path.write_text("model,category,parameters\na,standard,-3\n")
    with pytest.raises(DataError, match=r"cats.csv: a: parameters '-3' is not a whole number of at least 1"):
        read_origins(str(path))


def test_no_table_of_categories(tmp_path):
    with pytest.raises(DataError, match="no such table of categories"):
        read_origins(str(tmp_path / "none.csv"))
    with pytest.raises(DataError, match="a folder, not a file"):
        read_origins(str(tmp_path))
