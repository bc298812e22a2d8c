"""Revisions of a sample: each is stored with what it was asked for, and the next one carries over what it can.

    candidates ─► not excluded ─► of enough answers ─► one of each near-duplicates ─► strategy ─► revision

A person reviews a revision and excludes images; sampling again fills the gaps and leaves all others where they are.
When nothing changes any more, no new revision is made: the set is done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from shlex import quote
from typing import Any

import numpy as np

from oodometer.build.testset.candidates import Candidates, enough_answers
from oodometer.build.testset.project.annotated import candidates_with_frequencies
from oodometer.build.testset.project.database import as_text, from_text, now
from oodometer.build.testset.project.duplicates_out import without_duplicates
from oodometer.build.testset.project.exclusions import exclusions
from oodometer.build.testset.project.pool import CANDIDATE, PoolImage, images_where, pool_images
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.sample_request import (
    SampleRequest,
    attribute_parts,
    drawn_from,
    request_from,
)
from oodometer.build.testset.project.schema import CHOSEN, FILTER, IMAGE, REVIEW, REVISION, sa
from oodometer.build.testset.sampling.sample import Sample
from oodometer.core.errors import DataError, UsageError
from oodometer.stats.intervals import mean_of

OUT, SHORT, CARRIED = "out", "short", "carried over"
"""Among the counts of a revision: candidates that were out by reason, what is missing by class, what stayed."""

ORIGINALS, FILTERS, GONE = "originals", "filters", "gone"
"""Among the counts too: the mean selection frequency of the annotated originals, the rules of filtration that held, and
by key why each image of the parent went."""
DRAWN = "another was drawn"
POOL = "pool"
"""Among the counts too: how many candidates there were, and about how many somebody was asked."""
BELOW_THRESHOLD = "below the threshold"


@dataclass(frozen=True)
class RevisionRecord:
    """A revision, as it is kept.

    Args:
        number: From 1.
        parent: The revision that it carries over from; None: it began anew.
        request: What was asked for.
        counts: What happened on the way; ``out``, ``short`` and ``carried over`` are explained above.
        at: When; ``by`` who, ``note`` why.
        n_images: Chosen images.
        n_new: Those of them that the parent has not.
        n_gone: Those of the parent that it has not.
    """

    number: int
    parent: int | None
    request: SampleRequest
    counts: Mapping[str, Any]
    at: str
    by: str
    note: str
    n_images: int
    n_new: int
    n_gone: int

    @property
    def short(self) -> dict[str, int]:
        """By class, how many images are missing."""
        return dict(self.counts.get(SHORT, {}))

    @property
    def excluded(self) -> dict[str, int]:
        """How many candidates were out, by reason."""
        return dict(self.counts.get(OUT, {}))

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "revision": self.number,
            "parent": self.parent,
            "strategy": self.request.strategy,
            "arguments": self.request.arguments(),
            "seed": self.request.seed,
            "images": self.n_images,
            "new": self.n_new,
            "gone": self.n_gone,
            "counts": dict(self.counts),
            "at": self.at,
            "by": self.by,
            "note": self.note,
        }


@dataclass(frozen=True)
class Sampled:
    """What sampling gave.

    Args:
        revision: The new one, or, where nothing changed, the one that stays.
        is_new: Whether anything changed.
        mean_frequency: Of the chosen images; None where one was never asked about.
    """

    revision: RevisionRecord
    is_new: bool
    mean_frequency: float | None

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {"is_new": self.is_new, "mean_frequency": self.mean_frequency, **self.revision.as_json()}


@dataclass(frozen=True)
class RevisionDifference:
    """What one revision has that another has not.

    Args:
        came: Images that are in the newer one alone.
        gone: Images that are in the older one alone, each with the reason why it went.
    """

    came: tuple[PoolImage, ...]
    gone: tuple[tuple[PoolImage, str], ...]

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "came": [{"id": image.key, "class": image.class_name} for image in self.came],
            "gone": [{"id": image.key, "class": image.class_name, "reason": why} for image, why in self.gone],
        }


def take_sample(project: Project, request: SampleRequest, *, by: str, note: str = "") -> Sampled:
    """Choose images, and keep the choice as a revision unless the latest of its line is the same.

    Revisions of one strategy (of ``by-attribute``: of one set) are a line: what the latest of them chose stays where it
    may, and classes that are as they were stay reviewed.

    Args:
        by: Who asks for it; ``note`` why. Both are kept.
    """
    while (sampled := _sampled(project, request, (by, note))) is None:
        pass  # somebody else made a revision of this line meanwhile, which is now the parent
    return sampled


def _sampled(project: Project, request: SampleRequest, said: tuple[str, str]) -> Sampled | None:
    """The sample, or None where the revision that it was to follow is no longer the latest."""
    parent = _latest_of_line(project, request)
    candidates, originals = _free_candidates(project, request)
    if not candidates.may_be_chosen.any():
        raise DataError(f"{project.folder}: no candidate may be chosen{_why_none(candidates)}")
    before = frozenset() if parent is None else frozenset(image.key for image in chosen_of(project, parent.number))
    chosen = drawn_from(request, candidates, originals, project.class_numbers(), before)
    if not len(chosen):
        raise DataError(f"{project.folder}: nothing is chosen{_why_none(chosen.candidates)}")
    frequency = None if (mean := chosen.mean_frequency) != mean else mean
    if parent is not None and parent.request == request and before == set(chosen.ids):
        return Sampled(parent, False, frequency)
    facts = {ORIGINALS: _mean_of(originals), FILTERS: _filters(project)}
    number = _write(project, request, chosen, parent, before, said, facts)
    return None if number is None else Sampled(_record(project, number), True, frequency)


def take_samples(project: Project, request: SampleRequest, *, by: str, note: str = "") -> list[Sampled]:
    """The sample that is asked for; of ``by-attribute`` a revision for each of its sets."""
    if request.strategy != "by-attribute":
        return [take_sample(project, request, by=by, note=note)]
    candidates, _ = _free_candidates(project, request)
    return [take_sample(project, part, by=by, note=note) for part in attribute_parts(request, candidates)]


def sample_again(project: Project, *, by: str, note: str = "") -> Sampled:
    """What the latest revision asked for, once more: gaps are filled, and the rest stays."""
    return take_sample(project, latest(project).request, by=by, note=note)


def revisions(project: Project) -> list[RevisionRecord]:
    """All of them, the first first."""
    rows = project.database.rows(sa.select(REVISION).order_by(REVISION.c.id))
    sizes, stayed = _sizes(project)
    return [_record_of(row, sizes, stayed) for row in rows]


def latest(project: Project) -> RevisionRecord:
    """The newest revision; an error where there is none."""
    known = revisions(project)
    if not known:
        raise UsageError(
            f"{project.folder}: nothing is sampled yet; first: oodometer testset sample {quote(str(project.folder))}"
        )
    return known[-1]


def chosen_of(project: Project, revision: int) -> list[PoolImage]:
    """The images of a revision, by key."""
    wanted = sa.select(CHOSEN.c.image_id).where(CHOSEN.c.revision_id == revision)
    images = images_where(project, IMAGE.c.id.in_(wanted))
    if not images:
        _record(project, revision)  # an error where there is no such revision
    return images


def difference(project: Project, older: int, newer: int) -> RevisionDifference:
    """What came and what went between two revisions."""
    first, second = ({image.key: image for image in chosen_of(project, number)} for number in (older, newer))
    why: dict[str, str] = {}
    for record in revisions(project):
        if older < record.number <= newer:
            why |= record.counts.get(GONE, {})
    gone = [(first[key], why.get(key, DRAWN)) for key in sorted(set(first) - set(second))]
    return RevisionDifference(tuple(second[key] for key in sorted(set(second) - set(first))), tuple(gone))


def mark_reviewed(project: Project, revision: int, class_name: str, *, by: str, reviewed: bool = True) -> None:
    """Say that a person has gone through the images of a class in a revision, or take that back."""
    numbers = project.class_numbers()
    if class_name not in numbers:
        raise UsageError(f"{class_name}: no class of this project")
    _record(project, revision)
    there = (REVIEW.c.revision_id == revision) & (REVIEW.c.class_id == numbers[class_name])
    row = {"revision_id": revision, "class_id": numbers[class_name], "at": now(), "by": by}
    with project.database.writing() as connection:
        connection.execute(sa.delete(REVIEW).where(there))
        if reviewed:
            connection.execute(sa.insert(REVIEW), row)


def reviewed_classes(project: Project, revision: int) -> set[str]:
    """The classes that somebody has gone through in a revision."""
    names = {number: name for name, number in project.class_numbers().items()}
    rows = project.database.rows(sa.select(REVIEW.c.class_id).where(REVIEW.c.revision_id == revision))
    return {names[row.class_id] for row in rows}


def _free_candidates(project: Project, request: SampleRequest) -> tuple[Candidates, Mapping[int, np.ndarray]]:
    """The candidates, each with the reason why it is out, and the selection frequencies of originals by class."""
    candidates, originals = candidates_with_frequencies(
        project, least_answers=request.needed_answers, without_spammers=request.without_spammers
    )
    by_reason: dict[str, list[str]] = {}
    for exclusion in exclusions(project):
        by_reason.setdefault(exclusion.reason, []).append(exclusion.key)
    for reason, keys in by_reason.items():
        candidates = candidates.without_ids(keys, reason)
    candidates = enough_answers(candidates, request.needed_answers)
    candidates = replace(candidates, wanted=tuple(project.class_numbers().values()))
    return without_duplicates(project, candidates, trust_thresholds=request.trust_thresholds), originals


def reasons_now(project: Project, request: SampleRequest) -> dict[str, str]:
    """Why each candidate can't be chosen as things are now, by key; empty where it can."""
    candidates, _ = _free_candidates(project, request)
    return dict(zip(candidates.ids, candidates.out, strict=True))


