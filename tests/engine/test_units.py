"""Images with several labels, and images that are judged as one: from the run to the reports."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from oodometer.analysis.compare import compare
from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.robustness import robustness
from oodometer.analysis.score import score
from oodometer.cli.main import main
from oodometer.core.condition import Condition, Shift
from oodometer.core.dataset import Dataset, Scan
from oodometer.core.errors import DataError, ModelError, StoreError, UsageError
from oodometer.core.labels import LabelSpace, super_classes
from oodometer.core.model import Model
from oodometer.core.predictions import Predictions, from_logits
from oodometer.core.stored_answers import StoredAnswers
from oodometer.engine.run import RunOptions, run
from oodometer.engine.worker import best_labels
from oodometer.models.callable import from_function
from oodometer.models.card import Declared
from oodometer.store.cells import Cell
from oodometer.store.index import look
from oodometer.store.run import Run
from oodometer.store.store import Store, open_store
from watching import wait_for_parts

quick = settings(deadline=None, derandomize=True, max_examples=100)
K = 3
CLASSES = LabelSpace("animals", ("ant", "bee", "cat"))


def answering(answers: np.ndarray, *, name: str = "net", classes: LabelSpace | None = None, stop_at: int = -1) -> Model:
    """A model that gives image i (whose pixels are i) the class ``answers[i]``, and fails at image ``stop_at``."""

    def answer(images: np.ndarray) -> np.ndarray:
        places = images[:, 0, 0, 0].astype(int)
        if stop_at in places.tolist():
            raise RuntimeError("killed")
        return np.eye(K)[np.asarray(answers)[places]] + np.linspace(0, 0.3, K)

    declared = Declared(name=name, size=(1, 1), version=f"{np.asarray(answers).tolist()}", classes=classes)
    return from_function(answer, declared)


ANCHOR = np.array(["a", "a", "a", "b", "b", "c", "c", "c", "d"])
OFFSET = np.array([-1, 0, 1, 0, 1, -1, 0, 1, 0])
LABELS = np.array([0, 0, 0, 1, 1, 2, 2, 2, 1])
# a: a neighbour is wrong; b: right; c: the anchor is wrong and its neighbours right; d: no neighbours, right
ANSWERS = np.array([0, 0, 2, 1, 1, 2, 0, 2, 1])


@pytest.fixture
def frames(make_dataset: Callable[..., Dataset]) -> Dataset:
    ids = [f"{one} {offset:+d}" if offset else one for one, offset in zip(ANCHOR, OFFSET, strict=True)]
    columns = {"anchor": ANCHOR, "offset": OFFSET}
    return make_dataset(len(ids), k=K, labels=LABELS, ids=ids, columns=columns, name="clips")


def shift_of(frames: Dataset) -> Shift:
    anchors = frames.take(np.flatnonzero(frames.columns["offset"] == 0))
    return Shift("pm-1", "consistency", Condition("pm-0", anchors), Condition("pm-1", frames, unit="anchor"))


def cell_of(made: Run, condition: str) -> Cell:
    return next(cell for cell in made.cells if cell.condition_name == condition)


def rows_of(made: Run, condition: str) -> Predictions:
    return made.store.read(cell_of(made, condition))


def top1(store: Run | Store) -> dict[tuple[str, str], tuple[float, int, int]]:
    rows = score(store, metrics=["top-1"]).rows
    return {(row.model, row.condition): (row.estimate.value, row.estimate.n, row.missing) for row in rows}


def assert_same(one: Predictions, other: Predictions) -> None:
    for column in fields(Predictions):
        np.testing.assert_array_equal(getattr(one, column.name), getattr(other, column.name))


# Several labels


@quick
@given(st.data())
def test_any_label_counts_as_in_a_plain_loop(data):
    k = data.draw(st.integers(2, 6))
    seed = data.draw(st.integers(0, 10_000))
    logits = np.random.default_rng(seed).integers(0, 4, (5, k)).astype(float)  # with equals among them
    labels = np.array(data.draw(st.lists(st.integers(-1, k - 1), min_size=5, max_size=5)))
    others = [np.array(data.draw(st.lists(st.integers(0, k - 1), max_size=3)), dtype=int) for _ in range(5)]
    ranks = from_logits(logits, best_labels(logits, labels, others), np.arange(5)).rank
    for row in range(5):
        order = sorted(range(k), key=lambda one: (-logits[row, one], one))
        allowed = {one for one in (labels[row], *others[row]) if one >= 0}
        assert ranks[row] == (min(order.index(one) for one in allowed) if allowed else -1)


def test_a_frame_with_two_labels_is_right_with_either(make_dataset, tmp_path):
    data = replace(make_dataset(5, k=K, labels=[0, 0, 0, 0, 1]), other_labels=((2,), (2,), (2,), (), ()))
    store = run([answering(np.array([0, 2, 1, 2, 1]))], [Condition("clean", data)], store=str(tmp_path / "runs"))
    assert top1(store) == {("net", "clean"): (3 / 5, 5, 0)}
    assert rows_of(store, "clean").label[:2].tolist() == [0, 2]


def test_several_labels_in_the_order_of_the_model_s_classes(make_dataset, tmp_path):
    data = replace(make_dataset(3, labels=[0, 0, 2], space=CLASSES), other_labels=((1,), (1,), ()))
    shuffled = LabelSpace("mine", ("cat", "ant", "bee"))
    model = answering(np.array([2, 0, 0]), classes=shuffled)  # bee, cat, cat
    store = run([model], [Condition("clean", data)], store=str(tmp_path / "runs"))
    assert top1(store) == {("net", "clean"): (2 / 3, 3, 0)}


def test_several_labels_through_a_map(make_dataset, tmp_path):
    broad = super_classes("broad", CLASSES, {"mammals": ["cat"], "insects": ["bee", "ant"]})
    data = replace(make_dataset(2, labels=[0, 0], space=broad.target), other_labels=((1,), ()))
    model = answering(np.array([0, 0]), classes=CLASSES)  # both times an ant
    store = run([model], [Condition("clean", data, broad)], store=str(tmp_path / "runs"))
    assert top1(store) == {("net", "clean"): (1 / 2, 2, 0)}


def test_models_on_images_of_several_labels_are_compared(make_dataset, tmp_path):
    data = replace(make_dataset(4, k=K, labels=[0] * 4), other_labels=((2,), (2,), (), ()))
    models = [answering(np.array([0, 2, 0, 1]), name="x"), answering(np.array([2, 2, 1, 1]), name="y")]
    store = run(models, [Condition("clean", data)], store=str(tmp_path / "runs"))
    (found,) = compare(store, "x", "y")
    assert (found.accuracy_a.value, found.accuracy_b.value, found.counts.only_a) == (3 / 4, 2 / 4, 1)
    assert found.agreement is not None
    assert found.agreement.value == 2 / 4  # on the second and the last image


# Images judged as one


def test_pm_0_and_pm_k_to_the_digit(frames, tmp_path):
    store = run([answering(ANSWERS)], [shift_of(frames)], store=str(tmp_path / "runs"), options=RunOptions(chunk=2))
    assert top1(store) == {("net", "pm-0"): (3 / 4, 4, 0), ("net", "pm-1"): (2 / 4, 4, 0)}
    rows = rows_of(store, "pm-1")
    assert rows.image.tolist() == [1, 3, 6, 8], "each anchor stands under its own frame"
    assert (rows.rank == 0).tolist() == [False, True, False, True]
    assert rows.prediction.tolist() == [2, 1, 0, 1], "the answer is that to the worst frame"
    # pm-k of the frames one by one is the reference for the unit
    plain = run([answering(ANSWERS)], [Condition("clean", frames)], store=str(tmp_path / "plain"))
    found = {row.metric: row.estimate for row in score(plain, metrics=["pm-k"]).rows}
    assert [found[f"pm-{k}"].value for k in (0, 1)] == [3 / 4, 2 / 4]
    by_unit = {row.condition: row.estimate for row in score(store, metrics=["top-1"]).rows}
    assert by_unit["pm-1"] == found["pm-1"]


@pytest.mark.parametrize("chunk", [1, 2, 4, 100])
def test_the_result_does_not_depend_on_how_the_work_is_cut(frames, tmp_path, chunk):
    whole = run([answering(ANSWERS)], [shift_of(frames)], store=str(tmp_path / "whole"))
    cut = run([answering(ANSWERS)], [shift_of(frames)], store=str(tmp_path / "cut"), options=RunOptions(chunk=chunk))
    assert_same(rows_of(whole, "pm-1"), rows_of(cut, "pm-1"))


def test_stopped_in_between_it_is_unfinished_and_then_goes_on(frames, tmp_path):
    address, options = str(tmp_path / "runs"), RunOptions(chunk=2, threads=1)
    with pytest.raises(ModelError, match="killed"):
        run([answering(ANSWERS, stop_at=5)], [shift_of(frames).shifted], store=address, options=options)
    store = run([answering(ANSWERS)], [shift_of(frames).standard], store=address).store
    index = look(store)
    (cell,) = [one for one in index.cells if one.condition_name == "pm-1"]
    assert len(index.entry(cell).covered(keep_logits=False)) == 2, "the first four frames are done"
    assert not index.row_files(cell)
    assert top1(store) == {("net", "pm-0"): (3 / 4, 4, 0)}
    with pytest.raises(StoreError, match="no predictions of net on pm-1"):
        store.read(cell)
    assert state_of(address)["pm-1"] == (0, 4, "unfinished")
    seen: list[int] = []
    resumed = replace_open(answering(ANSWERS), seen)
    run([resumed], [shift_of(frames)], store=address, options=options)
    assert sorted(seen) == [4, 5, 6, 7, 8], "only what was missing is done"
    assert state_of(address) == {"pm-0": (4, 4, "complete"), "pm-1": (4, 4, "complete")}
    undisturbed = run([answering(ANSWERS)], [shift_of(frames)], store=str(tmp_path / "undisturbed"))
    assert_same(store.read(cell), rows_of(undisturbed, "pm-1"))


def replace_open(model: Model, seen: list[int]) -> Model:
    """The same model, which notes the images that it is asked about."""

    def open_(compute: Any):
        forward = model.open(compute)

        def ask(images: np.ndarray) -> np.ndarray:
            seen.extend(images[:, 0, 0, 0].tolist())
            return forward(images)

        return ask

    return replace(model, open=open_)


def state_of(address: str) -> dict[str, tuple[int, int, str]]:
    """What ``oodometer ls`` says of each condition: rows, of how many, and whether it is complete."""
    done = CliRunner().invoke(main, ["ls", address, "--json"])
    assert done.exit_code == 0
    return {cell["condition"]: (cell["rows"], cell["images"], cell["state"]) for cell in json.loads(done.stdout)}


@pytest.mark.parametrize("after", ["nothing", "rows"])
def test_killed_while_sealing_the_next_run_seals(frames, tmp_path, monkeypatch, after):
    address, whole = str(tmp_path / "runs"), Store.seal

    def killed(store: Store, cell: Any, *, keep_logits: bool) -> None:
        if after == "rows":
            monkeypatch.setattr(type(store.files), "remove", stop)
            whole(store, cell, keep_logits=keep_logits)
        raise KeyboardInterrupt

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Store, "seal", killed)
        with pytest.raises(KeyboardInterrupt):
            run([answering(ANSWERS)], [shift_of(frames).shifted], store=address)
    monkeypatch.undo()
    seen: list[int] = []
    store = run([replace_open(answering(ANSWERS), seen)], [shift_of(frames).shifted], store=address)
    assert seen == []
    assert top1(store) == {("net", "pm-1"): (2 / 4, 4, 0)}


def test_logits_are_those_of_the_worst_frame_also_when_asked_for_later(frames, tmp_path):
    model, shift, keep = answering(ANSWERS), shift_of(frames), RunOptions(keep="logits", chunk=2)
    made = run([model], [shift], store=str(tmp_path / "runs"))
    store, cell = made.store, cell_of(made, "pm-1")
    assert not look(store).entry(cell).has_logits
    run([model], [shift], store=store, options=keep)
    assert look(store).entry(cell).has_logits
    rows = store.read(cell, logits=True)
    assert rows.logits is not None
    assert rows.logits.argmax(axis=1).tolist() == rows.prediction.tolist() == [2, 1, 0, 1]


class Torn:
    """A source one of whose images can't be read."""

    def __init__(self, inner: Any, torn: int) -> None:
        self.inner, self.torn = inner, torn

    def views(self, index: int, views: Any) -> list[np.ndarray]:
        if index == self.torn:
            raise DataError(f"image {index} is torn")
        return self.inner.views(index, views)

    def scan(self, indices: np.ndarray, progress: Any) -> Scan:
        found = self.inner.scan(indices, progress)
        return Scan(found.contents, {at: "torn" for at, one in enumerate(indices.tolist()) if one == self.torn})


