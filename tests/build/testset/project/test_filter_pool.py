"""A pool is filtered by what real models answered about its images, crop by crop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from made_testset import made_project
from oodometer.build.testset.filtration import COMMON, NEAR, RIGHT, SURE
from oodometer.build.testset.project.exclusions import exclude, exclusions
from oodometer.build.testset.project.filter_pool import (
    BY,
    LEFT_OUT,
    FilterRequest,
    filter_pool,
    groups_by_confusion,
    read_groups,
    undo_filter,
)
from oodometer.build.testset.project.pool import PoolImage, pool_images
from oodometer.build.testset.project.pool_data import write_pool
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import FILTER, sa
from oodometer.core.errors import DataError, StoreError, UsageError
from oodometer.core.labels import LabelSpace
from oodometer.core.model import Input, Model
from oodometer.core.preprocessing import Geometry
from oodometer.data.load import load_data
from oodometer.models.defended import with_defences

SIDE, N_CLASSES = 28, 3
CLASSES = LabelSpace("birds", ("duck", "owl", "cat"))
"""In another order than the project's and than the alphabet's."""


def network(seed: int) -> np.ndarray:
    """Weights that make a model of the mean colours of nine parts of the picture; it is often wrong."""
    return np.random.default_rng(seed).normal(0, 3, (27, N_CLASSES))


def logits_of(images: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The answers of such a model, (N, 28, 28, 3) uint8 -> (N, 3)."""
    parts = images[:, :27, :27].reshape(-1, 3, 9, 3, 9, 3).mean(axis=(2, 4)).reshape(-1, 27) / 255
    return ((parts - 0.6) @ weights).astype(np.float32)


def model(name: str, seed: int) -> Model:
    weights = network(seed)
    return Model(
        name, "test", f"{seed:032x}", Input(Geometry(SIDE, SIDE)), CLASSES, lambda _: lambda x: logits_of(x, weights)
    )


MODELS = {"first": 5, "second": 10}
"""Who is wrong in all crops of a third of the images, in four ways, and unsure of some others."""


@pytest.fixture(scope="module")
def filtered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, str]]:
    """A project of 3 x 40 candidates, and a store in which two models were asked about each crop of them."""
    folder = tmp_path_factory.mktemp("filter")
    project = made_project(folder / "birds", candidates=40, originals=2)
    data = load_data(write_pool(project).file)
    bare = [model(name, seed) for name, seed in MODELS.items()]
    store = str(folder / "runs")
    odo.run(with_defences(bare, ["none", "each-crop"]), [odo.clean(data)], store=store)
    with project:
        yield project, store


@pytest.fixture
def birds(filtered: tuple[Project, str]) -> Iterator[tuple[Project, str]]:
    """The same, with nothing filtered yet."""
    project, _ = filtered
    yield filtered
    with project.database.writing() as connection:
        connection.execute(sa.text("DELETE FROM exclusion"))
        connection.execute(sa.text("DELETE FROM filter"))


def crops_of(project: Project, one: PoolImage) -> np.ndarray:
    """The ten crops of an image, cut here, (10, 28, 28, 3)."""
    picture = Image.open(project.folder / "images" / one.file).convert("RGB")
    view = np.asarray(picture.resize((SIDE, SIDE), Image.Resampling.BILINEAR))
    wide = np.asarray(Image.fromarray(view).resize((32, 32), Image.Resampling.BILINEAR))  # 28 x 8 / 7
    crops = [wide[y : y + SIDE, x : x + SIDE] for y, x in [(0, 0), (0, 4), (4, 0), (4, 4), (2, 2)]]
    return np.stack([*crops, *(crop[:, ::-1] for crop in crops)])


def softmax(logits: np.ndarray) -> np.ndarray:
    exps = np.exp(logits.astype(float))
    return exps / exps.sum(axis=1, keepdims=True)


def by_hand(project: Project) -> dict[str, tuple[str, str]]:
    """By id why the paper's words take the image out, and what it is called: the crops cut here, one by one."""
    found = {}
    for one in pool_images(project, role="candidate"):
        crops = crops_of(project, one)
        truth = CLASSES.classes.index(one.class_name)
        any_right = too_sure = False
        votes: Counter[int] = Counter()
        for seed in MODELS.values():
            logits = logits_of(crops, network(seed)).astype(float)
            shares = softmax(logits)
            any_right |= bool((logits.argmax(axis=1) == truth).any())
            too_sure |= bool(shares[:, truth].mean() > 0.15)
            for at, answer in enumerate(logits.argmax(axis=1)):
                votes[int(answer)] += shares[at, answer]
        why = RIGHT if any_right else SURE if too_sure else ""
        found[one.key] = why, CLASSES.classes[votes.most_common(1)[0][0]]
    return found


