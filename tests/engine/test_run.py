from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oodometer as odo
from oodometer.core.dataset import silent
from oodometer.core.model import Compute, Forward
from oodometer.engine.executors import executors
from oodometer.engine.plan import chunk_size, gaps
from oodometer.store.index import look
from oodometer.store.run import Run

SMALL = odo.Input(view=odo.Geometry(32, 32, resize=36), mean=(0, 0, 0), std=(1, 1, 1))
COLOURS = np.array([(40, 60, 200), (40, 180, 60), (128, 128, 128), (210, 50, 40)], dtype=np.float64)


def by_colour(images: np.ndarray) -> np.ndarray:
    """Tells blue, green, grey and red apart, (N, H, W, 3) -> (N, 4)."""
    means = images.reshape(len(images), -1, 3).mean(axis=1, dtype=np.float64)
    return (-((means[:, None, :] - COLOURS) ** 2).sum(axis=2) / 1000).astype(np.float32)


def model_of(forward: Forward, *, name: str = "colours", input: odo.Input = SMALL, classes: int = 4) -> odo.Model:  # noqa: A002
    space = odo.LabelSpace("numbers", tuple(str(index) for index in range(classes)))
    return odo.Model(name, "callable", f"digest of {name}", input, space, open=lambda compute: forward)


def darker(amount: int) -> odo.Transform:
    def apply(image: np.ndarray, image_id: str) -> np.ndarray:
        noise = odo.rng_for("darker", amount, image_id).integers(0, 9, image.shape)
        return np.clip(image.astype(np.int64) - amount + noise, 0, 255).astype(np.uint8)

    return odo.Transform("darker", {"amount": amount, "seed": 0}, apply, view=odo.Geometry(32, 32, resize=36))


def same(left: odo.Predictions, right: odo.Predictions) -> None:
    for one in fields(odo.Predictions):
        np.testing.assert_array_equal(getattr(left, one.name), getattr(right, one.name), err_msg=one.name)


def only_rows(made: Run) -> odo.Predictions:
    """The rows of a run of one cell."""
    (cell,) = made.cells
    return made.store.read(cell)


def test_a_known_model_gets_its_known_accuracy(photos: Path, tmp_path: Path) -> None:
    store = odo.run([model_of(by_colour)], [odo.clean(odo.load_data(str(photos)))], store=str(tmp_path / "runs"))
    (score,) = odo.score(store).rows
    # The pictures are one colour plus noise of 20 levels over 1,000 pixels: the nearest colour is always right.
    assert (score.estimate.value, score.estimate.n, score.metric) == (1.0, 40, "top-1")


@pytest.mark.parametrize(("threads", "chunk"), [(1, 0), (1, 7), (4, 3), (3, 40), (8, 1)])
def test_threads_and_chunks_change_nothing(photos: Path, tmp_path: Path, threads: int, chunk: int) -> None:
    """The pixels are the same to the last bit, and so is every number of a model that adds in a fixed order."""
    seen: dict[str, dict[bytes, int]] = {"one": {}, "other": {}}

    def watching(which: str) -> Forward:
        def forward(images: np.ndarray) -> np.ndarray:
            for image in images:
                seen[which][image.tobytes()] = seen[which].get(image.tobytes(), 0) + 1
            return by_colour(images)

        return forward

    data = odo.load_data(str(photos))
    conditions = [odo.clean(data), odo.Condition("darker", data, transform=darker(30))]
    one = odo.run([model_of(watching("one"))], conditions, store=str(tmp_path / "one"),
                  options=odo.RunOptions(threads=1, chunk=40))  # fmt: skip
    other = odo.run([model_of(watching("other"))], conditions, store=str(tmp_path / "other"),
                    options=odo.RunOptions(threads=threads, chunk=chunk))  # fmt: skip
    assert seen["one"] == seen["other"]
    assert len(seen["one"]) == 80
    for left, right in zip(one.cells, other.cells, strict=True):
        assert left.key == right.key
        same(one.store.read(left), other.store.read(right))


def test_each_image_is_decoded_once_and_transformed_once(photos: Path, tmp_path: Path, counted: Any) -> None:
    data, source = counted(odo.load_data(str(photos)))
    calls: list[str] = []
    plain = darker(30)
    transform = replace(plain, apply=lambda image, one: calls.append(one) or plain.apply(image, one))
    models = [model_of(by_colour, name=name) for name in ("a", "b", "c")]
    odo.run(models, [odo.clean(data), odo.Condition("darker", data, transform=transform)], store=str(tmp_path / "runs"))
    assert sorted(source.decoded) == list(range(40))
    assert sorted(calls) == sorted(data.ids)


