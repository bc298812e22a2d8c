"""The section "at a glance": one verdict, one picture, and what not to trust."""

from __future__ import annotations

from collections.abc import Sequence

from oodometer.analysis.text import listed
from oodometer.core.estimate import Estimate
from oodometer.document.numbers import amount_in_words, in_words, number
from oodometer.document.section import DotRow, Dots, Part, Section, Words
from oodometer.report.palette import UNKNOWN
from oodometer.report.tables.contests import contests_table
from oodometer.study import Study, StudyShift
from oodometer.study.caveats import doubts_of
from oodometer.study.findings import leading, losses
from oodometer.study.pair_verdict import Contest, PairVerdict, pair_verdict
from oodometer.study.ranking import Ranking, ranking_of

PANELS = 6
"""Shifts that are drawn side by side; the leaderboard has all."""

MOST_DOUBTS = 5


def section(study: Study) -> Section | None:
    """The answer first; None where no shift was measured."""
    ranking = ranking_of(study)
    if ranking is None:
        return None
    pair = pair_verdict(study, *ranking.models) if len(ranking.models) == 2 else None
    parts: list[Part] = [_dots(study, ranking)]
    if pair:
        parts.append(contests_table("overview-contests", pair.contests, pair.first, pair.second, pair.level))
    if doubts := doubts_of(study)[:MOST_DOUBTS]:
        lines, evidence = zip(*((doubt.text, doubt.evidence) for doubt in doubts), strict=True)
        parts.append(Words(lines, "list", "What not to trust", evidence))
    return Section("overview", "At a glance", (verdict(study, ranking, pair),), tuple(parts))


def verdict(study: Study, ranking: Ranking, pair: PairVerdict | None) -> str:
    """The one sentence that answers: who holds up best, or which of two is better."""
    if pair:
        return _of_two(pair)
    if len(ranking.models) == 1:
        return _of_one(study, ranking)
    first, others = ranking.models[0], len(ranking.models) - 1
    start = f"{_over(ranking.shifts)}, {first} holds up best: {_share(ranking.means[first])} right"
    tied = ranking.tied_with_first
    if not tied and not ranking.not_tested_with_first:
        return f"{start}, ahead of all {others:,} others."
    if len(tied) == others:
        return f"{start}, but none of the {others:,} others can be told from it."
    untested = len(ranking.not_tested_with_first)
    if untested:
        return f"{start}; {_not_tested(len(tied), untested, others)}."
    behind = others - len(tied)
    rest = "the other one is" if behind == 1 else f"the other {behind:,} are"
    return f"{start}; {listed(tied, 3)} can’t be told from it, {rest} behind."


def _not_tested(tied: int, untested: int, others: int) -> str:
    """How the others stand to the first, where some can't be tested against it."""
    if untested == others:
        return "no other can be tested against it, as nobody says of how many images"
    parts = [(tied, "can’t be told from it"), (others - tied - untested, "behind"), (untested, "can’t be tested")]
    return "of the others " + ", ".join(f"{n:,} {what}" for n, what in parts if n)


def _over(shifts: Sequence[StudyShift]) -> str:
    return f"On {shifts[0].name}" if len(shifts) == 1 else f"On average over {len(shifts)} shifts"


def _share(estimate: Estimate) -> str:
    return in_words(estimate, "percent")


def _of_one(study: Study, ranking: Ranking) -> str:
    """One model: what it keeps."""
    name = ranking.models[0]
    worst = losses(study)[0]
    loses = f"{number(worst.median, 'percent')} points on {worst.shift.name}"
    most = f"; it loses most, {loses}" if len(ranking.shifts) > 1 else f", {loses.partition(' on ')[0]} less than clean"
    return f"{_over(ranking.shifts)}, {name} is right on {_share(ranking.means[name])} of the images{most}."