def test_an_anchor_with_a_broken_frame_is_left_out(frames, tmp_path):
    torn = replace(frames, source=Torn(frames.source, 5))  # a neighbour of c
    store = run(
        [answering(ANSWERS)], [shift_of(torn)], store=str(tmp_path / "runs"), options=RunOptions(skip_broken=True)
    )
    assert top1(store) == {("net", "pm-0"): (3 / 4, 4, 0), ("net", "pm-1"): (2 / 3, 3, 1)}
    assert state_of(str(store))["pm-1"] == (3, 4, "complete")


def test_an_anchor_with_a_frame_without_a_label_has_no_rank(frames, tmp_path):
    labels = LABELS.copy()
    labels[4] = -1  # a neighbour of b
    store = run([answering(ANSWERS)], [shift_of(replace(frames, labels=labels))], store=str(tmp_path / "runs"))
    assert top1(store)["net", "pm-1"] == (1 / 3, 3, 0)


def test_compare_pairs_the_anchors(frames, tmp_path):
    better = np.array([0, 0, 0, 1, 1, 2, 2, 2, 0])  # all right but d
    models = [answering(ANSWERS, name="x"), answering(better, name="y")]
    store = run(models, [shift_of(frames)], store=str(tmp_path / "runs"))
    (found,) = compare(store, "x", "y", on="pm-1")
    counts = found.counts
    # x is right on b and d, y on a, b and c
    assert (counts.both, counts.only_a, counts.only_b, counts.neither) == (1, 1, 2, 0)
    assert found.agreement is None, "the worst frames of two models are different frames"