def _latest_of_line(project: Project, request: SampleRequest) -> RevisionRecord | None:
    line = [record for record in revisions(project) if record.request.line == request.line]
    return line[-1] if line else None


def _write(
    project: Project,
    request: SampleRequest,
    chosen: Sample,
    parent: RevisionRecord | None,
    before: Collection[str],
    said: tuple[str, str],
    facts: Mapping[str, Any],
) -> int | None:
    """The number of the new revision; None where another of its line was written since its parent was read."""
    names = {number: name for name, number in project.class_numbers().items()}
    ids = {image.key: image for image in pool_images(project, role=CANDIDATE)}
    images = [ids[key] for key in chosen.ids]
    values = {
        "parent_id": None if parent is None else parent.number,
        "sampler": request.strategy,
        "arguments": as_text(request.arguments()),
        "seed": request.seed,
        "counts": as_text({**_counts(request, chosen, before, names), **facts}),
        "at": now(),
        "by": said[0],
        "note": said[1],
    }
    said_of = _frequencies(chosen)
    with project.database.writing() as connection:
        if _newest_of_line(connection, request) != values["parent_id"]:
            return None
        number = int(connection.execute(sa.insert(REVISION).values(values).returning(REVISION.c.id)).scalar_one())
        connection.execute(
            sa.insert(CHOSEN), [{"revision_id": number, "image_id": image.id, **said_of[image.key]} for image in images]
        )
        if parent is not None:
            _carry_reviews(connection, parent.number, number)
    return number


