"""Steps along the gradient within a ball, until an image is fooled."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from oodometer.attacks.answers import import_torch, log_odds, wrong
from oodometer.attacks.ball import Ball
from oodometer.attacks.batch import Victims


@dataclass(frozen=True)
class Ascent:
    """How the loss is climbed.

    Args:
        steps: At most so many; an image that is fooled takes no further one.
        step: The length of a step, as a part of the ball's radius.
        seed: Of the noise that the outcome is compared with.
    """

    ball: Ball
    steps: int
    step: float
    seed: int = 0


def climb(victims: Victims, start: Any, how: Ascent) -> tuple[Any, Counter[str]]:
    """The answers under attack, (N, M), and the findings.

    The answer to an image that is fooled is that of the first iterate that does; to another, that of the highest loss.

    Args:
        start: The first iterates, (N, 3, H, W); they stay as they are.
    """
    torch = import_torch()
    room, images, labels = how.ball.around(victims.images), start, victims.labels
    record = _Record(victims)
    left = torch.arange(len(labels), device=labels.device)
    for number in range(how.steps + 1):
        room.check(images)
        is_last = number == how.steps
        images = images.detach().requires_grad_(not is_last)
        with torch.set_grad_enabled(not is_last):
            logits = victims.answers(images)
        still = ~record.add(number, left, logits.detach().float(), labels)
        if is_last or not still.any():
            break
        gradients = victims.answers.gradients(images, logits, labels, still)
        images = images.detach()
        if not still.all():  # whoever is fooled makes room
            left, labels, room = left[still], labels[still], room.take(still)
            images, gradients = images[still], gradients[still]
        record.zero_gradient[left] |= (gradients == 0).flatten(1).all(dim=1)
        images = room.project(images + room.direction(gradients).mul_(how.step * room.radius))
    return record.logits, _findings(victims, record, how)


class _Record:
    """What is known of each image so far."""

    def __init__(self, victims: Victims) -> None:
        torch = import_torch()
        n, device = len(victims.labels), victims.labels.device
        self.logits = victims.logits.clone()
        self.fooled = torch.zeros(n, dtype=torch.bool, device=device)
        self.zero_gradient = torch.zeros(n, dtype=torch.bool, device=device)
        self.highest = torch.full((n,), -torch.inf, device=device)
        self.after_one = self.highest.clone()

    def add(self, number: int, left: Any, logits: Any, labels: Any) -> Any:
        """Take in the answers to the iterates of those that are left; which of them are fooled."""
        losses, fooled = log_odds(logits, labels), wrong(logits, labels)
        # The start is no result of the attack, unless it fools. Written so that NaN is kept, for whoever looks for it.
        better = fooled if number == 0 else fooled | ~(losses <= self.highest[left])
        self.logits[left[better]] = logits[better]
        self.fooled[left] = fooled
        if number > 0:
            self.highest[left] = losses.maximum(self.highest[left])
        if number == 1:
            self.after_one[left] = losses
        return fooled


def _findings(victims: Victims, record: _Record, how: Ascent) -> Counter[str]:
    """What tells whether the survivors survived because the gradients say nothing."""
    torch = import_torch()
    left = (~record.fooled).nonzero()[:, 0]
    found = Counter(survived=len(left))
    if len(left) == 0:
        return found
    found["zero_gradient"] = int(record.zero_gradient[left].sum())
    highest, labels = record.highest[left], victims.labels[left]
    if how.steps > 1 and how.step < 1:  # one step of the whole radius may rightly be all there is to gain
        found["no_gain"] = int((highest <= record.after_one[left]).sum())
    if how.steps * how.step < 1:  # too short a way for a fair comparison with noise from the whole ball
        return found
    ids = [victims.ids[one] for one in left.tolist()]
    noisy = how.ball.uniform(victims.images[left], ids, what="masking", seed=how.seed)
    with torch.no_grad():
        logits = victims.answers(noisy).float()
    found["noise_better"] = int((wrong(logits, labels) | (log_odds(logits, labels) > highest)).sum())
    return found