# reference: Hendrycks et al. (2021), section 3, sentence by sentence, over crops that are cut here
def test_the_rule_over_crops(birds):
    project, store = birds
    expected = by_hand(project)
    class_of = {one.key: one.class_name for one in pool_images(project)}
    shortlist = [key for key, (why, _) in expected.items() if not why]
    confusions = Counter((class_of[key], expected[key][1]) for key in shortlist)
    assert max(confusions.values()) > 5, "some confusion is common"
    assert {why for why, _ in expected.values()} == {"", RIGHT, SURE}

    found = filter_pool(project, store, FilterRequest("imagenet-a", most_per_confusion=5))
    out = {one.key: one.reason for one in exclusions(project)}
    for key, (why, _) in expected.items():
        if why:
            assert out[key] == f"imagenet-a: {why}"
        else:
            assert out.get(key) in (None, f"imagenet-a: {COMMON}")
    kept = Counter((class_of[key], expected[key][1]) for key in found.ids)
    assert kept == Counter({confusion: min(n, 5) for confusion, n in confusions.items()})
    n_right = sum(why == RIGHT for why, _ in expected.values())
    assert dict(found.funnel) == {
        "candidates": 120,
        f"not {RIGHT}": 120 - n_right,
        f"not {SURE}": len(shortlist),
        f"not {COMMON}": len(found.ids),
    }
    assert (found.models, found.by_crop) == (("first", "second"), ("first", "second"))


def test_a_second_call_says_nothing_new_and_another_replaces_it(birds):
    project, store = birds
    request = FilterRequest("imagenet-a", most_per_confusion=5)
    first = filter_pool(project, store, request)
    again = filter_pool(project, store, request)
    assert (first.is_news, again.is_news, again.ids) == (True, False, first.ids)
    wider = filter_pool(project, store, FilterRequest("imagenet-a"))
    assert set(first.ids) < set(wider.ids)
    assert (wider.n_out, wider.n_back) == (0, len(wider.ids) - len(first.ids))
    rows = project.database.rows(sa.select(FILTER))
    assert [row.rule for row in rows] == ["imagenet-a"]
    assert '"most_per_confusion": 15' in rows[0].arguments
    assert {one.by for one in exclusions(project)} == {BY}


def test_it_is_taken_back(birds):
    project, store = birds
    first = filter_pool(project, store, FilterRequest("imagenet-a"))
    assert undo_filter(project, "imagenet-a") == 120 - len(first.ids)
    assert not exclusions(project)
    assert not project.database.rows(sa.select(FILTER))
    assert undo_filter(project, "imagenet-a") == 0


def test_who_was_taken_out_by_a_person_is_not_looked_at(birds):
    project, store = birds
    plain = filter_pool(project, store, FilterRequest("imagenet-a", most_per_confusion=5))
    exclude(project, plain.ids[:1], "blurry", by="somebody")
    after = filter_pool(project, store, FilterRequest("imagenet-a", most_per_confusion=5))
    assert after.funnel[0] == ("candidates", 119)
    assert plain.ids[0] not in after.ids
    assert len(after.ids) in (len(plain.ids), len(plain.ids) - 1), "another of its confusion, if there is one, is in"
    undo_filter(project, "imagenet-a")
    assert [one.reason for one in exclusions(project)] == ["blurry"]


def test_near_classes_and_classes_that_are_left_out(birds, tmp_path):
    project, store = birds
    (tmp_path / "groups.csv").write_text("class,group\nowl,bird\nduck,bird\ncat,mammal\n")
    groups = read_groups(str(tmp_path / "groups.csv"))
    called = {key: name for key, (why, name) in by_hand(project).items() if not why}
    class_of = {one.key: one.class_name for one in pool_images(project)}
    near = {key for key, name in called.items() if {name, class_of[key]} == {"owl", "duck"}}
    assert near
    filter_pool(project, store, FilterRequest("imagenet-a", groups=groups, most_per_confusion=100))
    assert {one.key for one in exclusions(project) if one.reason == f"imagenet-a: {NEAR}"} == near
    without = filter_pool(project, store, FilterRequest("imagenet-a", classes=("owl", "cat")))
    gone = {one.key for one in exclusions(project) if one.reason == f"imagenet-a: {LEFT_OUT}"}
    assert gone == {key for key, name in class_of.items() if name == "duck" and key.startswith("c")}
    assert without.funnel[:2] == (("candidates", 120), (f"not {LEFT_OUT}", 80))


