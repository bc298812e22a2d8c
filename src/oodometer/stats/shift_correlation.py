"""Which synthetic shift predicts which natural one: effective robustness on one against that on the other.

Accuracies on two shifts always go together, since better models are better on both. Effective robustness takes the
clean accuracy out; its correlation over the models that are no baseline (those with an intervention, or with more data)
tells whether robustness to the synthetic shift comes with robustness to the natural one (Taori et al. 2020, 4.2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.stats.correlation import pearson_matrix
from oodometer.stats.effective_robustness import effective_robustness
from oodometer.stats.lines import fit_line
from oodometer.stats.scales import Scale


@dataclass(frozen=True)
class Shifts:
    """The accuracies of M models under S shifts, as shares; NaN where a model was not measured.

    Args:
        names: Of the shifts.
        x: On the clean set that belongs to each shift, (M, S); (M,) where all share one.
        y: Under each shift, (M, S).
    """

    names: tuple[str, ...]
    x: np.ndarray
    y: np.ndarray

    def __post_init__(self) -> None:
        y = np.asarray(self.y, dtype=np.float64)
        if y.ndim != 2 or y.shape[1] != len(self.names):
            raise OodometerError(
                f"accuracies of shape {y.shape}; expected (models, {len(self.names)}), as many as names"
            )
        x = np.asarray(self.x, dtype=np.float64)
        x = x[:, None] if x.ndim == 1 else x
        if x.shape not in {(len(y), 1), y.shape}:
            raise OodometerError(f"clean accuracies of shape {x.shape}; expected {y.shape} or ({len(y)},)")
        object.__setattr__(self, "x", np.broadcast_to(x, y.shape))
        object.__setattr__(self, "y", y)


@dataclass(frozen=True)
class ShiftCorrelation:
    """Pearson's r between effective robustness on A synthetic and on B natural shifts.

    Args:
        synthetic: Names of the rows.
        natural: Names of the columns.
        r: Correlation over the models that were measured on both shifts, (A, B); NaN where it is undefined: too few
            models, or no variation.
        n: The number of these models, (A, B).
    """

    synthetic: tuple[str, ...]
    natural: tuple[str, ...]
    r: np.ndarray
    n: np.ndarray


def average_setting(accuracies: np.ndarray) -> np.ndarray:
    """The mean over settings (M, S) for each model, (M,); NaN unless it was measured on all of them.

    A mean over the settings that happen to be there would be the higher, the more of the hard ones are missing.

    >>> average_setting([[0.5, 0.7], [0.5, np.nan]]).tolist()
    [0.6, nan]
    """
    table = np.asarray(accuracies, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] == 0:
        raise OodometerError(
            f"accuracies of shape {table.shape}; expected (models, settings) with at least one setting"
        )
    return np.asarray(table.mean(axis=1))


def rho_table(shifts: Shifts, baseline: np.ndarray, *, scale: Scale = "logit") -> np.ndarray:
    """ρ of every model on every shift, (M, S), NaN where it was not measured.

    The line of each shift goes through the baseline models (M,) bool that were measured on it.
    """
    baseline = _mask(baseline, len(shifts.y), "baseline")
    columns = zip(shifts.names, shifts.x.T, shifts.y.T, strict=True)
    return np.stack([_rho(name, x, y, baseline, scale) for name, x, y in columns], axis=1)


def _rho(name: str, x: np.ndarray, y: np.ndarray, baseline: np.ndarray, scale: Scale) -> np.ndarray:
    chosen = baseline & ~np.isnan(x) & ~np.isnan(y)
    try:
        return effective_robustness(x, y, fit_line(x[chosen], y[chosen], scale=scale))
    except OodometerError as error:
        raise OodometerError(f"{name}: {error}") from error


def shift_correlation(
    synthetic: Shifts, natural: Shifts, *, baseline: np.ndarray, models: np.ndarray, scale: Scale = "logit"
) -> ShiftCorrelation:
    """The correlation of effective robustness on each synthetic with that on each natural shift.

    Args:
        synthetic: A of them; average settings first where the average is asked about.
        natural: B of them, of the same models in the same order.
        baseline: Which models the lines go through, (M,) bool; in the testbed the standard models of at least 55 %
            clean accuracy.
        models: Which models are correlated, (M,) bool; in the testbed the others of at least 55 %.
        scale: On which the lines are straight.
    """
    if len(synthetic.y) != len(natural.y):
        raise OodometerError(f"{len(synthetic.y)} and {len(natural.y)} models: both tables must have the same")
    over = _mask(models, len(natural.y), "models")
    rho = [rho_table(shifts, baseline, scale=scale)[over] for shifts in (synthetic, natural)]
    r, n = pearson_matrix(*rho)
    return ShiftCorrelation(synthetic.names, natural.names, r, n)


def _mask(mask: np.ndarray, models: int, name: str) -> np.ndarray:
    chosen = np.asarray(mask)
    if chosen.shape != (models,) or chosen.dtype != bool:
        raise OodometerError(f"{name}: expected True or False for each of {models} models")
    return chosen
