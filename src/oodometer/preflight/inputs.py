"""The declared preprocessing against its usual alternatives."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from oodometer.core.model import IMAGENET_MEAN, IMAGENET_STD, Compute, Input, Model, batches, checked_logits, n_cores
from oodometer.core.preprocessing import Interpolation
from oodometer.preflight.finding import Finding, Tried
from oodometer.preflight.order import is_better
from oodometer.preflight.sample import Sample

FIRST_LOOK = 64
"""So many images decide whether an alternative is worth the others."""

LEAST_BETTER = 0.03
"""Three points more, at the least: less may be chance in the choice of a crop."""

AT_ONCE = 16
"""Images of one pass."""

Triple = tuple[float, float, float]
HALF: Triple = (0.5, 0.5, 0.5)
ZERO: Triple = (0.0, 0.0, 0.0)
UNIT: Triple = (1.0, 1.0, 1.0)
BYTE: Triple = (1 / 255, 1 / 255, 1 / 255)


@dataclass(frozen=True)
class Alternative:
    """Another preprocessing.

    Args:
        name: In a few words.
        question: What to ask oneself, and ``flags`` what settles it if so.
    """

    name: str
    question: str
    flags: str
    input: Input


def alternatives_to(declared: Input, *, fixed_numbers: bool) -> list[Alternative]:
    """The usual preprocessings that differ from the declared one.

    Args:
        fixed_numbers: The model is shown bytes as they are, so that mean and std can't be others.
    """
    every = [*_other_channels(declared), *_other_geometry(declared)]
    if not fixed_numbers:
        every += _other_numbers(declared)
    return [alternative for alternative in every if alternative.input != declared]


def _other_numbers(declared: Input) -> Iterator[Alternative]:
    scales: dict[str, tuple[Triple, Triple]] = {
        "ImageNet's mean and std": (IMAGENET_MEAN, IMAGENET_STD),
        "mean and std 0.5": (HALF, HALF),
        "pixels in [0, 1]": (ZERO, UNIT),
        "pixels in [0, 255]": (ZERO, BYTE),
    }
    for name, (mean, std) in scales.items():
        flags = f"--mean {_numbers(mean)} --std {_numbers(std)}"
        yield Alternative(name, "is the scale of the pixels right?", flags, replace(declared, mean=mean, std=std))
    caffe = replace(declared, mean=IMAGENET_MEAN, std=BYTE, channels="bgr")
    flags = f"--channels bgr --mean {_numbers(IMAGENET_MEAN)} --std {_numbers(BYTE)}"
    yield Alternative("BGR in [0, 255] less the mean", "is it a network of Caffe's?", flags, caffe)


def _other_channels(declared: Input) -> Iterator[Alternative]:
    other = "rgb" if declared.is_bgr else "bgr"
    flipped = replace(declared, channels="rgb" if declared.is_bgr else "bgr")
    yield Alternative(other.upper(), "is the channel order right?", f"--channels {other}", flipped)


def _other_geometry(declared: Input) -> Iterator[Alternative]:
    view = declared.view
    longer = max(view.height, view.width)
    rules = {None: "squash", round(longer * 256 / 224): "a crop of 87.5 %", longer: "the whole shorter side"}
    for resize, name in rules.items():
        if resize != view.resize:
            flags = f"--resize {'squash' if resize is None else resize}"
            other = replace(declared, view=replace(view, resize=resize))
            yield Alternative(name, "is the image resized and cropped as in training?", flags, other)
    filters: tuple[Interpolation, ...] = ("bilinear", "bicubic", "nearest")
    for name in filters:
        other = replace(declared, view=replace(view, interpolation=name))
        yield Alternative(name, "is the image resized by the right filter?", f"--interpolation {name}", other)


def _numbers(values: Triple) -> str:
    return ",".join(f"{value:.6g}" for value in values)


def shown_otherwise(model: Model, given: Input) -> Model | None:
    """The same network behind another preprocessing; None where its preprocessing is part of it."""
    ready: Any = model.open
    if not (is_dataclass(ready) and any(part.name == "input" for part in fields(ready))):
        return None
    reopened: Any = replace(ready, input=given)  # type: ignore[type-var]
    return replace(model, input=given, open=reopened, differentiable=None)


def ask(model: Model, pixels: np.ndarray) -> np.ndarray:
    """The logits, (N, K)."""
    forward = model.open(Compute(threads=1))
    # As in a run, each core a pass of its own: faster than all cores in one pass.
    with ThreadPoolExecutor(n_cores()) as pool:
        parts = list(pool.map(forward, [pixels[some] for some in batches(len(pixels), AT_ONCE)]))
    return checked_logits(model, np.concatenate(parts), len(pixels))


@dataclass
class _Trial:
    """An alternative as far as it was tried: whether each of the first images is answered rightly, (n,)."""

    alternative: Alternative
    model: Model
    instead: np.ndarray

    def go_on(self, sample: Sample, n: int) -> None:
        """Ask about the images up to the n-th."""
        some = slice(len(self.instead), min(n, len(sample)))
        if some.start < some.stop:
            self.instead = np.concatenate([self.instead, is_right(self.model, sample, some)])


def about_input(model: Model, sample: Sample, right: np.ndarray) -> tuple[list[Finding], list[Tried]]:
    """Whether another preprocessing is clearly better: the best of them; and all that were tried.

    Three looks: at a few images by all, at as many as were asked as declared by those that gain, and at the whole
    sample by the one that gains most, if chance could still explain it.

    Args:
        right: Whether each of the first images is answered rightly as declared, (n,).
    """
    trials = _trials(model, sample, slice(0, min(FIRST_LOOK, len(right))))
    for trial in trials:
        if trial.instead.mean() >= right[:FIRST_LOOK].mean() + LEAST_BETTER:
            trial.go_on(sample, len(right))
    best = max(trials, key=lambda trial: _gained(trial, right), default=None)
    if best is not None and _gained(best, right) >= LEAST_BETTER and len(right) < len(sample):
        best.go_on(sample, len(sample))
        right = np.concatenate([right, is_right(model, sample, slice(len(right), None))])
    tried = [_tried(trial, right) for trial in trials]
    if best is None or not _is_better(best, right, len(trials)):
        return [], tried
    other = best.alternative
    shares = f"as declared {100 * right.mean():.0f} %, with {other.name} {100 * best.instead.mean():.0f} %"
    said = f"{shares} (n = {len(right)}): {other.question}"
    return [Finding("preprocessing", said, f"if so, add {other.flags}")], tried


def _trials(model: Model, sample: Sample, first: slice) -> list[_Trial]:
    """The alternatives at the first look."""
    every = alternatives_to(model.input, fixed_numbers=model.kind == "callable")
    shown = [(alternative, shown_otherwise(model, alternative.input)) for alternative in every]
    return [_Trial(alternative, other, is_right(other, sample, first)) for alternative, other in shown if other]


def _gained(trial: _Trial, right: np.ndarray) -> float:
    """By how much more of the images are right, of those that were asked."""
    n = len(trial.instead)
    return float(trial.instead.mean() - right[:n].mean()) if n >= len(right) else -1.0


def _is_better(trial: _Trial, right: np.ndarray, n_tried: int) -> bool:
    enough = len(trial.instead) == len(right)
    return enough and is_better(trial.instead, right, least=LEAST_BETTER, n_tried=n_tried)


def _tried(trial: _Trial, right: np.ndarray) -> Tried:
    n = len(trial.instead)
    return Tried(trial.alternative.name, int(trial.instead.sum()), int(right[:n].sum()), n)


def is_right(model: Model, sample: Sample, some: slice) -> np.ndarray:
    """Whether images are answered rightly, (n,) bool."""
    answers = ask(model, sample.pixels(model.input.view, some)).argmax(axis=1)
    return np.asarray(answers == sample.labels[some])
