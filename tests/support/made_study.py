"""A project of three classes with an original set, annotated and sampled, and a store of what models answered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import oodometer as odo
from made_testset import CLASSES, picture
from oodometer.build.testset.project.offered import Offered
from oodometer.build.testset.project.pool import Provenance, add_images
from oodometer.build.testset.project.pool_data import write_pool
from oodometer.build.testset.project.project import Project, new_project
from oodometer.build.testset.project.revisions import take_sample
from oodometer.build.testset.project.sample_request import SampleRequest
from oodometer.build.testset.project.simulate import Simulation, simulate_answers
from oodometer.build.testset.project.tasks import Layout, make_tasks
from oodometer.core.labels import LabelSpace
from oodometer.core.model import Card, Input, Model
from oodometer.core.preprocessing import Geometry
from oodometer.data.load import load_data

SPACE = LabelSpace("birds", ("duck", "owl", "cat"))
SIDE = 16
SEEDS = {"first": 5, "second": 10, "third": 3}


def made_model(name: str, seed: int, **card: object) -> Model:
    """A model of the mean colours of four parts of the picture, with weights that nobody has learned."""
    weights = np.random.default_rng(seed).normal(0, 3, (12, 3))

    def answer(images: np.ndarray) -> np.ndarray:
        parts = images.reshape(-1, 2, 8, 2, 8, 3).mean(axis=(2, 4)).reshape(-1, 12) / 255
        return ((parts - 0.6) @ weights).astype(np.float32)

    return Model(name, "test", f"{seed:032x}", Input(Geometry(SIDE, SIDE)), SPACE, lambda _: answer, Card(**card))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Studied:
    """What a study is made from."""

    project: Project
    store: str
    val: Path


@contextmanager
def studied_birds(folder: Path) -> Iterator[Studied]:
    """3 x 40 candidates, 3 x 15 original images, three strategies, and three models on both sets."""
    val = folder / "val"
    for at, entry in enumerate(CLASSES):
        (val / entry.name).mkdir(parents=True)
        for i in range(15):
            (val / entry.name / f"{i}.png").write_bytes(picture(at, "original", i))
    with new_project(folder / "birds", original=str(val), name="birds") as project:
        offered = [
            Offered(f"{entry.name}-{i}", lambda at=at, i=i: picture(at, "candidate", i), entry.name, {})  # type: ignore[misc]
            for at, entry in enumerate(CLASSES)
            for i in range(40)
        ]
        add_images(project, offered, Provenance("made", "test"))
        make_tasks(project, Layout(size=16, positive=2, negative=2, workers=5, originals=15))
        simulate_answers(project, Simulation(n_workers=8))
        for strategy in ("matched-frequency", "threshold", "top-images", "uniform"):
            take_sample(project, SampleRequest(strategy, per_class=8), by="somebody")
        data = [load_data(write_pool(project).file), load_data(val)]
        store = str(folder / "runs")
        odo.run([made_model(*one) for one in SEEDS.items()], [odo.clean(one) for one in data], store=store)
        yield Studied(project, store, val)