def test_compare_leaves_out_what_is_not_judged_yet(frames, tmp_path):
    shift, address = shift_of(frames), str(tmp_path / "runs")
    models = [answering(ANSWERS, name="x"), answering(LABELS, name="y")]
    run(models, [shift.standard], store=address)
    for name, answers in (("x", ANSWERS), ("y", LABELS)):
        model = answering(answers, name=name, stop_at=8)
        with pytest.raises(ModelError):
            run([model], [shift.shifted], store=address, options=RunOptions(chunk=2, threads=1))
    assert [one.condition for one in compare(address, "x", "y")] == ["pm-0"]
    with pytest.raises(StoreError, match="no predictions of x on pm-1 yet"):
        compare(address, "x", "y", on="pm-1")


def test_robustness_of_models_on_the_pair(make_dataset, tmp_path):
    rng, n = np.random.default_rng(4), 40
    anchor, offset = np.repeat(np.arange(n), 3), np.tile([-1, 0, 1], n)
    ids = [f"{one} {at:+d}" if at else f"{one}" for one, at in zip(anchor, offset, strict=True)]
    labels = np.repeat(rng.integers(0, K, n), 3)
    data = make_dataset(3 * n, k=K, labels=labels, ids=ids, columns={"anchor": anchor, "offset": offset})
    models, expected = [], {}
    for number, share in enumerate((0.5, 0.3, 0.2, 0.1)):
        answers = np.where(rng.random(3 * n) < share, (labels + 1) % K, labels)
        models.append(answering(answers, name=f"m{number}"))
        right = (answers == labels).reshape(n, 3)
        expected[f"m{number}"] = (right[:, 1].mean(), right.all(axis=1).mean())
    store = run(models, [shift_of(data)], store=str(tmp_path / "runs"))
    found = robustness(store, "pm-1", options=RobustnessOptions(baseline=""))
    assert found.x == ("pm-0",)
    assert {one.model: (one.x[0].value, one.y.value) for one in found.models} == {
        name: pytest.approx(values) for name, values in expected.items()
    }
    assert found.same_images
    assert found.notes == ()


