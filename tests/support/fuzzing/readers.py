"""How each kind of file is read by whoever uses the library."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

import oodometer as odo
from oodometer.core.dataset import Dataset, silent
from oodometer.core.labels import numbered
from oodometer.metrics.multi_label import read_label_sets
from oodometer.store.tables import read_sizes
from oodometer.train.checkpoint import read_checkpoint


def predictions(path: Path) -> None:
    answers = odo.read_predictions(str(path))
    truth = odo.TrueLabels(np.zeros(len(answers.ids), dtype=np.int64), answers.ids, _classes_of(answers))
    odo.import_predictions(answers, truth, store=str(path.parent / "store"))


def _classes_of(answers: odo.StoredAnswers) -> odo.LabelSpace:
    return numbered(answers.values.shape[1] if answers.kind == "logits" else 3)


def labels(path: Path) -> None:
    odo.read_labels(str(path))


def data(path: Path) -> None:
    """What is opened, scanned and looked at."""
    dataset = odo.load_data(path)
    look_at(dataset)


def images(path: Path) -> None:
    folder = path.parent / "set" / "class"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    (folder / path.name).write_bytes(path.read_bytes())
    look_at(odo.load_data(folder.parent))


def look_at(dataset: Dataset) -> None:
    """Scan the images, and decode those that are whole."""
    broken = dataset.source.scan(dataset.rows[:4], silent).broken
    for message in broken.values():
        assert "\n" not in message
    for place in range(min(4, len(dataset))):
        if place not in broken:
            dataset.source.views(int(dataset.rows[place]), [None, odo.Geometry(8, 8)])


def tables(path: Path) -> None:
    odo.import_table(str(path), store=str(path.parent / "store"))


def cards(path: Path) -> None:
    odo.load_model(f"onnx:{path.parent / 'whole.onnx'}", card=path, name=path.stem)


def onnx(path: Path) -> None:
    ask(odo.load_model(f"onnx:{path}"))


def torch(path: Path) -> None:
    ask(odo.load_model(f"torch:fuzzing.factory:network@{path}"))


def trusted(path: Path) -> None:
    """A file that may run code: what is broken gives one line all the same."""
    ask(odo.load_model(f"torch:{path}", allow_pickle=True))


def trusted_weights(path: Path) -> None:
    ask(odo.load_model(f"torch:fuzzing.factory:network@{path}", allow_pickle=True))


def checkpoints(path: Path) -> None:
    """What ``train --init`` reads."""
    read_checkpoint(path)


def sizes(path: Path) -> None:
    """What ``import --sizes`` reads."""
    read_sizes(str(path))


def categories(path: Path) -> None:
    """What ``--categories`` reads."""
    odo.read_origins(str(path))


def people(path: Path) -> None:
    """What ``consistency --people`` reads."""
    odo.read_people_answers(str(path))


def label_sets(path: Path) -> None:
    """What ``score --label-sets`` reads."""
    read_label_sets(path)


def few_labels(path: Path) -> None:
    """What ``estimate --labels`` reads."""
    odo.read_few_labels(str(path))


def ask(model: odo.Model) -> None:
    """A forward pass."""
    size = model.input.view
    if size.height * size.width <= 4096:
        model.logits(np.zeros((2, size.height, size.width, 3), dtype=np.uint8))


READERS: dict[str, Callable[[Path], None]] = {
    "predictions": predictions,
    "labels": labels,
    "arrays": data,
    "shards": data,
    "parquet": data,
    "manifests": data,
    "images": images,
    "tables": tables,
    "cards": cards,
    "onnx": onnx,
    "torch": torch,
    "trusted": trusted,
    "trusted weights": trusted_weights,
    "checkpoints": checkpoints,
    "sizes": sizes,
    "categories": categories,
    "label sets": label_sets,
    "people": people,
    "few labels": few_labels,
}