def _of_two(pair: PairVerdict) -> str:
    """Two models: where the first is better, where worse, by how much, and where nobody can tell."""
    clean = pair.clean[0]
    won, lost, untold = (
        [contest for contest in pair.shifted if contest.answer == answer]
        for answer in ("better", "worse", "can't tell")
    )
    n = len(pair.shifted)
    if not won and not lost:
        under = f"{pair.first} and {pair.second} can’t be told apart"
        if clean.answer == "can't tell":
            return f"{under}, neither on {clean.name} ({_untold(clean)}) nor under {_any_of(pair.shifted)}."
        return f"{under} under {_any_of(pair.shifted)}; {_on_clean(clean)}."
    said = [f"better than {pair.second} under {_how_many(won, n)}"] if won else []
    said += [f"worse{'' if won else f' than {pair.second}'} under {_how_many(lost, n)}"] if lost else []
    said += [f"not to be told from it under {len(untold):,}"] if untold else []
    return f"{pair.first} is {', '.join(said)}; {_on_clean(clean)}."


def _any_of(contests: Sequence[Contest]) -> str:
    if len(contests) == 1:
        return contests[0].name
    return f"any of {len(contests):,} shifts" if len(contests) > 2 else " or ".join(one.name for one in contests)


def _how_many(contests: Sequence[Contest], n: int) -> str:
    """Under which shifts a model is better or worse, and how much at most."""
    most = max(contests, key=lambda contest: abs(contest.difference.value))
    by = f"by {amount_in_words(_upwards(most.difference))}"
    if n == 1:
        return f"{most.name}, {by}"
    where = "" if len(contests) == 1 else "most "
    return f"{len(contests):,} of {n:,} shifts ({where}under {most.name}, {by})"


def _on_clean(contest: Contest) -> str:
    if contest.answer == "can't tell":
        return f"on {contest.name} they can’t be told apart: {_untold(contest)}"
    return f"on {contest.name} it is {contest.answer} by {amount_in_words(_upwards(contest.difference))}"


def _untold(contest: Contest) -> str:
    more = ""
    if contest.images and contest.difference.n:
        more = f", about {contest.images - contest.difference.n:,} images more would tell"
    return f"{in_words(contest.difference, 'points')}{more}"


def _upwards(difference: Estimate) -> Estimate:
    return difference if difference.value >= 0 else _turned(difference)


def _turned(difference: Estimate) -> Estimate:
    low, high = (None if end is None else -end for end in (difference.high, difference.low))
    return Estimate(-difference.value, low, high, difference.n, difference.interval)


def _dots(study: Study, ranking: Ranking) -> Dots:
    shifts = leading(study.shifts, PANELS)
    origins = {model.name: model.origin for model in study.models}
    of_shift = [{point.model: point for point in shift.points.models} for shift in shifts]
    rows = []
    for place, name in enumerate(ranking.models):
        points = [of.get(name) for of in of_shift]
        rows.append(
            DotRow(
                name,
                _rank(*ranking.standing.rank_of(place)),
                origins[name].category or UNKNOWN,
                tuple((None, None) if point is None else (point.x[0], point.y) for point in points),
                ranking.means[name],
            )
        )
    return Dots(
        "overview-dots",
        _caption(study, ranking, shifts),
        tuple(shift.name for shift in shifts),
        tuple(rows),
        tuple(ranking.standing.groups),
    )


def _rank(best: int, worst: int) -> str:
    return str(best) if best == worst else f"{best}–{worst}"


def _caption(study: Study, ranking: Ranking, shifts: Sequence[StudyShift]) -> str:
    level = f"{100 * study.options.resampling.level:g} %"
    several = len(ranking.shifts) > 1
    mean = f"mean over {len(ranking.shifts)} shifts, each counting the same" if several else "shifted accuracy"
    more = (
        f" {len(study.shifts) - len(shifts)} more shifts are in the leaderboard."
        if len(shifts) < len(study.shifts)
        else ""
    )
    lacking = f" Without a place, since a shift is missing: {listed(ranking.left_out, 3)}." if ranking.left_out else ""
    tied = (
        " Ranks are those that a model may have; models of which no two can be told apart are tied "
        f"({ranking.how}, {level})."
        if len(ranking.models) > 1
        else ""
    )
    drawn = any(point.y.low is not None for shift in shifts for point in shift.points.models)
    known = f"with the {level} interval of the latter"
    interval = known if drawn else "without intervals, as nobody says of how many images"
    return (
        f"Every model, by {mean}: from clean accuracy (hollow) to accuracy under the shift (full), {interval}."
        f"{tied}{more}{lacking}"
    )
