"""From names to attacks: ``pgd-linf-2``, ``pgd-l2-0.5,steps=20,start=random,step=0.1``, ``fgsm-l2-0.5``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import get_args

from oodometer.attacks.ball import LEVELS, NORMS, ROUNDING, SIDE, Ball, Norm
from oodometer.attacks.fgsm import FGSM, fgsm
from oodometer.attacks.noise import Noise, noise
from oodometer.attacks.pgd import PGD, STARTS, STEPS, Start, default_step, pgd
from oodometer.core.attack import Attack
from oodometer.core.errors import UsageError, did_you_mean

KINDS = ("pgd", "fgsm", "noise")
OPTIONS = ("steps", "start", "step")
LARGEST: Mapping[Norm, float] = {"linf": LEVELS, "l2": SIDE * math.sqrt(3)}
"""The size of the change from black to white."""
LEAST_STEP, LARGEST_STEP = 1e-4, 2.0
"""As parts of epsilon: shorter ones are lost in rounding, longer ones lead out of the whole ball."""


def is_attack_name(spec: str) -> bool:
    """Whether a name means an attack, be it well formed or not.

    >>> is_attack_name("pgd-linf-2"), is_attack_name("pgd"), is_attack_name("imagenet-a")
    (True, True, False)
    """
    return spec.partition(",")[0].partition("-")[0].lower() in KINDS


def parse_attack(spec: str, *, seed: int = 0) -> Attack:
    """The attack of a name; equal attacks have equal names.

    >>> parse_attack("pgd-linf-2.0,step=0.1,start=random,steps=20").name
    'pgd-linf-2,steps=20,start=random,step=0.1'
    """
    head, *rest = spec.split(",")
    kind, ball = _kind_and_ball(head, spec)
    name = f"{kind}-{ball.norm}-{ball.epsilon:.12g}"
    options = _options(rest, spec)
    if kind == "pgd":
        return _pgd(name, ball, options, spec, seed)
    if options:
        raise UsageError(f"attack {spec!r}: {kind} takes no options")
    return fgsm(name, FGSM(ball, seed)) if kind == "fgsm" else noise(name, Noise(ball, seed))


def _kind_and_ball(head: str, spec: str) -> tuple[str, Ball]:
    words = head.split("-", 2)
    if len(words) != 3 or not words[2]:
        raise UsageError(f"attack {spec!r}: expected NAME-NORM-EPSILON, for example pgd-linf-2 or pgd-l2-0.5")
    kind, given, size = words
    if kind not in KINDS:
        raise UsageError(f"no attack named {kind!r}{did_you_mean(kind, KINDS)}")
    norm = _norm(given, spec)
    unit = "in levels of 255 (2 means 2/255)" if norm == "linf" else "for pixels in [0, 1] at 224 x 224"
    epsilon = _number(size, f"attack {spec!r}: epsilon {size!r} must be a number above 0, {unit}")
    if epsilon > LARGEST[norm]:
        most = (
            f"all {LEVELS} levels of a pixel" if norm == "linf" else f"any two images are apart ({LARGEST[norm]:.0f})"
        )
        raise UsageError(f"attack {spec!r}: epsilon {size} is more than {most}")
    if epsilon < ROUNDING * LARGEST[norm]:
        raise UsageError(f"attack {spec!r}: epsilon {size} is lost when pixels are rounded to float32")
    return kind, Ball(norm, epsilon)


def _norm(given: str, spec: str) -> Norm:
    for norm in NORMS:
        if norm == given:
            return norm
    raise UsageError(f"attack {spec!r}: no norm named {given!r}{did_you_mean(given, get_args(Norm))}")


def _number(text: str, message: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise UsageError(message) from None
    if not (math.isfinite(value) and value > 0):
        raise UsageError(message)
    return value


def _options(words: list[str], spec: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not value:
            raise UsageError(f"attack {spec!r}: option {word!r}: expected NAME=VALUE, for example steps=20")
        if key not in OPTIONS:
            raise UsageError(f"attack {spec!r}: no option named {key!r}{did_you_mean(key, OPTIONS)}")
        if key in found:
            raise UsageError(f"attack {spec!r}: {key} is given twice")
        found[key] = value
    return found


def _pgd(name: str, ball: Ball, options: dict[str, str], spec: str, seed: int) -> Attack:
    given = options.get("steps", str(STEPS))
    if not (given.isascii() and given.isdigit() and int(given) > 0):
        raise UsageError(f"attack {spec!r}: steps {given!r} must be a whole number above 0")
    default = default_step(ball.norm, int(given))
    step = default
    if "step" in options:
        message = f"attack {spec!r}: step {options['step']!r} must be a number from 0.0001 to 2, as a part of epsilon"
        step = _number(options["step"], message)
        if not LEAST_STEP <= step <= LARGEST_STEP:
            raise UsageError(message)
    apply = PGD(ball, int(given), step, _start(options.get("start", "zero"), spec), seed)
    more = [
        f"steps={apply.steps}" if apply.steps != STEPS else "",
        f"start={apply.start}" if apply.start != "zero" else "",
        f"step={apply.step:.12g}" if apply.step != default else "",
    ]
    return pgd(",".join([name, *filter(None, more)]), apply)


def _start(given: str, spec: str) -> Start:
    for start in STARTS:
        if start == given:
            return start
    raise UsageError(f"attack {spec!r}: start {given!r} must be zero or random")
