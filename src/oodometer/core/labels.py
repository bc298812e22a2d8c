"""Label spaces, and the maps between them: masks and super-classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from oodometer.core.digests import digest_of
from oodometer.core.errors import DataError, UsageError, did_you_mean

NUMBERS = "numbers"


@dataclass(frozen=True)
class LabelSpace:
    """The classes that a label can name, in the order of their indices."""

    name: str
    classes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.classes)


def numbered(size: int) -> LabelSpace:
    """A space of which only the indices are known: the outputs of a model, folders named 0 to 999.

    >>> numbered(3)
    LabelSpace(name='numbers', classes=('0', '1', '2'))
    """
    return LabelSpace(NUMBERS, tuple(str(index) for index in range(size)))


def align(labels: np.ndarray, source: LabelSpace, target: LabelSpace, *, what: str) -> np.ndarray:
    """Labels of one space as indices of another, (N,) -> (N,); -1 (no label) stays.

    Classes that both spaces name are matched by name; where one side has only numbers, by index.

    >>> animals, model = LabelSpace("a", ("cat", "dog")), LabelSpace("b", ("ant", "dog", "cat"))
    >>> align(np.array([0, 1, -1]), animals, model, what="model m").tolist()
    [2, 1, -1]
    """
    if source == target:
        return labels
    if NUMBERS in (source.name, target.name):
        return _by_index(labels, source, target, what)
    places = {name: index for index, name in enumerate(target.classes)}
    used = np.unique(labels[labels >= 0])
    for index in used:
        name = source.classes[index]
        if name not in places:
            hint = did_you_mean(name, target.classes) if len(target) < 20 else ""
            raise DataError(f"{what} has no class {name!r}, which the data have{hint}")
    table = np.full(len(source) + 1, -1, dtype=np.int64)  # the last entry answers for -1
    for index in used:
        table[index] = places[source.classes[index]]
    return np.asarray(table[labels])


def _by_index(labels: np.ndarray, source: LabelSpace, target: LabelSpace, what: str) -> np.ndarray:
    largest = int(labels.max(initial=-1))
    if largest >= len(target):
        raise DataError(
            f"label {largest} is outside the label space: {what} has {len(target)} classes (0 to {len(target) - 1})"
        )
    if source.name != NUMBERS and len(source) != len(target):
        background = " (the first may be a background class)" if len(target) == len(source) + 1 else ""
        raise DataError(
            f"{what} has {len(target)} classes{background} and the data have {len(source)} ({source.name}); name the "
            'model\'s classes in its card (classes = "classes.txt") so that they can be matched by name'
        )
    return labels


@dataclass(frozen=True)
class LabelMap:
    """A map from the outputs of a model to the classes of a condition.

    A mask keeps some classes (each with one member): argmax and softmax are then over those alone. A super-class
    takes the largest logit of its members.

    Args:
        unanswerable: Whether target classes may have no members: images of such a class count, and every answer to
            them is wrong, because no output of the model stands for it.
    """

    name: str
    source: LabelSpace
    target: LabelSpace
    members: tuple[tuple[int, ...], ...]
    unanswerable: bool = False

    def __post_init__(self) -> None:
        empty = not all(self.members) and not self.unanswerable
        if len(self.members) != len(self.target) or not any(self.members) or empty:
            raise UsageError(f"label map {self.name}: every target class needs at least one member")
        flat = [index for group in self.members for index in group]
        if flat and not 0 <= min(flat) <= max(flat) < len(self.source):
            raise UsageError(f"label map {self.name}: a member is outside the {len(self.source)} source classes")
        if len(set(flat)) != len(flat):
            raise UsageError(f"label map {self.name}: a class is a member of two target classes")

    @property
    def digest(self) -> str:
        """The digest of what the map does."""
        return digest_of({"members": self.members, "source": self.source.classes, "target": self.target.classes})

    def logits(self, logits: np.ndarray) -> np.ndarray:
        """Logits over the target classes, (N, K) -> (N, M); without members, below all others."""
        groups = [group for group in self.members if group]
        order = np.concatenate([np.asarray(group) for group in groups])
        picked = logits[:, order]
        if len(order) > len(groups):
            starts = np.cumsum([0, *(len(group) for group in groups[:-1])])
            picked = np.maximum.reduceat(picked, starts, axis=1)
        if len(groups) == len(self.members):
            return np.asarray(picked)
        # Below all others and yet finite, so that every number about the image stays defined.
        mapped = np.repeat(picked.min(axis=1, keepdims=True) - 1, len(self.members), axis=1)
        mapped[:, [place for place, group in enumerate(self.members) if group]] = picked
        return np.asarray(mapped)

    def labels(self, labels: np.ndarray) -> np.ndarray:
        """Labels of the source space as labels of the target space, (N,) -> (N,)."""
        table = np.full(len(self.source) + 1, -1, dtype=np.int64)
        for index, group in enumerate(self.members):
            table[list(group)] = index
        mapped = table[labels]
        lost = np.flatnonzero((mapped < 0) & (labels >= 0))
        if lost.size:
            name = self.source.classes[labels[lost[0]]]
            raise DataError(f"label map {self.name}: {lost.size} images have a class outside it, for example {name!r}")
        return np.asarray(mapped)


def mapped_onto(label_map: LabelMap, space: LabelSpace, *, what: str) -> LabelMap:
    """The map from the outputs of a model that orders (or chooses) the source classes in its own way.

    >>> zoo, model = LabelSpace("zoo", ("ant", "cat", "dog")), LabelSpace("mine", ("dog", "cat", "ant"))
    >>> mapped_onto(mask("pets", zoo, ["cat", "dog"]), model, what="model m").members
    ((1,), (0,))
    """
    source = label_map.source
    if source.classes == space.classes:
        return label_map
    if NUMBERS in (source.name, space.name):
        if len(source) != len(space):
            raise DataError(
                f"{what} has {len(space)} classes; the label map {label_map.name} needs {len(source)} ({source.name})"
            )
        return label_map
    places = {one: index for index, one in enumerate(space.classes)}
    for one in (source.classes[index] for group in label_map.members for index in group):
        if one not in places:
            raise DataError(f"{what} has no class {one!r}, which the label map {label_map.name} needs")
    members = tuple(tuple(places[source.classes[index]] for index in group) for group in label_map.members)
    return replace(label_map, source=space, members=members)


def mask(name: str, source: LabelSpace, classes: Iterable[str]) -> LabelMap:
    """The map that keeps only the named classes.

    >>> two = mask("pets", LabelSpace("zoo", ("ant", "cat", "dog")), ["cat", "dog"])
    >>> two.logits(np.array([[9.0, 1.0, 2.0]])).argmax(axis=1).tolist()
    [1]
    """
    kept = tuple(classes)
    return super_classes(name, source, {one: [one] for one in kept})


def super_classes(name: str, source: LabelSpace, groups: Mapping[str, Iterable[str]]) -> LabelMap:
    """The map to broad classes, each answered by the best of its members."""
    places = {one: index for index, one in enumerate(source.classes)}

    def place(one: str) -> int:
        if one not in places:
            raise UsageError(f"label map {name}: no class {one!r} in {source.name}{did_you_mean(one, places)}")
        return places[one]

    members = tuple(tuple(place(one) for one in group) for group in groups.values())
    return LabelMap(name, source, LabelSpace(name, tuple(groups)), members)
