"""Corruption error: errors under corruptions, summed over severities and set against those of another model.

Hendrycks and Dietterich 2019: CE of a corruption is the sum of the model's errors over the severities, divided by that
of AlexNet; mCE is the mean over the 15 common corruptions. Relative CE does the same with what the corruptions add to
the clean error. 1 is as bad as AlexNet (papers multiply by 100).

Every function takes errors of shape (..., C, S), corruptions by severities, so that all draws of a bootstrap can be
handed in at once as (draws, C, S); what it gives keeps the leading dimensions.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from oodometer.core.errors import OodometerError, UsageError, did_you_mean

COMMON = (
    "gaussian_noise",
    "shot_noise",
    "impulse_noise",
    "defocus_blur",
    "glass_blur",
    "motion_blur",
    "zoom_blur",
    "snow",
    "frost",
    "fog",
    "brightness",
    "contrast",
    "elastic_transform",
    "pixelate",
    "jpeg_compression",
)
"""The 15 corruptions of mCE, in the order of the paper."""
EXTRA = ("speckle_noise", "gaussian_blur", "spatter", "saturate")
"""The four that are published for choosing hyper-parameters: they never enter mCE."""
SEVERITIES = (1, 2, 3, 4, 5)


@dataclass(frozen=True, eq=False)
class Normaliser:
    """The model that corruption errors are measured against.

    Args:
        name: Of the model, for the convention in the output.
        corruptions: Their names, in the order of the errors.
        errors: In [0, 1], (..., C, S), of the same conditions as the errors to be normalised.
        clean: Its error on clean images, (...,); needed for relative errors only.
    """

    name: str
    corruptions: tuple[str, ...]
    errors: np.ndarray
    clean: np.ndarray | float | None = None


def alexnet(corruptions: Sequence[str] = COMMON) -> Normaliser:
    """AlexNet with its top-1 errors on ImageNet-C, as the authors of ImageNet-C published them.

    >>> round(float(alexnet(["fog"]).errors.mean()), 6), alexnet().errors.shape, alexnet().clean
    (0.819324, (15, 5), 0.4348)
    """
    table = _alexnet_table()
    for name in corruptions:
        if name not in (*COMMON, *EXTRA):
            hint = did_you_mean(name, [*COMMON, *EXTRA])
            raise UsageError(f"no AlexNet errors for {name!r}{hint}; name a model of yours as the normaliser")
    errors = np.array([[table[name, severity] for severity in SEVERITIES] for name in corruptions])
    return Normaliser("AlexNet", tuple(corruptions), errors, table["clean", 0])


@cache
def _alexnet_table() -> dict[tuple[str, int], float]:
    text = (files("oodometer.metrics") / "alexnet_errors.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {(row["corruption"], int(row["severity"])): float(row["error"]) for row in rows}


def error_matrix(
    errors: Mapping[tuple[str, int], float | np.ndarray],
    corruptions: Sequence[str] = COMMON,
    severities: Sequence[int] = SEVERITIES,
) -> np.ndarray:
    """Errors by (corruption, severity), each (...,), as one array (..., C, S); an error names what is missing.

    >>> error_matrix({("fog", 1): 0.2, ("fog", 2): 0.4, ("snow", 1): 1.0}, ["fog"], [1, 2]).tolist()
    [[0.2, 0.4]]
    """
    wanted = [(name, severity) for name in corruptions for severity in severities]
    missing = [f"{name}/{severity}" for name, severity in wanted if (name, severity) not in errors]
    if missing:
        shown = ", ".join(missing[:8]) + (", ..." if len(missing) > 8 else "")
        raise OodometerError(f"{len(missing)} of {len(wanted)} conditions are missing: {shown}; run them first")
    if not wanted:
        raise OodometerError("no corruptions: the corruption error is undefined")
    stacked = np.stack([np.asarray(errors[one], dtype=np.float64) for one in wanted], axis=-1)
    return stacked.reshape(*stacked.shape[:-1], len(corruptions), len(severities))


def mean_error(errors: np.ndarray) -> np.ndarray:
    """The plain mean of the errors over corruptions and severities, (..., C, S) -> (...,); without a normaliser.

    >>> float(mean_error(np.array([[0.2, 0.4], [0.6, 0.8]])))
    0.5
    """
    return np.asarray(_checked(errors, "errors").mean(axis=(-2, -1)))


def corruption_errors(errors: np.ndarray, normaliser: Normaliser) -> np.ndarray:
    """CE of each corruption, (..., C, S) -> (..., C): the model's summed errors by those of the normaliser.

    >>> mine = Normaliser("mine", ("fog",), np.array([[0.4, 0.8]]))
    >>> corruption_errors(np.array([[0.2, 0.4]]), mine).round(6).tolist()
    [0.5]
    """
    sums = _sums(errors, normaliser)
    never = sums.normaliser == 0
    if never.any():
        raise OodometerError(f"{normaliser.name} has no error under {_where(never, normaliser)}: CE is undefined")
    return np.asarray(sums.model / sums.normaliser)


def mean_corruption_error(errors: np.ndarray, normaliser: Normaliser) -> np.ndarray:
    """The mean of CE over the corruptions, (..., C, S) -> (...,); with AlexNet and the 15 common ones it is mCE.

    >>> float(mean_corruption_error(alexnet().errors, alexnet()))
    1.0
    """
    return np.asarray(corruption_errors(errors, normaliser).mean(axis=-1))


def relative_corruption_errors(errors: np.ndarray, clean: np.ndarray | float, normaliser: Normaliser) -> np.ndarray:
    """Relative CE of each corruption, (..., C, S) and (...,) -> (..., C): what is added to the clean errors.

    >>> mine = Normaliser("mine", ("fog",), np.array([[0.4, 0.8]]), clean=0.2)
    >>> relative_corruption_errors(np.array([[0.2, 0.4]]), 0.1, mine).round(6).tolist()
    [0.5]
    """
    if normaliser.clean is None:
        raise OodometerError(f"{normaliser.name} has no clean error: relative CE needs it; run it on the clean images")
    sums = _sums(errors, normaliser)
    n_severities = errors.shape[-1]
    added = sums.model - n_severities * _clean(clean, "the clean error")
    base = sums.normaliser - n_severities * _clean(normaliser.clean, f"the clean error of {normaliser.name}")
    # A hair above 0: equal errors may differ in the last digit of their sums.
    flat = base <= 1e-12
    if flat.any():
        raise OodometerError(
            f"{normaliser.name} does not degrade under {_where(flat, normaliser)}: relative CE is undefined"
        )
    return np.asarray(added / base)


def relative_mean_corruption_error(errors: np.ndarray, clean: np.ndarray | float, normaliser: Normaliser) -> np.ndarray:
    """The mean of relative CE over the corruptions, (..., C, S) and (...,) -> (...,).

    >>> round(float(relative_mean_corruption_error(alexnet().errors, 0.4348, alexnet())), 12)
    1.0
    """
    return np.asarray(relative_corruption_errors(errors, clean, normaliser).mean(axis=-1))


@dataclass(frozen=True, eq=False)
class _Sums:
    """Errors summed over the severities, (..., C) each."""

    model: np.ndarray
    normaliser: np.ndarray


def _sums(errors: np.ndarray, normaliser: Normaliser) -> _Sums:
    of_model = _checked(errors, "errors")
    of_normaliser = _checked(normaliser.errors, f"errors of {normaliser.name}")
    if len(normaliser.corruptions) != of_normaliser.shape[-2]:
        raise OodometerError(
            f"{normaliser.name}: {len(normaliser.corruptions)} names for errors of {_size(of_normaliser)}"
        )
    if of_model.shape[-2:] != of_normaliser.shape[-2:]:
        raise OodometerError(
            f"errors of {_size(of_model)}, but of {_size(of_normaliser)} for {normaliser.name}: both need the same "
            "(mCE takes the 15 common corruptions at 5 severities, never the 4 extra ones)"
        )
    return _Sums(of_model.sum(axis=-1), of_normaliser.sum(axis=-1))


def _size(errors: np.ndarray) -> str:
    return f"{errors.shape[-2]} corruptions at {errors.shape[-1]} severities"


def _checked(errors: np.ndarray, what: str) -> np.ndarray:
    if errors.ndim < 2 or errors.size == 0:
        raise OodometerError(f"{what} of shape {errors.shape}: need (..., corruptions, severities), none of them empty")
    _check_shares(errors, what)
    return errors


def _clean(clean: np.ndarray | float, what: str) -> np.ndarray:
    """The clean error, (...,), with a last axis for the corruptions."""
    known = np.asarray(clean, dtype=np.float64)
    _check_shares(known, what)
    return known[..., None]


def _check_shares(errors: np.ndarray, what: str) -> None:
    # Written so that NaN fails as well.
    if not bool(((errors >= 0) & (errors <= 1)).all()):
        raise OodometerError(f"{what}: must lie between 0 and 1, found {errors.min():g} to {errors.max():g}; percent?")


def _where(bad: np.ndarray, normaliser: Normaliser) -> str:
    """The corruptions for which any draw is bad, and in how many draws that is so."""
    draws = bad.reshape(-1, bad.shape[-1])
    names = ", ".join(normaliser.corruptions[place] for place in np.flatnonzero(draws.any(axis=0)))
    return names if len(draws) == 1 else f"{names} in {int(draws.any(axis=1).sum())} of {len(draws)} draws"
