"""A number that knows how sure it is."""

from __future__ import annotations

from dataclasses import dataclass

USUAL_DIGITS, MOST_DIGITS = 4, 8
"""Behind the point, in print."""


@dataclass(frozen=True)
class Estimate:
    """A value with its interval, the number of images behind it, and the interval's name.

    A number read from someone else's table may come without n: then it has no interval, and says so.

    >>> print(Estimate(0.741, 0.7127, 0.7679, 1000, "clopper-pearson 95%"))
    0.7410 [0.7127, 0.7679]  n=1000
    >>> print(Estimate(0.741, None, None, None, "none: n is not known"))
    0.7410 [no interval]  n=?
    >>> f"{Estimate(0.021, -0.004, 0.046, 1000, 'newcombe 95%'):+.3f}"
    '+0.021 [-0.004, +0.046]'
    >>> print(Estimate(0.000503, 0.00047, 0.00053, 50_000, "inverted test 95%"))  # digits that tell its ends apart
    0.00050 [0.00047, 0.00053]  n=50000
    """

    value: float
    low: float | None
    high: float | None
    n: int | None
    interval: str

    def __str__(self) -> str:
        return f"{self:.{self._digits()}f}  n={'?' if self.n is None else self.n}"

    def _digits(self) -> int:
        """Four, or as many as it takes to tell the ends of a short interval apart."""
        if self.low is None or self.high is None:
            return USUAL_DIGITS
        several = (n for n in range(USUAL_DIGITS, MOST_DIGITS + 1) if f"{self.low:.{n}f}" != f"{self.high:.{n}f}")
        return next(several, USUAL_DIGITS)  # ends that differ by rounding alone are one

    def __format__(self, form: str) -> str:
        """The value and its interval, each number in the form; without a form as it prints, with n."""
        if not form:
            return str(self)
        known = self.low is not None and self.high is not None
        bounds = f"{self.low:{form}}, {self.high:{form}}" if known else "no interval"
        return f"{self.value:{form}} [{bounds}]"
