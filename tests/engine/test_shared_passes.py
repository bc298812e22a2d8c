"""Conditions on the same images: each is scanned, decoded and asked about once, whatever is made of the answer."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import oodometer as odo
from oodometer.core.dataset import Dataset, Progress, Scan, scan_together
from oodometer.core.labels import numbered
from oodometer.engine.plan import Task, cell_for, chunks_for, gaps, groups_of_shared_images, in_order, n_missing
from oodometer.store.run import Run
from watching import wait_for_parts

VIEW = odo.Geometry(32, 32, resize=36)
CLASSES = 4


def by_mean(images: np.ndarray) -> np.ndarray:
    """Answers that differ from image to image and add in a fixed order, (N, H, W, 3) -> (N, 4)."""
    means = images.reshape(len(images), -1, 3).mean(axis=1, dtype=np.float64)
    return np.concatenate([means, means[:, :1] * 0.7 + 17], axis=1).astype(np.float32) / 30


def model_of(forward: Callable[[np.ndarray], np.ndarray] = by_mean, *, name: str = "means") -> odo.Model:
    given_input = odo.Input(view=VIEW, mean=(0, 0, 0), std=(1, 1, 1))
    return odo.Model(name, "callable", f"digest of {name}", given_input, numbered(CLASSES), lambda compute: forward)


def watched(seen: Counter[bytes]) -> Callable[[np.ndarray], np.ndarray]:
    def forward(images: np.ndarray) -> np.ndarray:
        seen.update(image.tobytes() for image in images)
        return by_mean(images)

    return forward


def natural_like(data: Dataset) -> list[odo.Condition]:
    """The clean images, three class-matched subsets through label maps, and the images under further labels."""
    found = [odo.clean(data)]
    for name, kept in (("two", (0, 3)), ("three", (0, 1, 2)), ("late", (2, 3))):
        positions = np.flatnonzero(np.isin(data.labels, kept))
        label_map = odo.mask(name, data.space, [data.space.classes[one] for one in kept])
        found.append(odo.Condition(f"on-{name}", data.take(positions, name=f"on-{name}"), label_map))
    others = tuple(((label + 1) % CLASSES,) if label % 2 else () for label in data.labels.tolist())
    found.append(odo.Condition("several", replace(data, name="several", other_labels=others)))
    return found


@pytest.fixture
def data(photos: Path) -> Dataset:
    return odo.load_data(str(photos))


def rows_of(made: Run, condition: str, model: str = "means") -> odo.Predictions:
    (cell,) = [one for one in made.cells if (one.condition_name, one.model_name) == (condition, model)]
    return made.store.read(cell, logits=True)


def same(left: odo.Predictions, right: odo.Predictions) -> None:
    for one in fields(odo.Predictions):
        np.testing.assert_array_equal(getattr(left, one.name), getattr(right, one.name), err_msg=one.name)


@pytest.mark.parametrize(("threads", "chunk"), [(1, 0), (1, 7), (3, 5), (2, 40), (2, 1)])
def test_every_image_is_decoded_and_asked_about_once_and_the_answers_are_those_of_single_runs(
    data: Dataset, photos: Path, tmp_path: Path, counted: Any, threads: int, chunk: int
) -> None:
    shared, source = counted(data)
    asked: dict[str, Counter[bytes]] = {"one": Counter(), "other": Counter()}
    models = [model_of(watched(seen), name=name) for name, seen in asked.items()]
    told: list[tuple[int, int]] = []
    store = odo.run(
        models,
        natural_like(shared),
        store=str(tmp_path / "together"),
        options=odo.RunOptions(threads=threads, chunk=chunk, keep="logits"),
        watcher=odo.Watcher(running=lambda done, total: told.append((done, total))),
    )
    assert sorted(source.decoded) == list(range(40))
    assert all(set(seen.values()) == {1} and len(seen) == 40 for seen in asked.values())
    total = 2 * (40 + 20 + 30 + 20 + 40)  # two models; ten images of each of four classes
    assert told[0] == (0, total)
    assert told[-1] == (total, total)
    for place, condition in enumerate(natural_like(data)):
        fresh = natural_like(odo.load_data(str(photos)))[place]
        single = odo.run([model_of()], [fresh], store=str(tmp_path / str(place)), options=odo.RunOptions(keep="logits"))
        for name in asked:
            same(rows_of(store, condition.name, name), rows_of(single, condition.name))


def test_what_is_stored_is_not_asked_again(data: Dataset, tmp_path: Path, counted: Any) -> None:
    shared, source = counted(data)
    conditions = natural_like(shared)
    address = str(tmp_path / "runs")
    odo.run([model_of()], [conditions[1]], store=address)
    assert sorted(source.decoded) == [*range(10), *range(30, 40)]
    source.decoded.clear()
    seen: Counter[bytes] = Counter()
    odo.run([model_of(watched(seen))], conditions[:2], store=address)
    assert sorted(source.decoded) == list(range(40))
    source.decoded.clear()
    odo.run([model_of(watched(seen))], conditions[:3], store=address)
    assert sorted(source.decoded) == list(range(30)), "the images of the new condition alone"
    assert sum(seen.values()) == 40 + 30


def test_stopped_in_the_middle_it_goes_on_where_it_was(data: Dataset, tmp_path: Path, counted: Any) -> None:
    calls: list[int] = []

    def failing(images: np.ndarray) -> np.ndarray:
        calls.append(len(images))
        if len(calls) == 4:
            raise odo.ModelError("out of memory")
        return by_mean(images)

    options = odo.RunOptions(threads=1, chunk=6, keep="logits")
    address = str(tmp_path / "runs")
    with pytest.raises(odo.ModelError, match="out of memory"):
        odo.run([model_of(failing)], natural_like(data), store=address, options=options)
    shared, source = counted(data)
    again = replace(options, chunk=9, threads=2)  # whoever goes on may cut otherwise
    store = odo.run([model_of()], natural_like(shared), store=address, options=again)
    assert sorted(source.decoded) == list(range(18, 40)), "three chunks of six were done"
    whole = odo.run([model_of()], natural_like(data), store=str(tmp_path / "whole"), options=options)
    for condition in natural_like(data):
        same(rows_of(store, condition.name), rows_of(whole, condition.name))


SCRIPT = """
import sys, time
sys.path[:0] = {folders!r}
import oodometer as odo
from test_shared_passes import by_mean, model_of, natural_like

