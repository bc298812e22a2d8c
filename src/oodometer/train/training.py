"""A training from the data to the file: split, learn, export, compare."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from oodometer.core.columns import columns
from oodometer.core.digests import digest_of
from oodometer.core.errors import DataError, OodometerError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.core.extras import import_extra
from oodometer.core.model import Model
from oodometer.core.random import rng_for
from oodometer.stats.intervals import share_of
from oodometer.train.augment.registry import of_batches
from oodometer.train.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from oodometer.train.export_and_verify import finished_model, write_model
from oodometer.train.init_weights import take_weights
from oodometer.train.job import TrainingJob, TrainingWatcher
from oodometer.train.loop import Epoch, Work, make_optimizer, train_epochs
from oodometer.train.material import Material, copies_for_key, learned_pixels, read_material
from oodometer.train.networks.registry import build_network, is_trained
from oodometer.train.notes import notes_of
from oodometer.train.objectives.registry import PLAIN
from oodometer.train.pixels import as_input, digest_of_pixels
from oodometer.train.torch_threads import torch_threads

VERSION = 1  # in the key: to be raised when the same recipe on the same data would train something else


def nobody(what: object) -> None:
    """The watcher that does not look."""


@dataclass(frozen=True)
class Trained:
    """A trained model, read back from its file; prints as a table.

    Args:
        model: As anyone else loads it.
        file: The .onnx file.
        n_training: Images it was trained on.
        n_held_out: Images that were held out besides the IID test.
        n_iid, n_right: Images of the IID test, and how many of them the exported model answers rightly.
        is_new: Whether anything was done; the same job finds its result the second time.
    """

    model: Model
    file: Path
    n_training: int
    n_held_out: int
    n_iid: int
    n_right: int
    is_new: bool

    @property
    def iid_accuracy(self) -> Estimate:
        """Of the exported model on the IID test."""
        return share_of(self.n_right, self.n_iid)

    def __str__(self) -> str:
        notes = self.model.notes
        header = ["file", "network", "parameters", "trained on", "held out", "IID accuracy"]
        counts = [notes["parameters"], str(self.n_training), str(self.n_held_out)]
        return columns([header, [str(self.file), notes["architecture"], *counts, str(self.iid_accuracy)]])

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "model": self.model.name,
            "file": str(self.file),
            "architecture": self.model.notes["architecture"],
            "parameters": int(self.model.notes["parameters"]),
            "training_images": self.n_training,
            "held_out_images": self.n_held_out,
            "iid_accuracy": asdict(self.iid_accuracy),
            "digest": self.model.digest,
            "is_new": self.is_new,
        }


def train(job: TrainingJob, watcher: TrainingWatcher | None = None) -> Trained:
    """The trained model of a job; where its file is there already, that; where its training was killed, it goes on."""
    watcher = watcher or TrainingWatcher(nobody, nobody)
    check(job)
    material = read_material(job, watcher)
    key = key_of(job, material)
    model = finished_model(job.out, key, half=job.half, card=job.card, force=job.force)
    is_new = model is None
    if model is None:
        with torch_threads(job.compute.threads):
            work = _learned(job, material, key, watcher)
            model = write_model(
                work, notes_of(job, material, key), job.out, half=job.half, card=job.card, space=job.dataset.space
            )
    right = material.iid.right(model.logits(material.iid.images).argmax(axis=1))
    counts = (len(material.training), material.n_held_out, len(material.iid), int(right.sum()))
    return Trained(model, job.out, *counts, is_new=is_new)


def check(job: TrainingJob) -> None:
    """Refuse what can't be trained, before any image is read."""
    for module in ("torch", "onnx", "onnxruntime"):
        import_extra(module, extra="train", what="networks to train")
    from oodometer.models.torch import check_device

    check_device(job.compute, job.recipe.net)
    if job.out.suffix != ".onnx":
        raise UsageError(f"--out {job.out}: the file of a trained model ends in .onnx")
    if not job.out.absolute().parent.is_dir():
        raise UsageError(f"--out {job.out}: no folder {job.out.parent}; make it first")
    name, labels = job.dataset.name, job.dataset.labels
    if (n_without := int((labels < 0).sum())) > 0:
        raise DataError(f"{name}: {n_without} of {len(labels)} images have no label; a network is trained on labels")
    if len(np.unique(labels)) < 2:
        raise DataError(f"{name}: all images are of one class; there is nothing to tell apart")
    if job.dataset.other_labels is not None and not is_trained(job.recipe.net):
        raise UsageError(f"--net {job.recipe.net}: {name} has several labels per image, which it can't learn")
    if job.dataset.other_labels is not None and job.recipe.objective != PLAIN:
        raise UsageError(
            f"--objective {job.recipe.objective}: {name} has several labels per image, and it is about one; use plain"
        )


