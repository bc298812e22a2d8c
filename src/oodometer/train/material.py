"""The images of a training in memory: what is learned from, and what is only asked about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.model import Input
from oodometer.train.augment.registry import of_copies
from oodometer.train.copies import FOLDER, CopyOptions, versions_of, with_copies
from oodometer.train.hold_out import Parts, split_for_training
from oodometer.train.job import TrainingJob, TrainingWatcher
from oodometer.train.pixels import Pixels, read_pixels, same_pixels, statistics_of


@dataclass(frozen=True)
class Material:
    """The pixels of a job: no training image is in a test, nor is its pixel-for-pixel copy."""

    training: Pixels
    iid: Pixels
    n_held_out: int
    given: Input


def read_material(job: TrainingJob, watcher: TrainingWatcher) -> Material:
    """The pixels that the job works with."""
    parts = split_for_training(job.dataset, job.hold_outs, test=job.test, portion=job.portion, seed=job.recipe.seed)
    view = job.recipe.view
    training, iid = read_pixels(parts.training, view), read_pixels(parts.iid, view)
    held_out = [] if parts.held_out is None else [read_pixels(parts.held_out, view)]
    is_copy = same_pixels(training, [iid, *held_out])
    if is_copy.any():
        watcher.note(f"{int(is_copy.sum())} training images are left out: pixel for pixel the same as a test image")
        training = training.take(np.flatnonzero(~is_copy))
    _check_classes(job.dataset, training, parts, watcher)
    return Material(training, iid, sum(len(one) for one in held_out), statistics_of(training.images, view))


def learned_pixels(job: TrainingJob, material: Material, watcher: TrainingWatcher) -> Pixels:
    """What is learned from: the training images, and the copies that the recipe's augmentations make of them.

    Of them alone: the IID tenth and what is held out was split off before.
    """
    folder = job.out.absolute().parent / FOLDER
    options = CopyOptions(folder, job.recipe.seed, job.compute.threads, style=job.style)
    return with_copies(material.training, of_copies(job.recipe.augment), options, watcher.note)


def copies_for_key(job: TrainingJob) -> dict[str, object]:
    """What the copies depend on besides the training images and the recipe; empty where none are made."""
    names = of_copies(job.recipe.augment)
    return {"copies": versions_of(names, job.style)} if names else {}


def _check_classes(dataset: Dataset, training: Pixels, parts: Parts, watcher: TrainingWatcher) -> None:
    seen = np.unique(training.labels)
    if len(seen) < 2:
        raise DataError(f"{dataset.name}: fewer than two classes are left to train on; hold less out")
    asked = np.unique(parts.iid.labels)
    if len(unseen := np.setdiff1d(asked, seen)):
        names = ", ".join(dataset.space.classes[one] for one in unseen[:3].tolist())
        watcher.note(f"{len(unseen)} classes of the IID test have no training image ({names})")
