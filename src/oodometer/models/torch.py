"""Models of torch: how a module is asked, on pixels of any batch and on any device."""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from oodometer.core.errors import ModelError
from oodometer.core.messages import one_line
from oodometer.core.model import Compute, Forward, Input, Model, batches
from oodometer.models.card import Declared, card_beside, default_view, preprocessing, space_of
from oodometer.models.described import Described, Place, described
from oodometer.models.parameter_count import torch_parameters
from oodometer.models.session import images_per_call
from oodometer.models.torch_files import Factory, Net, TorchFile, import_torch

_this_thread = threading.local()


def load_torch(rest: str, declared: Declared, *, allow_pickle: bool) -> Model:
    """The model of ``package.module:function``, ``package.module:function@weights``, ``file.pt2`` or ``file.pt``.

    A .toml beside the file, of the same name, is its card.
    """
    import_torch()
    if ":" in rest:
        address, _, weights = rest.partition("@")
        path = Path(weights) if weights else None
        place: Factory | TorchFile = Factory(address, os.getcwd(), path, allow_pickle)
    else:
        path = Path(rest)
        place = TorchFile(path, allow_pickle)
    net, _ = place.read()
    declared = declared.over(card_beside(path)) if path else declared
    return to_model(net, declared, place=place.anywhere())


@dataclass(frozen=True)
class OpenTorch:
    """Gives the function from pixels to logits."""

    described: Described[Net]
    input: Input

    def __call__(self, compute: Compute) -> Forward:
        """The function, on a device."""
        return _open(self.described.network, self.input, compute, self.described.name)


@dataclass(frozen=True)
class OpenTorchGradients:
    """Gives the same network as a torch module."""

    described: Described[Net]
    input: Input

    def __call__(self, compute: Compute) -> Any:
        """The module, on a device."""
        net = self.described.network
        module = _on_device(net, compute, self.described.name)
        return normalised(module, self.input, compute, batch=net.batch)


def to_model(net: Net, declared: Declared, *, place: Place[Net] | None = None) -> Model:
    """The model of a module, which other processes find at a place; without one the module itself is sent to them."""
    name = declared.name or net.name
    own = net.base or (Input(view=default_view(*(declared.size or (224, 224)))), "default")
    given, note = preprocessing(declared, *own)
    view = given.view
    fixed = own[0].view
    if net.fixed_size and (view.height, view.width) != (fixed.height, fixed.width):
        raise ModelError(f"model {name}: its input is fixed to {fixed.height}x{fixed.width} pixels")
    probe = np.zeros((1, view.height, view.width, 3), dtype=np.uint8)
    answer = _open(net, given, Compute(), name)(probe)
    if answer.ndim != 2:
        raise ModelError(f"model {name}: its output has shape {answer.shape} for one image; expected (1, K)")
    declared = declared.over(Declared(classes=net.space, parameters=torch_parameters(net.module)))
    description = described(name, place or net, net, net.digest)
    return Model(
        name=name,
        kind=net.kind,
        digest=net.digest,
        input=given,
        space=space_of(declared, answer.shape[1], name),
        open=OpenTorch(description, given),
        card=declared.card(),
        differentiable=OpenTorchGradients(description, given),
        notes={**(declared.notes or {}), "input": note, **net.notes},
    )


def _open(net: Net, given: Input, compute: Compute, name: str) -> Forward:
    """The function from pixels to logits of a torch module."""
    import torch

    network = normalised(_on_device(net, compute, name), given, compute, batch=net.batch)
    least, most = net.batch
    size = min(max(images_per_call(given.view, compute), least), most)
    mixed = compute.precision == "mixed"

    def ask(images: np.ndarray) -> np.ndarray:
        if not images.flags.writeable:
            images = images.copy()  # torch shares memory, and warns of what it must not write
        pixels = torch.from_numpy(np.ascontiguousarray(images)).to(compute.device)
        # Not in inference mode: what a network remembers of that can't be part of a pass with gradients.
        with torch.no_grad(), torch.autocast(compute.device, enabled=mixed):
            logits = network(pixels.permute(0, 3, 1, 2).contiguous().float() / 255)
        answer: np.ndarray = logits.float().cpu().numpy()
        return answer

    def forward(images: np.ndarray) -> np.ndarray:
        _limit_threads(compute.threads)
        try:
            return np.concatenate([ask(images[rows]) for rows in batches(len(images), size)])
        except Exception as error:
            raise ModelError(f"model {name}: its forward pass failed ({one_line(error)})") from error

    return forward


def _limit_threads(threads: int) -> None:
    import torch

    if threads > 0 and getattr(_this_thread, "threads", None) != threads:
        torch.set_num_threads(threads)
        _this_thread.threads = threads


def check_device(compute: Compute, name: str) -> None:
    """Raise an error if this torch can't use the device."""
    import torch

    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not there[compute.device]:
        raise ModelError(f"model {name}: this torch has no device {compute.device}")


def _on_device(net: Net, compute: Compute, name: str) -> Any:
    check_device(compute, name)
    if compute.device == "cpu":
        return net.module
    # A copy: the model on the CPU stays where it is.
    return net.move(net.module, compute.device) if net.move else copy.deepcopy(net.module).to(compute.device)


def normalised(module: Any, given: Input, compute: Compute, *, batch: tuple[int, int]) -> Any:
    """The module with its normalisation, on pixels in [0, 1], (N, 3, H, W).

    Args:
        batch: The least and the largest number of images that the module takes at once; its caller may have any.
    """
    import torch

    least, most = batch

    class Normalised(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.network = module
            for key, values in (("mean", given.in_order.mean), ("std", given.in_order.std)):
                self.register_buffer(key, torch.tensor(values, dtype=torch.float32).view(1, 3, 1, 1))

        def forward(self, pixels: Any) -> Any:
            _limit_threads(compute.threads)
            pixels = pixels.flip(1) if given.is_bgr else pixels
            shown = (pixels - self.mean) / self.std
            parts = [self._some(shown[rows]) for rows in batches(len(shown), most)]
            return parts[0] if len(parts) == 1 else torch.cat(parts)

        def _some(self, images: Any) -> Any:
            n = len(images)
            if n >= least:
                return _logits(self.network(images))
            more = images.new_zeros(least - n, *images.shape[1:])
            return _logits(self.network(torch.cat([images, more])))[:n]

    network = Normalised()
    network.training = False
    network.mean, network.std = network.mean.to(compute.device), network.std.to(compute.device)
    return network


def _logits(answer: Any) -> Any:
    """The logits in what a network gives back: a tensor, a tuple that begins with it, or an object that names it."""
    if isinstance(answer, Mapping) and "logits" in answer:
        return answer["logits"]
    if isinstance(answer, (tuple, list)):
        return answer[0]
    return getattr(answer, "logits", answer)
