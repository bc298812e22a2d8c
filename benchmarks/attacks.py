"""An attack against the passes that it can't avoid, and against another library's; and what masking logits costs.

python benchmarks/attacks.py [FOLDER_OF_PHOTOGRAPHS] [--images 4] [--steps 100] [--rounds 3]

Without photographs the images are noise, of which the network's own answers are taken for the labels.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import oodometer as odo
from oodometer.attacks.batch import images_per_pass
from oodometer.attacks.spec import parse_attack
from oodometer.core.attack import Target
from oodometer.core.labels import LabelMap, LabelSpace, numbered
from oodometer.models.zoo import ZOO, weights_of

NAME = "efficientnet-lite0"
NEVER = 1e-4
"""A budget in levels of 255 that fools nobody: no image stops early."""
MASKED = 200


def seconds(work: Callable[[], object]) -> float:
    """How long a processor is at work; all is done on one thread, and what other programs do does not count."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def network_of() -> Any:
    """EfficientNet-Lite0 on pixels in [0, 1], by the package that its weights were made with."""
    from efficientnet_lite_pytorch import EfficientNet

    network = EfficientNet.from_pretrained(NAME, weights_path=str(weights_of(ZOO[NAME]))).eval()

    class Shown(torch.nn.Module):
        def forward(self, pixels: Any) -> Any:
            return network((pixels * 255 - 127) / 128)

    return Shown().eval().requires_grad_(False)


def images_of(folder: str | None, n: int) -> np.ndarray:
    """Photographs from all over a folder, or noise, (N, 224, 224, 3)."""
    if folder is None:
        return np.random.default_rng(0).integers(0, 256, (n, 224, 224, 3), dtype=np.uint8)
    data, view = odo.load_data(folder), odo.Geometry(224, 224, resize=256, interpolation="bicubic")
    some = np.linspace(0, len(data) - 1, n).astype(int)
    return np.stack([data.views(int(one), [view])[0] for one in some])


def pixels_of(images: np.ndarray) -> Any:
    """What the network is shown, (N, 3, H, W)."""
    return torch.from_numpy(images.transpose(0, 3, 1, 2).copy()).float() / 255


def bare_passes(network: Any, pixels: Any, labels: Any, steps: int) -> None:
    """As many forward and backward passes, and nothing else, of as many images at a time as the attack takes."""
    size = images_per_pass(*pixels.shape[2:], device="cpu")
    for start in range(0, len(pixels), size):
        shown, classes = pixels[start : start + size].clone().requires_grad_(True), labels[start : start + size]
        for _ in range(steps):
            loss = torch.nn.functional.cross_entropy(network(shown), classes, reduction="sum")
            torch.autograd.grad(loss, shown)


def foolbox_pgd(network: Any, pixels: Any, labels: Any, *, steps: int, epsilon: float) -> Any:
    """Whom foolbox's PGD fools, (N,)."""
    import foolbox

    model = foolbox.PyTorchModel(network, bounds=(0, 1), device="cpu")
    attack = foolbox.attacks.LinfPGD(rel_stepsize=0.03, steps=steps, random_start=False)
    return attack(model, pixels, labels, epsilons=epsilon / 255)[2]


def attacks(network: Any, images: np.ndarray, *, steps: int, rounds: int) -> None:
    """Measure and print the attack, its bare passes and its peer."""
    pixels = pixels_of(images)
    with torch.no_grad():
        labels = torch.cat([network(one).argmax(dim=1) for one in pixels.split(2)])
    ids = [str(one) for one in range(len(images))]
    target = Target(network)

    def ours(epsilon: float) -> Callable[[], Any]:
        attack = parse_attack(f"pgd-linf-{epsilon},steps={steps},step=0.03")
        return lambda: attack.apply(target, images, labels.numpy(), ids)

    never, early = ours(NEVER), ours(2)
    works = {
        "bare passes": lambda: bare_passes(network, pixels, labels, steps),
        "nobody fooled": never,
        "early stop": early,
        "foolbox": lambda: foolbox_pgd(network, pixels, labels, steps=steps, epsilon=2),
    }
    assert never().findings["survived"] == len(images)
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(seconds(work))
    middle = {name: statistics.median(some) for name, some in times.items()}
    fooled = len(images) - early().findings["survived"]
    theirs = int(foolbox_pgd(network, pixels, labels, steps=steps, epsilon=2).sum())
    print(f"{len(images)} images, {NAME}, {steps} steps, one core, median of {rounds} interleaved rounds")
    print(f"bare forward and backward passes  {middle['bare passes']:7.2f} s")
    print(f"PGD, nobody fooled: all steps     {middle['nobody fooled']:7.2f} s   epsilon {NEVER}/255")
    print(f"PGD, those fooled stop            {middle['early stop']:7.2f} s   epsilon 2/255, {fooled} fooled")
    print(f"foolbox's PGD                     {middle['foolbox']:7.2f} s   epsilon 2/255, {theirs} fooled")

    def ratio(one: str, other: str) -> float:
        return statistics.median(a / b for a, b in zip(times[one], times[other], strict=True))

    print(f"all steps / bare = {ratio('nobody fooled', 'bare passes'):.3f}   (promised: at most 1.1)")
    print(f"early stop / bare = {ratio('early stop', 'bare passes'):.3f}   (promised: below 1)")
    print(f"all steps / foolbox = {ratio('nobody fooled', 'foolbox'):.3f}")
    print(f"early stop / foolbox = {ratio('early stop', 'foolbox'):.3f}")


def masking(network: Any, *, rounds: int) -> None:
    """Measure and print what masks and super-classes cost beside the forward passes that made the logits."""
    logits = np.random.default_rng(0).normal(size=(50, 1000)).astype(np.float32)
    kept = tuple((int(one),) for one in np.linspace(0, 999, MASKED))
    groups = tuple(tuple(range(start, start + 5)) for start in range(0, 1000, 5))
    names = LabelSpace("kept", tuple(str(one) for one in range(MASKED)))
    pixels = pixels_of(images_of(None, 2))
    forward, mapped = [], {"mask": [], "super-classes": []}
    for _ in range(rounds):
        with torch.inference_mode():
            forward.append(25 * seconds(lambda: network(pixels)))
        for name, members in (("mask", kept), ("super-classes", groups)):
            label_map = LabelMap(name, numbered(1000), names, members)
            mapped[name].append(seconds(lambda label_map=label_map: label_map.logits(logits)))
    whole = statistics.median(forward)
    print(f"50 forward passes                 {1000 * whole:9.2f} ms")
    for name, times in mapped.items():
        part = statistics.median(times)
        share = part / whole
        print(f"{name} of 50 rows of logits".ljust(34) + f"{1000 * part:9.2f} ms   {share:.2%} (promised: below 0.1 %)")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--images", type=int, default=4)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    network = network_of()
    attacks(network, images_of(given.folder, given.images), steps=given.steps, rounds=given.rounds)
    masking(network, rounds=max(given.rounds, 5))


if __name__ == "__main__":
    main()
