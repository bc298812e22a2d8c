"""A training from the data to the file: what it leaves out, how it goes on after a kill, what it refuses."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from oodometer.core.errors import DataError, MissingExtraError, ModelError, UsageError
from oodometer.core.model import Card, Compute
from oodometer.data.load import load_data
from oodometer.models.card import read_card
from oodometer.train.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from oodometer.train.job import TrainingJob as Job
from oodometer.train.job import TrainingWatcher
from oodometer.train.material import read_material
from oodometer.train.recipe import Recipe
from oodometer.train.training import train

RECIPE = Recipe(net="resnet8x0.25", epochs=3, batch=32, size=12, augment=("mirror", "crop", "erase"))


class Watching:
    """Keeps what it is told; stops after some epochs, as Ctrl-C would."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.epochs, self.notes, self.stop_after = [], [], stop_after

    def epoch(self, epoch) -> None:
        self.epochs.append(epoch.number)
        if epoch.number == self.stop_after:
            raise KeyboardInterrupt

    @property
    def watcher(self) -> TrainingWatcher:
        return TrainingWatcher(self.epoch, self.notes.append)


@pytest.fixture
def job(make_quarters, tmp_path) -> Job:
    return Job(make_quarters(), RECIPE, tmp_path / "mine.onnx", compute=Compute(threads=1))


def test_a_stopped_training_ends_with_the_same_bits(job, tmp_path):
    whole = train(job)
    other = replace(job, out=tmp_path / "other.onnx")
    with pytest.raises(KeyboardInterrupt):
        train(other, Watching(stop_after=2).watcher)
    assert not other.out.exists()
    watching = Watching()
    resumed = train(other, watching.watcher)
    assert watching.epochs == [3]
    assert watching.notes == [f"goes on after epoch 2 of 3, from {other.checkpoint}"]
    assert other.out.read_bytes() == job.out.read_bytes()
    first, second = (read_checkpoint(one.checkpoint) for one in (job, other))
    for key in first.network:
        assert torch.equal(first.network[key], second.network[key]), key
    assert (resumed.n_right, resumed.n_iid) == (whole.n_right, whole.n_iid)


@pytest.mark.parametrize(
    "said",
    [
        {"augment": ("mirror", "augmix"), "objective": "consistency", "warm_up": 1},
        {"adversarial": "fast", "schedule": "steps:1,2"},
        {"objective": "stability"},
        {"precision": "mixed"},
    ],
)
def test_every_method_goes_on_to_the_same_bits(job, tmp_path, said):
    job = replace(job, recipe=replace(RECIPE, **said))
    train(job)
    other = replace(job, out=tmp_path / "other.onnx")
    with pytest.raises(KeyboardInterrupt):
        train(other, Watching(stop_after=1).watcher)
    train(other)
    assert other.out.read_bytes() == job.out.read_bytes()


def test_objectives_of_one_label_refuse_several(job):
    several = replace(job.dataset, other_labels=((),) * len(job.dataset))
    with pytest.raises(UsageError, match="--objective stability: quarters has several labels per image"):
        train(replace(job, dataset=several, recipe=replace(RECIPE, objective="stability")))


