"""What annotators said: who was asked whether an image shows its class, and what they answered."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from oodometer.core.errors import DataError

CANDIDATE, NEAR_CLASS, SHOWS_CLASS = -1, 0, 1
"""What is known of an image before anybody is asked: nothing, or, of a hidden control, whether it shows the class."""


@dataclass(frozen=True, eq=False)
class Answers:
    """One row per answer. An image that is shown for two classes is two images here: each is a question of its own.

    Args:
        image: The image that was shown, (A,), by number from 0.
        worker: Who answered, (A,), by number from 0.
        selected: Whether the worker said that the image shows the class, (A,) bool.
        n_images: How many images there are, also those that nobody was asked about.
        n_workers: How many workers there are.
        known: (n_images,) int8: 1 is a hidden control that shows the class, 0 one of a near class, -1 a candidate.

    >>> says = np.array([True, False, True])
    >>> answers = Answers(np.array([0, 0, 1]), np.array([0, 1, 1]), says, 2, 2, np.array([-1, 1]))
    >>> len(answers), answers.n_answers.tolist(), answers.n_selected.tolist()
    (3, [2, 1], [1, 1])
    """

    image: np.ndarray
    worker: np.ndarray
    selected: np.ndarray
    n_images: int
    n_workers: int
    known: np.ndarray

    def __post_init__(self) -> None:
        _check_columns(self)
        _check_numbers("image", self.image, self.n_images)
        _check_numbers("worker", self.worker, self.n_workers)
        if self.known.shape != (self.n_images,) or not np.isin(self.known, (-1, 0, 1)).all():
            raise DataError(f"known must be -1, 0 or 1 for each of the {self.n_images} images")
        object.__setattr__(self, "known", self.known.astype(np.int8))
        _check_once(self)

    def __len__(self) -> int:
        return len(self.image)

    @property
    def n_answers(self) -> np.ndarray:
        """How many answered about each image, (n_images,)."""
        return np.bincount(self.image, minlength=self.n_images)

    @property
    def n_selected(self) -> np.ndarray:
        """How many said of each image that it shows the class, (n_images,)."""
        return np.bincount(self.image[self.selected], minlength=self.n_images)

    @property
    def is_candidate(self) -> np.ndarray:
        """Which images are no controls, (n_images,) bool."""
        return np.asarray(self.known == CANDIDATE)


def about(answers: Answers, images: np.ndarray) -> Answers:
    """The answers about these images, (n_images,) bool, alone; all images and workers keep their numbers.

    Controls are chosen to be plain: an agreement among workers is asked of ``about(answers, answers.is_candidate)``.

    >>> answers = Answers(np.array([0, 1]), np.array([0, 0]), np.array([True, False]), 2, 1, np.array([-1, 0]))
    >>> about(answers, answers.is_candidate).image.tolist()
    [0]
    """
    return _kept(answers, _mask("images", images, answers.n_images)[answers.image])


def without_workers(answers: Answers, workers: np.ndarray) -> Answers:
    """The answers but those of these workers, (n_workers,) bool; all images and workers keep their numbers.

    >>> answers = Answers(np.array([0, 0]), np.array([0, 1]), np.array([True, False]), 1, 2, np.array([-1]))
    >>> without_workers(answers, np.array([False, True])).selected.tolist()
    [True]
    """
    return _kept(answers, ~_mask("workers", workers, answers.n_workers)[answers.worker])


def _kept(answers: Answers, rows: np.ndarray) -> Answers:
    return replace(answers, image=answers.image[rows], worker=answers.worker[rows], selected=answers.selected[rows])


def _mask(what: str, mask: np.ndarray, n: int) -> np.ndarray:
    if mask.shape != (n,) or mask.dtype != bool:
        raise DataError(f"{what} of shape {mask.shape} and type {mask.dtype}: expected ({n},) of true and false")
    return mask


def _check_columns(answers: Answers) -> None:
    columns = {"image": answers.image, "worker": answers.worker, "selected": answers.selected}
    shapes = {name: column.shape for name, column in columns.items()}
    if len(set(shapes.values())) > 1 or answers.image.ndim != 1:
        said = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise DataError(f"answers of shapes {said}: expected one row of each per answer")
    if answers.selected.dtype != bool:
        raise DataError(f"selected is of type {answers.selected.dtype}: expected true or false for each answer")


def _check_numbers(what: str, numbers: np.ndarray, n: int) -> None:
    if numbers.dtype.kind not in "iu":
        raise DataError(f"{what} is of type {numbers.dtype}: expected whole numbers from 0")
    if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < n:
        wrong = int(numbers.min()) if numbers.min() < 0 else int(numbers.max())
        raise DataError(f"{what} {wrong} in the answers, of {n}: numbers run from 0 to {n - 1}")


def _check_once(answers: Answers) -> None:
    pairs, times = np.unique(
        answers.image.astype(np.int64) * answers.n_workers + answers.worker.astype(np.int64), return_counts=True
    )
    if len(pairs) < len(answers):
        image, worker = divmod(int(pairs[np.argmax(times > 1)]), answers.n_workers)
        raise DataError(f"worker {worker} answers image {image} more than once; keep one of the answers")
