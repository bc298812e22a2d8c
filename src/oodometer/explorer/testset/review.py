"""Review: what is chosen of a class beside its originals, what is wrong with it, and a sample that fills the gaps."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from shlex import quote
from typing import Any

from fastapi import FastAPI
from fastapi.responses import Response

from oodometer.build.testset.project.class_frequencies import frequencies_in_class
from oodometer.build.testset.project.class_progress import latest_revision
from oodometer.build.testset.project.class_review import (
    ClassState,
    candidates_among,
    chosen_in_class,
    file_of_key,
    next_unreviewed,
    originals_beside,
    review_states,
    take_in_again,
)
from oodometer.build.testset.project.close_pairs import mark_duplicates
from oodometer.build.testset.project.exclusions import REVIEW_REASONS, exclude
from oodometer.build.testset.project.out_now import out_since, state_of
from oodometer.build.testset.project.project import Project, whoever
from oodometer.build.testset.project.revisions import RevisionRecord, mark_reviewed, revisions, take_sample
from oodometer.core.errors import UsageError
from oodometer.document.table import Column, Table
from oodometer.explorer.links import path_link
from oodometer.explorer.testset.access import Refused
from oodometer.explorer.testset.forms import Form, MaybeNumber, Sent, go_to
from oodometer.explorer.testset.large_pictures import SIDES, large_picture
from oodometer.explorer.testset.pages import Pages

FEWEST_ORIGINALS = 10
"""Shown beside a class: as many as Recht et al. (2019) looked at."""

REMEMBERED = 100_000

SAID = {
    "none": "Select images first.",
    "one": "Select the images that are one picture: two or more.",
    "original": "Originals are never chosen, so they can't be taken out.",
    "same": "Nothing changed: this revision stands.",
    "words": "Say why, in your own words, before you exclude for that.",
}
"""What a page tells after a form that did nothing, by the word in the address."""


REASONS_IN_WORDS = {
    "near-duplicate": "the same picture as another",
    "unreviewed": "close to another, which nobody has looked at",
    "few answers": "with too few answers",
}


def add_to(app: FastAPI, pages: Pages) -> None:
    """The pages, their pictures, and where decisions go."""
    project = pages.project

    @lru_cache(REMEMBERED)
    def file_of(key: str) -> str:
        file = file_of_key(project, key)
        if file is None:
            raise UsageError("no image is shown under that address")
        return file

    @lru_cache(1)  # all answers are read for it
    def gaps_of(record_number: int, state: tuple[Any, ...]) -> dict[str, int]:  # noqa: ARG001 - of another state anew
        record = _record(project, record_number)
        return _in_words(out_since(project, record)) if record else {}

    @app.get("/picture/{size}/{key}")
    def picture(size: str, key: str) -> Response:
        if size not in SIDES:
            raise UsageError("no image is shown under that address")
        return large_picture(project.folder, file_of(key), size)

    @app.get("/review")
    def review(name: str = "", revision: MaybeNumber = None, said: str = "") -> Response:
        if name:
            return go_to(path_link("review", name), revision=revision)
        record = _record(project, revision)
        number = record.number if record else None
        states = review_states(project, record.number) if record else []
        values = {
            "title": "Review",
            "here": "/review",
            "revision": number,
            "is_latest": number == latest_revision(project),
            "asked": revision,
            "states": states,
            "following": next_unreviewed(states),
            "table": states_table(states, revision),
            "n_reviewed": sum(one.is_reviewed for one in states),
            "gaps": gaps_of(record.number, state_of(project)) if record else {},
            "said": SAID.get(said, ""),
            "record": record,
            "folder": quote(str(project.folder)),
        }
        return pages.page("review", values)

    @app.get("/review/{name:path}")
    def of_class(
        name: str, revision: MaybeNumber = None, turn: MaybeNumber = None, frequencies: bool = False, said: str = ""
    ) -> Response:
        number, states, state = _state(pages, name, revision)
        chosen = chosen_in_class(project, number, state.number)
        n_beside = max(FEWEST_ORIGINALS, len(chosen))
        kept = {"revision": revision, "frequencies": frequencies or None}
        at = states.index(state)
        values = {
            "title": state.title,
            "here": "/review",
            "revision": number,
            "state": state,
            "entry": project.classes()[state.number],
            "chosen": chosen,
            "originals": originals_beside(project, state.number, n_beside, turn=turn or 0),
            "frequencies": frequencies_in_class(project, state.number) if frequencies else None,
            "reasons": REVIEW_REASONS,
            "said": SAID.get(said, ""),
            "kept": {**kept, "turn": turn or None},
            "place": at + 1,
            "n_classes": len(states),
            "n_reviewed": sum(one.is_reviewed for one in states),
            "here_again": path_link("review", name, **kept, turn=turn or None),
            "others": path_link("review", name, **kept, turn=(turn or 0) + 1),
            "toggled": path_link(
                "review", name, revision=revision, turn=turn or None, frequencies=None if frequencies else True
            ),
            "before": path_link("review", states[at - 1].name, **kept) if at else "",
            "after": path_link("review", states[at + 1].name, **kept) if at + 1 < len(states) else "",
        }
        return pages.page("review_class", values)

    @app.post("/review/exclude")
    def take_out(form: Form) -> Response:
        images = chosen_in_class(project, *_place(pages, form))
        keys = candidates_among(form.all("key"), images)
        own = form.one("reason") == "own"
        reason = form.one("words") if own else form.one("reason")
        if not keys or not reason:
            said = "words" if keys else "original" if form.all("key") else "none"
            return _back(form, said=said)
        exclude(project, keys, reason, by=whoever())
        return _back(form, at=keys[0])

    @app.post("/review/duplicates")
    def same_picture(form: Form) -> Response:
        if len(form.all("key")) < 2:
            return _back(form, said="one")
        mark_duplicates(project, form.all("key"), by=whoever())
        return _back(form, at=form.all("key")[0])

    @app.post("/review/take-back")
    def take_back(form: Form) -> Response:
        images = chosen_in_class(project, *_place(pages, form))
        only = form.one("only")
        keys = candidates_among([only] if only else form.all("key"), images)
        if not keys:
            return _back(form, said="none")
        take_in_again(project, keys, by=whoever())
        return _back(form, at=keys[0])

    @app.post("/review/reviewed")
    def reviewed(form: Form) -> Response:
        name, done = form.one("class"), form.one("reviewed") != "no"
        number, _, _ = _state(pages, name, _revision(form))
        mark_reviewed(project, number, name, by=whoever(), reviewed=done)
        following = next_unreviewed(review_states(project, number), name) if done else None
        if following is None:
            return go_to("/review", revision=_revision(form)) if done else _back(form)
        kept = {"revision": _revision(form), "frequencies": form.one("frequencies")}
        return go_to(path_link("review", following.name, **kept))

    @app.post("/review/again")
    def again(form: Form) -> Response:
        record = _record(project, _revision(form))
        if record is None:
            raise UsageError(f"nothing is sampled yet; first: oodometer testset sample {quote(str(project.folder))}")
        sampled = take_sample(project, record.request, by=whoever(), note="sampled again after review")
        return go_to("/review", said=None if sampled.is_new else "same")


def states_table(states: list[ClassState], revision: int | None) -> Table:
    """The classes of a revision, each with a link to its images."""
    columns = (
        Column("Class", about="Its images are behind the name."),
        Column("Chosen", "count", "Images in this revision."),
        Column("Out since", "count", "Of these, excluded since: the next sample fills the gaps."),
        Column(
            "Same picture", "count", "Of these, the same picture as another by what a person said: one of two stays."
        ),
        Column("Reviewed", "text", "Whether somebody has gone through the class in this revision."),
    )
    rows = tuple(
        (
            one.title if one.title == one.name else f"{one.title} ({one.name})",
            one.n_chosen,
            one.n_out,
            one.n_duplicates,
            "yes" if one.is_reviewed else "no",
        )
        for one in states
    )
    links = {(at, 0): path_link("review", one.name, revision=revision) for at, one in enumerate(states)}
    return Table("classes", "The classes of this revision", columns, rows, filters="Reviewed", links=links)


def _state(pages: Pages, name: str, revision: int | None) -> tuple[int, list[ClassState], ClassState]:
    """The revision, its classes, and the one of this name."""
    record = _record(pages.project, revision)
    states = review_states(pages.project, record.number) if record else []
    state = next((one for one in states if one.name == name), None)
    if record is None or state is None:
        raise Refused(404, f"Nothing is chosen of a class named {name}.")
    return record.number, states, state


def _in_words(gaps: Mapping[str, int]) -> dict[str, int]:
    """The same under what a person calls it."""
    return {REASONS_IN_WORDS.get(reason, reason): n for reason, n in gaps.items()}


def _record(project: Project, revision: int | None) -> RevisionRecord | None:
    """The revision that is asked for, or the latest; None before the first sample."""
    known = revisions(project)
    if revision is None:
        return known[-1] if known else None
    record = next((record for record in known if record.number == revision), None)
    if record is None:
        raise Refused(404, f"There is no revision {revision}.")
    return record


def _place(pages: Pages, form: Sent) -> tuple[int, int]:
    """The revision and the class that a form is about, by number."""
    number, _, state = _state(pages, form.one("class"), _revision(form))
    return number, state.number


def _revision(form: Sent) -> int | None:
    return form.number("revision") if form.one("revision") else None


def _back(form: Sent, *, said: str = "", at: str = "") -> Response:
    """To the class that the form is about, and to an image of it."""
    kept = {name: form.one(name) for name in ("revision", "frequencies", "turn")}
    return go_to(path_link("review", form.one("class"), **kept, said=said), at=f"image-{at}" if at else "")