@pytest.mark.slow
def test_a_killed_process_ends_with_the_same_bits(make_quarters, tmp_path):
    make_quarters(400)  # writes the file
    words = [sys.executable, "-m", "oodometer", "train", str(tmp_path / "quarters.npz"), "--net", "resnet14"]
    words += ["--size", "12", "--batch", "16", "--epochs", "12", "--threads", "1", "--seed", "5", "--out"]
    out, other = tmp_path / "killed.onnx", tmp_path / "whole.onnx"
    process = subprocess.Popen([*words, str(out)], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    checkpoint = out.with_suffix(".pt")
    until = time.monotonic() + 120
    while not checkpoint.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert checkpoint.exists()
    assert not out.exists(), "it was killed before its end"
    assert 1 <= read_checkpoint(checkpoint).epochs_done < 12
    resumed = subprocess.run([*words, str(out)], capture_output=True, text=True, check=True)
    assert "goes on after epoch" in resumed.stderr
    subprocess.run([*words, str(other)], capture_output=True, check=True)
    assert out.read_bytes() == other.read_bytes()
    first, second = (read_checkpoint(one.with_suffix(".pt")) for one in (out, other))
    assert all(torch.equal(first.network[key], second.network[key]) for key in first.network)


def test_a_second_call_does_nothing(job):
    first = train(job)
    written = job.out.stat().st_mtime_ns
    watching = Watching()
    second = train(job, watching.watcher)
    assert (first.is_new, second.is_new) == (True, False)
    assert (watching.epochs, watching.notes) == ([], [])
    assert job.out.stat().st_mtime_ns == written
    assert (second.n_right, second.model.digest) == (first.n_right, first.model.digest)


def test_float16_afterwards_needs_no_training(job):
    whole = train(job)
    watching = Watching()
    half = train(replace(job, half=True), watching.watcher)
    assert half.is_new
    assert watching.epochs == []
    assert half.model.notes["weights"] == "float16"
    assert abs(half.n_right - whole.n_right) <= 1


def test_another_card_needs_no_training(job):
    whole = train(job)
    watching = Watching()
    renamed = train(replace(job, card=Card(parent="linear")), watching.watcher)
    assert watching.epochs == []
    assert (renamed.model.card.parent, renamed.model.digest) == ("linear", whole.model.digest)


def test_another_training_is_not_overwritten_unless_forced(job):
    train(job)
    other = replace(job, recipe=replace(RECIPE, seed=1))
    with pytest.raises(UsageError, match="there is a model of another training; give another --out, or --force"):
        train(other)
    job.out.unlink()
    with pytest.raises(UsageError, match=r"mine\.pt: it belongs to another training; give another --out, or --force"):
        train(other)
    assert train(replace(other, force=True)).model.notes["seed"] == "1"


def test_a_forced_training_goes_on_after_a_kill_too(job):
    train(job)
    other = replace(job, recipe=replace(RECIPE, seed=1), force=True)
    with pytest.raises(KeyboardInterrupt):
        train(other, Watching(stop_after=2).watcher)
    watching = Watching()
    assert train(other, watching.watcher).model.notes["seed"] == "1"
    assert watching.epochs == [3]
    assert not train(other).is_new


def test_damaged_files_are_replaced_where_that_is_forced(job):
    for path in (job.out, job.checkpoint):
        path.write_bytes(b"nonsense")
    with pytest.raises(ModelError, match=r"mine\.onnx: not an ONNX model, or a damaged one"):
        train(job)
    assert train(replace(job, force=True)).is_new


def test_seeds_differ(job, tmp_path):
    digests = {
        train(replace(job, recipe=replace(RECIPE, seed=seed, epochs=1), out=tmp_path / f"{seed}.onnx")).model.digest
        for seed in (0, 1)
    }
    assert len(digests) == 2


def test_what_is_tested_is_not_among_the_training_images(job):
    watching = Watching()
    material = read_material(replace(job, hold_outs=("style=round",)), watching.watcher)
    styles = dict(zip(job.dataset.ids, job.dataset.columns["style"].tolist(), strict=True))
    assert {styles[one] for one in material.training.ids} == {"square"}
    assert not set(material.training.ids) & set(material.iid.ids)
    assert len(material.training) + len(material.iid) + material.n_held_out == len(job.dataset)
    assert watching.notes == []


def test_copies_of_test_images_are_left_out(job, tmp_path):
    images = np.stack([job.dataset.image(index) for index in range(len(job.dataset))])
    images[1::3] = images[0:1]  # a third of all images, in training and in tests, is the same
    np.savez(tmp_path / "copies.npz", images=images, labels=job.dataset.labels)
    copies = load_data(tmp_path / "copies.npz")
    watching = Watching()
    material = read_material(replace(job, dataset=copies), watching.watcher)
    rows = [int(one) for one in material.training.ids]
    assert rows
    assert not [row for row in rows if row % 3 == 1]
    (note,) = watching.notes
    assert note.endswith("training images are left out: pixel for pixel the same as a test image")


def test_fine_tuning_on_other_classes_keeps_all_but_the_classifier(job, make_quarters, tmp_path):
    train(job)
    labels = np.arange(160) % 4 // 2
    (tmp_path / "quarters.npz").unlink()
    watching = Watching(stop_after=1)
    fine = replace(
        job,
        dataset=make_quarters(labels=labels),
        init=job.checkpoint,
        out=tmp_path / "fine.onnx",
        recipe=replace(RECIPE, lr=1e-9, epochs=1, weight_decay=0),
    )
    with pytest.raises(KeyboardInterrupt):
        train(fine, watching.watcher)
    assert watching.notes == [f"{job.checkpoint}: of other classes; its weights are taken but for the classifier's"]
    before, after = (read_checkpoint(one.checkpoint).network for one in (job, fine))
    weights = [key for key in before if not key.endswith(("running_mean", "running_var", "num_batches_tracked"))]
    for key in weights[:-2]:
        assert torch.allclose(before[key], after[key], atol=1e-6), key
    assert after[weights[-1]].shape == (2,)
    with pytest.raises(UsageError, match=r"mine\.pt: it is a resnet8x0\.25, not a resnet8; train that, or begin anew"):
        train(replace(fine, recipe=replace(RECIPE, net="resnet8"), out=tmp_path / "x.onnx"))
    with pytest.raises(UsageError, match=r"mine\.pt: nearest has no weights to begin with; leave --init out"):
        train(replace(fine, recipe=replace(RECIPE, net="nearest"), out=tmp_path / "x.onnx"))


def test_continuing_on_the_same_classes_keeps_the_classifier_too(job, tmp_path):
    train(job)
    watching = Watching(stop_after=1)
    more = replace(job, init=job.checkpoint, out=tmp_path / "more.onnx", recipe=replace(RECIPE, lr=1e-9, epochs=1))
    with pytest.raises(KeyboardInterrupt):
        train(more, watching.watcher)
    assert watching.notes == []
    before, after = (read_checkpoint(one.checkpoint).network for one in (job, more))
    last = list(before)[-1]
    assert torch.allclose(before[last], after[last], atol=1e-6)


def test_the_card_tells_what_the_first_training_was_on(job, tmp_path):
    train(replace(job, card=replace(job.card, training_data="quarters without none")))
    train(replace(job, init=job.checkpoint, out=tmp_path / "more.onnx"))
    notes = read_card(tmp_path / "more.toml").notes
    assert (notes["init"], notes["init_training_data"]) == (job.checkpoint.stem, "quarters without none")
    assert "init_training_data" not in read_card(job.out.with_suffix(".toml")).notes


def test_nearest_needs_no_epochs(job):
    watching = Watching()
    trained = train(replace(job, recipe=replace(RECIPE, net="nearest")), watching.watcher)
    assert watching.epochs == []
    assert not job.checkpoint.exists()
    assert trained.n_right / trained.n_iid > 0.9  # the classes differ in which quarter is bright
    assert "epochs" not in trained.model.notes


def test_refusals(job, make_dataset, tmp_path):
    def message(**said) -> str:
        with pytest.raises((DataError, UsageError, ModelError)) as caught:
            train(replace(job, **said))
        return str(caught.value)

    half = job.dataset.labels.copy()
    half[:80] = -1
    assert message(dataset=replace(job.dataset, labels=half)) == (
        "quarters: 80 of 160 images have no label; a network is trained on labels"
    )
    assert message(dataset=replace(job.dataset, labels=np.zeros(160, dtype=np.int64))) == (
        "quarters: all images are of one class; there is nothing to tell apart"
    )
    assert message(out=tmp_path / "mine.pt") == f"--out {tmp_path}/mine.pt: the file of a trained model ends in .onnx"
    assert message(out=tmp_path / "no" / "a.onnx") == (
        f"--out {tmp_path}/no/a.onnx: no folder {tmp_path}/no; make it first"
    )
    one_left = replace(job.dataset, columns={"style": np.where(job.dataset.labels == 0, "a", "b")})
    assert message(dataset=one_left, hold_outs=("style=b",)) == (
        "quarters: fewer than two classes are left to train on; hold less out"
    )
    if not torch.cuda.is_available():
        assert message(compute=Compute(device="cuda")) == "model resnet8x0.25: this torch has no device cuda"
    assert list(tmp_path.glob("*.onnx")) == []


def test_without_torch_the_extra_is_named(job, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        MissingExtraError, match=r"networks to train need more packages: pip install 'oodometer\[train\]'"
    ):
        train(job)


def test_checkpoints_run_no_code(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "code-was-run"),)

    path = tmp_path / "evil.pt"
    torch.save({"format": 1, "key": Evil()}, path)
    with pytest.raises(ModelError, match=r"evil\.pt: not a checkpoint of oodometer train, or a damaged one"):
        read_checkpoint(path)
    assert not (tmp_path / "code-was-run").exists()


