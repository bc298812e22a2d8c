"""CE, mCE and their like, from the errors under each corruption: of all draws of a bootstrap at once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from oodometer.analysis.family_number import MEAN_ERROR
from oodometer.analysis.score_table import LeftOut
from oodometer.core.errors import OodometerError
from oodometer.metrics.corruption_error import (
    COMMON,
    EXTRA,
    SEVERITIES,
    Normaliser,
    corruption_errors,
    mean_error,
    relative_corruption_errors,
)


@dataclass(frozen=True)
class Measured:
    """The errors of one model under a family, for all draws at once.

    Args:
        by: What to divide by, if there is anything.
        published: Whether these are AlexNet's published errors, and not those of a model of the store.
        frost: Where its ice is from; empty where frost is none of the corruptions.
        other_frost: What to say where that of the normaliser is from elsewhere.
    """

    family: str
    names: tuple[str, ...]
    errors: np.ndarray
    clean: np.ndarray | None
    by: Normaliser | None
    published: bool
    frost: str = ""
    other_frost: str = ""

    @property
    def places(self) -> list[int]:
        """The corruptions that means are over: without the four extra ones, unless there are no others."""
        return [at for at, name in enumerate(self.names) if name not in EXTRA] or list(range(len(self.names)))


@dataclass(frozen=True)
class Number:
    """A metric of all draws, (1 + D,)."""

    metric: str
    condition: str
    values: np.ndarray
    convention: str


@dataclass(frozen=True)
class Ratio:
    """A way to divide errors by those of a normaliser: for each corruption, and in the mean."""

    each: str
    mean: str
    name: str
    what: str
    of: Callable[[np.ndarray, np.ndarray | None, Normaliser], np.ndarray]
    """Errors (D, C, S), clean errors (D,) and the normaliser -> (D, C)."""


CE = Ratio("ce", "mce", "CE", "error", lambda errors, _, by: corruption_errors(errors, by))
RELATIVE_CE = Ratio(
    "relative-ce",
    "relative-mce",
    "relative CE",
    "error above the clean one",
    lambda errors, clean, by: relative_corruption_errors(errors, 0.0 if clean is None else clean, by),
)


def numbers_of(found: Measured) -> Iterator[Number | LeftOut]:
    """The means over the corruptions, and each corruption by itself."""
    over = f"over {len(found.places)} corruptions x {len(SEVERITIES)} severities"
    plain = mean_error(found.errors[:, found.places])
    yield Number(MEAN_ERROR, found.family, plain, f"mean error {over}, not normalised")
    if found.by is None:
        return
    yield from _normalised(found, found.by, CE)
    if found.clean is None or found.by.clean is None:
        lacking = "no predictions of the same images as they are" + (
            "" if found.clean is None else f" by {found.by.name}"
        )
        yield LeftOut((RELATIVE_CE.each, RELATIVE_CE.mean), f"{found.family}: {lacking}; run --on clean")
        return
    yield from _normalised(found, found.by, RELATIVE_CE)


def _normalised(found: Measured, by: Normaliser, ratio: Ratio) -> Iterator[Number | LeftOut]:
    each = _ratios(found, by, ratio)
    undefined = {place: _why(found, by, ratio, place) for place in np.flatnonzero(np.isnan(each[0])).tolist()}
    lacking = [name for name in COMMON if name not in found.names] if found.published else []
    if set(found.names) <= set(EXTRA):
        yield LeftOut((ratio.mean,), f"{found.family}: the extra corruptions never enter it")
    elif lacking:
        said = f"{len(lacking)} of the {len(COMMON)} corruptions that it is the mean of are missing"
        yield LeftOut((ratio.mean,), f"{found.family}: {said}: {', '.join(lacking)}")
    elif undefined:
        yield LeftOut((ratio.mean,), f"{found.family}: {next(iter(undefined.values()))}")
    else:
        over = f"mean of {ratio.name} over {len(found.places)} corruptions x {len(SEVERITIES)} severities, by {by.name}"
        said = "; ".join(filter(None, (over, found.frost, found.other_frost)))
        yield Number(ratio.mean, found.family, each[:, found.places].mean(axis=1), said)
    said = f"{ratio.what} summed over {len(SEVERITIES)} severities, divided by that of {by.name}"
    for place, name in enumerate(found.names):
        if place in undefined:
            yield LeftOut((ratio.each,), f"{found.family}: {undefined[place]}")
        else:
            convention = f"{said}; {found.other_frost}" if name == "frost" and found.other_frost else said
            yield Number(ratio.each, f"{found.family}/{name}", each[:, place], convention)


def _ratios(found: Measured, by: Normaliser, ratio: Ratio) -> np.ndarray:
    """The ratio of every draw and corruption, (1 + D, C); NaN where the normaliser has nothing to divide by."""
    with contextlib.suppress(OodometerError):
        return ratio.of(found.errors, found.clean, by)
    # Undefined somewhere: draw by draw, so that the others stay.
    each = np.full(found.errors.shape[:2], np.nan)
    for draw, place in np.ndindex(*each.shape):
        with contextlib.suppress(OodometerError):
            each[draw, place] = ratio.of(*_draw(found, by, draw, place))[0, 0]
    return each


def _why(found: Measured, by: Normaliser, ratio: Ratio, place: int) -> str:
    """Why there is no such number of all images."""
    try:
        ratio.of(*_draw(found, by, 0, place))
    except OodometerError as why:
        return str(why)
    return ""


def _draw(found: Measured, by: Normaliser, draw: int, place: int) -> tuple[np.ndarray, np.ndarray | None, Normaliser]:
    """What a ratio wants of one draw and one corruption."""
    row, at = slice(draw, draw + 1), slice(place, place + 1)
    clean = None if found.clean is None else found.clean[row]
    errors = np.broadcast_to(by.errors, found.errors.shape)[row, at]
    by_clean = by.clean[row] if isinstance(by.clean, np.ndarray) else by.clean
    return found.errors[row, at], clean, Normaliser(by.name, found.names[at], errors, by_clean)
