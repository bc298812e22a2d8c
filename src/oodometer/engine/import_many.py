"""Many files of predictions, brought into a store one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from oodometer.core.dataset import Progress, silent
from oodometer.core.errors import DataError
from oodometer.core.stored_answers import StoredAnswers
from oodometer.core.talk import Tell, unheard
from oodometer.engine.imports import Import, Imported


def import_each(
    files: Sequence[str],
    read: Callable[[str], StoredAnswers],
    begun: Import,
    *,
    tell: Tell = unheard,
    progress: Progress = silent,
) -> list[Imported]:
    """The models of the files that were taken; of many, one that is refused does not stop the others.

    Args:
        read: From a file to its answers.
        begun: Where they go.
        tell: Told which files are refused, and what looks wrong about the others.
        progress: Told how many files are done.
    """
    models: list[Imported] = []
    for place, file in enumerate(files):
        progress(place, len(files))
        try:
            models.append(begun.add(read(file)))
        except DataError as error:
            if len(files) == 1:
                raise
            tell(f"refused: {error}")
            continue
        for line in models[-1].doubts:
            tell(f"warning: {models[-1].model}: {line}")
    return models


def in_words(models: Sequence[Imported], condition: str) -> str:
    """How many predictions of how many models there are, how many with a label, and whether all images have some."""
    sizes = sorted({len(model.dataset) for model in models})
    n = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    text = (
        f"{n} predictions of {models[0].model} on {condition}"
        if len(models) == 1
        else f"{len(models)} models on {condition}, {n} predictions each"
    )
    fewest = min(models, key=lambda model: model.n_labelled / len(model.dataset))
    if fewest.n_labelled < len(fewest.dataset):
        text += f", {'' if len(sizes) == 1 else 'at least '}{fewest.n_labelled} of them labelled"
    parts = [model for model in models if model.dataset.subset]
    if parts:
        who = "" if len(models) == 1 else f"{len(parts)} of them on "
        text += f", {who}a subset ({parts[0].dataset.subset} images of {parts[0].dataset.name})"
    return text
