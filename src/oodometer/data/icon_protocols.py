"""The protocols of ICONS-50 on any icons: a vendor, subtypes or drawings that are held out from training.

Needed are the columns ``style`` (the vendor), ``version`` (which of its drawings) and ``subtype``, as in what
``oodometer build icons`` makes and in ICONS-50 itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, UsageError, did_you_mean
from oodometer.core.random import key_words
from oodometer.data.layouts.class_lists import class_list

COLUMNS = frozenset({"style", "version", "subtype"})
STYLE = "microsoft"
"""The vendor that the paper holds out."""

PROTOCOLS = (f"style={STYLE}", "subtypes", "versions")
"""What the three shifts of the icons hold out."""

EVERY_NTH = 10
"""Every so-manieth icon of those that are not held out is a test image like the training images."""

EVERY_NTH_TWICE_DRAWN = 4
"""Of every so-manieth icon that a vendor drew several times one drawing is held out."""

RELEASED_VERSIONS = "versions:paper"
"""What the released script holds out as versions: every icon with ``_2`` anywhere in its name."""

PUBLISHED_VERSION = "2"
"""The version that is held out where versions are numbered, as in ICONS-50."""


@dataclass(frozen=True)
class Split:
    """What a model is trained on, a tenth like it, and what it never saw the like of."""

    training: Dataset
    iid: Dataset
    held_out: Dataset


def has_icons(dataset: Dataset) -> bool:
    """Whether it has the columns that the protocols need."""
    return set(dataset.columns) >= COLUMNS


def split(dataset: Dataset, hold_out: str) -> Split:
    """The parts of the data when something is held out.

    Args:
        hold_out: ``style=microsoft`` (or another vendor), ``subtypes``, ``versions``, or several with commas between
            them: then a model that is trained on the rest can be tested on each.
    """
    is_held_out = np.any([held_out_rows(dataset, one) for one in _listed(hold_out)], axis=0)
    is_tenth = iid_rows(dataset)
    return Split(
        training=_part(dataset, ~is_held_out & ~is_tenth, "training", hold_out),
        iid=_part(dataset, ~is_held_out & is_tenth, "iid", hold_out),
        held_out=_part(dataset, is_held_out, "held-out", hold_out),
    )


def sides_of(dataset: Dataset, protocol: str, protocols: Sequence[str] = PROTOCOLS) -> tuple[Dataset, Dataset]:
    """The two sides of a shift: a tenth of what no protocol holds out, and what this protocol alone does.

    So the sides differ in one thing only, and a model may be tested on all protocols whose training left out this one
    or all of them.

    Args:
        protocol: One of the protocols.
        protocols: All that count.
    """
    rows = {one: held_out_rows(dataset, one) for one in dict.fromkeys([protocol, *protocols])}
    by_any = np.any(list(rows.values()), axis=0)
    by_others = np.any([np.zeros(len(dataset), bool), *(some for one, some in rows.items() if one != protocol)], axis=0)
    name = protocol.partition("=")[0]
    return (
        _part(dataset, ~by_any & iid_rows(dataset), "iid", protocol),
        _part(dataset, rows[protocol] & ~by_others, name, protocol),
    )


def sides_of_paper(dataset: Dataset, protocol: str) -> tuple[Dataset, Dataset]:
    """The two sides by the paper's own rule: everything that the protocol holds out, whatever others hold out of it.

    The paper trains a network for each protocol, so that its test sets may overlap.
    """
    every = dict.fromkeys([protocol, *PROTOCOLS, RELEASED_VERSIONS])
    by_any = np.any([held_out_rows(dataset, one) for one in every], axis=0)
    name = protocol.partition("=")[0]
    return (
        _part(dataset, ~by_any & iid_rows(dataset), "iid", protocol),
        _part(dataset, held_out_rows(dataset, protocol), name, protocol),
    )


def common_iid_rows(dataset: Dataset) -> np.ndarray:
    """Which icons are of the tenth and held out by no protocol, (N,) bool: unseen, whatever a model was trained on."""
    by_style = dataset.columns["style"] == STYLE
    return np.asarray(iid_rows(dataset) & ~by_style & ~_of_subtypes(dataset) & ~_of_versions(dataset))


def iid_rows(dataset: Dataset) -> np.ndarray:
    """Which icons are of the tenth that no model is trained on, (N,) bool; it depends on their ids alone."""
    return np.array([int(key_words("icons-50 standard", one, seed=0)[0]) % EVERY_NTH == 0 for one in dataset.ids])


def held_out_rows(dataset: Dataset, hold_out: str) -> np.ndarray:
    """Which icons ``style=VENDOR``, ``subtypes`` or ``versions`` stands for, (N,) bool."""
    if not has_icons(dataset):
        lacking = ", ".join(sorted(COLUMNS - set(dataset.columns)))
        raise UsageError(f"{dataset.name}: no columns {lacking}; icons have them ('oodometer build icons')")
    name, _, vendor = hold_out.partition("=")
    if name == "style" and vendor:
        return _of_style(dataset, vendor)
    if hold_out == "subtypes":
        return _of_subtypes(dataset)
    if hold_out == "versions":
        return _of_versions(dataset)
    if hold_out == RELEASED_VERSIONS:
        return _of_released_versions(dataset)
    raise UsageError(f"{hold_out!r} can't be held out from icons; use style=VENDOR, subtypes or versions")


def _listed(hold_out: str) -> list[str]:
    return [one.strip() for one in hold_out.split(",")]


def _part(dataset: Dataset, rows: np.ndarray, name: str, hold_out: str) -> Dataset:
    if not rows.any():
        raise DataError(f"{dataset.name}: no icons for the {name} part when {hold_out} is held out")
    return dataset.take(np.flatnonzero(rows), name=f"{dataset.name}-{name}")


def _of_style(dataset: Dataset, vendor: str) -> np.ndarray:
    styles = dataset.columns["style"]
    if vendor not in styles:
        raise UsageError(f"{dataset.name}: no icons of style {vendor!r}{did_you_mean(vendor, set(styles.tolist()))}")
    return np.asarray(styles == vendor)


def _of_subtypes(dataset: Dataset) -> np.ndarray:
    """Those that a column ``held_out`` marks, as ICONS-50 has it; without one, those of our list."""
    if "held_out" in dataset.columns:
        return np.asarray(dataset.columns["held_out"] != "")
    return np.array([is_held_out_subtype(one) for one in dataset.columns["subtype"].tolist()])


def is_held_out_subtype(subtype: str) -> bool:
    """Whether a subtype is one of the 50 that are held out, in any skin tone, of a man or of a woman.

    >>> is_held_out_subtype("duck"), is_held_out_subtype("woman_factory_worker_dark_skin_tone")
    (True, True)
    >>> is_held_out_subtype("monkey_face"), is_held_out_subtype("stopwatch")
    (False, False)
    """
    listed = class_list("icons_held_out")
    plain = subtype
    for tone in ("_medium_light", "_medium_dark", "_light", "_medium", "_dark"):
        plain = plain.removesuffix(f"{tone}_skin_tone")
    return plain in listed or plain.removeprefix("wo").removeprefix("man_") in listed


def _of_versions(dataset: Dataset) -> np.ndarray:
    """One drawing of icons that one vendor drew several times: version 2 where they are numbered, else by the key."""
    versions = [str(one) for one in dataset.columns["version"].tolist()]
    columns = (dataset.labels.tolist(), dataset.columns["style"].tolist(), dataset.columns["subtype"].tolist())
    icons = list(zip(*columns, strict=True))
    drawn: dict[tuple[int, str, str], list[str]] = {}
    for icon, version in zip(icons, versions, strict=True):
        drawn.setdefault(icon, []).append(version)
    numbered = PUBLISHED_VERSION in versions
    chosen = {
        icon: _chosen(dataset.space.classes[icon[0]], *icon[1:], several, numbered=numbered)
        for icon, several in drawn.items()
    }
    return np.array([chosen[icon] == version for icon, version in zip(icons, versions, strict=True)])


def _of_released_versions(dataset: Dataset) -> np.ndarray:
    """By the name of the file, as the released script does; a ``_2`` of the subtype counts too."""
    columns = [dataset.columns[one].tolist() for one in ("style", "version", "subtype")]
    return np.array(["_2" in "_".join(map(str, parts)) for parts in zip(*columns, strict=True)])


def _chosen(class_name: str, style: str, subtype: str, versions: Sequence[str], *, numbered: bool) -> str | None:
    """The version of an icon that is held out; None where none is."""
    if len(set(versions)) < 2:
        return None
    if numbered:
        return PUBLISHED_VERSION
    first, second = key_words("icons versions", class_name, style, subtype, seed=0).tolist()
    return sorted(set(versions))[second % len(set(versions))] if first % EVERY_NTH_TWICE_DRAWN == 0 else None
