"""The shifts of CIFAR, Tiny-ImageNet and ImageNet-22K, with a model that reads its answer off the pixels."""

from __future__ import annotations

import csv
import pickle
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from oodometer.data.layouts.cifar_100 import held_out_subtypes, subtypes
from oodometer.data.layouts.imagenet_22k import broad_classes
from oodometer.data.layouts.tiny_imagenet import tiny_imagenet
from oodometer.data.root import DataRoot
from oodometer.shifts.resolve import asked_for, members_of
from oodometer.shifts.sources import Sources
from oodometer.store.index import look

PLAIN = {"mean": (0, 0, 0), "std": (1 / 255,) * 3}
LABELS = np.array([3, 8, 8, 0, 6, 6, 1, 6, 3, 1])


def reader(n_classes: int, side: int, classes: tuple[str, ...] | None = None) -> odo.Model:
    """A model whose answer is the value of the red channel in the middle."""

    def read(images: np.ndarray) -> np.ndarray:
        assert images.shape[1:] == (side, side, 3)
        return np.eye(n_classes, dtype=np.float32)[images[:, side // 2, side // 2, 0]]

    model = odo.load_model(read, name=f"reader {side}", input=odo.Input(view=odo.Geometry(side, side), **PLAIN))
    return model if classes is None else replace(model, space=odo.LabelSpace("its own", classes))


def plain(values: list[int] | np.ndarray, side: int = 32) -> np.ndarray:
    """Images of one colour each, which is what the reader answers; blue keeps them apart."""
    images = np.zeros((len(values), side, side, 3), dtype=np.uint8)
    images[..., 0] = np.asarray(values)[:, None, None]
    images[..., 2] = np.arange(len(values))[:, None, None]
    return images


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    return Sources(root=DataRoot(str(tmp_path), partial=True))


@pytest.fixture
def measure(tmp_path: Path) -> Callable[..., dict[str, tuple[float, int]]]:
    """The share of right answers and the number of images of each condition; both sides of every shift are there."""

    def run(names: list[str], sources: Sources, model: odo.Model) -> dict[str, tuple[float, int]]:
        found = asked_for(names, sources).found
        store = odo.run([model], found, store=str(tmp_path / "runs"))
        assert {one.name for one in look(store.store).shifts} == {one.name for one in found}
        rows = {cell.condition_name: store.store.read(cell) for cell in store.cells}
        return {name: (float((row.rank == 0).mean()), len(row)) for name, row in rows.items()}

    return run


def put_cifar_10(root: Path, answers: list[int] | np.ndarray) -> None:
    folder = root / "cifar-10-batches-py"
    folder.mkdir()
    data = plain(answers).transpose(0, 3, 1, 2).reshape(-1, 3072)
    (folder / "test_batch").write_bytes(pickle.dumps({b"data": data, b"labels": LABELS.tolist()}, protocol=2))


def wrong(answers: np.ndarray, n: int) -> np.ndarray:
    """The answers with the first n of them wrong."""
    changed = answers.copy()
    changed[:n] = (changed[:n] + 1) % 10
    return changed


def put_cifar_10_1(root: Path, version: str, n_wrong: int) -> None:
    folder = root / "CIFAR-10.1" / "datasets"
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / f"cifar10.1_{version}_data.npy", plain(wrong(LABELS, n_wrong)))
    np.save(folder / f"cifar10.1_{version}_labels.npy", LABELS)


def put_cifar_10_c(root: Path) -> None:
    """At severity s of fog, s answers are wrong; of snow, s + 3."""
    folder = root / "CIFAR-10-C"
    folder.mkdir()
    for name, more in (("fog", 0), ("snow", 3)):
        np.save(folder / f"{name}.npy", np.concatenate([plain(wrong(LABELS, s + more)) for s in range(1, 6)]))
    np.save(folder / "labels.npy", np.tile(LABELS, 5))


def test_cifar_10_1_and_cifar_10_c_against_the_test_set(
    tmp_path: Path, sources: Sources, measure: Callable[..., dict[str, tuple[float, int]]]
) -> None:
    put_cifar_10(tmp_path, wrong(LABELS, 1))
    put_cifar_10_1(tmp_path, "v4", 2)
    put_cifar_10_1(tmp_path, "v6", 4)
    put_cifar_10_c(tmp_path)
    found = measure(["cifar"], sources, reader(10, 32))
    expected = {"clean": 0.9, "cifar-10.1-v4": 0.8, "cifar-10.1-v6": 0.6}
    for severity in range(1, 6):
        expected[f"cifar-10-c:disk/fog/{severity}"] = 1 - severity / 10
        expected[f"cifar-10-c:disk/snow/{severity}"] = 0.7 - severity / 10
    assert {name: share for name, (share, _) in found.items()} == pytest.approx(expected)
    assert {n for _, n in found.values()} == {10}


def test_classes_in_another_order_are_matched_by_name(
    tmp_path: Path, sources: Sources, measure: Callable[..., dict[str, tuple[float, int]]]
) -> None:
    classes = ("truck", "ship", "horse", "frog", "dog", "deer", "cat", "bird", "automobile", "airplane")
    put_cifar_10(tmp_path, 9 - wrong(LABELS, 3))
    put_cifar_10_1(tmp_path, "v4", 0)  # the numbers of the data's own order: 0 is a truck for this model
    found = measure(["cifar-10.1-v4"], sources, reader(10, 32, classes))
    # of the answers 0 to 9 read as 9 to 0, none is right, for 9 - label is never the label
    assert found == {"clean": (pytest.approx(0.7), 10), "cifar-10.1-v4": (0.0, 10)}


def test_parts_of_cifar_10_c_have_the_ids_of_the_clean_images(tmp_path: Path, sources: Sources) -> None:
    put_cifar_10(tmp_path, LABELS)
    put_cifar_10_c(tmp_path)
    (shift,) = asked_for(["cifar-10-c:disk/snow/4"], sources).found
    assert isinstance(shift, odo.Shift)
    assert shift.shifted.dataset.ids == shift.standard.dataset.ids == tuple("0123456789")
    few = Sources(root=sources.root, images=4, seed=5)
    shifts = asked_for(["cifar-10-c:disk"], few).found
    assert len(shifts) == 10
    for one in shifts:
        assert isinstance(one, odo.Shift)
        assert one.shifted.dataset.ids == one.standard.dataset.ids
        assert len(one.shifted.dataset) == 4, "as many of each corruption and severity, the same ones as of the clean"


def test_without_the_corrupted_files_they_are_made_of_the_test_set_of_the_root(
    tmp_path: Path, sources: Sources
) -> None:
    put_cifar_10(tmp_path, LABELS)
    assert members_of("cifar", sources)[-1] == "cifar-10-c"
    shifts = asked_for(["cifar"], sources).found
    assert len(shifts) == 75
    for one in shifts:
        assert isinstance(one, odo.Shift)
        assert one.standard.dataset.name == one.shifted.dataset.name == "cifar-10"
        transform = one.shifted.transform
        assert transform is not None
        assert (transform.view, transform.parameters["quality"]) == (odo.Geometry(32, 32), None)
    (fog,) = asked_for(["cifar-10-c/fog/3"], sources).found
    assert isinstance(fog, odo.Shift)
    assert fog.shifted.transform is not None
    image = fog.shifted.dataset.image(2)
    made = fog.shifted.transform.apply(image, "2")
    np.testing.assert_array_equal(made, odo.corrupt(image, "fog", 3, key="2"))


def test_corrupted_files_reach_a_model_of_another_size_after_one_resize(tmp_path: Path, sources: Sources) -> None:
    put_cifar_10(tmp_path, LABELS)
    put_cifar_10_c(tmp_path)
    seen: list[np.ndarray] = []

    def look(images: np.ndarray) -> np.ndarray:
        seen.extend(images)
        return np.zeros((len(images), 10))

    view = odo.Geometry(224, 224, resize=256)
    model = odo.load_model(look, name="large", input=odo.Input(view=view, **PLAIN))
    (shift,) = asked_for(["cifar-10-c:disk/fog/1"], sources).found
    assert isinstance(shift, odo.Shift)
    seen.clear()
    odo.run([model], [shift.shifted], store=str(tmp_path / "runs"), options=odo.RunOptions(threads=1))
    whole = Image.fromarray(shift.shifted.dataset.image(3)).resize((224, 224), Image.Resampling.BILINEAR)
    np.testing.assert_array_equal(seen[3], np.asarray(whole))


def put_cifar_100(root: Path, answer: Callable[[int, int], int]) -> None:
    """Two images of each of the 100 classes; what the model answers to a subtype of a broad class."""
    table = (files("oodometer.data.layouts") / "classes" / "cifar_100.csv").read_text()
    broad = [row["class"] for row in csv.DictReader(table.splitlines())]
    fine = list(range(100)) * 2
    coarse = [sorted(set(broad)).index(broad[one]) for one in fine]
    data = plain([answer(*pair) for pair in zip(fine, coarse, strict=True)])
    folder = root / "cifar-100-python"
    folder.mkdir()
    content = {b"data": data.transpose(0, 3, 1, 2).reshape(-1, 3072), b"fine_labels": fine, b"coarse_labels": coarse}
    (folder / "test").write_bytes(pickle.dumps(content, protocol=2))


def test_held_out_subtypes_of_cifar_100(
    tmp_path: Path, sources: Sources, measure: Callable[..., dict[str, tuple[float, int]]]
) -> None:
    # A model that was trained without two subtypes of each broad class, and knows none of these.
    unknown = {subtypes().classes.index(one) for one in held_out_subtypes(2)}
    put_cifar_100(tmp_path, lambda fine, broad: (broad + 1) % 20 if fine in unknown else broad)
    found = measure(["cifar-100-subtypes"], sources, reader(20, 32))
    # Of n held-out subtypes, min(n, 2) are unknown; of the 5 - n kept ones, max(2 - n, 0).
    expected = {}
    for n in (1, 2, 3, 4):
        expected[f"cifar-100-kept-subtypes/{n}"] = (1 - max(2 - n, 0) / (5 - n), 2 * 20 * (5 - n))
        expected[f"cifar-100-subtypes/{n}"] = (1 - min(n, 2) / n, 2 * 20 * n)
    assert found == {name: (pytest.approx(share), n) for name, (share, n) in expected.items()}
    (only,) = asked_for(["cifar-100-subtypes/3"], sources).found
    assert isinstance(only, odo.Shift)
    assert (only.name, only.kind) == ("cifar-100-subtypes/3", "attribute")


def test_a_model_of_the_100_classes_is_told_so(tmp_path: Path, sources: Sources) -> None:
    put_cifar_100(tmp_path, lambda fine, broad: broad)
    with pytest.raises(odo.DataError, match="has 100 classes and the data have 20 \\(cifar-100-broad\\)"):
        odo.run([reader(100, 32)], asked_for(["cifar-100-subtypes/1"], sources).found, store=str(tmp_path / "runs"))


def test_tiny_imagenet_c(
    tmp_path: Path, sources: Sources, measure: Callable[..., dict[str, tuple[float, int]]]
) -> None:
    wnids = [tiny_imagenet().classes[index] for index in (0, 7, 150)]
    images = [(wnid, f"val_{number}.JPEG") for number, wnid in enumerate(wnids * 2)]
    folder = tmp_path / "tiny-imagenet-200" / "val"
    (folder / "images").mkdir(parents=True)
    numbers = {wnid: tiny_imagenet().classes.index(wnid) for wnid in wnids}
    for wnid, file in images:
        Image.fromarray(plain([numbers[wnid]], 64)[0]).save(folder / "images" / file, format="PNG")
    (folder / "val_annotations.txt").write_text("".join(f"{file}\t{wnid}\t0\t0\t63\t63\n" for wnid, file in images))
    for severity in (1, 2):
        for place, (wnid, file) in enumerate(images):
            target = tmp_path / "Tiny-ImageNet-C" / "fog" / str(severity) / wnid / file
            target.parent.mkdir(parents=True, exist_ok=True)
            answer = numbers[wnid] if place >= severity else 42
            Image.fromarray(plain([answer], 64)[0]).save(target, format="PNG")
    found = measure(["tiny-imagenet-c:disk"], sources, reader(200, 64))
    assert found == {
        "clean": (1.0, 6),
        "tiny-imagenet-c:disk/fog/1": (pytest.approx(5 / 6), 6),
        "tiny-imagenet-c:disk/fog/2": (pytest.approx(4 / 6), 6),
    }
    for one in asked_for(["tiny-imagenet-c:disk"], sources).found:
        assert isinstance(one, odo.Shift)
        assert sorted(one.standard.dataset.ids) == sorted(one.shifted.dataset.ids)


def test_seen_and_unseen_kinds_of_imagenet_22k(
    tmp_path: Path, sources: Sources, measure: Callable[..., dict[str, tuple[float, int]]]
) -> None:
    amphibian, bird = (broad_classes().classes.index(one) for one in ("Amphibian", "Bird"))
    lines = [
        "n01627424 n01639765",  # amphibian: frog
        "n01639765 n01644373",  # frog: tree frog, of ImageNet-1k
        "n01639765 n01641739",  # frog: green frog
        "n01503061 n01514668",  # bird: cock, of ImageNet-1k
        "n01503061 n01821869",  # bird: cuckoo
    ]
    pictures = {
        "imagenet/val/n01644373/a.png": amphibian,
        "imagenet/val/n01644373/b.png": bird,
        "imagenet/val/n01514668/c.png": bird,
        "imagenet/val/n01514668/d.png": bird,
        "imagenet/val/n01440764/e.png": 0,  # a tench, which no hierarchy here puts below a broad class
        "imagenet-22k/n01641739/f.png": bird,
        "imagenet-22k/n01821869/g.png": bird,
        "imagenet-22k/n01821869/h.png": amphibian,
        "imagenet-22k/n01639765/i.png": amphibian,  # a frog, maybe a tree frog: left out
        "imagenet-22k/n01644373/j.png": amphibian,  # a training image of a seen kind: left out
    }
    for place, (path, answer) in enumerate(pictures.items()):
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        pixels = plain([answer], 48)[0]
        pixels[..., 1] = place
        Image.fromarray(pixels).save(target)
    (tmp_path / "imagenet-22k" / "wordnet.is_a.txt").write_text("\n".join(lines))
    found = measure(["imagenet-22k-subtypes", "imagenet-22k-subtypes:paper"], sources, reader(25, 32))
    assert found == {
        "val-on-imagenet-22k-seen-subtypes": (pytest.approx(3 / 4), 4),
        "imagenet-22k-subtypes": (pytest.approx(1 / 3), 3),
        "val-on-imagenet-22k-seen-subtypes:paper": (pytest.approx(3 / 4), 4),
        "imagenet-22k-subtypes:paper": (pytest.approx(2 / 4), 4),  # the frog too, which is answered rightly
    }
    (shift,) = asked_for(["imagenet-22k-subtypes"], sources).found
    assert isinstance(shift, odo.Shift)
    assert set(shift.standard.dataset.columns["subtype"]) == {"n01644373", "n01514668"}
    assert shift.kind == "attribute"
