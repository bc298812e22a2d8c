"""Adversarial filtration of a project's candidates by what models answered: a rule is applied, or taken back."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from oodometer.build.testset.confusion_groups import confusion_groups
from oodometer.build.testset.filtration import (
    COMMON,
    MOST_CONFIDENCE,
    MOST_PER_CONFUSION,
    NEAR,
    RIGHT,
    SURE,
    UNSURE,
    Filtered,
    imagenet_a,
    imagenet_o,
)
from oodometer.build.testset.project.database import as_text, from_text, insert_or_leave, now
from oodometer.build.testset.project.pool import AT_ONCE, CANDIDATE, ORIGINAL, PoolImage, pool_images
from oodometer.build.testset.project.pool_data import original_data, pool_file
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import EXCLUSION, FILTER, sa
from oodometer.build.testset.stored_answers import (
    Asked,
    ModelAnswers,
    filter_answers,
    largest_confidence,
    models_asked,
    rows_about,
)
from oodometer.core.errors import DataError, StoreError, UsageError, did_you_mean
from oodometer.data import addresses
from oodometer.store.index import Source, index_at

BY = "filter"
"""Who takes images out, in the table of exclusions."""

LEFT_OUT = "of a class that is left out"
REASONS = {"imagenet-a": (LEFT_OUT, RIGHT, SURE, NEAR, COMMON), "imagenet-o": (LEFT_OUT, UNSURE)}
"""The rules, and what each takes images out for."""


@dataclass(frozen=True)
class FilterRequest:
    """What to filter by.

    Args:
        rule: ``imagenet-a`` or ``imagenet-o``.
        models: Names of bare models; none: all that were asked (of ImageNet-A's rule: crop by crop, if any was).
        most_confidence: Of ImageNet-A's rule: more on the true class takes an image out.
        most_per_confusion: Of ImageNet-A's rule: how many images a confusion may have.
        at_least: Of ImageNet-O's rule, which has no number of its own: how confident all models must be.
        groups: By class the name of its group: mistakes among the classes of one are none that count.
        classes: The only ones that stay; none: all.
        seed: Of the draw of those that stay of a confusion.
        among_classes: Of ImageNet-A's rule: whether models answer among the classes of the project (or those that stay)
            alone, as one of the two of the paper did; it needs all logits.
    """

    rule: str
    models: tuple[str, ...] = ()
    most_confidence: float = MOST_CONFIDENCE
    most_per_confusion: int = MOST_PER_CONFUSION
    at_least: float | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    seed: int = 0
    among_classes: bool = False

    def __post_init__(self) -> None:
        if self.rule not in REASONS:
            hint = did_you_mean(self.rule, REASONS) or f"; there are {', '.join(REASONS)}"
            raise UsageError(f"no rule named {self.rule!r}{hint}")
        if not 0 <= self.most_confidence <= 1:
            raise UsageError(f"--confidence {self.most_confidence:g}: a share from 0 to 1")
        if self.rule == "imagenet-o" and self.among_classes:
            raise UsageError("--among-classes is of imagenet-a: images of imagenet-o are of none of the classes")
        if self.rule == "imagenet-o" and self.at_least is None:
            raise UsageError("imagenet-o needs to know what counts as confident: --at-least 0.5, for example")


@dataclass(frozen=True)
class FilterResult:
    """What a filtration came to.

    Args:
        rule: Which.
        models: Who was asked.
        by_crop: Those of them that were asked crop by crop.
        funnel: How many candidates are left after each question, the first being all.
        n_out: How many this took out that were in, of all that it takes out.
        n_back: How many are in again that an earlier call had taken out.
        ids: Of the candidates that are left.
    """

    rule: str
    models: tuple[str, ...]
    by_crop: tuple[str, ...]
    funnel: tuple[tuple[str, int], ...]
    n_out: int
    n_back: int
    ids: tuple[str, ...]

    @property
    def is_news(self) -> bool:
        """Whether anything changed."""
        return bool(self.n_out or self.n_back)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "rule": self.rule,
            "models": list(self.models),
            "by_crop": list(self.by_crop),
            "funnel": [list(step) for step in self.funnel],
            "taken_out": self.n_out,
            "taken_back": self.n_back,
            "left": list(self.ids),
        }

    def __str__(self) -> str:
        steps = [f"  {n:>8,}  {what}" for what, n in self.funnel]
        head = f"{self.rule}, by {', '.join(self.models)}:"
        changed = f"{self.n_out} taken out now, {self.n_back} taken back" if self.is_news else "nothing new"
        return "\n".join([head, *steps, changed])


def filter_pool(project: Project, store: Source, request: FilterRequest) -> FilterResult:
    """Take out the candidates that a rule rejects; what an earlier call with this rule took out and this doesn't is in.

    Candidates that a person has taken out are not looked at. A second call with the same changes nothing.
    """
    images = _not_taken_out_by_people(project)
    if not images:
        raise DataError(f"{project.folder}: no candidate is left to filter; add some with: oodometer testset add")
    _check_classes(project, request)
    index = index_at(store)
    inside = [one for one in images if not request.classes or one.class_name in request.classes]
    asked = _asked(project, inside, str(index), request.rule)
    among = sorted({one.class_name for one in inside}) if request.among_classes else []
    models = models_asked(index, asked, request.models, crops=request.rule == "imagenet-a", among=among)
    found = _APPLY[request.rule](models, asked, request, [one.class_name for one in images])
    out = dict(zip(asked.ids, found.out, strict=True))
    n_left_out = len(images) - len(inside)
    funnel = (("candidates", len(images)), *((f"not {LEFT_OUT}", len(inside)) for _ in range(bool(n_left_out))))
    names = tuple(one.name for one in models)
    why = {one.id: out.get(one.key, LEFT_OUT) for one in images}
    steps = (*funnel, *found.funnel[1:])
    n_out, n_back = _exclude(project, request, why, steps, names)
    left = tuple(one.key for one in images if not why[one.id])
    by_crop = tuple(one.name for one in models if one.by_crop)
    return FilterResult(request.rule, names, by_crop, steps, n_out, n_back, left)


def undo_filter(project: Project, rule: str) -> int:
    """Take back what a rule took out; gives how many candidates that concerns."""
    FilterRequest(rule, at_least=1.0)  # an unknown rule is an error
    with project.database.writing() as connection:
        known = (EXCLUSION.c.by == BY) & (EXCLUSION.c.revoked == "") & EXCLUSION.c.reason.in_(_reasons(rule))
        n = connection.execute(sa.update(EXCLUSION).where(known).values(revoked=now())).rowcount
        connection.execute(sa.delete(FILTER).where(FILTER.c.rule == rule))
    return int(n)


def read_groups(address: str) -> dict[str, str]:
    """The group of each class, from a table with the columns ``class`` and ``group``."""
    try:
        text = addresses.read_bytes(address).decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{address}: not a readable CSV file in UTF-8 ({error})") from error
    if not rows or not {"class", "group"} <= set(rows[0]):
        raise DataError(f"{address}: expected the columns class and group, and a row for each class")
    names = [(row["class"] or "").strip() for row in rows]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise DataError(f"{address}: {twice[0]!r} is in two groups; a class has one")
    return {name: (row["group"] or "").strip() or name for name, row in zip(names, rows, strict=True)}


def groups_by_confusion(project: Project, store: Source, at_least: float) -> dict[str, str]:
    """The groups of classes that any model of a store takes for each other so often on the original images."""
    class_of = {one.columns.get("name", one.key): one.class_name for one in pool_images(project, role=ORIGINAL)}
    classes = list(class_of.values())
    rows = rows_about(store, list(class_of), data=original_data(project))
    if not rows:
        raise StoreError(
            f"--groups {at_least:g} needs answers about the original images; run models on "
            f"{project.original or 'the original set'} into the same store, or give a table: --groups CSV"
        )
    answered = [([classes[at] for at in one.at.tolist()], one.names) for one in rows]
    return confusion_groups(answered, at_least=at_least)


def _not_taken_out_by_people(project: Project) -> list[PoolImage]:
    query = sa.select(EXCLUSION.c.image_id).where(EXCLUSION.c.revoked == "", EXCLUSION.c.by != BY)
    out = {row.image_id for row in project.database.rows(query)}
    return [one for one in pool_images(project, role=CANDIDATE) if one.id not in out]


def _check_classes(project: Project, request: FilterRequest) -> None:
    known = project.class_numbers()
    for name in request.classes:
        if name not in known:
            raise UsageError(f"--classes {name}: the project has no such class{did_you_mean(name, known)}")
    if request.groups and not set(request.groups) & set(known):
        raise DataError("--groups: it names no class of the project; do names agree?")


def _asked(project: Project, images: Sequence[PoolImage], store: str, rule: str) -> Asked:
    pool = pool_file(project)
    how = f"--data {pool} --defence each-crop" if rule == "imagenet-a" else f"--data ORIGINAL --ood {pool}"
    again = f"oodometer testset pool {project.folder}, then oodometer run {how} --store {store} --model MODEL"
    labels = tuple(one.class_name if rule == "imagenet-a" else "" for one in images)
    return Asked(tuple(one.key for one in images), labels, again)


def _imagenet_a(
    models: Sequence[ModelAnswers], asked: Asked, request: FilterRequest, classes: Sequence[str]
) -> Filtered:
    answers, names = filter_answers(models, asked, classes)
    groups = np.unique([request.groups.get(name, f"\0{name}") for name in names], return_inverse=True)[1]
    return imagenet_a(
        answers,
        most_confidence=request.most_confidence,
        most_per_confusion=request.most_per_confusion,
        groups=groups if request.groups else None,
        seed=request.seed,
    )


def _imagenet_o(
    models: Sequence[ModelAnswers],
    asked: Asked,
    request: FilterRequest,
    classes: Sequence[str],  # noqa: ARG001 - all rules are called alike
) -> Filtered:
    assert request.at_least is not None
    return imagenet_o(largest_confidence(models, asked), at_least=request.at_least)


_APPLY = {"imagenet-a": _imagenet_a, "imagenet-o": _imagenet_o}


def _reasons(rule: str) -> list[str]:
    """As they stand in the table of exclusions: two rules may take an image out for reasons of the same words."""
    return [f"{rule}: {reason}" for reason in REASONS[rule]]


def _exclude(
    project: Project,
    request: FilterRequest,
    why: Mapping[int, str],
    funnel: Sequence[tuple[str, int]],
    models: Sequence[str],
) -> tuple[int, int]:
    """Make the exclusions of this rule those of ``why``, image to reason or nothing; how many are new, and ended."""
    wanted = {(image, f"{request.rule}: {reason}") for image, reason in why.items() if reason}
    with project.database.writing() as connection:
        active = (EXCLUSION.c.by == BY) & (EXCLUSION.c.revoked == "") & EXCLUSION.c.reason.in_(_reasons(request.rule))
        rows = connection.execute(sa.select(EXCLUSION).where(active)).all()
        there = {(row.image_id, row.reason): row.id for row in rows}
        at = now()
        ended = [{"row": there[key]} for key in there.keys() - wanted]
        if ended:
            by_id = sa.update(EXCLUSION).where(EXCLUSION.c.id == sa.bindparam("row")).values(revoked=at)
            connection.execute(by_id, ended)
        new = [
            {"image_id": image, "reason": reason, "at": at, "by": BY, "revoked": ""}
            for image, reason in sorted(wanted - there.keys())
        ]
        for start in range(0, len(new), AT_ONCE):  # a person may have taken one out with the same words
            connection.execute(insert_or_leave(project.database, EXCLUSION, new[start : start + AT_ONCE]))
        _remember(connection, request, funnel, models)
    out_before, out_now = {image for image, _ in there}, {image for image, _ in wanted}
    return len(out_now - out_before), len(out_before - out_now)


def _remember(
    connection: Any, request: FilterRequest, funnel: Sequence[tuple[str, int]], models: Sequence[str]
) -> None:
    """Keep the rule with its arguments and its funnel, once: a later call replaces an earlier one of the same rule."""
    names = (
        ("most_confidence", "most_per_confusion", "seed", "among_classes")
        if request.rule == "imagenet-a"
        else ("at_least",)
    )
    more = {name: getattr(request, name) for name in ("groups", "classes")}
    arguments = as_text(
        {
            "models": list(models),
            **{name: getattr(request, name) for name in names},
            **{name: dict(value) if name == "groups" else list(value) for name, value in more.items() if value},
        }
    )
    text = as_text([list(step) for step in funnel])
    known = connection.execute(sa.select(FILTER).where(FILTER.c.rule == request.rule)).all()
    if [(from_text(row.arguments), row.funnel) for row in known] == [(from_text(arguments), text)]:
        return
    connection.execute(sa.delete(FILTER).where(FILTER.c.rule == request.rule))
    row = {"rule": request.rule, "arguments": arguments, "funnel": text, "at": now(), "by": BY}
    connection.execute(sa.insert(FILTER).values(row))
