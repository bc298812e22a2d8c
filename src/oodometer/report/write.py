"""The report of a store in a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from oodometer.analysis.line_rules import DEFAULT_OPTIONS, RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.core.dataset import Progress, silent
from oodometer.few_labels.estimate import FewLabelEstimates
from oodometer.report.html.few_labels import few_labels_section
from oodometer.report.html.page import report_html, write_report
from oodometer.store.index import Source
from oodometer.study import Study
from oodometer.study.pictures import study_with_pictures


@dataclass(frozen=True)
class Report:
    """A report that was written.

    Args:
        n_bytes: Its size.
        notes: What a reader of it should know: what was left out.
    """

    path: str
    n_bytes: int
    notes: tuple[str, ...]

    @property
    def address(self) -> str:
        """What a browser opens."""
        return Path(self.path).resolve().as_uri()

    def __str__(self) -> str:
        return f"{self.path}  {self.n_bytes / 1e6:.1f} MB"

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


def report(
    store: Source | Study,
    out: str | os.PathLike[str] = "report.html",
    *,
    title: str = "",
    data: Sequence[str] = (),
    origins: Mapping[str, Origin] | None = None,
    line: RobustnessOptions = DEFAULT_OPTIONS,
    few_labels: Sequence[FewLabelEstimates] = (),
    progress: Progress = silent,
) -> Report:
    """Write everything that a store knows as one HTML file that needs no network.

    Args:
        store: Or its study, which is taken as it is.
        out: The file.
        title: Above everything.
        data: Where the images are, so that some can be shown.
        origins: Category and parent of models whose cards do not say.
        line: How the lines from clean to shifted accuracy are drawn.
        few_labels: What labels of some images tell of sets without others (`estimate_from_labels`).
        progress: Told how many sections are done.
    """
    study = store if isinstance(store, Study) else study_with_pictures(store, data, origins=origins, options=line)
    place = Path(out)
    more = [few_labels_section(list(few_labels))] if few_labels else []
    n_bytes = write_report(report_html(study, title=title, more=more, progress=progress), place)
    return Report(str(place), n_bytes, study.notes)