def test_other_groups_of_the_same_images_are_not_mistaken_for_these(frames, tmp_path):
    store = run([answering(ANSWERS)], [shift_of(frames)], store=str(tmp_path / "runs")).store
    other = replace(frames, columns={**frames.columns, "anchor": np.array(list("aaabbaaab"))})
    with pytest.raises(StoreError) as caught:
        run([answering(ANSWERS)], [Condition("pm-1", other, unit="anchor")], store=store)
    assert str(caught.value) == (
        f"{store}: an earlier run of clips had other values in its column anchor, by which pm-1 is judged; "
        "use another store, or give the images other ids"
    )
    found = run([answering(ANSWERS)], [Condition("pm-1", other, unit="anchor")], store=str(tmp_path / "other"))
    assert top1(found) == {("net", "pm-1"): (1 / 2, 2, 0)}


def test_a_column_that_comes_later_is_known_when_the_cell_is_sealed(frames, tmp_path):
    store = str(tmp_path / "runs")
    run([answering(ANSWERS)], [Condition("clean", replace(frames, columns={}))], store=store)
    run([answering(ANSWERS)], [Condition("pm-1", frames, unit="anchor")], store=store)
    assert top1(open_store(store))["net", "pm-1"] == (2 / 4, 4, 0)


def test_groups_may_be_numbers_that_are_missing(make_dataset, tmp_path):
    columns = {"shot": np.array([1.0, np.nan, 1.0, np.nan]), "offset": np.array([0.0, 0.0, np.nan, 1.0])}
    data = make_dataset(4, k=K, labels=[0, 0, 0, 0], columns=columns)
    store = str(tmp_path / "runs")
    for name, answers in (("x", [0, 0, 0, 1]), ("y", [0, 0, 0, 0])):
        run([answering(np.array(answers), name=name)], [Condition("shots", data, unit="shot")], store=store)
    assert top1(open_store(store)) == {("x", "shots"): (1 / 2, 2, 0), ("y", "shots"): (1, 2, 0)}