def test_conditions_of_one_name_are_one_only_where_everything_is_the_same(photos: Path, tmp_path: Path) -> None:
    data = odo.load_data(str(photos))
    conditions = [odo.Condition("darker", data, transform=darker(amount)) for amount in (30, 30, 60)]
    totals: set[int] = set()
    watcher = odo.Watcher(running=lambda done, total: totals.add(total))
    made = odo.run([model_of(by_colour)], conditions, store=str(tmp_path / "runs"), watcher=watcher)
    assert {cell.condition.transform.parameters["amount"] for cell in made.cells} == {30, 60}
    assert {cell.key for cell in look(made.store).cells} == {cell.key for cell in made.cells}
    assert totals == {2 * len(data)}


def test_a_model_of_another_size_gets_one_plain_resize_of_transformed_pixels(photos: Path, tmp_path: Path) -> None:
    shown: list[np.ndarray] = []

    def forward(images: np.ndarray) -> np.ndarray:
        shown.extend(images)
        return by_colour(images)

    data = odo.load_data(str(photos)).take(np.arange(3))
    large = odo.Input(view=odo.Geometry(48, 48, resize=54, interpolation="bicubic"), mean=(0, 0, 0), std=(1, 1, 1))
    transform = darker(30)
    condition = odo.Condition("darker", data, transform=transform)
    odo.run(
        [model_of(forward, input=large)], [condition], store=str(tmp_path / "runs"), options=odo.RunOptions(threads=1)
    )
    from PIL import Image

    for position, pixels in enumerate(shown):
        canonical = transform.apply(data.views(position, [transform.view])[0], data.ids[position])
        expected = np.asarray(Image.fromarray(canonical).resize((48, 48), Image.Resampling.BICUBIC))  # Pillow alone
        np.testing.assert_array_equal(pixels, expected)


def test_a_second_run_does_nothing(photos: Path, tmp_path: Path, counted: Any) -> None:
    data, source = counted(odo.load_data(str(photos)))
    address = str(tmp_path / "runs")
    odo.run([model_of(by_colour)], [odo.clean(data)], store=address)
    source.decoded.clear()
    told: list[tuple[int, int]] = []
    watcher = odo.Watcher(running=lambda done, total: told.append((done, total)))
    odo.run([model_of(by_colour)], [odo.clean(data)], store=address, watcher=watcher)
    assert source.decoded == []
    assert told == [(0, 0)]


def test_a_new_model_or_condition_adds_only_its_own_cells(photos: Path, tmp_path: Path, counted: Any) -> None:
    data, source = counted(odo.load_data(str(photos)))
    address = str(tmp_path / "runs")
    odo.run([model_of(by_colour)], [odo.clean(data)], store=address)
    source.decoded.clear()
    asked: list[int] = []

    def forward(images: np.ndarray) -> np.ndarray:
        asked.append(len(images))
        return by_colour(images)

    odo.run([model_of(by_colour), model_of(forward, name="new")], [odo.clean(data)], store=address)
    assert len(source.decoded) == 40
    assert sum(asked) == 40


class Boom(Exception):
    """What ends a run in the tests."""


@pytest.mark.parametrize("second_chunk", [5, 7, 40])
def test_resumed_after_a_crash_with_another_chunk_size_it_is_as_if_nothing_happened(
    photos: Path, tmp_path: Path, second_chunk: int
) -> None:
    data = odo.load_data(str(photos))
    whole = odo.run([model_of(by_colour)], [odo.clean(data)], store=str(tmp_path / "whole"))
    asked: list[int] = []

    def crashing(images: np.ndarray) -> np.ndarray:
        if len(asked) == 3:
            raise Boom
        asked.append(len(images))
        return by_colour(images)

    address = str(tmp_path / "runs")
    with pytest.raises(Boom):
        odo.run([model_of(crashing)], [odo.clean(data)], store=address, options=odo.RunOptions(threads=1, chunk=5))
    partial = odo.score(address).rows[0]
    assert (partial.state, partial.estimate.n, partial.missing) == ("unfinished", 15, 25)
    asked.clear()
    options = odo.RunOptions(threads=2, chunk=second_chunk)

    def counting(images: np.ndarray) -> np.ndarray:
        asked.append(len(images))
        return by_colour(images)

    resumed = odo.run([model_of(counting)], [odo.clean(data)], store=address, options=options)
    assert sum(asked) == 25  # what was finished was not done again
    same(only_rows(resumed), only_rows(whole))