def _frequencies(chosen: Sample) -> dict[str, dict[str, Any]]:
    """What annotators said of each chosen image, by key."""
    candidates = chosen.candidates
    return {
        candidates.ids[row]: {
            "frequency": None
            if candidates.frequency[row] != candidates.frequency[row]
            else float(candidates.frequency[row]),
            "n_answers": int(candidates.n_answers[row]),
        }
        for row in chosen.rows.tolist()
    }


def _newest_of_line(connection: Any, request: SampleRequest) -> int | None:
    query = sa.select(REVISION).where(REVISION.c.sampler == request.strategy, REVISION.c.seed == request.seed)
    line = [
        row.id
        for row in connection.execute(query.order_by(REVISION.c.id))
        if request_from(row.sampler, row.seed, from_text(row.arguments)).line == request.line
    ]
    return line[-1] if line else None


def _counts(
    request: SampleRequest, chosen: Sample, before: Collection[str], names: Mapping[int, str]
) -> dict[str, Any]:
    candidates, out = chosen.candidates, chosen.candidates.n_out
    gone = set(before) - set(chosen.ids)
    if request.strategy == "threshold":
        below = candidates.may_be_chosen & (candidates.frequency < request.at_least)
        below[chosen.rows] = False
        out = {**out, BELOW_THRESHOLD: int(below.sum())}
    return {
        **chosen.counts,
        POOL: {"candidates": len(candidates), "annotated": int((candidates.n_answers > 0).sum())},
        OUT: {reason: n for reason, n in sorted(out.items()) if n},
        SHORT: {names[number]: n for number, n in sorted(chosen.short.items())},
        CARRIED: len(set(chosen.ids) & set(before)),
        GONE: {key: why or DRAWN for key, why in zip(candidates.ids, candidates.out, strict=True) if key in gone},
    }