def slow(images):
    time.sleep(0.03 * len(images))
    return by_mean(images)

conditions = natural_like(odo.load_data({photos!r}))
odo.run([model_of(slow)], conditions, store={store!r}, options=odo.RunOptions(threads=2, chunk=2, keep="logits"))
"""


@pytest.mark.slow
def test_killed_in_the_middle_it_goes_on_where_it_was(
    data: Dataset, photos: Path, tmp_path: Path, counted: Any
) -> None:
    address = tmp_path / "runs"
    folders = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support")]
    script = SCRIPT.format(folders=folders, photos=str(photos), store=str(address))
    process = subprocess.Popen([sys.executable, "-c", script], env=os.environ)
    wait_for_parts(address, 20)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    shared, source = counted(data)
    store = odo.run([model_of()], natural_like(shared), store=str(address), options=odo.RunOptions(keep="logits"))
    assert 0 < len(source.decoded) < 40
    assert len(set(source.decoded)) == len(source.decoded)
    whole = odo.run([model_of()], natural_like(data), store=str(tmp_path / "w"), options=odo.RunOptions(keep="logits"))
    for condition in natural_like(data):
        same(rows_of(store, condition.name), rows_of(whole, condition.name))


def test_a_broken_image_is_missing_wherever_it_is_wanted(photos: Path, tmp_path: Path) -> None:
    (photos / "grey" / "4.jpg").write_bytes(b"\xff\xd8\xff")  # position 24, class 2
    data = odo.load_data(str(photos))
    warned: list[str] = []
    with pytest.raises(odo.DataError, match="1 of 40 images can't be read"):
        odo.run([model_of()], natural_like(data), store=str(tmp_path / "runs"))
    store = odo.run(
        [model_of()],
        natural_like(data),
        store=str(tmp_path / "runs"),
        options=odo.RunOptions(skip_broken=True, chunk=3, keep="logits"),
        watcher=odo.Watcher(warn=warned.append),
    )
    found = {condition.name: rows_of(store, condition.name).image.tolist() for condition in natural_like(data)}
    assert found == {
        "clean": [*range(24), *range(25, 40)],
        "on-two": list(range(20)),
        "on-three": [*range(24), *range(25, 30)],
        "on-late": [*range(4), *range(5, 20)],
        "several": [*range(24), *range(25, 40)],
    }
    assert [line.partition(":")[0] for line in warned] == ["val", "on-three", "on-late", "several"]


def test_a_transform_of_a_subset_is_made_of_the_same_decoded_images(
    data: Dataset, tmp_path: Path, counted: Any
) -> None:
    shared, source = counted(data)
    made: list[str] = []

    def darker(image: np.ndarray, image_id: str) -> np.ndarray:
        made.append(image_id)
        return image // 2

    subset = shared.take(np.arange(5, 40, 3), name="subset")
    transform = odo.Transform("darker", {}, darker, view=odo.Geometry(24, 24, resize=30))
    dark = odo.Condition("dark", subset, transform=transform)
    options = odo.RunOptions(chunk=7, keep="logits")
    store = odo.run([model_of()], [odo.clean(shared), dark], store=str(tmp_path / "runs"), options=options)
    assert sorted(source.decoded) == list(range(40))
    assert sorted(made) == sorted(subset.ids)
    alone = odo.run([model_of()], [dark], store=str(tmp_path / "alone"), options=options)
    same(rows_of(store, "dark"), rows_of(alone, "dark"))


def test_data_in_another_order_than_the_source_are_asked_about_on_their_own(
    data: Dataset, tmp_path: Path, counted: Any
) -> None:
    shared, source = counted(data)
    backward = odo.Condition("backward", shared.take(np.arange(39, -1, -1), name="backward"))
    four = shared.take(np.arange(4), name="twice")
    twice = replace(four, ids=("a", "b", "c", "d"), rows=np.array([0, 1, 1, 2]))
    noise = odo.Transform("named", {}, lambda image, one: image // (1 + (one == "c")), view=VIEW)
    conditions = [odo.clean(shared), backward, odo.Condition("twice", twice, transform=noise)]
    options = odo.RunOptions(chunk=7, keep="logits")
    store = odo.run([model_of()], conditions, store=str(tmp_path / "runs"), options=options)
    assert Counter(source.decoded) == Counter([*range(40), *range(40), 0, 1, 2])
    clean = rows_of(store, "clean")
    assert clean.logits is not None
    np.testing.assert_array_equal(rows_of(store, "backward").logits, clean.logits[::-1])
    shown = [data.views(row, [VIEW])[0] // half for row, half in ((0, 1), (1, 1), (1, 2), (2, 1))]
    np.testing.assert_array_equal(rows_of(store, "twice").logits, by_mean(np.stack(shown)).astype(np.float16))


def test_the_same_data_opened_twice_are_decoded_once(data: Dataset, photos: Path, tmp_path: Path, counted: Any) -> None:
    (first, one), (second, other) = counted(data), counted(odo.load_data(str(photos)))
    conditions = [odo.clean(first), odo.Condition("again", second)]
    store = odo.run([model_of()], conditions, store=str(tmp_path / "runs"), options=odo.RunOptions(keep="logits"))
    assert (len(one.decoded), len(other.decoded)) == (40, 0)
    same(rows_of(store, "again"), rows_of(store, "clean"))


def test_each_image_is_scanned_once(make_dataset: Callable[..., Dataset]) -> None:
    scanned: list[int] = []

    class Broken3:
        def views(self, index: int, views: Any) -> list[np.ndarray]:
            raise NotImplementedError

        def scan(self, indices: np.ndarray, progress: Progress) -> Scan:
            scanned.extend(indices.tolist())
            broken = {place: "broken 3" for place, row in enumerate(indices.tolist()) if row == 3}
            return Scan(tuple(int(row).to_bytes(16, "big") for row in indices), broken)

    whole = replace(make_dataset(8), source=Broken3())
    parts = [whole.take(np.array(some)) for some in ([1, 3, 5], [3, 2], [0])]
    alone = [replace(one).digest for one in (whole, *parts)]
    scanned.clear()
    scan_together([whole, *parts])
    assert scanned == list(range(8))
    assert [one.digest for one in (whole, *parts)] == alone
    assert [dict(one.scan().broken) for one in (whole, *parts)] == [
        {3: "broken 3"},
        {1: "broken 3"},
        {0: "broken 3"},
        {},
    ]
    scan_together([whole, *parts])
    assert scanned == list(range(8)), "what is known is not looked at again"


def test_parts_of_a_source_without_a_common_image_stay_apart(make_dataset: Callable[..., Dataset]) -> None:
    whole = make_dataset(12)
    even, odd, three, end = (whole.take(np.array(some)) for some in ([0, 2, 4], [1, 5, 7], [2, 3], [8, 9]))
    assert [list(map(id, group)) for group in groups_of_shared_images([even, odd])] == [[id(even)], [id(odd)]]
    joint = whole.take(np.array([4, 7]))
    groups = groups_of_shared_images([even, odd, end, three, joint])
    assert sorted(sorted(map(id, group)) for group in groups) == sorted(
        [sorted(map(id, (even, odd, three, joint))), [id(end)]]
    )
    other = make_dataset(12)
    assert len(groups_of_shared_images([whole, other])) == 2, "another source, whatever its rows"


ROWS = st.lists(st.integers(0, 29), min_size=1, max_size=30, unique=True)
COVERED = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=3)


@settings(
    deadline=None,
    derandomize=True,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(some=st.lists(st.tuples(ROWS, COVERED, st.booleans()), min_size=1, max_size=5), size=st.integers(1, 12))
def test_every_missing_position_is_in_one_part_and_every_shared_image_in_one_chunk(
    make_dataset: Callable[..., Dataset], some: list[tuple[list[int], list[tuple[int, int]], bool]], size: int
) -> None:
    whole, tasks = make_dataset(30), []
    for number, (rows, covered, ordered) in enumerate(some):
        dataset = whole.take(np.array(sorted(rows) if ordered else rows), name=f"part {number}")
        condition = odo.Condition(f"part {number}", dataset)
        model = replace(model_of(), space=dataset.space)
        ends = np.array([False] * len(dataset))
        for start, length in covered:
            ends[start : start + length] = True
        done = tuple(_runs(ends))
        cell = cell_for(model, condition, precision="float32")
        tasks.append(Task(cell, model, condition, dataset.labels, None, None, done))
    chunks = list(chunks_for(tasks, size=size))
    assert sum(chunk.n_predictions for chunk in chunks) == n_missing(tasks)
    made = Counter((part.task.cell.key, one) for chunk in chunks for part in chunk.parts for one in _span(part))
    wanted = Counter(
        (task.cell.key, one)
        for task in tasks
        for a, b in gaps(0, task.cell.n_images, task.covered)
        for one in range(a, b)
    )
    assert made == wanted
    seen: Counter[tuple[int, int]] = Counter()
    firsts: dict[str, Dataset] = {}
    for task in tasks:
        firsts.setdefault(task.condition.dataset.digest, task.condition.dataset)
    groups = groups_of_shared_images(list(firsts.values()))
    group_of = {one.digest: number for number, group in enumerate(groups) for one in group}
    for chunk in chunks:
        (number,) = {group_of[part.task.condition.dataset.digest] for part in chunk.parts}
        rows = {row for part in chunk.parts for row in part.rows.tolist()}
        assert 0 < len(rows) <= size
        seen.update((number, row) for row in rows)
        for part in chunk.parts:
            np.testing.assert_array_equal(part.task.condition.dataset.rows[part.start : part.stop], part.rows)
    assert set(seen.values()) <= {1}
    assert all(len(group) == 1 for group in groups if not all(in_order(one) for one in group))


def _span(part: Any) -> range:
    return range(part.start, part.stop)


def _runs(ends: np.ndarray) -> list[tuple[int, int]]:
    """Where it is true, as ranges."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], ends, [False]]).astype(int)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