def test_logits_are_kept_on_request_and_added_later(photos: Path, tmp_path: Path) -> None:
    data = odo.load_data(str(photos))
    address = str(tmp_path / "runs")
    first = odo.run([model_of(by_colour)], [odo.clean(data)], store=address)
    store, (cell,) = first.store, first.cells
    assert not look(store).entry(cell).has_logits
    odo.run([model_of(by_colour)], [odo.clean(data)], store=address, options=odo.RunOptions(keep="logits"))
    rows = store.read(cell, logits=True)
    assert rows.logits is not None
    assert rows.logits.dtype == np.float16
    expected = by_colour(np.stack([data.views(index, [SMALL.view])[0] for index in range(40)]))
    np.testing.assert_array_equal(rows.logits, expected.astype(np.float16))


def test_a_mask_and_a_super_class_map_decide_over_their_own_classes(photos: Path, tmp_path: Path) -> None:
    data = odo.load_data(str(photos))
    space = odo.LabelSpace("val", ("blue", "green", "grey", "red"))
    groups = odo.super_classes("warm or cold", space, {"cold": ["blue", "green"], "warm": ["red", "grey"]})

    def always_blue_then_truth(images: np.ndarray) -> np.ndarray:
        logits = by_colour(images)
        logits[:, 0] = 1000.0
        return logits

    masked = odo.mask("no blue", space, ["green", "grey", "red"])
    some = data.take(np.flatnonzero(data.labels > 0))
    model = replace(model_of(always_blue_then_truth), space=space)
    conditions = [
        odo.Condition("plain", some),
        odo.Condition("masked", some, masked),
        odo.Condition("grouped", some, groups),
    ]
    store = odo.run([model], conditions, store=str(tmp_path / "runs"))
    found = {row.condition: row.estimate.value for row in odo.score(store).rows}
    # Always blue is always wrong; without blue always right; blue means cold, right for the 10 green of 30.
    assert found == {"plain": 0.0, "masked": 1.0, "grouped": pytest.approx(1 / 3)}


# Bad input


