"""Near-duplicates: two images side by side, what a person says of them, and the thresholds that hold until then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from fastapi import FastAPI
from fastapi.responses import Response

from oodometer.build.testset.likeness import within_of
from oodometer.build.testset.project.close_pairs import (
    BY_EYE,
    OPEN,
    counting_within,
    judge_pair,
    set_thresholds,
)
from oodometer.build.testset.project.pair_index import pairs_now
from oodometer.build.testset.project.pair_list import (
    STATES,
    ClosePair,
    PairFilter,
    counts_of_pairs,
    n_to_look_at,
    number_beside,
    pair_files,
    pair_numbers,
    pairs_of,
)
from oodometer.build.testset.project.pair_thresholds import MetricThreshold, metric_thresholds
from oodometer.build.testset.project.pair_verdicts import last_judged
from oodometer.build.testset.project.project import whoever
from oodometer.core.errors import UsageError
from oodometer.explorer.links import query_link
from oodometer.explorer.testset.forms import Form, MaybeNumber, Number, Sent, go_to
from oodometer.explorer.testset.large_pictures import SIDES, large_picture
from oodometer.explorer.testset.pages import Pages

ALL, HOWEVER_FAR = "all", "all"
BARS = 60
"""Of a histogram."""

HEIGHT = 100


@dataclass(frozen=True)
class Asked:
    """Which pairs, as the address says it.

    Args:
        metric: Found by this one; empty: by any.
        state: ``open``, ``duplicate``, ``different``, ``all``.
        within: Empty: within the thresholds; ``all``: however far; or a distance.
    """

    metric: str = ""
    state: str = "open"
    within: str = ""

    def filter(self) -> PairFilter:
        """For the library."""
        return PairFilter(self.metric, "" if self.state == ALL else self.state, self._distance())

    def query(self) -> dict[str, str]:
        """What stands in an address, without what is usual."""
        return {
            "metric": self.metric,
            "state": "" if self.state == "open" else self.state,
            "within": self.within,
        }

    def _distance(self) -> float | None:
        if not self.within:
            return None
        if self.within == HOWEVER_FAR:
            return float("inf")
        try:
            return float(self.within)
        except ValueError:
            raise UsageError(f"within {self.within!r}: a distance is a number of at least 0") from None


def add_to(app: FastAPI, pages: Pages) -> None:
    """The pages, their pictures, and where verdicts go."""
    project = pages.project

    @app.get("/pairs")
    def pairs(metric: str = "", state: str = "open", within: str = "", pair: MaybeNumber = None) -> Response:
        asked = Asked(metric, state, within)
        now = pairs_now(project)
        numbers = pair_numbers(project, asked.filter(), now)
        at = numbers.index(pair) if pair in numbers else 0
        shown = next(iter(pairs_of(project, numbers[at : at + 1])), None)
        n_open, n_all = n_to_look_at(project, now)
        values = {
            "title": "Near-duplicates",
            "here": "/pairs",
            "asked": asked,
            "states": [*STATES, ALL],
            "counts": counts_of_pairs(project, now),
            "n": len(numbers),
            "at": at,
            "pair": shown,
            "facts": _facts(shown, now.radii) if shown else [],
            "previous": query_link("/pairs", **asked.query(), pair=numbers[at - 1]) if at else "",
            "following": query_link("/pairs", **asked.query(), pair=numbers[at + 1]) if at + 1 < len(numbers) else "",
            "next": _neighbour(numbers, at),
            "ahead": numbers[at + 1 : at + 3],
            "n_done": n_all - n_open,
            "n_all": n_all,
            "can_undo": last_judged(project) is not None,
            "folder": str(project.folder),
        }
        return pages.page("pairs", values)

    @app.post("/pairs/judge")
    def judge(form: Form) -> Response:
        asked, pair = _asked(form), form.number("pair")
        judge_pair(project, pair, form.one("verdict"), by=whoever())
        return go_to("/pairs", **asked.query(), pair=form.number("next") if form.one("next") else None)

    @app.post("/pairs/undo")
    def undo(form: Form) -> Response:
        asked, judged = _asked(form), last_judged(project)
        if judged is None:
            return go_to("/pairs", **asked.query())
        judge_pair(project, judged.id, OPEN, by=whoever())
        again = number_beside(project, judged.id, pair_numbers(project, asked.filter()))
        return go_to("/pairs", **asked.query(), pair=again)

    @app.get("/pairs/thresholds")
    def thresholds() -> Response:
        found = metric_thresholds(project)
        values = {
            "title": "Thresholds",
            "here": "/pairs",
            "metrics": [{"of": one, "bars": bars_of(one), "steps": steps_of(one)} for one in found],
            "height": HEIGHT,
        }
        return pages.page("pair_thresholds", values)

    @app.post("/pairs/thresholds")
    def change(form: Form) -> Response:
        known = {one.metric for one in metric_thresholds(project)}
        set_thresholds(project, {metric: _distance(form, metric) for metric in known if form.one(metric)})
        return go_to("/pairs/thresholds")

    @app.get("/pairs/{pair}/{which}/{size}")
    def picture(pair: Number, which: str, size: str) -> Response:
        if which not in ("first", "second") or size not in SIDES:
            raise UsageError("no image is shown under that address")
        return large_picture(project.folder, pair_files(project, pair)[which == "second"], size)


def bars_of(one: MetricThreshold) -> list[dict[str, Any]]:
    """A histogram of the distances, as rectangles in a drawing of 600 to 100; each tells on which side it lies."""
    counts, edges = np.histogram(one.distances, bins=BARS, range=(0, one.most))
    tallest = max(int(counts.max()), 1)
    return [
        {
            "x": at * 600 / BARS,
            "height": max(HEIGHT * n / tallest, 1.5) if n else 0,
            "below": bool(edges[at + 1] <= one.radius + 1e-12),
        }
        for at, n in enumerate(counts.tolist())
    ]


def steps_of(one: MetricThreshold) -> list[float]:
    """The distances for the script, in seven digits."""
    return [round(value, 7) for value in one.distances.tolist()]


def _facts(pair: ClosePair, radii: Mapping[str, float]) -> list[dict[str, Any]]:
    """The distances of a pair, each with its threshold."""
    return [
        {
            "metric": metric,
            "distance": distance,
            "radius": within_of(radii, metric),
            "below": distance <= counting_within(radii, metric),
        }
        for metric, distance in pair.distances.items()
        if metric != BY_EYE
    ]


def _neighbour(numbers: list[int], at: int) -> int | None:
    """The pair that follows in the list; of the last the one before."""
    rest = [*numbers[at + 1 : at + 2], *numbers[max(at - 1, 0) : at]]
    return rest[0] if rest else None


def _asked(form: Sent) -> Asked:
    return Asked(form.one("metric"), form.one("state") or "open", form.one("within"))


def _distance(form: Sent, metric: str) -> float:
    try:
        return float(form.one(metric))
    except ValueError:
        raise UsageError(f"{metric} {form.one(metric)!r}: a distance is a number of at least 0") from None
