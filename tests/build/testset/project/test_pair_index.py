"""Which pairs count and in which order, against the same worked out row by row; verdicts given meanwhile; and speed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from made_testset import made_project
from oodometer.build.testset.likeness import Reach, within_of
from oodometer.build.testset.project import close_pairs
from oodometer.build.testset.project.close_pairs import (
    BY_EYE,
    find_duplicates,
    judge_pair,
    mark_duplicates,
    set_thresholds,
    thresholds_of,
)
from oodometer.build.testset.project.duplicates_out import without_duplicates
from oodometer.build.testset.project.pair_index import pairs_now
from oodometer.build.testset.project.pair_list import (
    STATES,
    PairFilter,
    counts_of_pairs,
    listed_pairs,
    n_to_look_at,
    number_beside,
    pair_numbers,
    pairs_of,
)
from oodometer.build.testset.project.pool import CANDIDATE, candidates_of, pool_images
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import PAIR, sa

METRICS = ("pixels", "structure", "crops", "features:zoo:a", BY_EYE)


@pytest.fixture
def project(tmp_path: Path, either_database: str | None) -> Iterator[Project]:
    """A few candidates, without pairs."""
    with made_project(tmp_path / "p", candidates=6, originals=1, database=either_database) as made:
        yield made


def add_pairs(project: Project, n: int, *, seed: int = 0) -> None:
    """So many pairs of images, each found by two metrics at distances drawn at random; a third is judged."""
    rng = np.random.default_rng(seed)
    images = [image.id for image in pool_images(project, role=CANDIDATE)]
    rows = []
    for at in range(n):
        verdict = ("duplicate", "different", "", "", "", "")[rng.integers(6)]
        for metric in rng.choice(METRICS, 2, replace=False):
            row = {"image_id": images[at % len(images)], "against": "set", "other": f"{seed}-{at}", "other_file": "f"}
            row |= {"metric": str(metric), "distance": 0.0 if metric == BY_EYE else float(rng.uniform(0, 0.4))}
            rows.append(row | {"mirrored": 0, "verdict": verdict, "at": verdict, "by": ""})
    with project.database.writing() as connection:
        connection.execute(sa.insert(PAIR), rows)


def row_by_row(project: Project, asked: PairFilter) -> list[int]:
    """The same as `pair_numbers`, as its documentation says it."""
    radii = thresholds_of(project)
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for row in project.database.rows(sa.select(PAIR)):
        if not asked.state or row.verdict == STATES[asked.state]:
            groups.setdefault((row.image_id, row.against, row.other), []).append(row)

    def counts(row: Any) -> bool:
        if asked.within is not None:
            near = row.distance <= asked.within
        else:
            near = row.verdict or (row.metric != BY_EYE and 0 < within_of(radii, row.metric) >= row.distance)
        return bool(near and asked.metric in ("", row.metric))

    def place(row: Any) -> tuple[float, int]:
        return row.distance / (within_of(radii, row.metric) or 1), row.id

    firsts = [min(rows, key=place) for rows in groups.values() if any(map(counts, rows))]
    return [row.id for row in sorted(firsts, key=place)]


@pytest.mark.parametrize("metric", ["", "pixels", BY_EYE, "none"])
@pytest.mark.parametrize("within", [None, 0.0, 0.1, float("inf")])
def test_pairs_are_those_of_the_rows(project: Project, metric: str, within: float | None) -> None:
    assert pair_numbers(project, PairFilter(metric, "", within)) == []
    for seed in range(2):  # the second time, rows have come since
        add_pairs(project, 60, seed=seed)
        set_thresholds(project, {"crops": 0.0})
        for state in ("", *STATES):
            asked = PairFilter(metric, state, within)
            assert pair_numbers(project, asked) == row_by_row(project, asked)
    n_open, n = n_to_look_at(project)
    assert (n_open, n) == (len(row_by_row(project, PairFilter(state="open"))), len(row_by_row(project, PairFilter())))
    rows = project.database.rows(sa.select(PAIR.c.metric, PAIR.c.verdict))
    assert counts_of_pairs(project)["pixels"]["open"] == rows.count(("pixels", ""))
    assert sum(counts.total() for counts in counts_of_pairs(project).values()) == len(rows)


def test_a_pair_has_all_its_metrics_and_is_known_by_any_of_its_numbers(project: Project) -> None:
    add_pairs(project, 10)
    (pair, *_), n = listed_pairs(project, PairFilter(within=float("inf")), most=1)
    assert (n, len(pair.distances)) == (10, 2)
    numbers = [row.id for row in project.database.rows(sa.select(PAIR.c.id).where(PAIR.c.other == pair.other))]
    everything = pair_numbers(project, PairFilter(within=float("inf")))
    assert {number_beside(project, number, everything) for number in numbers} == {pair.id}
    assert pairs_of(project, [10**6]) == []


def out_now(project: Project) -> set[str]:
    images = pool_images(project, role=CANDIDATE)
    candidates = candidates_of(images, np.ones(len(images)), np.ones(len(images), dtype=int))
    left = without_duplicates(project, candidates)
    return {key for key, why in zip(left.ids, left.out, strict=True) if why}


def test_a_pair_found_by_eye_that_is_opened_again_is_in(project: Project) -> None:
    first, second = [image.key for image in pool_images(project, role=CANDIDATE)][:2]
    mark_duplicates(project, [first, second], by="a person")
    assert len(out_now(project)) == 1
    judge_pair(project, project.database.rows(sa.select(PAIR.c.id))[0].id, "", by="a person")
    assert (out_now(project), n_to_look_at(project)) == (set(), (0, 0))


def test_a_threshold_of_0_leaves_pairs_in(project: Project) -> None:
    first, second = pool_images(project, role=CANDIDATE)[:2]
    row = {"image_id": first.id, "against": "", "other": second.key, "other_file": second.file, "metric": "pixels"}
    with project.database.writing() as connection:
        connection.execute(sa.insert(PAIR).values(**row, distance=0.0, mirrored=0, verdict="", at="", by=""))
    assert (len(out_now(project)), n_to_look_at(project)) == (1, (1, 1))
    set_thresholds(project, {"pixels": 0})
    assert (out_now(project), n_to_look_at(project), listed_pairs(project)) == (set(), (0, 0), ([], 0))


def test_a_verdict_given_during_the_search_holds(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = [image.key for image in pool_images(project, role=CANDIDATE)][:2]
    search = close_pairs.close_inside

    def search_while_somebody_looks(*args: Any, **more: Any) -> Any:
        found = search(*args, **more)
        mark_duplicates(project, [first, second], by="a person")
        return found

    monkeypatch.setattr(close_pairs, "close_inside", search_while_somebody_looks)
    find_duplicates(project, metrics=["pixels"], reach=Reach(nearest=None, within=10.0))
    rows = project.database.rows(sa.select(PAIR).where(PAIR.c.other == second, PAIR.c.verdict == "duplicate"))
    assert {row.metric for row in rows} == {"pixels", BY_EYE}


@pytest.mark.slow
def test_a_verdict_among_100_000_rows_takes_no_time(tmp_path: Path) -> None:
    with made_project(tmp_path / "p", candidates=6, originals=1) as project:
        add_pairs(project, 50_000)
        first = pair_numbers(project, PairFilter(state="open"))[0]
        took = []
        for _ in range(3):
            begun = time.process_time()  # not what others do on the same machine
            judge_pair(project, first, "different", by="a person")
            now = pairs_now(project)
            numbers = pair_numbers(project, PairFilter(state="open"), now)
            n_to_look_at(project, now), counts_of_pairs(project, now), pairs_of(project, numbers[:1])
            took.append(time.process_time() - begun)
            first = numbers[0]
    assert min(took) < 0.2
