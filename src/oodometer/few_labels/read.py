"""The labels that somebody gave, in whichever form they come."""

from __future__ import annotations

from pathlib import Path

from oodometer.few_labels.label_table import FewLabels, read_table


def read_few_labels(path: str) -> FewLabels:
    """The labels of a file: a table, an export of Label Studio as JSON, or the folder of a test set in the making."""
    if Path(path).is_dir():
        from oodometer.few_labels.annotation_page import read_project

        return read_project(path)
    if Path(path).suffix.lower() == ".json":
        from oodometer.few_labels.label_studio import read_export

        return read_export(path)
    return read_table(path)