def test_answers_among_the_classes_that_stay(birds, tmp_path):
    """As the second model of the paper: of a model's classes, those of the set alone have logits that count."""
    project, plain = birds
    store, stay = str(tmp_path / "runs"), ("owl", "duck")
    request = FilterRequest("imagenet-a", classes=stay, among_classes=True, most_per_confusion=100)
    with pytest.raises(StoreError, match="answers among some classes need all logits: run it with --keep logits"):
        filter_pool(project, plain, request)
    crops = with_defences([model(*one) for one in MODELS.items()], ["each-crop"])
    data = load_data(write_pool(project).file)
    odo.run(crops, [odo.clean(data)], store=store, options=odo.RunOptions(keep="logits"))
    places = [CLASSES.classes.index(name) for name in stay]
    expected = set()
    for one in pool_images(project, role="candidate"):
        if one.class_name in stay:
            truth = stay.index(one.class_name)
            each = [softmax(logits_of(crops_of(project, one), network(seed))[:, places]) for seed in MODELS.values()]
            if all((some.argmax(axis=1) != truth).all() and some[:, truth].mean() <= 0.15 for some in each):
                expected.add(one.key)
    found = filter_pool(project, store, request)
    assert expected
    assert set(found.ids) == expected
    among_all = filter_pool(project, store, FilterRequest("imagenet-a", classes=stay, most_per_confusion=100))
    assert expected < set(among_all.ids), "what was taken for a cat may be taken for the right class now"
    with pytest.raises(UsageError, match="--among-classes is of imagenet-a"):
        FilterRequest("imagenet-o", at_least=0.5, among_classes=True)


def test_near_classes_by_what_is_confused_on_the_original_images(birds, tmp_path):
    project, _ = birds
    store, originals = str(tmp_path / "runs"), pool_images(project, role="original")
    rows = [("path", "id", "label")]
    rows += [(str(project.folder / "images" / one.file), one.columns["name"], one.class_name) for one in originals]
    (tmp_path / "original.csv").write_text("".join(f"{','.join(row)}\n" for row in rows))
    with pytest.raises(StoreError, match=r"--groups 0\.5 needs answers about the original images"):
        groups_by_confusion(project, birds[1], 0.5)
    odo.run([model("first", MODELS["first"])], [odo.clean(load_data(tmp_path / "original.csv"))], store=store)
    confused = Counter()
    for one in originals:
        picture = Image.open(project.folder / "images" / one.file).convert("RGB")
        whole = np.asarray(picture.resize((SIDE, SIDE), Image.Resampling.BILINEAR))[None]
        answer = CLASSES.classes[int(logits_of(whole, network(MODELS["first"])).argmax())]
        confused[one.class_name, answer] += 1
    expected = {frozenset(pair) for pair, n in confused.items() if len(set(pair)) == 2 and n >= 1}
    groups = groups_by_confusion(project, store, 0.5)  # of each class there are two
    assert expected
    assert all(len({groups[name] for name in pair}) == 1 for pair in expected)
    assert set(groups) == {name for pair in expected for name in pair}


def test_the_rule_of_imagenet_o(birds):
    project, store = birds
    found = filter_pool(project, store, FilterRequest("imagenet-o", at_least=0.9))
    left = set()
    for one in pool_images(project, role="candidate"):
        picture = Image.open(project.folder / "images" / one.file).convert("RGB")
        view = np.asarray(picture.resize((SIDE, SIDE), Image.Resampling.BILINEAR))[None]
        most = [np.exp(x).max() / np.exp(x).sum() for x in (logits_of(view, network(s))[0] for s in MODELS.values())]
        if min(most) >= 0.9:
            left.add(one.key)
    assert 0 < len(left) < 120
    assert set(found.ids) == left
    assert found.by_crop == ()


def test_a_model_that_knows_none_of_the_classes(tmp_path):
    """It can be asked about the images alone."""
    from oodometer.build.testset.project.classes import ClassEntry

    store, first = str(tmp_path / "runs"), model("first", MODELS["first"])
    with made_project(tmp_path / "outside", classes=[ClassEntry("zebra")], candidates=12, originals=0) as project:
        file = write_pool(project).file
        with pytest.raises(DataError, match="has no class 'zebra'"):
            odo.run([first], [odo.clean(load_data(file))], store=store)
        odo.run([first], [odo.clean(load_data(file, kind="images"))], store=store)
        found = filter_pool(project, store, FilterRequest("imagenet-o", at_least=0.6))
        with pytest.raises(DataError, match=r"first was asked about c1-\w+ without its class"):
            filter_pool(project, store, FilterRequest("imagenet-a"))
    assert 0 < len(found.ids) <= 12


