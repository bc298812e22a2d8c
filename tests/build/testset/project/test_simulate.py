"""Simulated annotators in a project: by the model, the same each time, and never taken for people."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from made_testset import made_project
from oodometer.build.testset.project.annotated import answers_of, frequencies_of
from oodometer.build.testset.project.pool import pool_images
from oodometer.build.testset.project.schema import ANSWER, sa
from oodometer.build.testset.project.simulate import Simulation, n_simulated, read_clearness, simulate_answers
from oodometer.build.testset.project.tasks import Layout, make_tasks
from oodometer.core.errors import DataError, UsageError


def test_every_task_gets_as_many_answers_as_it_wants(tmp_path: Path, either_database: str | None) -> None:
    with made_project(tmp_path / "p", database=either_database) as project:
        made = make_tasks(project, Layout(size=16, positive=2, negative=2, workers=4))
        simulated = simulate_answers(project, Simulation(n_workers=6))
        n = sum(made.tasks.values())
        assert (simulated.n_tasks, simulated.n_answers) == (n, 4 * n)
        rows = project.database.rows(sa.select(ANSWER.c.task_id, ANSWER.c.worker_id))
        assert set(Counter(row.task_id for row in rows).values()) == {4}
        assert 4 < len({row.worker_id for row in rows}) <= 6
        assert simulate_answers(project, Simulation(n_workers=6)).n_answers == 0
        assert n_simulated(project) == 4 * n


# reference: the closed form, the mean of Φ((d − t) / sigma) over sigma and t as they are drawn
def test_frequencies_are_those_of_the_gaussian_model(tmp_path: Path) -> None:
    with made_project(tmp_path / "p", candidates=60) as project:
        make_tasks(project, Layout(size=26, positive=3, negative=3, workers=100))
        given = {image.key: 0.8 if image.class_name == "owl" else -0.4 for image in pool_images(project)}
        simulate_answers(project, Simulation(n_workers=400, clearness=given))
        asked = answers_of(project)
        candidate = np.array([image.role == "candidate" for image in asked.images]) & asked.own_class
        clear = np.array([given[image.key] for image in asked.images])
        found = frequencies_of(asked).frequency
    sigma, threshold = np.meshgrid(np.linspace(0.3, 1.0, 201), norm.ppf(np.linspace(0.0025, 0.9975, 200)) * 0.3)
    for value in (0.8, -0.4):
        expected = norm.cdf((value - threshold) / sigma).mean()
        of_these = found[candidate & (clear == value)]
        # some 60 images times 100 answers, whose workers are shared: 0.03 is four standard errors of the workers' mean
        assert of_these.mean() == pytest.approx(expected, abs=0.03)


def test_the_same_seed_gives_the_same_answers(tmp_path: Path) -> None:
    said = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        with made_project(tmp_path / name) as project:
            make_tasks(project, Layout(size=16, workers=3))
            simulate_answers(project, Simulation(n_workers=5, seed=seed))
            said.append(
                [
                    row.selected
                    for row in project.database.rows(
                        sa.select(ANSWER.c.selected).order_by(ANSWER.c.task_id, ANSWER.c.worker_id)
                    )
                ]
            )
    assert said[0] == said[1] != said[2]


def test_what_can_not_be(tmp_path: Path) -> None:
    with made_project(tmp_path / "p") as project:
        make_tasks(project, Layout(size=16, workers=9))
        with pytest.raises(UsageError, match="--workers 4: a task wants 9"):
            simulate_answers(project, Simulation(n_workers=4))
        with pytest.raises(DataError, match="none of the images whose clearness is given"):
            simulate_answers(project, Simulation(clearness={"elsewhere": 1.0}))
    (tmp_path / "c.csv").write_text("id,clearness\na,nan\n")
    with pytest.raises(DataError, match="a clearness is a finite number"):
        read_clearness(str(tmp_path / "c.csv"))
    (tmp_path / "c.csv").write_text("id,clear\na,1\n")
    with pytest.raises(DataError, match="expected the columns id and clearness"):
        read_clearness(str(tmp_path / "c.csv"))


def test_what_networks_miss_may_say_how_clear_an_image_is(tmp_path: Path) -> None:
    (tmp_path / "h.json").write_text(
        '{"images": [{"image": "a", "missed_by": 4, "models": 4}, {"image": "b", "missed_by": 1, "models": 4}]}'
    )
    # by hand: 1.8 - 2 * 4/4 and 1.8 - 2 * 1/4
    assert read_clearness(str(tmp_path / "h.json")) == pytest.approx({"a": -0.2, "b": 1.3})
    (tmp_path / "h.json").write_text('{"images": [{"image": "a"}]}')
    with pytest.raises(DataError, match="or what 'oodometer hardest --json' prints"):
        read_clearness(str(tmp_path / "h.json"))
