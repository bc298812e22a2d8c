"""Copies of training images: made once, whatever the chunks, threads and kills are, of training images alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from oodometer.core.errors import UsageError
from oodometer.core.model import Compute
from oodometer.train import copies as module
from oodometer.train.augment.copying import CopyMethod, CopyRequest, Unit
from oodometer.train.augment.deepaugment.learn import learned_network
from oodometer.train.augment.registry import copy_methods, of_batches, of_copies, parse_augmentations
from oodometer.train.copies import CopyOptions, chunks_of, with_copies
from oodometer.train.job import TrainingJob, TrainingWatcher
from oodometer.train.job_from_options import TrainingOptions, training_job
from oodometer.train.material import learned_pixels, read_material
from oodometer.train.pixels import Pixels
from oodometer.train.recipe import Recipe
from oodometer.train.style_sources import StyleSources
from oodometer.train.torch_threads import torch_threads
from oodometer.train.training import key_of, train


@pytest.fixture
def few_steps(monkeypatch):
    """Networks that have hardly learned: what they are good for is tested elsewhere."""
    from oodometer.train.augment.deepaugment import learn
    from oodometer.train.augment.style import copies

    monkeypatch.setattr(learn, "STEPS", {"edsr": 2, "cae": 2})
    learned = copies.learned_network
    monkeypatch.setattr(copies, "learned_network", lambda *some, seed: learned(*some, seed=seed, steps=(2, 2)))


def pixels(n: int = 60) -> Pixels:
    images = np.random.default_rng(0).integers(256, size=(n, 12, 12, 3), dtype=np.uint8)
    return Pixels(images, np.arange(n) % 4, tuple(f"{number}" for number in range(n)))


def test_labels_and_order(few_steps, tmp_path):
    own = pixels(30)
    made = with_copies(own, ("deepaugment", "style"), CopyOptions(tmp_path))
    assert len(made) == 4 * 30
    assert np.array_equal(made.images[:30], own.images)
    assert np.array_equal(made.labels, np.concatenate([own.labels] * 4))
    assert made.ids[30] == "0#edsr"
    assert made.ids[60] == "0#cae"
    assert made.ids[90] == "0#style"
    assert all(not np.array_equal(made.images[start : start + 30], own.images) for start in (30, 60, 90))
    assert with_copies(own, (), CopyOptions(tmp_path)) is own


@pytest.mark.parametrize("name", ["deepaugment", "style"])
def test_chunks_and_threads_do_not_matter(few_steps, tmp_path, name):
    several = [
        with_copies(pixels(), (name,), CopyOptions(tmp_path / str(number), threads=threads, per_chunk=per_chunk))
        for number, (threads, per_chunk) in enumerate([(1, 10_000), (2, 1), (3, 25)])
    ]
    assert all(np.array_equal(several[0].images, one.images) for one in several[1:])
    other = with_copies(pixels(), (name,), CopyOptions(tmp_path / "0", seed=1))
    assert not np.array_equal(other.images[60:], several[0].images[60:])


def test_a_copy_is_that_of_its_own_image(few_steps, tmp_path):
    """reference: the method asked directly, unit by unit, with the network that was kept."""
    own = pixels(40)
    made = with_copies(own, ("deepaugment",), CopyOptions(tmp_path, per_chunk=7))
    request = CopyRequest(own.images, own.ids, module.digest_of_pixels(own), 0, tmp_path)
    copying = copy_methods.get("deepaugment").prepare(request)
    for unit in copying.units:
        start = 40 if unit.part == "edsr" else 80
        for row, copy in zip(unit.rows, copying.make(unit), strict=True):
            assert np.array_equal(made.images[start + row], copy)


def test_nothing_is_made_twice_and_damage_is_made_again(few_steps, tmp_path):
    told: list[str] = []
    first = with_copies(pixels(), ("deepaugment",), CopyOptions(tmp_path, per_chunk=20), told.append)
    assert sum("learning" in line for line in told) == 2
    files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    told.clear()
    again = with_copies(pixels(), ("deepaugment",), CopyOptions(tmp_path, per_chunk=20), told.append)
    assert not [line for line in told if "learning" in line]
    assert files == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    chunks = [path for path in files if path.suffix == ".npy"]
    assert len(chunks) > 3
    chunks[0].write_bytes(chunks[0].read_bytes()[:100])
    chunks[1].unlink()
    for network in tmp_path.glob("*.pt"):
        network.write_bytes(b"damaged")
    healed = with_copies(pixels(), ("deepaugment",), CopyOptions(tmp_path, per_chunk=20))
    assert np.array_equal(first.images, again.images)
    assert np.array_equal(first.images, healed.images)


def test_chunks_hold_all_units_in_their_order():
    units = [Unit("a", number, tuple(range(size))) for number, size in enumerate([5, 3, 9, 1, 1])]
    chunks = list(chunks_of(units, 8))
    assert [[unit.number for unit in chunk] for chunk in chunks] == [[0, 1], [2], [3, 4]]


def test_names_of_both_kinds():
    names = parse_augmentations("mirror,deepaugment,crop,style")
    assert (of_copies(names), of_batches(names)) == (("deepaugment", "style"), ("mirror", "crop"))
    with pytest.raises(UsageError, match=r"no augmentation named 'deepaugmnt'; did you mean deepaugment\?"):
        parse_augmentations("deepaugmnt")


RECIPE = Recipe(net="linear", epochs=1, batch=32, size=12, augment=("deepaugment", "mirror"))


@pytest.fixture
def job(make_quarters, tmp_path) -> TrainingJob:
    return TrainingJob(make_quarters(), RECIPE, tmp_path / "mine.onnx", compute=Compute(threads=1))


def quiet() -> TrainingWatcher:
    return TrainingWatcher(lambda epoch: None, lambda line: None)


def test_copies_are_of_training_images_alone(few_steps, job):
    held_out = replace(job, hold_outs=("style=round",))
    material = read_material(held_out, quiet())
    learned = learned_pixels(held_out, material, quiet())
    assert len(learned) == 3 * len(material.training)
    tested = {one for one in held_out.dataset.ids if one not in material.training.ids}
    assert len(tested) > 50
    assert not {one.partition("#")[0] for one in learned.ids} & tested


def test_a_training_with_copies(few_steps, job, monkeypatch):
    done = train(job)
    assert (done.is_new, done.model.notes["augment"]) == (True, "deepaugment, mirror")
    assert (job.out.parent / "copies").is_dir()
    # What is finished needs no copies.
    monkeypatch.setattr(sys.modules["oodometer.train.training"], "learned_pixels", None)
    assert not train(job).is_new


def test_copies_go_with_augmix_and_its_consistency(few_steps, job):
    recipe = replace(RECIPE, augment=("deepaugment", "augmix", "mirror"), objective="consistency")
    done = train(replace(job, recipe=recipe))
    assert (done.is_new, done.model.notes["objective"]) == (True, "consistency")
    with pytest.raises(UsageError, match="name an augmentation of batches besides mirror and crop"):
        replace(RECIPE, objective="consistency")  # further images are no copies of a batch that could be compared


def test_the_key_holds_what_copies_depend_on(few_steps, job, monkeypatch):
    material = read_material(job, quiet())
    plain = replace(job, recipe=replace(RECIPE, augment=("mirror", "crop")))
    monkeypatch.setattr(sys.modules["oodometer.train.training"], "copies_for_key", lambda job: {})
    before = {key_of(one, material) for one in (job, plain)}
    monkeypatch.undo()
    assert key_of(plain, material) in before  # as before there were copies
    assert key_of(job, material) not in before
    method = copy_methods.get("deepaugment")
    now = key_of(job, material)
    monkeypatch.setitem(copy_methods._loaded, "deepaugment", CopyMethod(method.parts, 99, method.prepare))
    assert key_of(job, material) != now


def test_styles_are_asked_for_with_their_method(make_quarters):
    with pytest.raises(UsageError, match="--style-images and --style-weights are for --augment style"):
        training_job(make_quarters(), TrainingOptions(net="linear", style_images="paintings/"))
    job = training_job(make_quarters(), TrainingOptions(net="linear", augment="style", style_images="paintings/"))
    assert job.style.images == "paintings/"
    assert job.card.interventions == ("style",)


def test_a_card_names_what_was_brought_and_asks_for_it_again(few_steps, job, make_quarters, tmp_path):
    folder = tmp_path / "paintings"
    folder.mkdir()
    for number, image in enumerate(pixels(3).images):
        Image.fromarray(image).save(folder / f"{number}.png")
    recipe = replace(RECIPE, augment=("style", "mirror"))
    done = train(replace(job, recipe=recipe, style=StyleSources(str(folder))))
    assert done.model.notes["style_images"] == "paintings"
    card, data = job.out.with_suffix(".toml"), make_quarters()
    with pytest.raises(UsageError, match="it took styles from paintings; give that folder with --style-images"):
        training_job(data, TrainingOptions(), like=card)
    again = training_job(data, TrainingOptions(style_images=str(folder)), like=card)
    assert (again.recipe, again.style) == (recipe, StyleSources(str(folder)))
    assert training_job(data, TrainingOptions(augment="mirror"), like=card).style == StyleSources()


KILLED = """
import sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_copies import pixels
from oodometer.train.augment.deepaugment import learn
from oodometer.train.augment.deepaugment.copies import DeepAugmentCopying
from oodometer.train.copies import CopyOptions, with_copies