def test_damaged_checkpoints(tmp_path):
    path = tmp_path / "a.pt"
    write_checkpoint(Checkpoint("key", "linear", ["a"], 1, {"w": torch.ones(100)}, {}, 1), path)
    assert torch.equal(read_checkpoint(path).network["w"], torch.ones(100))
    assert [one.name for one in tmp_path.iterdir()] == ["a.pt"]
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(ModelError, match=r"a\.pt: not a checkpoint of oodometer train, or a damaged one"):
        read_checkpoint(path)
    with pytest.raises(ModelError, match=r"b\.pt: no such model file"):
        read_checkpoint(Path(tmp_path / "b.pt"))


@pytest.mark.slow
def test_two_threads_give_the_same_bits_every_time(job, tmp_path):
    recipe, compute = replace(RECIPE, epochs=1), Compute(threads=2)
    digests = {
        train(replace(job, recipe=recipe, compute=compute, out=tmp_path / f"{n}.onnx")).model.digest for n in range(3)
    }
    assert len(digests) == 1


def test_another_number_of_threads_is_said(job):
    with pytest.raises(KeyboardInterrupt):
        train(job, Watching(stop_after=1).watcher)
    watching = Watching()
    train(replace(job, compute=Compute(threads=2)), watching.watcher)
    assert watching.notes[1:] == ["begun with --threads 1: with another number the last digits can come out otherwise"]
