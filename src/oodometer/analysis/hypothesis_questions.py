"""The questions that a store's runs can answer about the hypotheses: for each one number, held against a threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.analysis.controlled_pairs import ControlledPair, ControlledPairs
from oodometer.analysis.correlate import CorrelateOptions, Ruled, correlated_models, rho_of
from oodometer.analysis.improvements import Improvements, counted_on, improvements
from oodometer.analysis.line_rules import RobustnessOptions, Rules, baseline_models
from oodometer.analysis.points import Points
from oodometer.analysis.robustness import Robustness
from oodometer.catalogue.hypotheses import (
    CONTROL,
    DIVERSE,
    MULTIVARIATE,
    ONLY_IID,
    SYNTHETIC,
    TEXTURE,
    changes_texture,
    every_hypothesis,
    one_number,
)
from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.first_component import first_component
from oodometer.stats.spread_beyond_noise import spread_beyond_noise
from oodometer.stats.statistic import ByInterval, Statistic

TOGETHER = "natural shifts together"
"""In place of a shift, where a question is about all natural ones."""


@dataclass(frozen=True)
class ExaminedShift:
    """A shift with its models and, where one can be drawn, its line; why there is none says ``why``."""

    name: str
    kind: str
    natural: bool
    points: Points
    rules: Rules
    robustness: Robustness | None
    why: str = ""


@dataclass(frozen=True)
class PairGain:
    """One pair of models on one shift: the gain of the model with the thing, a share."""

    before: str
    after: str
    differs: str
    gain: Estimate


@dataclass(frozen=True)
class Asked:
    """A question before it is judged.

    Args:
        hypothesis: Its name.
        shift: The shift, or what is in its place.
        counted: What the number is.
        tested: The number; None where it is undefined, and ``why`` says it.
        threshold: What it is held against.
        for_if_above: Whether a number above the threshold speaks for the hypothesis, or one below it.
        pairs: The numbers behind it.
        models: How many models are behind it, where it is not about pairs.
    """

    hypothesis: str
    shift: str
    counted: str
    tested: Statistic | None
    threshold: float
    for_if_above: bool = True
    pairs: tuple[PairGain, ...] = ()
    models: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class Rule:
    """How questions are asked.

    Args:
        threshold: The gain from which on there is evidence, a share.
        line: How lines are drawn; its level is that of the intervals.
    """

    threshold: float
    line: RobustnessOptions

    @property
    def level(self) -> float:
        """Of the intervals."""
        return self.line.resampling.level


def questions(shifts: Sequence[ExaminedShift], pairs: ControlledPairs, rule: Rule) -> list[Asked]:
    """Every question that can be asked of these shifts and pairs, by hypothesis."""
    methods = [
        asked
        for hypothesis in every_hypothesis().values()
        if hypothesis.is_method
        for asked in _of_method(hypothesis.name, shifts, pairs.of(hypothesis.name), rule)
    ]
    natural = [shift for shift in shifts if shift.natural]
    return [
        *methods,
        *_texture_bias(natural, pairs.of(DIVERSE), rule),
        *_only_iid(natural, rule),
        *_synthetic(natural, pairs.of(DIVERSE, CONTROL), rule),
        *_multivariate(natural, rule),
    ]


# Methods


def _of_method(
    name: str, shifts: Sequence[ExaminedShift], pairs: Sequence[ControlledPair], rule: Rule
) -> Iterator[Asked]:
    if not pairs:
        yield _undefined(name, "every shift", "no two models differ in this alone", rule)
        return
    for shift in shifts:
        yield _gain(name, shift, pairs, rule)


def _gain(
    name: str, shift: ExaminedShift, pairs: Sequence[ControlledPair], rule: Rule, *, for_if_above: bool = True
) -> Asked:
    """The mean gain of pairs under a shift."""
    try:
        gains = improvements(shift.points, shift.kind, pairs, rule.level)
    except OodometerError as error:
        return _undefined(name, shift.name, str(error), rule)
    behind = _behind(gains, rule.level)
    return Asked(name, shift.name, gains.counted, gains.mean(), rule.threshold, for_if_above, behind)


def _behind(gains: Improvements, level: float) -> tuple[PairGain, ...]:
    return tuple(
        PairGain(pair.before, pair.after, pair.differs, gain)
        for pair, gain in zip(gains.pairs, gains.each(level), strict=True)
    )


def _undefined(name: str, shift: str, why: str, rule: Rule) -> Asked:
    return Asked(name, shift, "", None, rule.threshold, why=why)


# What changes textures helps where textures change


def _texture_bias(natural: Sequence[ExaminedShift], pairs: Sequence[ControlledPair], rule: Rule) -> Iterator[Asked]:
    """On each shift of textures: the gain there beyond the mean gain on the other natural shifts."""
    of_texture = [shift for shift in natural if changes_texture(shift.name, shift.kind)]
    others = [shift for shift in natural if shift not in of_texture]
    lacking = (
        "no two models differ in diverse data augmentation alone"
        if not pairs
        else "no natural shift of textures was measured"
        if not of_texture
        else "no other natural shift was measured"
        if not others
        else ""
    )
    if lacking:
        yield _undefined(TEXTURE, "natural shifts of textures", lacking, rule)
        return
    for shift in of_texture:
        try:
            yield _beyond_others(shift, others, pairs, rule)
        except OodometerError as error:
            yield _undefined(TEXTURE, shift.name, str(error), rule)


def _beyond_others(
    shift: ExaminedShift, others: Sequence[ExaminedShift], pairs: Sequence[ControlledPair], rule: Rule
) -> Asked:
    everywhere = [_measured(shift, pairs), *(_measured(other, pairs) for other in others)]
    common = [pair for pair in pairs if all(pair in some for some in everywhere)]
    if not common:
        raise OodometerError("no pair of models was measured here and on the other natural shifts")
    here, *there = (improvements(one.points, one.kind, common, rule.level) for one in (shift, *others))
    # Clean images that shifts share make their gains move together, and the difference surer than it is told here.
    beyond = Improvements(
        tuple(common),
        here.values - np.mean([other.values for other in there], axis=0),
        here.covariance + np.sum([other.covariance for other in there], axis=0) / len(there) ** 2,
        here.n,
        f"{counted_on(shift.points, shift.kind)}, beyond {len(there)} other natural shift{'s' * (len(there) > 1)}",
    )
    return Asked(TEXTURE, shift.name, beyond.counted, beyond.mean(), rule.threshold, pairs=_behind(beyond, rule.level))


def _measured(shift: ExaminedShift, pairs: Sequence[ControlledPair]) -> list[ControlledPair]:
    models = {point.model for point in shift.points.models}
    return [pair for pair in pairs if {pair.before, pair.after} <= models]


# Accuracy under a natural shift follows from clean accuracy


def _only_iid(natural: Sequence[ExaminedShift], rule: Rule) -> Iterator[Asked]:
    """On each natural shift: how far models lie from the line, beyond the noise of their images and of the line."""
    if not natural:
        yield _undefined(ONLY_IID, TOGETHER, "no natural shift was measured", rule)
    for shift in natural:
        if shift.robustness is None:
            yield _undefined(ONLY_IID, shift.name, f"no line says what to expect: {shift.why}", rule)
            continue
        beside = [one for one in shift.robustness.models if not one.in_baseline and one.rho.low is not None]
        if not beside:
            yield _undefined(ONLY_IID, shift.name, "the line goes through every model that was measured", rule)
            continue
        spread = spread_beyond_noise(
            np.array([one.rho.value for one in beside]), np.array([_error(one.rho, rule.level) for one in beside])
        )
        yield Asked(
            ONLY_IID,
            shift.name,
            "distance from the line (root mean square of ρ)",
            spread,
            rule.threshold,
            for_if_above=False,
            models=tuple(one.model for one in beside),
        )


def _error(estimate: Estimate, level: float) -> float:
    from scipy.special import ndtri

    assert estimate.low is not None
    assert estimate.high is not None
    return float((estimate.high - estimate.low) / (2 * ndtri((1 + level) / 2)))


# Synthetic interventions do not help on natural shifts


def _synthetic(natural: Sequence[ExaminedShift], pairs: Sequence[ControlledPair], rule: Rule) -> Iterator[Asked]:
    if not pairs or not natural:
        lacking = (
            "no two models differ in a synthetic intervention alone" if not pairs else "no natural shift was measured"
        )
        yield _undefined(SYNTHETIC, TOGETHER, lacking, rule)
        return
    for shift in natural:
        yield _gain(SYNTHETIC, shift, pairs, rule, for_if_above=False)


# One number does not explain all


def _multivariate(natural: Sequence[ExaminedShift], rule: Rule) -> Iterator[Asked]:
    """The share of the variance of ρ over models and natural shifts that the first component explains."""
    with_line = [shift for shift in natural if shift.robustness is not None]
    try:
        names, values, noise = _rho_table(with_line, rule)
        resampling = Resampling(draws=2000, level=rule.level, method="bca", seed=rule.line.resampling.seed)
        share = first_component(values, noise, resampling=resampling)
    except OodometerError as error:
        yield _undefined(MULTIVARIATE, TOGETHER, str(error), rule)
        return
    yield Asked(
        MULTIVARIATE,
        TOGETHER,
        f"share of the variance of ρ on {len(with_line)} shifts that one number explains",
        ByInterval(share, rule.level),
        one_number(),
        for_if_above=False,
        models=names,
    )


def _rho_table(shifts: Sequence[ExaminedShift], rule: Rule) -> tuple[tuple[str, ...], np.ndarray, np.ndarray | None]:
    """The models beside the lines that have all shifts, their ρ (M, S), and its noise over images (S, S)."""
    if len(shifts) < 2:
        raise OodometerError(f"{len(shifts)} natural shifts have a line: two or more are needed")
    origins = {point.model: point.origin for shift in shifts for point in shift.points.models}
    models = sorted(origins)
    wanted = correlated_models([origins[name] for name in models], CorrelateOptions(line=rule.line))
    chosen = [name for name, is_wanted in zip(models, wanted, strict=True) if is_wanted]
    ruled = [Ruled(shift.points, shift.rules) for shift in shifts]
    rho = [rho_of(one, baseline_models(one.points, one.rules.options), chosen) for one in ruled]
    values = np.stack([one.values for one in rho], axis=1)
    complete = ~np.isnan(values).any(axis=1)
    names = tuple(name for name, is_complete in zip(chosen, complete, strict=True) if is_complete)
    draws = [one.draws for one in rho if one.draws is not None]
    if len(draws) < len(rho):
        return names, values[complete], None
    return names, values[complete], _noise(np.stack(draws, axis=2)[:, complete])


def _noise(draws: np.ndarray) -> np.ndarray:
    """The covariance of the columns over draws, the mean over models, (D, M, S) -> (S, S)."""
    usable = draws[np.isfinite(draws).all(axis=(1, 2))]
    if len(usable) < 2:
        raise OodometerError("no line can be drawn through resampled images")
    centred = usable - usable.mean(axis=0)
    n_draws, n_models, _ = usable.shape
    return np.asarray(np.einsum("dmi,dmj->ij", centred, centred) / ((n_draws - 1) * n_models))
