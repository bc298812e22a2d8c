"""What a preflight found: one line with the numbers, and what to do."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from oodometer.core.estimate import Estimate

About = Literal["preprocessing", "labels", "outputs", "data"]


@dataclass(frozen=True)
class Finding:
    """Something that can't be right, or hardly.

    Args:
        said: What was seen, with its numbers.
        remedy: What settles it.
    """

    about: About
    said: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.about}: {self.said}; {self.remedy}"


@dataclass(frozen=True)
class Tried:
    """Another preprocessing that was tried.

    Args:
        name: In a few words.
        right: How many of the first ``n`` images it got right, and ``declared`` how many the declared one did.
    """

    name: str
    right: int
    declared: int
    n: int


@dataclass(frozen=True)
class ModelPreflight:
    """What was seen of one model.

    Args:
        accuracy: Top-1 as declared; None where no image has a label.
        order: Which class each output is taken for, in words.
        tried: Other preprocessings; where one is clearly better it is among the findings.
    """

    model: str
    input: str
    accuracy: Estimate | None
    order: str
    findings: tuple[Finding, ...]
    tried: tuple[Tried, ...]

    @property
    def summary(self) -> str:
        """One line for the card."""
        right = f"{100 * self.accuracy.value:.1f} % of {self.accuracy.n} right" if self.accuracy else "no labels"
        return f"{right}; " + (" | ".join(map(str, self.findings)) or "nothing found")


@dataclass(frozen=True)
class Preflight:
    """What was seen of every model; prints as text."""

    models: tuple[ModelPreflight, ...]

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found."""
        return not any(model.findings for model in self.models)

    def lines(self) -> list[str]:
        """A line for each finding."""
        return [f"{model.model}: {finding}" for model in self.models for finding in model.findings]

    def __str__(self) -> str:
        return "\n".join(line for model in self.models for line in _text(model))

    def as_json(self) -> list[dict[str, Any]]:
        """The same as plain values."""
        return [asdict(model) for model in self.models]


def _text(model: ModelPreflight) -> list[str]:
    accuracy = f"as declared {model.accuracy} right" if model.accuracy else "no image has a label"
    lines = [f"{model.model}: {accuracy}", f"  shown    {model.input}", f"  classes  {model.order}"]
    if model.tried:
        shown = ", ".join(f"{tried.name} {tried.right - tried.declared:+d} of {tried.n}" for tried in model.tried)
        lines.append(f"  tried    {shown} (images more or fewer right)")
    lines += [f"  FOUND    {finding}" for finding in model.findings]
    few = "" if model.tried else "; too few labelled images for more than a look at the outputs"
    return lines if model.findings else [*lines, f"  nothing found{few}"]