def test_without_offsets_a_group_stands_under_its_first_image(make_dataset, tmp_path):
    data = make_dataset(4, k=K, labels=[0, 0, 1, 1], columns={"patient": np.array([7, 3, 7, 3])})
    store = run([answering(np.array([0, 0, 1, 0]))], [Condition("x", data, unit="patient")], store=str(tmp_path / "r"))
    rows = rows_of(store, "x")
    assert (rows.image.tolist(), (rows.rank == 0).tolist()) == ([0, 1], [True, False])


def test_a_unit_needs_its_column(make_dataset):
    with pytest.raises(UsageError) as caught:
        Condition("pm-1", make_dataset(4), unit="anchor")
    assert str(caught.value) == "condition pm-1: val has no column 'anchor'"


def test_answers_computed_elsewhere_are_not_judged_in_groups(frames, tmp_path):
    answers = StoredAnswers("mine", "0" * 32, frames.ids, ANSWERS[:, None], "classes")
    with pytest.raises(UsageError, match="can't be used for pm-1"):
        run([answers], [shift_of(frames).shifted], store=str(tmp_path / "runs"))


SLOW_MODEL = """
import time
import numpy as np

def answer(images):
    time.sleep(0.02 * len(images))
    return images.reshape(len(images), -1, 3).mean(axis=1)
"""


@pytest.mark.slow
def test_a_process_that_is_killed_between_the_frames_of_an_anchor(tmp_path):
    lines, right = ["path,label,sequence,frame"], np.random.default_rng(2).random((6, 7)) < 0.9
    for clip, frame in np.ndindex(right.shape):
        Image.new("RGB", (8, 8), (200, 0, 0) if right[clip, frame] else (0, 0, 200)).save(
            tmp_path / f"{clip}_{frame}.png"
        )
        lines.append(f"{clip}_{frame}.png,0,clip{clip},{frame}")
    (tmp_path / "frames.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "slow_model.py").write_text(SLOW_MODEL)
    command = [
        sys.executable,
        "-m",
        "oodometer",
        "run",
        "--model",
        "callable:slow_model:answer",
        "--data",
        "frames.csv",
    ]
    options = ["--size", "8", "--store", "runs", "--chunk", "2", "--on", "pm-3"]
    first = subprocess.Popen([*command, *options], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for_parts(tmp_path / "runs", 6)
    first.kill()
    first.wait()
    assert state_of(str(tmp_path / "runs"))["pm-3"] == (0, 6, "unfinished")
    again = subprocess.run([*command, *options], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert again.returncode == 0, again.stderr
    expected = {("answer", "pm-0"): (right[:, 3].mean(), 6, 0), ("answer", "pm-3"): (right.all(axis=1).mean(), 6, 0)}
    assert top1(open_store(str(tmp_path / "runs"))) == expected
    assert 0 < right.all(axis=1).mean() < right[:, 3].mean()