def _mean_of(originals: Mapping[int, np.ndarray]) -> dict[str, Any] | None:
    """The mean selection frequency of the originals that were annotated, as it was then."""
    known = np.concatenate([np.empty(0), *originals.values()])
    return asdict(mean_of(known, bounds=(0.0, 1.0))) if len(known) else None


def _filters(project: Project) -> list[dict[str, Any]]:
    rows = project.database.rows(sa.select(FILTER).order_by(FILTER.c.id))
    return [{"rule": row.rule, "arguments": from_text(row.arguments), "funnel": from_text(row.funnel)} for row in rows]


def _carry_reviews(connection: Any, parent: int, number: int) -> None:
    """Classes whose images are the same in both revisions stay reviewed."""
    of_class: dict[int, dict[int, set[int]]] = {parent: {}, number: {}}
    query = sa.select(CHOSEN.c.revision_id, CHOSEN.c.image_id, IMAGE.c.class_id)
    query = query.join(IMAGE, IMAGE.c.id == CHOSEN.c.image_id).where(CHOSEN.c.revision_id.in_((parent, number)))
    for revision, image_id, class_id in connection.execute(query):
        of_class[revision].setdefault(class_id, set()).add(image_id)
    for row in connection.execute(sa.select(REVIEW).where(REVIEW.c.revision_id == parent)).all():
        if of_class[parent].get(row.class_id) == of_class[number].get(row.class_id):
            kept = {"revision_id": number, "class_id": row.class_id, "at": row.at, "by": row.by}
            connection.execute(sa.insert(REVIEW), kept)


def _record(project: Project, number: int) -> RevisionRecord:
    known = {record.number: record for record in revisions(project)}
    if number not in known:
        there = ", ".join(map(str, known)) or "none"
        raise UsageError(f"no revision {number}; there are: {there}")
    return known[number]


def _sizes(project: Project) -> tuple[dict[int, int], dict[int, int]]:
    """By revision how many images it has, and how many of them its parent has as well."""
    before = CHOSEN.alias("before")
    size = sa.select(CHOSEN.c.revision_id, sa.func.count()).group_by(CHOSEN.c.revision_id)
    kept = (
        size.select_from(CHOSEN)
        .join(REVISION, REVISION.c.id == CHOSEN.c.revision_id)
        .join(before, (before.c.revision_id == REVISION.c.parent_id) & (before.c.image_id == CHOSEN.c.image_id))
    )
    sizes, stayed = ({int(number): int(n) for number, n in project.database.rows(query)} for query in (size, kept))
    return sizes, stayed


def _record_of(row: Any, sizes: Mapping[int, int], stayed: Mapping[int, int]) -> RevisionRecord:
    n_images, n_stayed = sizes.get(row.id, 0), stayed.get(row.id, 0)
    request = request_from(row.sampler, row.seed, from_text(row.arguments))
    return RevisionRecord(
        row.id, row.parent_id, request, from_text(row.counts), row.at, row.by, row.note,
        n_images, n_images - n_stayed, sizes.get(row.parent_id, 0) - n_stayed,
    )  # fmt: skip


def _why_none(candidates: Candidates) -> str:
    reasons = Counter(candidates.n_out).most_common(3)
    told = ", ".join(f"{n} {reason}" for reason, n in reasons)
    return f": of {len(candidates)} candidates are out: {told}" if told else "; add candidates, and let people annotate"
