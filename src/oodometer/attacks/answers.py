"""What a network answers while it is attacked: over the classes that count, with gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from oodometer.core.attack import Target
from oodometer.core.errors import MissingExtraError, ModelError
from oodometer.core.labels import LabelMap


def import_torch() -> Any:
    """The torch package."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("torch", "attacks") from error
    return torch


@dataclass(frozen=True)
class Answers:
    """The network under attack, and the classes that are answered.

    Args:
        members: Of each class the outputs that make it, (M, L); None: every output is a class.
    """

    network: Any
    members: Any
    check_stop: Callable[[], None]

    def __call__(self, images: Any) -> Any:
        """The logits over the classes that are answered, (N, 3, H, W) -> (N, M)."""
        self.check_stop()
        try:
            logits = self.network(images)
        except Exception as error:
            raise ModelError(f"its forward pass under attack failed ({_first_line(error)})") from error
        if logits.is_inference():  # a network without gradients; its tensors can't be written to
            logits = logits.clone()
        return logits if self.members is None else logits[:, self.members].amax(dim=2)

    def gradients(self, images: Any, logits: Any, labels: Any, wanted: Any) -> Any:
        """The gradients of the cross-entropy of the wanted rows by the pixels; zero where there is none."""
        torch = import_torch()
        if not logits.requires_grad:
            return torch.zeros_like(images)
        # In float32 the probability of a sure answer is 1, and its gradient lacks the label's part; peers lose it so.
        wide = logits if logits.device.type == "mps" else logits.double()
        loss = torch.nn.functional.cross_entropy(wide[wanted], labels[wanted], reduction="sum")
        try:
            (found,) = torch.autograd.grad(loss, images, allow_unused=True)
        except Exception as error:
            raise ModelError(f"its backward pass under attack failed ({_first_line(error)})") from error
        return torch.zeros_like(images) if found is None else found.nan_to_num_()


def answers_of(target: Target) -> Answers:
    """What a target answers."""
    return Answers(target.network, members_of(target.label_map, target.device), target.check_stop)


def members_of(label_map: LabelMap | None, device: str) -> Any:
    """The members of each class as a tensor, the first repeated where others have more, (M, L)."""
    if label_map is None:
        return None
    torch = import_torch()
    longest = max(len(group) for group in label_map.members)
    rows = [group + group[:1] * (longest - len(group)) for group in label_map.members]
    return torch.tensor(rows, dtype=torch.long, device=device)


def wrong(logits: Any, labels: Any) -> Any:
    """Which answers are not the label, (N, M) -> (N,); of equal logits the first counts, as in the predictions."""
    torch = import_torch()
    # By numpy: which of equals torch finds is not promised.
    best = logits.cpu().numpy().argmax(axis=1)
    return torch.from_numpy(best).to(labels.device) != labels


def log_odds(logits: Any, labels: Any) -> Any:
    """The log of the odds against the label, (N, M) -> (N,).

    It orders answers exactly as the cross-entropy does, which is log(1 + odds), and tells apart those of which the
    cross-entropy is 0 in float32.
    """
    torch = import_torch()
    column = labels[:, None]
    others = logits.scatter(1, column, -torch.inf)
    return torch.logsumexp(others, dim=1) - logits.gather(1, column)[:, 0]


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
