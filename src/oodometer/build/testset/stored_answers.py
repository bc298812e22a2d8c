"""What models answered about given images, from a store of predictions: by id, whatever data set they were run as.

The images count as they are: conditions that transform or attack them don't.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from oodometer.build.testset.filtration import FilterAnswers
from oodometer.core.dataset import Dataset
from oodometer.core.digests import digest_of
from oodometer.core.errors import DataError, StoreError, UsageError
from oodometer.core.predictions import UNKNOWN, Predictions, from_logits, taken
from oodometer.data.imagenet import imagenet
from oodometer.models.defences.registry import GROUPS
from oodometer.store.cells import Cell
from oodometer.store.images import Images, contents_of
from oodometer.store.index import Index, Source, index_at

CROPS = GROUPS["each-crop"]
FEW = 3
"""More are counted, not named."""


@dataclass(frozen=True)
class Asked:
    """Images that models are to have been asked about.

    Args:
        ids: Of the images, in order.
        labels: The name of the true class of each; empty where it has none that a model could know.
        again: The command that asks a model about them, for messages.
    """

    ids: tuple[str, ...]
    labels: tuple[str, ...]
    again: str = "oodometer run --model MODEL --data DATA --store STORE"


@dataclass(frozen=True, eq=False)
class StoredRows:
    """The rows of a cell about given images, in their order.

    Args:
        at: Which of the images there is a row of, (n,).
        rows: One for each of them.
    """

    index: Index
    cell: Cell
    at: np.ndarray
    rows: Predictions
    images: Images

    @property
    def model(self) -> str:
        """The name of the model in the store."""
        return self.index.model_name_of[self.cell.key]

    @property
    def known(self) -> tuple[int, int]:
        """How many images there is a row of, and how many of them with a label."""
        return len(self.at), int((self.rows.label >= 0).sum())

    @property
    def right(self) -> np.ndarray:
        """Whether each answer is right, (n,) bool."""
        return np.asarray(self.rows.rank == 0)

    @cached_property
    def names(self) -> list[str]:
        """The class that each answer names, (n,); a number of the model's own where nobody knows its name."""
        names = _answer_names(self)
        return [names.get(one) or f"class {one} of {self.cell.space}" for one in self.rows.prediction.tolist()]


def rows_about(source: Source, ids: Sequence[str], *, data: Dataset | None = None) -> list[StoredRows]:
    """The rows of every model about any of these images as they are, by name; of one model those of its fullest cell.

    Args:
        data: Whose images these are. Where the store has several data sets with images of these ids, only those count
            whose images have the same contents.
    """
    index = index_at(source)
    only = None if data is None else _of_these_images(index, data)
    place = {one: at for at, one in enumerate(ids)}
    wanted_of: dict[str, np.ndarray] = {}
    best: dict[str, StoredRows] = {}
    for entry in index.answered:
        cell = entry.cell
        if cell.condition.transform is not None or cell.condition.attack is not None or cell.n_units is not None:
            continue
        images, digest = index.images(cell), cell.data.digest
        if only is not None and digest not in only:
            continue
        if digest not in wanted_of:
            wanted_of[digest] = np.array([place.get(one, UNKNOWN) for one in images.ids.tolist()], dtype=np.int64)
        wanted = wanted_of[digest]
        if (wanted >= 0).any():
            found = _matched(index, cell, images, wanted)
            if found.model not in best or found.known > best[found.model].known:
                best[found.model] = found
    return [best[name] for name in sorted(best)]


def _of_these_images(index: Index, data: Dataset) -> set[str]:
    """The digests of the store's data sets that have images of the data, with the same contents.

    The contents are only looked at where several have images of these ids; answers from elsewhere come without any.
    """
    ids = set(data.ids)
    digests = {entry.cell.data.digest for entry in index.answered}
    alike = {one for one in digests if not ids.isdisjoint(contents_of(index.store, one)[0])}
    if len(alike) < 2:
        return alike
    mine = dict(zip(data.ids, data.scan().contents, strict=True))
    return {one for one in alike if _same_contents(mine, *contents_of(index.store, one)[:2])}


def _same_contents(mine: Mapping[str, bytes], ids: Sequence[str], contents: Sequence[bytes]) -> bool:
    return all(not theirs or mine.get(one, theirs) == theirs for one, theirs in zip(ids, contents, strict=True))


def _matched(index: Index, cell: Cell, images: Images, wanted: np.ndarray) -> StoredRows:
    rows = index.read(cell)
    at = wanted[rows.image]
    places = np.flatnonzero(at >= 0)
    places = places[np.argsort(at[places], kind="stable")]
    return StoredRows(index, cell, at[places], taken(rows, places), images)