def test_whole_images_where_no_crop_was_asked_about(birds, tmp_path):
    project, _ = birds
    odo.run(
        [model("first", MODELS["first"])],
        [odo.clean(load_data(write_pool(project).file))],
        store=str(tmp_path / "runs"),
    )
    found = filter_pool(project, str(tmp_path / "runs"), FilterRequest("imagenet-a"))
    assert (found.models, found.by_crop) == (("first",), ())


def test_in_either_database(either_database, tmp_path):
    with made_project(tmp_path / "birds", candidates=15, originals=1, database=either_database) as project:
        data = load_data(write_pool(project).file)
        odo.run([model("first", MODELS["first"])], [odo.clean(data)], store=str(tmp_path / "runs"))
        few = filter_pool(project, str(tmp_path / "runs"), FilterRequest("imagenet-a", most_per_confusion=2))
        more = filter_pool(project, str(tmp_path / "runs"), FilterRequest("imagenet-a"))
        assert few.n_out == 45 - len(few.ids) > 0
        assert more.n_back == len(more.ids) - len(few.ids) > 0
        assert len(exclusions(project)) == 45 - len(more.ids)
        assert undo_filter(project, "imagenet-a") == 45 - len(more.ids)
        assert exclusions(project) == []


def test_the_table_of_the_pool(birds, tmp_path):
    project, _ = birds
    elsewhere = write_pool(project, tmp_path / "table.csv")
    for written in (write_pool(project), elsewhere):
        data = load_data(written.file)
        assert data.ids == tuple(one.key for one in pool_images(project, role="candidate"))
        names = [data.space.classes[label] for label in data.labels.tolist()]
        assert names == [one.class_name for one in pool_images(project, role="candidate")]
        assert data.image(0).shape == (48, 64, 3)
    with pytest.raises(UsageError, match=r"table.txt: the table is a CSV file"):
        write_pool(project, tmp_path / "table.txt")


def test_what_lacks_is_told(birds, tmp_path):
    project, store = birds
    with pytest.raises(
        UsageError, match=r"third was not asked about these images, but first, second; first: oodometer"
    ):
        filter_pool(project, store, FilterRequest("imagenet-a", models=("third",)))
    data, other = load_data(write_pool(project).file), str(tmp_path / "runs")
    renamed = replace(data, ids=tuple(f"other-{name}" for name in data.ids))
    odo.run([model("first", MODELS["first"])], [odo.clean(renamed)], store=other)
    with pytest.raises(StoreError, match="no model was asked about these images; first: oodometer testset pool"):
        filter_pool(project, other, FilterRequest("imagenet-a"))
    some = with_defences([model("first", MODELS["first"])], ["crop-1", "crop-2"])
    odo.run(some, [odo.clean(data.take(np.arange(100)))], store=other)
    with pytest.raises(StoreError, match="first was asked about 2 of the 10 crops, not about crop-3, crop-4, crop-5"):
        filter_pool(project, other, FilterRequest("imagenet-a"))
    with pytest.raises(StoreError, match="first was asked about crops alone"):
        filter_pool(project, other, FilterRequest("imagenet-o", at_least=0.5))
    odo.run(
        with_defences([model("first", MODELS["first"])], ["none"]), [odo.clean(data.take(np.arange(100)))], store=other
    )
    with pytest.raises(
        StoreError, match=r"first has no answer about 20 of the 120 images, such as c3-\w+; run it again"
    ):
        filter_pool(project, other, FilterRequest("imagenet-o", at_least=0.5))


def test_images_that_were_asked_about_as_of_another_class(birds, tmp_path):
    project, _ = birds
    file = tmp_path / "wrong.csv"
    write_pool(project, file)
    file.write_text(file.read_text().replace(",owl", ",OWL").replace(",duck", ",owl").replace(",OWL", ",duck"))
    odo.run([model("first", MODELS["first"])], [odo.clean(load_data(file))], store=str(tmp_path / "runs"))
    with pytest.raises(DataError, match=r"asked about c\d-\w+ as an image of '\w+', which is a candidate for"):
        filter_pool(project, str(tmp_path / "runs"), FilterRequest("imagenet-a"))


def test_requests_that_can_not_be(tmp_path):
    with pytest.raises(UsageError, match="no rule named 'imagenet-b'"):
        FilterRequest("imagenet-b")
    with pytest.raises(UsageError, match=r"--at-least 0\.5, for example"):
        FilterRequest("imagenet-o")
    with pytest.raises(UsageError, match="--confidence 15: a share from 0 to 1"):
        FilterRequest("imagenet-a", most_confidence=15)
    (tmp_path / "groups.csv").write_text("class,group\nowl,bird\nowl,night\n")
    with pytest.raises(DataError, match="'owl' is in two groups"):
        read_groups(str(Path(tmp_path / "groups.csv")))
