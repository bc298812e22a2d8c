"""Files of predictions for ``oodometer import``: what the flags say, and what is told of each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oodometer.cli.output import Lines, say
from oodometer.core.errors import DataError, UsageError

if TYPE_CHECKING:
    from oodometer.core.labels import LabelSpace
    from oodometer.core.stored_answers import StoredAnswers
    from oodometer.core.true_labels import TrueLabels
    from oodometer.engine.imports import Import, Imported
    from oodometer.models.card import Declared


def import_files(files: Sequence[str], flags: dict[str, Any]) -> None:
    """Bring each file into the store, and tell what is there now."""
    from oodometer.data.label_file import read_labels
    from oodometer.engine.imports import begin_import

    declared = _declared(files, flags)
    for file in files:
        if not Path(file).is_file():
            raise DataError(f"{file}: no such file of predictions")
    labels = read_labels(flags["labels"], classes=_classes(flags))
    store, condition, keep = flags["store"], flags["condition"], flags["keep"] == "logits"
    begun = begin_import(labels, store=store, condition=condition, data=flags["data"], keep_logits=keep)
    models = _add_each(files, _Reader(declared, labels, flags), begun)
    if models:
        say(f"{_told(models, condition)}, kept in {store}")
    _say_categories([declared[file] for file in files], [Path(file).stem for file in files])
    if len(models) < len(files):
        raise DataError(f"{len(files) - len(models)} of {len(files)} files were refused; what is said above tells why")


class _Reader:
    """Reads each file as its flags say; what is the same for all is read once."""

    def __init__(self, declared: dict[str, Declared], labels: TrueLabels, flags: dict[str, Any]) -> None:
        from oodometer.data.text_file import read_lines

        self._declared = declared
        self._labels = labels
        self._values = flags["values"]
        self._ids = read_lines(Path(flags["ids"]), "the image ids") if flags["ids"] else None

    def __call__(self, file: str) -> StoredAnswers:
        from oodometer.models.predictions import read_predictions

        return read_predictions(
            file, ids=self._ids, in_order_of=self._labels.ids, values=self._values, declared=self._declared[file]
        )


def _add_each(files: Sequence[str], read: _Reader, begun: Import) -> list[Imported]:
    """Add every file; of many, one that is refused does not stop the others."""
    models: list[Imported] = []
    progress = Lines("files")
    for place, file in enumerate(files):
        progress(place, len(files))
        try:
            models.append(begun.add(read(file)))
        except DataError as error:
            if len(files) == 1:
                raise
            say(f"refused: {error}")
            continue
        for line in models[-1].doubts:
            say(f"warning: {models[-1].model}: {line}")
    return models


def _classes(flags: dict[str, Any]) -> LabelSpace | None:
    from oodometer.core.labels import numbered
    from oodometer.models.card import label_space

    names, size = flags["classes"], flags["n_classes"]
    if names is None:
        return None if size is None else numbered(size)
    space = label_space(names, folder=Path())
    if size not in (None, len(space)):
        raise UsageError(f"--n-classes {size}, but {names} names {len(space)}; leave one of them out")
    return space


def _declared(files: Sequence[str], flags: dict[str, Any]) -> dict[str, Declared]:
    """What is said of each file's model: by --categories, by the other flags, in the card beside it."""
    from oodometer.models.card import Declared, card_beside
    from oodometer.models.prediction_files import check_names, read_categories

    if flags["name"] and len(files) > 1:
        raise UsageError(f"--model {flags['name']}: one name for {len(files)} files; leave it out, or give one file")
    check_names(files)
    table = read_categories(flags["categories"]) if flags["categories"] else {}
    flagged = Declared(name=flags["name"], category=flags["category"])
    flagged.card()  # an error where there is no such category
    declared = {file: flagged.over(card_beside(Path(file))) for file in files}
    return {file: table.get(said.name or Path(file).stem, Declared()).over(said) for file, said in declared.items()}


def _say_categories(declared: Sequence[Declared], stems: Sequence[str]) -> None:
    names = [said.name or stem for said, stem in zip(declared, stems, strict=True) if said.category is None]
    if len(names) == 1:
        say(f"{names[0]} counts as standard, since nobody says its category; --category says another")
    elif names:
        some = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        say(
            f"{len(names)} models count as standard, since nobody says their category ({some}); --category or "
            "--categories says others"
        )


def _told(models: Sequence[Imported], condition: str) -> str:
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
