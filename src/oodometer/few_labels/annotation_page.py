"""Images to label on the page of `oodometer testset`, and the labels from its answers.

The page asks whether images show a class. So each image is a candidate for every class that some model answered: where
people say that it shows one, that is its label; where they say that it shows none of them, every model is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from oodometer.core.errors import DataError, UsageError
from oodometer.document.comma_separated import original, safe
from oodometer.few_labels.choose import ChosenImages
from oodometer.few_labels.label_table import (
    COLUMNS,
    NONE,
    FewLabels,
    comma_separated,
    design_in,
    probabilities_in,
    write_text,
)

CANDIDATES, CLASSES = "candidates.csv", "classes.csv"
HALF = 0.5
"""Of those who were asked: as many must say that an image shows a class for that to be its label."""


def write_for_testset(chosen: ChosenImages, folder: str | Path, *, paths: Mapping[str, str]) -> tuple[Path, Path]:
    """Write the candidates, for ``oodometer testset add``, and their classes, for ``testset new``; where they are.

    Args:
        folder: Made where it is not there.
        paths: Of each image, below the folder of the images.
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{place}: can't be made ({error.strerror})") from error
    if missing := [one for one in chosen.ids if one not in paths]:
        raise UsageError(f"{missing[0]}: no image of this id in the data; give those that the models answered")
    about = (chosen.design.name, chosen.design.pool_size, chosen.design.pool)
    rows = [
        (_path(paths[one]), name, one, repr(chance), *about)
        for one, chance, answered in zip(chosen.ids, chosen.probabilities, chosen.answered, strict=True)
        for name in answered
    ]
    classes = sorted({name for answered in chosen.answered for name in answered})
    write_text(place / CANDIDATES, comma_separated([("path", "label", "id", *COLUMNS[2:]), *rows]))
    write_text(place / CLASSES, comma_separated([("name",), *((name,) for name in classes)]))
    return place / CANDIDATES, place / CLASSES


def _path(path: str) -> str:
    """A path that leads to the same file, and that no spreadsheet computes."""
    return path if safe(path) == path else f"./{path}"


def read_project(folder: str | Path) -> FewLabels:
    """The labels that people gave in a project: of each image the class that most of them, at least half, see in it.

    An image counts as labelled once people were asked about every class that it is a candidate for.
    """
    from oodometer.build.testset.project.annotated import answers_of, frequencies_of
    from oodometer.build.testset.project.pool import CANDIDATE, pool_images
    from oodometer.build.testset.project.project import open_project

    with open_project(str(folder)) as project:
        images = pool_images(project, role=CANDIDATE)
        asked = answers_of(project)
        found = frequencies_of(asked)
    share = {
        one.id: float(value)
        for one, value, own in zip(asked.images, found.frequency, asked.own_class, strict=True)
        if own and np.isfinite(value)
    }
    by_name: dict[str, dict[str, float | None]] = {}
    about: dict[str, Mapping[str, str]] = {}
    for one in images:
        if "inclusion_probability" not in one.columns:
            raise DataError(f"{folder}: {one.key} was not added from a table that 'oodometer label' wrote")
        name = original(one.columns["name"])
        by_name.setdefault(name, {})[original(one.class_name)] = share.get(one.id)
        about[name] = one.columns
    labels = {name: _label(shares) for name, shares in by_name.items()}
    known = [name for name, label in labels.items() if label]
    return FewLabels(
        source=str(folder),
        ids=tuple(known),
        labels=tuple(labels[name] for name in known),
        probabilities=probabilities_in(folder, [about[name] for name in known]),
        design=design_in(folder, list(about.values())),
        n_chosen=len(labels),
    )


def _label(shares: Mapping[str, float | None]) -> str:
    """The class that an image shows; empty where not all was asked."""
    known = {name: share for name, share in shares.items() if share is not None}
    if len(known) < len(shares):
        return ""
    best = max(known, key=lambda name: known[name])
    return best if known[best] >= HALF else NONE
