"""The papers' numbers, derived again: ours beside theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from oodometer.analysis.text import columns
from oodometer.catalogue.papers import papers as known_papers
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.published import hendrycks2019, many_faces2021, natural_adversarial2021, recht2019, taori2020
from oodometer.published.checks import Check, Reproduction
from oodometer.published.in_text import hendrycks2019 as hendrycks2019_in_text
from oodometer.published.in_text import many_faces2021 as many_faces2021_in_text
from oodometer.published.in_text import natural_adversarial2021 as natural_adversarial2021_in_text
from oodometer.published.in_text import recht2019 as recht2019_in_text
from oodometer.published.in_text import taori2020 as taori2020_in_text
from oodometer.published.in_text.numbers import TextNumber, numbers_of
from oodometer.published.testbed_table import Grid, read_testbed

PAPERS: dict[str, Callable[[], Reproduction]] = {
    "recht2019": recht2019.reproduce,
    "hendrycks2019": hendrycks2019.reproduce,
    "many_faces2021": many_faces2021.reproduce,
    "natural_adversarial2021": natural_adversarial2021.reproduce,
}
"""Papers whose tables are bundled, by name."""
IN_TEXT: dict[str, Callable[[], list[Check]]] = {
    "recht2019": recht2019_in_text.checks,
    "hendrycks2019": hendrycks2019_in_text.checks,
    "many_faces2021": many_faces2021_in_text.checks,
    "natural_adversarial2021": natural_adversarial2021_in_text.checks,
}
"""What the papers state in sentences, from the bundled tables."""
FROM_TESTBED: dict[str, Callable[[Grid], list[Check]]] = {
    "hendrycks2019": hendrycks2019_in_text.checks_from,
    "many_faces2021": many_faces2021_in_text.checks_from,
    "natural_adversarial2021": natural_adversarial2021_in_text.checks_from,
    "taori2020": taori2020_in_text.checks_from,
}
"""What they state in sentences, from the testbed's table."""
TESTBED = "taori2020"
"""The paper whose table is given by the user."""
NOT_MEASURED = "missing"
"""What is shown for a number whose inputs the user's table does not have."""


@dataclass(frozen=True)
class Reproductions:
    """What was derived again; prints as one table per paper."""

    papers: tuple[Reproduction, ...]

    @property
    def failed(self) -> tuple[Check, ...]:
        """The numbers that are out, but for those that are known to be."""
        return tuple(check for paper in self.papers for check in paper.checks if not check.holds and not check.known)

    def __str__(self) -> str:
        return "\n\n".join(_paper(one) for one in self.papers)

    def as_json(self) -> list[dict[str, Any]]:
        """The same as plain values."""
        return [
            {
                "paper": one.paper,
                "title": one.title,
                "checks": [_plain(check.as_json()) for check in one.checks],
                "not_derived": [number.as_json() for number in not_derived(one)],
                "remarks": [remark.as_json() for remark in one.remarks],
            }
            for one in self.papers
        ]


def reproduce(papers: Sequence[str] = (), *, testbed: str | None = None) -> Reproductions:
    """Derive the published numbers again.

    Args:
        papers: Their names; none: all whose tables are at hand.
        testbed: The folder of the 204-model testbed's table, for ``taori2020``.
    """
    known = [*PAPERS, TESTBED]
    for name in papers:
        if name not in known:
            raise UsageError(f"no paper named {name!r}{_hint(name, known)}")
    if TESTBED in papers and testbed is None:
        raise UsageError(f"{TESTBED}: its table is not bundled; give the folder with --testbed DIR")
    wanted = list(dict.fromkeys(papers)) or [*PAPERS, *([TESTBED] if testbed else [])]
    return Reproductions(tuple(_derived(name, testbed) for name in wanted))


def _derived(name: str, testbed: str | None) -> Reproduction:
    """One paper: its tables, and what its text states besides."""
    paper = taori2020.reproduce(str(testbed)) if name == TESTBED else PAPERS[name]()
    stated = IN_TEXT[name]() if name in IN_TEXT else []
    measured = FROM_TESTBED[name](read_testbed(testbed)) if testbed and name in FROM_TESTBED else []
    return replace(paper, checks=(*paper.checks, *stated, *measured))


def not_derived(paper: Reproduction) -> list[TextNumber]:
    """The results of a paper's text that none of the checks derives: they need what is not at hand."""
    derived = {check.what for check in paper.checks}
    return [number for number in numbers_of(paper.paper) if number.what not in derived]


def _hint(name: str, known: Sequence[str]) -> str:
    """Which papers may be meant: those of the author (and year) that the name is made of, else what is spelled so."""
    author, year = name.lower().rstrip("0123456789"), name[-4:] if name[-4:].isdigit() else ""
    papers = [paper for key, paper in known_papers().items() if key in known]
    theirs = [paper.key for paper in papers if author in paper.authors.lower().replace(",", " ").split()]
    meant = [key for key in theirs if key.endswith(year)]
    return f"; did you mean {' or '.join(sorted(meant))}?" if meant else did_you_mean(name, known)


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Numbers of numpy as those of Python, which JSON knows; null for what was not measured."""
    plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}
    return {name: None if isinstance(value, float) and np.isnan(value) else value for name, value in plain.items()}


def _paper(one: Reproduction) -> str:
    rows = [["", "published", "ours", "difference", "allowed", "what", "where"]]
    rows += [_row(check) for check in one.checks]
    lines = [f"{one.paper}: {one.title}", summary(one), "", columns(rows)]
    left = not_derived(one)
    if left:
        lines += ["", f"Printed in the text, can't be derived from what is at hand, and not counted ({len(left)}):"]
        lines += [f"- {number}" for number in left]
    if one.remarks:
        lines += ["", "Worth knowing:"]
        lines += [f"- {remark.where}: {remark.text}" for remark in one.remarks]
    return "\n".join(lines)


def summary(one: Reproduction) -> str:
    """How many agree: of the numbers that the paper prints, of what it says in words, and of values of our own."""
    printed = [check for check in one.checks if check.source == "printed"]
    numbers = [check for check in printed if _is_number(check)]
    in_words = [check for check in printed if not _is_number(check)]
    own = [check for check in one.checks if check.source == "own"]
    known = sum(bool(check.known) and not check.holds for check in printed)
    text = f"{_agree(numbers)} printed numbers agree"
    text += f", and {_agree(in_words)} statements in words" if in_words else ""
    text += f" ({known} known not to, see ≠)" if known else ""
    return text + (f"; {_agree(own)} values of our own" if own else "")


def _agree(checks: Sequence[Check]) -> str:
    return f"{sum(check.holds for check in checks)} of {len(checks)}"


def _is_number(check: Check) -> bool:
    """Whether the paper gives a number, if only as a bound: 'at least 8', not 'improves'."""
    return not isinstance(check.published, str) or any(letter.isdigit() for letter in check.published)


def _row(check: Check) -> list[str]:
    difference = "" if check.difference is None or np.isnan(check.difference) else f"{check.difference:+.3g}"
    allowed = "" if check.difference is None else f"{check.allowed:.3g}"
    mark = "✓" if check.holds else "≠" if check.known else "✗"
    where = f"{check.where}: {check.known}" if mark == "≠" else check.where
    return [mark, _shown(check.published), _shown(check.ours), difference, allowed, check.what, where]


def _shown(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return NOT_MEASURED if np.isnan(value) else f"{value:.6g}"
