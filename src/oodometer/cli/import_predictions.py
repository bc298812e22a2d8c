"""Files of predictions for ``oodometer import``, by its flags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from oodometer.cli.output import Lines, say
from oodometer.core.errors import DataError


def import_files(files: Sequence[str], flags: dict[str, Any]) -> None:
    """Bring each file into the store, and tell what is there now."""
    from oodometer.data.label_file import read_labels
    from oodometer.data.text_file import read_ids
    from oodometer.engine.import_many import import_each, in_words
    from oodometer.engine.imports import begin_import
    from oodometer.models.card import Declared
    from oodometer.models.read_many import PredictionReader, classes_said, declared_of, of_unknown_category

    store, condition = flags["store"], flags["condition"]
    declared = declared_of(files, Declared(name=flags["name"], category=flags["category"]), flags["categories"])
    labels = read_labels(flags["labels"], classes=classes_said(flags["classes"], flags["n_classes"]))
    read = PredictionReader(declared, labels, read_ids(flags["ids"]), flags["values"])
    keep = flags["keep"] == "logits"
    begun = begin_import(labels, store=store, condition=condition, data=flags["data"], keep_logits=keep)
    models = import_each(files, read, begun, tell=say, progress=Lines("files"))
    if models:
        say(f"{in_words(models, condition)}, kept in {store}")
    if unknown := of_unknown_category(declared):
        say(unknown)
    if len(models) < len(files):
        raise DataError(f"{len(files) - len(models)} of {len(files)} files were refused; what is said above tells why")
