"""An explanation of a drop as text: each part, what the lines say, and what can't be told."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from oodometer.analysis.text import columns, plural
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.estimate import Estimate

if TYPE_CHECKING:
    from oodometer.analysis.explain import DropParts, Explanation, SamplingError


def text_of(found: Explanation, models: Collection[str] = ()) -> str:
    """The whole explanation."""
    blocks = [_head(found), _table(found, models), _in_words("the three gaps", gaps_in_words(found))]
    blocks.append(_in_words("the line through the models", line_in_words(found)))
    if found.difficulty is not None:
        blocks.append(_in_words("read as difficulty (Recht et al. 2019, section 5.3)", difficulty_in_words(found)))
    blocks.append(_in_words("what these data can't tell", found.unknown))
    return "\n\n".join(blocks)


def _head(found: Explanation) -> str:
    n = sum(1 for _ in each_model(found))
    return f"{found.shifted} (shifted) against {found.clean} (clean), top-1, {plural(n, 'model')}"


def _in_words(title: str, lines: Sequence[str]) -> str:
    return "\n".join([title, *(f"  {line}" for line in lines)])


def each_model(found: Explanation) -> tuple[DropParts, ...]:
    """The parts of each model, without their mean."""
    return found.models[1:] if len(found.models) > 1 else found.models


def _table(found: Explanation, models: Collection[str]) -> str:
    every = each_model(found)
    if models:
        shown = [one for one in every if any(fnmatchcase(one.model, pattern) for pattern in models)]
        if not shown:
            wanted = ", ".join(models)
            raise UsageError(f"{wanted}: no such model{did_you_mean(wanted, [one.model for one in every])}")
    else:
        shown = list(dict.fromkeys([every[0], every[-1]]))
    head = ["points", "clean", "shifted", "drop", "chance in the shifted images", "adaptivity + distribution"]
    known = any(one.near_duplicates is not None for one in every)
    at_most = any(one.near_duplicates_at_most is not None for one in every)
    head += ["near-duplicates"] * known + ["near-duplicates, at most"] * at_most
    rows = []
    for one in [found.models[0], *(each for each in shown if each is not found.models[0])]:
        chance = one.bounds.generalisation
        rows.append(
            [
                one.model,
                f"{100 * one.clean.value:.2f}",
                f"{100 * one.shifted.value:.2f}",
                points(one.drop),
                "?"
                if chance.low is None or chance.high is None
                else f"{100 * chance.low:+.2f} to {100 * chance.high:+.2f}",
                points(one.bounds.adaptivity_and_distribution),
                *([points(one.near_duplicates) if one.near_duplicates else "?"] * known),
                *([_most(one)] * at_most),
            ]
        )
    return columns([head, *rows])


def _most(one: DropParts) -> str:
    return "?" if one.near_duplicates_at_most is None else f"{100 * one.near_duplicates_at_most:.2f}"


def points(estimate: Estimate) -> str:
    """A difference of shares in percentage points, with its interval.

    >>> points(Estimate(0.12, 0.11, 0.13, 100, ""))
    '12.00 [11.00, 13.00]'
    """
    if estimate.low is None or estimate.high is None:
        return f"{100 * estimate.value:.2f} [no interval]"
    return f"{100 * estimate.value:.2f} [{100 * estimate.low:.2f}, {100 * estimate.high:.2f}]"


def gaps_in_words(found: Explanation) -> tuple[str, ...]:
    """What the data bound of each gap, in sentences."""
    return (*_generalisation(found), *_adaptivity(found), _distribution(found), *_duplicates(found))


def _generalisation(found: Explanation) -> list[str]:
    lines = []
    if found.of_shifted is not None:
        lines.append(
            f"generalisation: {_size(found.shifted, found.of_shifted, found.level)}; this gap has no other cause"
        )
    whole = found.models[0].drop_almost_surely
    who = "the mean drop" if len(found.models) > 1 else "the drop"
    if whole.low is not None and whole.high is not None:
        if whole.low > 0:
            lines.append(
                f"chance alone does not explain it: {who} is at least {100 * whole.low:.2f} points at 99.99 % "
                f"({points(whole)})"
            )
        elif whole.high < 0:
            lines.append(f"there is no drop: the models are better on {found.shifted}, by chance alone hardly ever")
        else:
            lines.append(f"chance alone could explain it: at 99.99 % {who} is {points(whole)} points")
    if found.of_clean is not None:
        lines.append(
            f"{_size(found.clean, found.of_clean, found.level)}, for a model that was not chosen by these images"
        )
    return lines


def _size(name: str, size: SamplingError, level: float) -> str:
    return (
        f"an accuracy on the {size.n:,} images of {name} is off by chance by at most {100 * size.at_level:.2f} points "
        f"({100 * level:g} %), {100 * size.almost_surely:.2f} (99.99 %)"
    )


def _adaptivity(found: Explanation) -> list[str]:
    if found.adaptivity is None:
        return [f"adaptivity: nothing is known of it without a line through models ({found.why})"]
    slope, grown = found.adaptivity.slope, found.adaptivity.could_have_grown
    where = f"from {100 * found.adaptivity.least:.1f} % (the median model) to {100 * found.adaptivity.most:.1f} %"
    worth = f"{slope.value:.3f} points under the shift ({interval(slope)}, n={slope.n} models)"
    said = f"{where} each point of clean accuracy goes with {worth}"
    if found.adaptivity.returns == "growing":
        return [
            f"adaptivity: {said}: more than one, so no diminishing returns, which is how models that fit the clean "
            "images more and more would show",
        ]
    if found.adaptivity.returns == "diminishing":
        return [
            f"adaptivity: {said}: fewer than one. Better models lose more, as models that fit the clean images more "
            f"and more would; if the distribution gap were the same for all, adaptivity would have grown by "
            f"{points(grown)} points there. A distribution gap that grows with accuracy looks the same",
        ]
    return [
        f"adaptivity: {said}: the interval holds 1, so that neither growing nor diminishing returns are shown; if the "
        f"distribution gap were the same for all, adaptivity would have changed by {points(grown)} points there",
    ]


def _distribution(found: Explanation) -> str:
    rest = found.models[0].bounds.adaptivity_and_distribution
    whose = "of the mean model" if len(found.models) > 1 else f"of {found.models[0].model}"
    return f"distribution: together with adaptivity {points(rest)} points {whose}; what is not adaptivity is this"


def _duplicates(found: Explanation) -> list[str]:
    first = found.models[0]
    if first.near_duplicates is not None:
        part = first.near_duplicates.value / first.drop.value if first.drop.value > 0 else None
        share = "" if part is None else f", {100 * part:.1f} % of the drop"
        return [
            f"near-duplicates: {found.duplicates} clean images have one; they add {points(first.near_duplicates)} "
            f"points to the clean accuracy{share} (at most {_most(first)}, were every model right on all of them)"
        ]
    if first.near_duplicates_at_most is not None:
        return [f"near-duplicates: they add {_most(first)} points to the clean accuracy at most"]
    return []


def interval(estimate: Estimate) -> str:
    """The interval of a number, in words.

    >>> interval(Estimate(1.11, 1.07, 1.19, 60, ""))
    'between 1.070 and 1.190'
    """
    if estimate.low is None or estimate.high is None:
        return "no interval"
    return f"between {estimate.low:.3f} and {estimate.high:.3f}"


def line_in_words(found: Explanation) -> tuple[str, ...]:
    """Both lines."""
    if found.linear is None or found.probit is None:
        return (found.why,)
    return tuple(
        f"{fitted.scale:6}  slope {fitted.slope:.3f}  offset {fitted.intercept:+.3f}  R² {fitted.r2:.4f}  "
        f"n={fitted.n} models"
        for fitted in (found.linear, found.probit)
        if fitted.slope is not None and fitted.intercept is not None
    )


def difficulty_in_words(found: Explanation) -> tuple[str, ...]:
    """What the difficulty model makes of the line, in sentences."""
    reading = found.difficulty
    if reading is None:
        return ()
    ratio, harder = reading.width_ratio, reading.harder_by
    lines = [
        f"{_which_is_harder(found.shifted, harder)}: its mean difficulty is higher by {harder.value:.3f} of its widths "
        f"√(σ² + 1) ({interval(harder)}, n={harder.n} models)",
        f"the width of {found.clean} is {ratio.value:.3f} times that of {found.shifted} ({interval(ratio)})",
    ]
    for name, least in ((found.clean, reading.least_sd_first), (found.shifted, reading.least_sd_second)):
        if least.low:
            lines.append(f"so its difficulties spread by σ = {least.low:.3f} at least on {name}")
    if found.spreads is not None:
        lines += _spreads(found)
    return tuple(lines)


def _which_is_harder(shifted: str, harder: Estimate) -> str:
    if harder.low is not None and harder.low > 0:
        return f"{shifted} is harder"
    if harder.high is not None and harder.high < 0:
        return f"{shifted} is easier"
    return f"it can't be told whether {shifted} is harder or easier"


def _spreads(found: Explanation) -> list[str]:
    assert found.spreads is not None
    assert found.difficulty is not None
    spreads, line = found.spreads, found.difficulty.width_ratio
    first, second, slope = spreads.sd_first, spreads.sd_second, spreads.slope
    lines = [
        f"from how often models are right together: σ = {first:.3f} on {found.clean}, {second:.3f} on {found.shifted} "
        f"(n={first.n} and {second.n} images), which predicts a slope of {slope:.3f}"
    ]
    if None not in (slope.low, slope.high, line.low, line.high):
        apart = slope.low > line.high or line.low > slope.high  # type: ignore[operator]
        lines.append(
            "that is not the slope of the line: difficulty in one number does not explain these models"
            if apart
            else "the slope of the line agrees with it"
        )
    return lines


def unknown_of(found: Explanation) -> tuple[str, ...]:
    """What the data can't tell, in sentences."""
    lines = [
        "adaptivity that is the same for all models: it moves the whole line and leaves no trace in its slope; a new "
        "sample of the very distribution of the clean images would show it",
        "how adaptivity and distribution share their sum, for any one model",
    ]
    if found.same_images:
        lines.insert(
            0,
            "the gaps of a new test set: the shifted images are made from the clean ones, so that what was chosen by "
            "these is not independent of those",
        )
    if found.difficulty is not None:
        lines.append(
            "the mean difficulty of either set, which moves with the models' skills; only their difference is known"
        )
        if found.spreads is None:
            lines.append(
                "the spread of the difficulties of either set: accuracies and means over conditions give the ratio of "
                "their widths alone; the answers to each image of one condition would tell"
            )
        lines.append("whether one difficulty in one number is why: other models of the data give a line too")
    if found.models[0].near_duplicates is None and found.models[0].near_duplicates_at_most is None:
        lines.append(
            "what near-duplicates of training images add: it is not said which clean images have one "
            "(explain --duplicates)"
        )
    return tuple(lines)
