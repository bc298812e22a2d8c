"""The subtype experiment on ImageNet-22K: 25 broad classes, and kinds of them that ImageNet-1k does not have."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace
from oodometer.data import addresses
from oodometer.data.addresses import FoundFile
from oodometer.data.imagenet import imagenet, imagenet_index
from oodometer.data.kinds.folder import list_images
from oodometer.data.labels import ids_of_paths
from oodometer.data.layouts.training_part import NoTrainingPartError
from oodometer.data.source import EncodedSource, ImageFiles

HIERARCHY = "wordnet.is_a.txt"
"""ImageNet's own file: lines of a synset and one directly below it."""


@cache
def broad_classes() -> LabelSpace:
    """The 25 broad classes, in the order of the paper that chose them (Hendrycks and Dietterich 2018, appendix E).

    >>> len(broad_classes()), broad_classes().classes[:2]
    (25, ('Amphibian', 'Appliance'))
    """
    return LabelSpace("imagenet-22k-broad", tuple(row["class"] for row in _table()))


@cache
def _table() -> list[dict[str, str]]:
    text = (files("oodometer.data.layouts") / "classes" / "imagenet_22k.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


@dataclass(frozen=True)
class Subtypes:
    """Which synsets are kinds of the broad classes.

    Args:
        seen: Those of ImageNet-1k, and the index of the broad class of each: what a model may learn from.
        unseen: The others, in the same way.
        ambiguous: Synsets below two broad classes; they are left out.
        inner: Synsets that have others below them, so that their images may show a seen kind; they are left out.
    """

    seen: Mapping[str, int]
    unseen: Mapping[str, int]
    ambiguous: tuple[str, ...]
    inner: tuple[str, ...]


def subtypes_among(synsets: Iterable[str], pairs: Iterable[tuple[str, str]]) -> Subtypes:
    """The synsets that are kinds of the broad classes, by the pairs (synset, one directly below it) of a hierarchy."""
    parents = _parents(pairs)
    inner_ones = {above for some in parents.values() for above in some}
    broad = {row["wnid"]: index for index, row in enumerate(_table())}
    seen: dict[str, int] = {}
    unseen: dict[str, int] = {}
    ambiguous, inner = [], []
    for synset in sorted(set(synsets)):
        found = sorted({broad[one] for one in _with_all_above(synset, parents) if one in broad})
        if len(found) > 1:
            ambiguous.append(synset)
        elif found and synset in imagenet_index():
            seen[synset] = found[0]
        elif found and (synset in inner_ones or synset in broad):
            inner.append(synset)
        elif found:
            unseen[synset] = found[0]
    return Subtypes(seen, unseen, tuple(ambiguous), tuple(inner))


def subtypes_by_paper(synsets: Iterable[str], pairs: Sequence[tuple[str, str]]) -> Subtypes:
    """The same by the rule of the paper, which leaves nothing out (Hendrycks and Dietterich 2018, appendix E).

    Every synset at or below a broad class is a subtype of it, those that have others below them too, and the broad
    class itself; it is seen if and only if it is in ImageNet-1k. Of several broad classes the first counts, as in the
    released script.
    """
    strict, above = subtypes_among(synsets, pairs), _parents(pairs)
    broad = {row["wnid"]: index for index, row in enumerate(_table())}
    seen, unseen = dict(strict.seen), dict(strict.unseen)
    for synset in (*strict.ambiguous, *strict.inner):
        first = min(broad[wnid] for wnid in _with_all_above(synset, above) if wnid in broad)
        (seen if synset in imagenet_index() else unseen)[synset] = first
    return Subtypes(seen, unseen, (), ())


def _parents(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    parents: dict[str, list[str]] = {}
    for above, below in pairs:
        parents.setdefault(below, []).append(above)
    return parents


def _with_all_above(synset: str, parents: Mapping[str, list[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [synset]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += parents.get(one, [])
    return found


def read_hierarchy(address: str) -> list[tuple[str, str]]:
    """The pairs of the hierarchy file that lies in the folder, or beside it."""
    for folder in (address, addresses.parent(address.rstrip("/"))):
        path = addresses.join(folder, HIERARCHY)
        if not addresses.exists(path):
            continue
        lines = [line.split() for line in addresses.read_bytes(path).decode("utf-8", "replace").splitlines()]
        odd = next((number for number, line in enumerate(lines, start=1) if len(line) not in (0, 2)), None)
        if odd is not None:
            raise DataError(f"{path}: line {odd} is not a synset and one below it")
        return [(line[0], line[1]) for line in lines if line]
    raise DataError(
        f"{address}: no {HIERARCHY} in it or beside it, which says what is below a broad class; "
        "get it from https://image-net.org"
    )


def subtypes_at(address: str, *, by_paper: bool = False) -> Subtypes:
    """The subtypes of ImageNet-1k, and those whose folders are there; ``by_paper`` with none left out."""
    rule = subtypes_by_paper if by_paper else subtypes_among
    return rule({*addresses.list_folders(address), *imagenet().classes}, read_hierarchy(address))


def open_by_paper(address: str, *, name: str) -> Dataset:
    """The images of the unseen subtypes by the rule of the paper."""
    unseen = subtypes_at(address, by_paper=True).unseen
    return _open(address, unseen, "of subtypes that ImageNet-1k does not have", name)


def open_imagenet_22k(address: str, *, name: str) -> Dataset:
    """The images of the unseen subtypes, labelled by broad class, with the column ``subtype`` (a WordNet id)."""
    return _open(address, subtypes_at(address).unseen, "of subtypes that ImageNet-1k does not have", name)


def open_seen_subtypes(address: str, *, name: str) -> Dataset:
    """The images of the seen subtypes, in the same way: what a model of the 25 broad classes is trained on."""
    seen = subtypes_at(address).seen
    if not set(seen) & set(addresses.list_folders(address)):
        raise NoTrainingPartError(f"{address}: no folders of the subtypes of ImageNet-1k in it")
    return _open(address, seen, "of ImageNet-1k", name)


def _open(address: str, broad_of: Mapping[str, int], what: str, name: str) -> Dataset:
    found = [
        FoundFile(f"{synset}/{file.path}", file.version)
        for synset in sorted(set(broad_of) & set(addresses.list_folders(address)))
        for file in list_images(addresses.join(address, synset))
    ]
    if not found:
        raise DataError(f"{address}: no folders (n01639765 and so on) with images below a broad class, {what}")
    kinds = [file.path.partition("/")[0] for file in found]
    return Dataset(
        name=name,
        ids=ids_of_paths([file.path for file in found]),
        labels=np.array([broad_of[one] for one in kinds], dtype=np.int64),
        space=broad_classes(),
        source=EncodedSource(ImageFiles.below(address, found)),
        rows=np.arange(len(found)),
        columns={"subtype": np.array(kinds)},
    )