def broken_folder(photos: Path) -> Path:
    whole = (photos / "red" / "0.jpg").read_bytes()
    (photos / "red" / "0.jpg").write_bytes(whole[: len(whole) // 2])
    (photos / "blue" / "notes.png").write_text("this is not an image")
    return photos


def test_broken_files_are_an_error_before_any_work(photos: Path, tmp_path: Path) -> None:
    asked: list[int] = []
    model = model_of(lambda images: asked.append(1) or by_colour(images))  # type: ignore[func-returns-value]
    with pytest.raises(odo.DataError, match=r"2 of 41 images can't be read, first .*notes.png.*--skip-broken"):
        odo.run([model], [odo.clean(odo.load_data(str(broken_folder(photos))))], store=str(tmp_path / "runs"))
    assert not asked


def test_broken_files_can_be_left_out_and_n_says_so(photos: Path, tmp_path: Path) -> None:
    warnings: list[str] = []
    store = odo.run(
        [model_of(by_colour)],
        [odo.clean(odo.load_data(str(broken_folder(photos))))],
        store=str(tmp_path / "runs"),
        options=odo.RunOptions(skip_broken=True),
        watcher=odo.Watcher(warn=warnings.append),
    )
    (row,) = odo.score(store).rows
    assert (row.estimate.n, row.missing, row.state) == (39, 2, "complete")
    assert "2 broken images left out" in str(odo.score(store))
    assert len(warnings) == 1


@pytest.mark.parametrize(
    ("forward", "message"),
    [
        (lambda images: np.full((len(images), 4), np.nan, np.float32), "NaN or infinite logits"),
        (lambda images: np.zeros((len(images), 3), np.float32), r"shape \(\d+, 3\) .* expected \(\d+, 4\)"),
        (lambda images: np.zeros((1, 4), np.float32), "expected"),
    ],
)
def test_a_model_that_answers_wrongly_is_an_error(
    photos: Path, tmp_path: Path, forward: Callable[[np.ndarray], np.ndarray], message: str
) -> None:
    with pytest.raises(odo.ModelError, match=message):
        odo.run([model_of(forward)], [odo.clean(odo.load_data(str(photos)))], store=str(tmp_path / "runs"))


def test_a_label_outside_the_label_space_is_an_error_before_any_work(photos: Path, tmp_path: Path) -> None:
    for number, name in enumerate(("blue", "green", "grey", "red")):
        (photos / name).rename(photos / str(number * 3))
    with pytest.raises(odo.DataError, match="label 9 is outside the label space: model colours has 4 classes"):
        odo.run([model_of(by_colour)], [odo.clean(odo.load_data(str(photos)))], store=str(tmp_path / "runs"))


def test_a_model_with_another_number_of_classes_is_refused(photos: Path, tmp_path: Path) -> None:
    model = model_of(lambda images: np.zeros((len(images), 7), np.float32), classes=7)
    with pytest.raises(odo.DataError, match="has 7 classes and the data have 4"):
        odo.run([model], [odo.clean(odo.load_data(str(photos)))], store=str(tmp_path / "runs"))


def test_two_models_of_one_name_are_refused(photos: Path, tmp_path: Path) -> None:
    with pytest.raises(odo.UsageError, match="two models are named 'colours'"):
        odo.run([model_of(by_colour)] * 2, [odo.clean(odo.load_data(str(photos)))], store=str(tmp_path / "runs"))


def test_nothing_to_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(odo.UsageError, match="nothing to run"):
        odo.run([], [], store=str(tmp_path / "runs"))


# Answers from elsewhere


def test_stored_answers_stand_beside_models(photos: Path, tmp_path: Path) -> None:
    data = odo.load_data(str(photos))
    logits = by_colour(np.stack([data.views(index, [SMALL.view])[0] for index in range(40)]))
    order = np.random.default_rng(0).permutation(40)
    answers = odo.StoredAnswers("stored", "d", tuple(data.ids[one] for one in order), logits[order], "logits")
    made = odo.run([model_of(by_colour), answers], [odo.clean(data)], store=str(tmp_path / "runs"))
    assert [cell.model_name for cell in made.cells] == ["colours", "stored"]
    first, second = (made.store.read(cell) for cell in made.cells)
    same(first, second)


def test_stored_answers_about_other_images_are_refused(photos: Path, tmp_path: Path) -> None:
    data = odo.load_data(str(photos))
    answers = odo.StoredAnswers("stored", "d", tuple(f"x{one}" for one in data.ids), np.zeros((40, 4)), "logits")
    with pytest.raises(odo.DataError, match="no answer for 40 of 40 images, for example 'blue/0'"):
        odo.run([answers], [odo.clean(data)], store=str(tmp_path / "runs"))


# The seam


class RoundTrip:
    """An executor that sends work and items through pickle, as a cluster would, and does them in reverse order."""

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads

    def map(self, work: Any, items: Iterable[Any], *, stop: Callable[[], None]) -> Iterator[Any]:
        for item in reversed(list(items)):
            sent_work, sent_item = pickle.loads(pickle.dumps((work, item)))
            yield sent_work(sent_item)
        stop()


def open_by_colour(compute: Compute) -> Forward:
    return by_colour


def test_an_executor_that_pickles_and_reverses_gives_the_same(photos: Path, tmp_path: Path) -> None:
    if "round-trip" not in executors.names():
        executors.register("round-trip")(RoundTrip)
    data = odo.load_data(str(photos))
    model = replace(model_of(by_colour), open=open_by_colour)
    here = odo.run([model], [odo.clean(data)], store=str(tmp_path / "here"))
    there = odo.run([model], [odo.clean(data)], store=str(tmp_path / "there"),
                    options=odo.RunOptions(executor="round-trip", chunk=7))  # fmt: skip
    same(only_rows(here), only_rows(there))


def test_gaps_and_chunk_sizes() -> None:
    assert gaps(0, 10, []) == [(0, 10)]
    assert gaps(0, 10, [(0, 10)]) == []
    assert gaps(5, 10, [(0, 6), (7, 8)]) == [(6, 7), (8, 10)]
    assert all(16 <= chunk_size(n, threads) <= 256 for n in (1, 100, 10**6) for threads in (1, 8, 64))


def test_silent_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    silent(1, 2)
    assert capsys.readouterr() == ("", "")