def key_of(job: TrainingJob, material: Material) -> str:
    """The digest of all that the trained weights depend on."""
    init = None if job.init is None else read_checkpoint(job.init)
    return digest_of(
        {
            "version": VERSION,
            "recipe": job.recipe.describe(),
            "classes": list(job.dataset.space.classes),
            "training": digest_of_pixels(material.training),
            "iid": digest_of_pixels(material.iid),
            "init": None if init is None else [init.key, init.epochs_done],
            **copies_for_key(job),
        }
    )


def _learned(job: TrainingJob, material: Material, key: str, watcher: TrainingWatcher) -> Work:
    """The network after its last epoch."""
    recipe, space = job.recipe, job.dataset.space
    size = (recipe.size, recipe.size)
    network = build_network(recipe.net, n_classes=len(space), size=size, seed=recipe.seed)
    training = learned_pixels(job, material, watcher)
    if hasattr(network, "prepare"):
        rng = rng_for("prepare", recipe.net, seed=recipe.seed)
        network.prepare(as_input(training.images, material.given), training.labels, rng)
    if job.init is not None and not take_weights(network, job.init, net=recipe.net, classes=space.classes):
        watcher.note(f"{job.init}: of other classes; its weights are taken but for the classifier's")
    in_batches = replace(recipe, augment=of_batches(recipe.augment))
    work = Work(network, training, material.iid, material.given, in_batches, job.compute.device)
    if is_trained(recipe.net):
        _train_with_checkpoints(work, job, key, watcher)
    return work


def _train_with_checkpoints(work: Work, job: TrainingJob, key: str, watcher: TrainingWatcher) -> None:
    import torch

    work.network.to(work.device)
    optimizer = make_optimizer(work.network, work.recipe)
    first = 0
    kept = _own_checkpoint(job.checkpoint, key, force=job.force)
    if kept is not None:
        work.network.load_state_dict(kept.network)
        optimizer.load_state_dict(kept.optimizer)
        first = kept.epochs_done
        watcher.note(f"goes on after epoch {first} of {work.recipe.epochs}, from {job.checkpoint}")
        if kept.threads != torch.get_num_threads():
            watcher.note(
                f"begun with --threads {kept.threads}: with another number the last digits can come out otherwise"
            )

    def after(epoch: Epoch) -> None:
        checkpoint = Checkpoint(
            key=key,
            net=work.recipe.net,
            classes=list(job.dataset.space.classes),
            epochs_done=epoch.number,
            network=work.network.state_dict(),
            optimizer=optimizer.state_dict(),
            threads=torch.get_num_threads(),
        )
        write_checkpoint(checkpoint, job.checkpoint)
        watcher.epoch(epoch)

    train_epochs(work, optimizer, first=first, after=after)


def _own_checkpoint(path: Path, key: str, *, force: bool) -> Checkpoint | None:
    """The checkpoint of this very training; None where there is none, or one of another that may be replaced."""
    if not path.exists():
        return None
    try:
        checkpoint = read_checkpoint(path)
        if checkpoint.key != key:
            raise UsageError(f"{path}: it belongs to another training; give another --out, or --force to begin anew")
    except OodometerError:
        if force:
            return None
        raise
    return checkpoint