def _answer_names(stored: StoredRows) -> Mapping[int, str]:
    """What the numbers of the answers mean: by the labels of the data; of all ImageNet by its own ids."""
    cell, images = stored.cell, stored.images
    rows = stored.index.columns(cell, "image", "label")
    names: dict[int, str] = {}
    if cell.condition.label_map is None and cell.model.classes == digest_of({"classes": imagenet().classes}):
        names = dict(enumerate(imagenet().classes))
    labels = images.labels[rows["image"]]
    known = (rows["label"] >= 0) & (labels >= 0)
    for answer, label in np.unique(np.stack([rows["label"][known], labels[known]], axis=1), axis=0).tolist():
        names[answer] = images.space.classes[label]
    return names


# Filtration


@dataclass(frozen=True, eq=False)
class ModelAnswers:
    """One model's answers about all images: crop by crop, or about whole images alone.

    Args:
        name: Of the bare model.
        crops: Its rows, once for each crop; one where it was asked about whole images.
    """

    name: str
    crops: tuple[StoredRows, ...]

    @property
    def by_crop(self) -> bool:
        """Whether it was asked crop by crop."""
        return len(self.crops) > 1

    @property
    def on_true_class(self) -> np.ndarray:
        """The probability of the true class, over crops their mean, (N,)."""
        each = np.stack([one.rows.label_log_probability for one in self.crops]).astype(np.float64)
        return np.asarray(np.exp(each).mean(axis=0))


def models_asked(
    source: Source, asked: Asked, models: Sequence[str] = (), *, crops: bool = True, among: Sequence[str] = ()
) -> list[ModelAnswers]:
    """The answers of these models about all of the images; an error names what is missing, and the command for it.

    Args:
        models: Names of bare models; none: all that were asked crop by crop, or where none was, all.
        crops: Whether answers about single crops are wanted where there are any; else about whole images.
        among: The classes that answers are taken from, as if a model knew no others; it needs all logits. None: all.
    """
    index = index_at(source)
    rows = {one.model: one for one in rows_about(index, asked.ids)}
    if not rows:
        raise StoreError(f"{index}: no model was asked about these images; first: {asked.again}")
    names = list(dict.fromkeys(models)) or _all_models(rows, crops=crops)
    found = [_of_model(index, name, rows, crops=crops, asked=asked) for name in names]
    for one in found:
        for each in one.crops:
            _check_whole(index, each, asked)
    if not among:
        return found
    return [ModelAnswers(one.name, tuple(_among(each, among) for each in one.crops)) for one in found]


def _among(stored: StoredRows, classes: Sequence[str]) -> StoredRows:
    """The same rows with answers and probabilities among some classes alone."""
    place = {name: answer for answer, name in _answer_names(stored).items()}
    if unknown := [name for name in classes if name not in place]:
        raise DataError(
            f"{stored.index}: nobody knows which answer of {stored.model} stands for {unknown[0]!r}: it was asked "
            "about no image of it"
        )
    try:
        whole = stored.index.read(stored.cell, logits=True)
    except StoreError as error:
        raise StoreError(f"{error}; answers among some classes need all logits: run it with --keep logits") from error
    rows = taken(whole, np.searchsorted(whole.image, stored.rows.image))
    assert rows.logits is not None
    kept = np.array([place[name] for name in classes], dtype=np.int64)
    number = {answer: at for at, answer in enumerate(kept.tolist())}
    labels = np.array([number.get(label, UNKNOWN) for label in rows.label.tolist()])
    masked = from_logits(rows.logits[:, kept], labels, rows.image)
    # Answers keep their numbers, by which they have their names.
    return replace(stored, rows=replace(masked, prediction=kept[masked.prediction], label=rows.label))


def _all_models(rows: Mapping[str, StoredRows], *, crops: bool) -> list[str]:
    bare = [name for name in rows if _crop_of(name) is None]
    by_crop = sorted({name.rpartition("+")[0] for name in rows if _crop_of(name) is not None})
    return (by_crop if crops and by_crop else bare) or by_crop


def _crop_of(name: str) -> str | None:
    crop = name.rpartition("+")[2]
    return crop if crop in CROPS and "+" in name else None


