"""Answers of annotators whose truth is known, for the tests of building a test set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from oodometer.build.testset.answers import Answers


def from_table(table: np.ndarray, known: np.ndarray | None = None) -> Answers:
    """The answers in a table of images and workers, (N, W): 1 is yes, 0 no, -1 was not asked."""
    table = np.asarray(table)
    image, worker = np.nonzero(table >= 0)
    known = np.full(len(table), -1) if known is None else known
    return Answers(image, worker, table[image, worker] == 1, *table.shape, known)


def tables(least: int = -1) -> st.SearchStrategy[np.ndarray]:
    """Small tables for `from_table`; with ``least=0`` everybody is asked about everything."""
    shapes = st.tuples(st.integers(2, 8), st.integers(2, 5))
    return shapes.flatmap(lambda shape: arrays(np.int64, shape, elements=st.integers(least, 1)))


@dataclass(frozen=True, eq=False)
class World:
    """Answers that Dawid and Skene's model gave, and what it gave them from."""

    answers: Answers
    shows: np.ndarray
    sensitivity: np.ndarray
    specificity: np.ndarray


def world(
    sensitivity: np.ndarray, specificity: np.ndarray, *, n_images: int, n_per_image: int, n_controls: int, seed: int
) -> World:
    """Images that show their class three times in five, and workers of these rates; the first images are controls."""
    rng = np.random.default_rng(seed)
    n_workers = len(sensitivity)
    shows = rng.random(n_images) < 0.6
    worker = np.argsort(rng.random((n_images, n_workers)), axis=1)[:, :n_per_image].reshape(-1)
    image = np.repeat(np.arange(n_images), n_per_image)
    chance = np.where(shows[image], sensitivity[worker], 1 - specificity[worker])
    known = np.where(np.arange(n_images) < n_controls, shows, -1)
    answers = Answers(image, worker, rng.random(len(image)) < chance, n_images, n_workers, known)
    return World(answers, shows, sensitivity, specificity)