learn.STEPS = {{"edsr": 2, "cae": 2}}
make = DeepAugmentCopying.make
DeepAugmentCopying.make = lambda self, unit: (time.sleep(0.2), make(self, unit))[1]
with_copies(pixels(200), ("deepaugment",), CopyOptions(Path({folder!r}), threads=2, per_chunk=20))
"""


def test_a_killed_process_leaves_what_it_made(few_steps, tmp_path):
    folder = tmp_path / "killed"
    code = KILLED.format(tests=os.path.dirname(__file__), folder=str(folder))
    process = subprocess.Popen([sys.executable, "-c", code])
    until = time.monotonic() + 120
    while len(list(folder.rglob("*.npy"))) < 3 and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    kept = {path: path.stat().st_mtime_ns for path in folder.rglob("*.npy")}
    whole = with_copies(pixels(200), ("deepaugment",), CopyOptions(tmp_path / "whole", threads=1, per_chunk=20))
    resumed = with_copies(pixels(200), ("deepaugment",), CopyOptions(folder, threads=1, per_chunk=20))
    assert 3 <= len(kept) < len(list(folder.rglob("*.npy")))
    assert kept == {path: path.stat().st_mtime_ns for path in kept}, "what was there is not made again"
    assert np.array_equal(whole.images, resumed.images)


@pytest.mark.parametrize("kind", ["edsr", "cae"])
def test_what_a_network_learns_does_not_depend_on_the_number_of_threads(kind):
    """Sums over more threads have other last bits; one of them, before the first step, once ran on all cores."""

    def weights(n_threads: int) -> bytes:
        with torch_threads(n_threads):
            learned = learned_network(kind, pixels(200).images, seed=0, steps=2)
        return b"".join(values.numpy().tobytes() for values in learned.state_dict().values())

    assert weights(1) == weights(2) == weights(3)