def _of_model(index: Index, name: str, rows: Mapping[str, StoredRows], *, crops: bool, asked: Asked) -> ModelAnswers:
    known = [crop for crop in CROPS if f"{name}+{crop}" in rows]
    if crops and known:
        if missing := [crop for crop in CROPS if crop not in known]:
            raise StoreError(
                f"{index}: {name} was asked about {len(known)} of the {len(CROPS)} crops, not about "
                f"{', '.join(missing[:FEW])}; run it with --defence each-crop: {asked.again}"
            )
        return ModelAnswers(name, tuple(rows[f"{name}+{crop}"] for crop in CROPS))
    if name in rows:
        return ModelAnswers(name, (rows[name],))
    if known:
        raise StoreError(f"{index}: {name} was asked about crops alone, not about whole images; first: {asked.again}")
    known_models = sorted({one.rpartition("+")[0] if _crop_of(one) else one for one in rows})
    raise UsageError(
        f"{index}: {name} was not asked about these images, but {', '.join(known_models)}; first: {asked.again}"
    )


def _check_whole(index: Index, found: StoredRows, asked: Asked) -> None:
    n, there = len(asked.ids), set(found.at.tolist())
    if len(there) < n:
        missing = [asked.ids[at] for at in range(n) if at not in there]
        raise StoreError(
            f"{index}: {found.model} has no answer about {len(missing)} of the {n} images, such as "
            f"{missing[0]}; run it again: {asked.again}"
        )


def filter_answers(
    models: Sequence[ModelAnswers], asked: Asked, classes: Iterable[str]
) -> tuple[FilterAnswers, list[str]]:
    """What `filtration.imagenet_a` asks for, and the names of the classes by number.

    What an image is taken for is the answer that all models, over their crops, give with most confidence together.

    Args:
        classes: Names that have numbers whether they occur or not.
    """
    crops = [crop for model in models for crop in model.crops]
    for crop in crops:
        _check_labels(crop, asked)
        _check_confidence(crop, asked)
    said = [crop.names for crop in crops]
    names = sorted({*classes, *asked.labels, *(name for some in said for name in some)})
    number = {name: at for at, name in enumerate(names)}
    labels = np.array([number[name] for name in asked.labels], dtype=np.int64)
    predictions = np.array([[number[name] for name in some] for some in said], dtype=np.int64)
    # A super-class has the name of one of its classes alone, and is right for all of them.
    predictions = np.where(np.stack([crop.right for crop in crops]), labels, predictions)
    confidence = np.stack([crop.rows.confidence for crop in crops]).astype(np.float64)
    on_true = np.clip(np.stack([model.on_true_class for model in models]), 0, 1)
    return FilterAnswers(asked.ids, labels, predictions, on_true, most_said(predictions, confidence)), names


def most_said(predictions: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """The answer with the most confidence together, (A, N) -> (N,); of equals the one of the smaller number.

    >>> most_said(np.array([[2], [1], [1]]), np.array([[0.7], [0.4], [0.5]])).tolist()
    [1]
    """
    n = predictions.shape[1]
    # Only few classes are named at all, of maybe thousands.
    named, codes = np.unique(predictions, return_inverse=True)
    votes = np.zeros((n, len(named)))
    np.add.at(votes, (np.tile(np.arange(n), len(predictions)), codes.reshape(-1)), confidence.reshape(-1))
    return np.asarray(named[votes.argmax(axis=1)])


def largest_confidence(models: Sequence[ModelAnswers], asked: Asked) -> np.ndarray:
    """The largest probability that each model gives about whole images, (A, N), for `filtration.imagenet_o`."""
    for model in models:
        _check_known(model.crops[0], model.crops[0].rows.confidence, "how confident its answers are", asked)
    return np.stack([model.crops[0].rows.confidence for model in models]).astype(np.float64)


def _check_labels(found: StoredRows, asked: Asked) -> None:
    """An error where the images were run as of other classes than they are of."""
    space, labels = found.images.space, found.images.labels[found.rows.image]
    for at, label, wanted in zip(found.at.tolist(), labels.tolist(), asked.labels, strict=True):
        name = space.classes[label] if label >= 0 else ""
        if name != wanted:
            said = f"as an image of {name!r}" if name else "without its class"
            raise DataError(
                f"{found.index}: {found.model} was asked about {asked.ids[at]} {said}, which is a candidate for "
                f"{wanted!r}; ask it anew: {asked.again}"
            )


def _check_confidence(found: StoredRows, asked: Asked) -> None:
    _check_known(found, found.rows.label_log_probability, "its confidence in the true class", asked)


def _check_known(found: StoredRows, values: np.ndarray, what: str, asked: Asked) -> None:
    n = int(np.isnan(values).sum())
    if n:
        raise DataError(
            f"{found.index}: of {n} answers of {found.model} nobody knows {what}, as of files that name only the best "
            f"classes; import its logits instead, or run it: {asked.again}"
        )
