"""The report of a study as one HTML file: scripts, styles, plots and numbers inside, nothing from elsewhere."""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path

from oodometer.core.errors import UsageError
from oodometer.core.extras import import_extra
from oodometer.document.html_environment import environment_of
from oodometer.document.section import Plot, Section
from oodometer.report.palette import UNKNOWN, looks_css, looks_of
from oodometer.study import Study

SECTIONS = (
    "overview",
    "summary",
    "leaderboard",
    "scatter",
    "quadrants",
    "corruptions",
    "shift_pictures",
    "classes",
    "slices",
    "uncertainty",
    "drop_parts",
    "without_labels",
    "correlations",
    "interventions",
    "hypotheses",
    "consistency",
    "hardest",
    "provenance",
)
"""Modules of `oodometer.report.html.sections`, in the order of the page; each has a function ``section``."""

FIRST_SCRIPTS = (
    *("theme", "core", "numbers", "elements", "cue", "table_rows", "table_tools", "table", "nav", "enlarge", "plots"),
)
"""The page's own scripts in the order in which they need each other; those that draw one plot each come after."""

AT_ONCE = 4
"""Sections that are made at once: some of them wait for the same scores."""

Progress = Callable[[int, int], None]
"""Who hears how many sections are done, and of how many."""


@dataclass(frozen=True)
class Script:
    """A script inside the page, and the digest by which the page allows it to run."""

    text: str

    @property
    def digest(self) -> str:
        """As a Content-Security-Policy names it."""
        return "sha256-" + base64.b64encode(hashlib.sha256(self.text.encode()).digest()).decode()


def sections_of(study: Study, *, progress: Progress | None = None) -> list[Section]:
    """The sections that have something to say."""
    # Imported before there are threads: two that import each other's modules would wait for each other.
    makers: list[Callable[[Study], Section | None]] = [
        import_module(f"oodometer.report.html.sections.{name}").section for name in SECTIONS
    ]
    found = []
    # One is counted while another is read or resampled.
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for done, section in enumerate(threads.map(lambda make: make(study), makers), start=1):
            if progress:
                progress(done, len(SECTIONS))
            if section:
                found.append(section)
    return found


def report_html(
    study: Study, *, title: str = "", more: Sequence[Section] = (), progress: Progress | None = None
) -> str:
    """The report as HTML; the same for the same store, whenever it is made. ``more`` sections stand at its end."""
    counted = ((study.models, "model"), (study.conditions, "condition"), (study.shifts, "shift"))
    facts = ", ".join(f"{len(some):,} {name}{'' if len(some) == 1 else 's'}" for some, name in counted)
    categories = [model.origin.category or UNKNOWN for model in study.models]
    sections = [*sections_of(study, progress=progress), *more]
    return page_html(sections, categories, title=title or "Robustness report", facts=facts)


def page_html(sections: Iterable[Section], categories: Iterable[str], *, title: str, facts: str = "") -> str:
    """One page of these sections, whose models are of these categories; ``facts`` stands below the title."""
    shown, known = list(sections), list(categories)
    looks = {
        name: {"colour": look.colour, "dark": look.dark, "symbol": look.symbol}
        for name, look in looks_of(known).items()
    }
    has_plots = any(isinstance(part, Plot) for section in shown for part in section.parts)
    theme, *scripts = _scripts(has_plots)
    plotly, packed = _plotly() if has_plots else (None, "")
    page: str = (
        environment_of("oodometer.report.html", extra="report", what="reports")
        .get_template("page.html.j2")
        .render(
            title=title,
            facts=facts,
            sections=shown,
            looks=looks,
            look_places={name: place for place, name in enumerate(looks)},
            style=f"{_styles()}\n{looks_css(known)}",
            theme=theme.text,
            scripts=[script.text for script in scripts],
            plotly=packed,
            digests=[script.digest for script in (theme, *scripts, plotly) if script],
        )
    )
    return page


def _scripts(has_plots: bool) -> list[Script]:
    """The page's own scripts, the one for light and dark first, and then those that draw plots."""
    draw = [name.removesuffix(".js") for name in _names(".js")] if has_plots else []
    names = [*FIRST_SCRIPTS, *(name for name in draw if name not in FIRST_SCRIPTS)]
    return [Script(_static(f"{name}.js")) for name in names]


@lru_cache(1)
def _plotly() -> tuple[Script, str]:
    """Plotly, as its Python package brings it, and the same packed: it is most of a small report."""
    offline = import_extra("plotly.offline", extra="report", what="reports")
    script = Script(offline.get_plotlyjs())
    return script, base64.b64encode(gzip.compress(script.text.encode(), mtime=0)).decode()


def _styles() -> str:
    """The page's style, and what single plots add to it."""
    own = [_static(name) for name in sorted(_names(".css"), key=lambda name: name != "report.css")]
    dots = files("oodometer.document").joinpath("static", "dots.css").read_text("utf-8")
    return "\n".join([*own, dots])


def _names(ending: str) -> list[str]:
    names = (one.name for one in files("oodometer.report.html").joinpath("static").iterdir())
    return sorted(name for name in names if name.endswith(ending))


def _static(name: str) -> str:
    return files("oodometer.report.html").joinpath("static", name).read_text("utf-8")


def write_report(html: str, place: Path) -> int:
    """The size in bytes of the file, written whole or not at all."""
    content = html.encode()
    aside = place.with_name(f".{place.name}.{os.getpid()}.tmp")
    try:
        aside.write_bytes(content)
        aside.replace(place)
    except OSError as error:
        with contextlib.suppress(OSError):
            aside.unlink()
        raise UsageError(f"{place}: can't be written ({error.strerror}); give a place that can with -o") from error
    return len(content)
