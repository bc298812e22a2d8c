"""The pip package as an oracle, repaired and with our draws in place of its own; and pictures to corrupt."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from PIL import Image

from oodometer.corruptions.registry import corruptions

DRAWN = ("normal", "uniform", "randint", "poisson", "random", "choice", "rand", "randn", "beta")
Picture = Callable[..., np.ndarray]


class Repair(ast.NodeTransformer):
    """What the package needs to run on current libraries, and its constants as an argument."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list = []  # plain Python in place of numba, so that the draws can be given
        self.generic_visit(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        # "c = [...][severity - 1]" becomes "c = severity": the test passes the constants.
        match node:
            case ast.Assign(targets=[ast.Name(id="c")], value=ast.Subscript(slice=ast.BinOp())):
                node.value = ast.Name("severity", ast.Load())
        self.generic_visit(node)
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        if node.arg == "multichannel":
            return ast.keyword("channel_axis", ast.Constant(-1))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr == "float_":
            node.attr = "float64"
        self.generic_visit(node)
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        if node.module == "scipy.ndimage.interpolation":
            node.module = "scipy.ndimage"
        return None if node.module == "pkg_resources" else node


class Oracle:
    """The functions of ``imagecorruptions``: ``oracle(name, image, strength, draws)``.

    ``oracle.module`` has its inner functions too (``_motion_blur``, ``plasma_fractal``, ``clipped_zoom``, ``disk``).
    """

    def __init__(self, source: Path) -> None:
        tree = ast.fix_missing_locations(Repair().visit(ast.parse(source.read_text(encoding="utf-8"))))
        self.module = types.ModuleType("imagecorruptions.corruptions")
        self.module.__package__ = "imagecorruptions"
        self.module.__dict__["resource_filename"] = lambda _, name: str(source.parent / name)
        exec(compile(tree, str(source), "exec"), self.module.__dict__)

    def __call__(self, name: str, image: np.ndarray, strength: Sequence, draws: Iterable = ()) -> np.ndarray:
        """The corrupted image; each call of a function of ``np.random`` returns the next of the draws."""
        following = iter(draws)

        def given(*args: object, **kwargs: object) -> object:
            return next(following)

        constants = strength if len(strength) > 1 else strength[0]
        with patch.multiple(np.random, seed=lambda _: None, **dict.fromkeys(DRAWN, given)):
            made = getattr(self.module, name)(Image.fromarray(image), constants)
        if next(following, None) is not None:
            raise AssertionError(f"{name}: draws were left over")
        return np.uint8(made)


@pytest.fixture(scope="session")
def oracle() -> Oracle:
    pytest.importorskip("cv2")
    pytest.importorskip("skimage")
    found = find_spec("imagecorruptions")
    if found is None or not found.submodule_search_locations:
        pytest.skip("the package imagecorruptions is not installed")
    return Oracle(Path(found.submodule_search_locations[0]) / "corruptions.py")


@pytest.fixture(scope="session")
def picture() -> Picture:
    """``picture(height, width, seed=0)``: smooth shapes, hard edges, texture, black and white, (H, W, 3) uint8."""

    def make(height: int, width: int, seed: int = 0) -> np.ndarray:
        rng = np.random.default_rng([seed, height, width])
        y, x = np.mgrid[:height, :width] / min(height, width)
        image = np.empty((height, width, 3))
        for channel in range(3):
            a, b, c = rng.uniform(-9, 9, 3)
            image[..., channel] = 128 + 90 * np.sin(a * y + b * x) + 40 * np.sin(7 * c * x * y)
        image[(y - 0.5) ** 2 + (x - 0.3) ** 2 < 0.04] = rng.uniform(0, 255, 3)
        image[height // 8 : height // 4, width // 2 :] = 255
        image[-height // 4 :, : width // 3] = 0
        image[height // 2 :, width // 2 :] += rng.normal(0, 40, (height - height // 2, width - width // 2, 3))
        return np.clip(image, 0, 255).astype(np.uint8)

    return make


@pytest.fixture(scope="session")
def photographs(imagenet_sample: Path) -> list[np.ndarray]:
    """Four real photographs, 224 x 224."""
    files = sorted(imagenet_sample.glob("*/*"))[::257][:4]
    return [centre_crop(Image.open(file).convert("RGB"), 224) for file in files]


def centre_crop(image: Image.Image, side: int) -> np.ndarray:
    scale = side * 256 / 224 / min(image.size)
    image = image.resize((round(image.width * scale), round(image.height * scale)), Image.Resampling.BILINEAR)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    return np.asarray(image.crop((left, top, left + side, top + side)))


@pytest.fixture(scope="session")
def both_paths() -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """``both_paths(name, image, severity, seed=0)``: what ``apply`` and ``fast`` give for the same generator."""

    def make(name: str, image: np.ndarray, severity: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        made = corruptions.get(name)
        height, width = image.shape[:2]
        strength = made.strength(severity, height, width)
        draws = made.draw(np.random.default_rng(seed), height, width, strength)
        assert made.fast is not None
        return made.apply(image, draws, strength), made.fast(image, np.random.default_rng(seed), strength)

    return make


@pytest.fixture(scope="session")
def agree() -> Callable[..., None]:
    """``agree(a, b, share)``: no value differs by more than a level, and at most this share of them at all."""

    def check(a: np.ndarray, b: np.ndarray, share: float) -> None:
        assert a.shape == b.shape
        assert a.dtype == b.dtype == np.uint8
        apart = np.abs(a.astype(np.int64) - b)
        assert apart.max() <= 1, f"{(apart > 1).sum()} values differ by up to {apart.max()} levels"
        assert (apart > 0).mean() <= share, f"{(apart > 0).mean():.2%} of the values differ"

    return check


@pytest.fixture(scope="session")
def exact_levels() -> Callable[..., np.ndarray]:
    """``exact_levels(name, image, severity, seed=0)``: what ``apply`` last gives ``as_bytes``, in levels, float64."""

    def make(name: str, image: np.ndarray, severity: int, seed: int = 0) -> np.ndarray:
        made = corruptions.get(name)
        height, width = image.shape[:2]
        strength = made.strength(severity, height, width)
        draws = made.draw(np.random.default_rng(seed), height, width, strength)
        module = sys.modules[made.apply.__module__]
        with patch.object(module, "as_bytes", wraps=module.as_bytes) as as_bytes:
            made.apply(image, draws, strength)
        return as_bytes.call_args.args[0] * 255

    return make


@pytest.fixture(scope="session")
def agree_but_for_ties() -> Callable[..., None]:
    """``agree_but_for_ties(a, b, exact, within=0.00125)``: both are the floor of these levels, to this error.

    Values may then differ by one level, and only where an integer lies within this distance of the exact level. In a
    flat area it is an integer, and rounding alone decides; of levels that are spread evenly, at most the share
    2 * ``within`` is so near to an integer. The fast paths add 1/1024 before the floor; the rest is float32.

    Args of the check:
        exact: What the definition floors, in levels, float64, before it is clipped.
    """

    def check(a: np.ndarray, b: np.ndarray, exact: np.ndarray, within: float = 0.00125) -> None:
        assert a.shape == b.shape == exact.shape
        assert a.dtype == b.dtype == np.uint8
        lowest, highest = (np.floor(np.clip(exact + error, 0, 255)) for error in (-within, within))
        for made in (a, b):
            wrong = (made < lowest) | (made > highest)
            assert not wrong.any(), f"{wrong.sum()} values are not the floor of, for one, {exact[wrong][0]:.5f} levels"

    return check
