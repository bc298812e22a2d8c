"""The history of a sample: how each revision came to be, and what came and went between two of them."""

from __future__ import annotations

from collections import Counter
from shlex import quote

from fastapi import FastAPI
from fastapi.responses import Response

from oodometer.build.testset.project.revisions import RevisionRecord, difference, revisions
from oodometer.core.errors import UsageError
from oodometer.explorer.testset.pages import Pages

MOST_SHOWN = 200
"""Images on each side of a difference; more than a person looks at one by one."""


def add_to(app: FastAPI, pages: Pages) -> None:
    """The pages."""
    project = pages.project

    @app.get("/revisions")
    def history() -> Response:
        found = revisions(project)
        values = {
            "title": "Revisions",
            "here": "/revisions",
            "revisions": [{"of": one, "asked": asked_words(one), "counts": other_counts(one)} for one in found[::-1]],
            "numbers": [one.number for one in found],
            "folder": quote(str(project.folder)),
        }
        return pages.page("revisions", values)

    @app.get("/revisions/difference")
    def between(older: int, newer: int) -> Response:
        known = {one.number: one for one in revisions(project)}
        for number in (older, newer):
            if number not in known:
                raise UsageError(f"no revision {number}; there are: {', '.join(map(str, known)) or 'none'}")
        found = difference(project, older, newer)
        values = {
            "title": f"Revision {older} to {newer}",
            "here": "/revisions",
            "older": older,
            "newer": newer,
            "numbers": list(known),
            "came": found.came[:MOST_SHOWN],
            "gone": found.gone[:MOST_SHOWN],
            "n_came": len(found.came),
            "n_gone": len(found.gone),
            "n_stayed": known[newer].n_images - len(found.came),
            "reasons": Counter(reason for _, reason in found.gone).most_common(),
        }
        return pages.page("revision_difference", values)


def asked_words(record: RevisionRecord) -> list[tuple[str, str]]:
    """What was asked for, in words: the arguments of the sampler, and the seed."""
    arguments = record.request.arguments()
    words = [(name.replace("_", " "), _short(value)) for name, value in arguments.items()]
    return [*words, ("seed", str(record.request.seed))]


def other_counts(record: RevisionRecord) -> list[tuple[str, int]]:
    """What happened on the way that was not asked for."""
    counts = {name: n for name, n in record.counts.items() if isinstance(n, int) and n}
    return sorted(counts.items())


def _short(value: object) -> str:
    """A value on one line.

    >>> _short({"a": 1}), _short(True), _short(0.7)
    ('1 given', 'yes', '0.7')
    """
    if isinstance(value, dict):
        return f"{len(value)} given"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
