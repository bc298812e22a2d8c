"""pm-0 to pm-k from any manifest that says which frames follow each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from oodometer.catalogue.names import ShiftEntry
from oodometer.core.condition import Condition, Shift
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, UsageError
from oodometer.shifts.sources import IMAGENET, VAL, Sources

NAME = re.compile(r"pm-(\d+)")
TRUE, FALSE = frozenset({"1", "true", "yes"}), frozenset({"0", "false", "no", "", "nan"})


def near_anchors(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """The shift of a name such as ``pm-10``."""
    return [pm_shift(entry.name, sources)]


def pm_shift(spec: str, sources: Sources) -> Shift:
    """The anchor frames (``pm-0``) and, judged by the worst frame within k of each anchor, ``pm-k``.

    The given data have the columns ``sequence`` and ``frame`` (whole numbers). The column ``anchor`` tells the anchor
    frames (true or 1), any number in a sequence; without it the middle frame of each sequence is its anchor, the
    earlier of two. A frame near two anchors counts for both. Near the ends of a sequence an anchor has fewer frames.

    Or they have, for each frame, the column ``anchor`` (which one it belongs to) and ``offset`` (how many frames
    after it), as the metric pm-k wants them.

    Args:
        spec: ``pm-10`` for one.
    """
    found = NAME.fullmatch(spec)
    if found is None or int(found[1]) == 0:
        raise UsageError(f"{spec}: give the number of frames before and after each anchor, pm-10 for one")
    k = int(found[1])
    if sources.dataset is None and sources.root is None:
        raise UsageError(f"{spec}: say which frames, with --data ADDRESS")
    dataset = sources.whole(IMAGENET, called=VAL)
    if {"anchor", "offset"} <= set(dataset.columns):
        frames = _of_offsets(dataset, k)
    elif {"sequence", "frame"} <= set(dataset.columns):
        frames = _of_sequences(dataset, k)
    else:
        known = ", ".join(dataset.columns) or "none"
        raise DataError(
            f"{dataset.name}: {spec} needs the columns sequence and frame (or anchor and offset) in the manifest; "
            f"its columns are: {known}"
        )
    near = sources.fewer(frames)
    # Each is a part of its own, so that they are told apart in the store.
    near = replace(near, part=spec)

    def anchors() -> Condition:
        return Condition("pm-0", near.take(np.flatnonzero(near.columns["offset"] == 0), part="anchors"))

    # The anchors are the same for every k.
    return Shift(spec, "consistency", sources.once("pm-0", anchors), Condition(spec, near, unit="anchor"))


@dataclass(frozen=True)
class _Near:
    """Frames by position in the data, each with the position of its anchor and how far it is from it."""

    frame: np.ndarray
    anchor: np.ndarray
    offset: np.ndarray


def _around(dataset: Dataset, near: _Near) -> Dataset:
    """A data set of one row for each frame of each anchor, under the id of the anchor."""
    own = [dataset.ids[one] for one in near.anchor.tolist()]
    ids = [f"{one} {offset:+d}" if offset else one for one, offset in zip(own, near.offset.tolist(), strict=True)]
    others = dataset.other_labels
    columns = {name: column[near.frame] for name, column in dataset.columns.items()}
    return replace(
        dataset,
        ids=tuple(ids),
        labels=dataset.labels[near.frame],
        rows=dataset.rows[near.frame],
        columns={**columns, "anchor": np.array(own), "offset": near.offset},
        other_labels=None if others is None else tuple(others[one] for one in near.frame.tolist()),
    )


def _of_offsets(dataset: Dataset, k: int) -> Dataset:
    """The frames within k of their anchor, of data that say how far each is from its own."""
    offset = _whole_numbers(dataset, "offset")
    names, group = np.unique(dataset.columns["anchor"], return_inverse=True)
    _check_twice(dataset, names, group, offset)
    place = np.full(len(names), -1, dtype=np.int64)
    place[group[offset == 0]] = np.flatnonzero(offset == 0)
    if (place < 0).any():
        lacking = names[place < 0]
        raise DataError(f"{dataset.name}: {len(lacking)} anchors have no frame of offset 0; the first is {lacking[0]}")
    kept = np.flatnonzero(np.abs(offset) <= k)
    if not offset[kept].any():
        raise DataError(f"{dataset.name}: no frame within {k} of an anchor but the anchors themselves")
    return _around(dataset, _Near(kept, place[group[kept]], offset[kept]))


def _of_sequences(dataset: Dataset, k: int) -> Dataset:
    """The frames within k of each anchor, of data that say which frame of which sequence each is."""
    number = _whole_numbers(dataset, "frame")
    names, group = np.unique(dataset.columns["sequence"], return_inverse=True)
    _check_twice(dataset, names, group, number)
    order = np.lexsort((number, group))
    ends = np.cumsum(np.bincount(group, minlength=len(names)))
    marked = _marked(dataset) if "anchor" in dataset.columns else None
    found = []
    for members in np.split(order, ends[:-1]):
        own = members[(len(members) - 1) // 2][None] if marked is None else members[marked[members]]
        found += [_window(members, number, anchor, k) for anchor in own.tolist()]
    if not found:
        raise DataError(f"{dataset.name}: the column anchor marks no frame; put 1 or true where a frame is an anchor")
    _check_full(dataset, found, k)
    every = _Near(
        np.concatenate([one.frame for one in found]),
        np.concatenate([one.anchor for one in found]),
        np.concatenate([one.offset for one in found]),
    )
    return _around(dataset, every)


def _window(members: np.ndarray, number: np.ndarray, anchor: int, k: int) -> _Near:
    """The frames of a sequence within k of an anchor."""
    low, high = np.searchsorted(number[members], [number[anchor] - k, number[anchor] + k + 1])
    frames = members[low:high]
    return _Near(frames, np.full(len(frames), anchor), number[frames] - number[anchor])


def _check_full(dataset: Dataset, found: Sequence[_Near], k: int) -> None:
    """An error if no anchor has all its frames: k is too large, or the frames are not numbered one by one."""
    most = max(len(one.frame) for one in found)
    if most < 2 * k + 1:
        raise DataError(
            f"{dataset.name}: none of the {len(found)} anchors has all {2 * k + 1} frames within {k} of it "
            f"(at most {most}); are the frames numbered one by one? otherwise ask for a smaller k"
        )


def _check_twice(dataset: Dataset, names: np.ndarray, group: np.ndarray, number: np.ndarray) -> None:
    order = np.lexsort((number, group))
    same = (np.diff(group[order]) == 0) & (np.diff(number[order]) == 0)
    if same.any():
        at = order[np.flatnonzero(same)[0]]
        raise DataError(f"{dataset.name}: {names[group[at]]} has its frame {number[at]} twice; leave one out")


def _whole_numbers(dataset: Dataset, column: str) -> np.ndarray:
    values = dataset.columns[column]
    # Tables that once had holes write whole numbers as 12.0.
    whole = values.dtype.kind == "f" and bool((np.isfinite(values) & (values == np.rint(values))).all())
    if not whole and not np.issubdtype(values.dtype, np.integer):
        raise DataError(f"{dataset.name}: the column {column} has to hold a whole number for every image")
    return values.astype(np.int64)


def _marked(dataset: Dataset) -> np.ndarray:
    """Which frames are anchors, (N,) bool."""
    texts = [str(one).strip().lower().removesuffix(".0") for one in dataset.columns["anchor"].tolist()]
    for text in texts:
        if text not in TRUE | FALSE:
            raise DataError(f"{dataset.name}: the column anchor says {text!r}; expected true or false, 1 or 0")
    return np.array([text in TRUE for text in texts])
