"""Images that carry their number, and models whose answer to each is known: for runs over many of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from oodometer.core.condition import Condition, Family, Shift, Transform, clean
from oodometer.core.dataset import Dataset, Progress, Scan
from oodometer.core.labels import numbered
from oodometer.core.model import Input, Model
from oodometer.core.preprocessing import Geometry
from oodometer.engine.run import run

K = 4
VIEW = Geometry(4, 4)


@dataclass(frozen=True)
class NumberedImages:
    """A source of images whose first pixels hold their number."""

    def views(self, index: int, views: Sequence[Geometry | None]) -> list[np.ndarray]:
        image = np.zeros((4, 4, 3), dtype=np.uint8)
        image[0, 0] = index >> 16, (index >> 8) & 255, index & 255
        return [image for _ in views]

    def scan(self, indices: np.ndarray, progress: Progress) -> Scan:
        progress(len(indices), len(indices))
        return Scan(tuple(int(index).to_bytes(16, "big") for index in indices), {})


def numbered_images(n: int, name: str = "numbers") -> Dataset:
    """So many images, the class of each its number modulo four."""
    ids = tuple(f"{place:06d}" for place in range(n))
    labels = np.arange(n, dtype=np.int64) % K
    return Dataset(name, ids, labels, numbered(K), NumberedImages(), np.arange(n))


def damage(name: str, amount: int) -> Transform:
    """A change that every model notices: it marks the image."""

    def mark(image: np.ndarray, image_id: str) -> np.ndarray:
        marked = image.copy()
        marked[0, 1] = amount
        return marked

    return Transform(name, {"amount": amount}, mark, view=VIEW)


def damaged_family(dataset: Dataset, corruptions: Sequence[str], severities: Sequence[int] = (1, 2, 3)) -> list[Shift]:
    """A family of damages of the same images."""
    clean = Condition("clean", dataset)
    return [
        Shift(
            f"damage/{name}/{severity}",
            "corruption",
            clean,
            Condition(f"damage/{name}/{severity}", dataset, transform=damage(name, 10 * severity + place)),
            Family("damage", name, severity),
        )
        for place, name in enumerate(corruptions)
        for severity in severities
    ]


@dataclass
class Knowing:
    """A model that is right on a share of all images, drawn once for each damage.

    Args:
        skill: That share on images that nothing was done to; each unit of damage takes a hundredth of it.
        shared: From 0 to 1, how much its errors are those of every other such model.
        asked: How many images it was asked about.
    """

    name: str
    skill: float
    shared: float = 0.0
    asked: int = 0
    n: int = 20_000
    _right: dict[int, np.ndarray] = field(default_factory=dict)

    def right(self, amount: int = 0) -> np.ndarray:
        """Whether it is right on each image under a damage, (n,) bool."""
        if amount not in self._right:
            common = np.random.default_rng([amount, 1]).random(self.n)
            own = np.random.default_rng([amount, *self.name.encode()]).random(self.n)
            takes_common = np.random.default_rng([2, *self.name.encode()]).random(self.n) < self.shared
            self._right[amount] = np.where(takes_common, common, own) < self.skill * (1 - amount / 100)
        return self._right[amount]

    def _answer(self, images: np.ndarray) -> np.ndarray:
        self.asked += len(images)
        numbers = images[:, 0, 0].astype(np.int64) @ np.array([1 << 16, 1 << 8, 1])
        right = np.array(
            [self.right(int(image[0, 1, 0]))[number] for image, number in zip(images, numbers, strict=True)]
        )
        said = np.where(right, numbers % K, (numbers + 1) % K)
        return (np.eye(K)[said] * 3).astype(np.float32)

    @property
    def model(self) -> Model:
        """It as a model to run."""
        digest = self.name.encode().hex().ljust(32, "0")[:32]
        return Model(self.name, "test", digest, Input(VIEW), numbered(K), lambda _: self._answer)


def other_images(n: int) -> list[Shift]:
    """A shift to as many images that are no photographs of `numbered_images`."""
    data = numbered_images(n)
    ids = tuple(f"x{place:06d}" for place in range(n))
    others = Dataset("other", ids, data.labels, data.space, NumberedImages(), np.arange(n, 2 * n))
    return [Shift("other", "other", Condition("clean", data), Condition("other", others), None)]


def run_in_fog(skills: Mapping[str, float], folder: Path) -> str:
    """A store below the folder in which models of these skills saw 800 images as they are and in two sorts of fog."""
    data = numbered_images(800)
    models = [Knowing(name, skill, 0.5).model for name, skill in skills.items()]
    address = str(folder / "runs")
    run(models, [clean(data), *damaged_family(data, ["fog"], (1, 2))], store=address)
    return address
