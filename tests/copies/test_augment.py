"""``oodometer augment`` and its function: class folders in, class folders out, once; a sheet to look at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from as_typed import oodometer
from oodometer.core.random import rng_for
from oodometer.train.augment.registry import augmentations

pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def few_steps(monkeypatch):
    """Networks that have hardly learned."""
    from oodometer.train.augment.deepaugment import learn
    from oodometer.train.augment.style import copies

    monkeypatch.setattr(learn, "STEPS", {"edsr": 1, "cae": 1})
    learned = copies.learned_network
    monkeypatch.setattr(copies, "learned_network", lambda *some, seed: learned(*some, seed=seed, steps=(1, 1)))


@pytest.fixture
def some(tmp_path: Path) -> Path:
    """Nine images of three classes, of odd and different sizes."""
    rng = np.random.default_rng(0)
    for number in range(9):
        size = ((7, 9), (31, 20), (150, 141))[number % 3]
        path = tmp_path / "some" / ("a", "b", "c")[number // 3] / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(256, size=(*size, 3), dtype=np.uint8)).save(path)
    return tmp_path / "some"


def images_in(folder: Path) -> dict[str, np.ndarray]:
    paths = sorted(folder.rglob("*.png"))
    return {str(path.relative_to(folder)): np.asarray(Image.open(path)) for path in paths}


def test_deepaugment_writes_two_copies_of_each_once(some: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    result = oodometer("augment", some, target, "--method", "deepaugment")
    assert result.exit_code == 0, result.stderr
    assert result.stderr.endswith(f"18 images written to {target}\n")
    made, own = images_in(target), images_in(some)
    assert sorted(made) == sorted(f"{name[:-4]}-{part}.png" for name in own for part in ("edsr", "cae"))
    assert all(image.shape == own[f"{name.rpartition('-')[0]}.png"].shape for name, image in made.items())
    assert {path.name for path in target.iterdir()} == {"a", "b", "c", ".networks", ".oodometer.json"}
    again = oodometer("augment", some, target, "--method", "deepaugment")
    assert again.stderr.endswith(f"nothing new to do: everything is in {target} already\n")
    (target / "b" / "4-cae.png").unlink()
    assert oodometer("augment", some, target, "--method", "deepaugment").stderr.endswith(
        f"1 images written to {target}\n"
    )
    assert all(np.array_equal(made[name], image) for name, image in images_in(target).items())
    assert len(odo.load_data(target)) == 18


@pytest.mark.parametrize("method", ["deepaugment", "style"])
def test_threads_do_not_matter_and_seeds_do(some: Path, tmp_path: Path, method: str) -> None:
    made = []
    for name, options in {"a": {"threads": 1}, "b": {"threads": 3}, "c": {"seed": 1}}.items():
        odo.augment(some, tmp_path / name, method=method, options=odo.AugmentOptions(**options))
        made.append(images_in(tmp_path / name))
    assert all(np.array_equal(made[0][name], made[1][name]) for name in made[0])
    assert any(not np.array_equal(made[0][name], made[2][name]) for name in made[0])


@pytest.mark.parametrize("method", augmentations.names())
def test_every_augmentation_of_batches(some: Path, tmp_path: Path, method: str) -> None:
    odo.augment(some, tmp_path / "out", method=method)
    made, own = images_in(tmp_path / "out"), images_in(some)
    assert sorted(made) == sorted(own)
    for name, image in own.items():
        rng = rng_for("augment", method, name[:-4], seed=0)
        assert np.array_equal(made[name], augmentations.get(method)(image[None], rng)[0])


def test_a_preview_alone(some: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.png"
    result = oodometer("augment", some, "--method", "deepaugment", "--preview", sheet, "--rows", 2, "--draws", 3)
    assert result.exit_code == 0, result.stderr
    assert result.stderr.endswith(f"preview in {sheet}\n")
    with Image.open(sheet) as picture:
        width, height = picture.size
    assert width == 7 * 128 + 8 * 6  # the original and three draws of both networks, with margins of 6
    assert height > 2 * 128
    again = oodometer("augment", some, "--method", "deepaugment", "--preview", sheet)
    assert "is there already" in again.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sheet.png", "some"]


def test_what_is_refused(some: Path, tmp_path: Path) -> None:
    def said(*words: object) -> str:
        result = oodometer("augment", *words)
        assert result.exit_code in (1, 2)
        return result.stderr.strip().splitlines()[-1]

    out = tmp_path / "out"
    assert "no augmentation of that name; did you mean style?" in said(some, out, "--method", "styl")
    assert "say where the images go, or give --preview FILE" in said(some, "--method", "mirror")
    assert "lies inside the source" in said(some, some / "out", "--method", "mirror")
    odo.augment(some, out, method="mirror")
    assert "by another method or seed; use another folder, or --force" in said(some, out, "--method", "crop")
    before = images_in(out)
    assert oodometer("augment", some, out, "--method", "crop", "--force").exit_code == 0
    assert any(not np.array_equal(before[name], image) for name, image in images_in(out).items())
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    assert "is not empty" in said(some, tmp_path / "full", "--method", "mirror")
    (some / "a" / "0.jpg").write_bytes((some / "a" / "0.png").read_bytes())
    assert "2 images of some would be written as a/0.png" in said(some, tmp_path / "new", "--method", "mirror")
