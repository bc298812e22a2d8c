"""Frost against a reference of the published function, its textures and their sources, and its fast path."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from oodometer.core.errors import DataError, UsageError
from oodometer.corruptions import frost as module
from oodometer.corruptions import frost_textures
from oodometer.corruptions.frost import (
    SCALES,
    FrostDraws,
    frost,
    frost_source,
    place_of,
    published_textures,
    set_frost_textures,
    shrunk,
    source_of,
    textures_from,
)
from oodometer.corruptions.severities import side_for

SIZES = [(224, 224), (32, 32), (64, 64), (150, 210), (97, 65), (299, 299)]
SEVERITIES = [1, 2, 3, 4, 5]
GOLDEN = [
    [123, 160, 168, 167, 137, 147, 163, 129, 134],
    [230, 163, 194, 192, 208, 205, 223, 184, 216],
    [225, 156, 224, 216, 204, 199, 227, 187, 221],
    [145, 153, 199, 153, 183, 157, 138, 131, 152],
    [162, 128, 227, 32, 64, 183, 113, 147, 206],
]


def _reference() -> ModuleType:
    pytest.importorskip("cv2")
    place = Path(__file__).parents[1] / "reference" / "frost.py"
    spec = importlib.util.spec_from_file_location("reference_frost", place)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    return _reference()


@pytest.fixture(autouse=True)
def _own_source(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test begins as a fresh process does."""
    monkeypatch.delenv(module.VARIABLE, raising=False)
    before = list(module._chosen)
    module._chosen.clear()
    yield
    module._chosen[:] = before


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two textures, one of them smaller than most images."""
    rng = np.random.default_rng(0)
    for name, shape in (("b.png", (300, 260, 3)), ("a.PNG", (40, 50, 3))):
        Image.fromarray(rng.integers(0, 256, shape, dtype=np.uint8)).save(tmp_path / name)
    (tmp_path / "notes.txt").write_text("not a texture")
    return tmp_path


def check_reference(reference: ModuleType, image: np.ndarray, severity: int, seed: int) -> None:
    height, width = image.shape[:2]
    strength = frost.strength(severity, height, width)
    draws = frost.draw(np.random.default_rng(seed), height, width, strength)
    shrink = SCALES[side_for("frost", height, width)]
    textures = module._current().load()
    texture = textures[int(draws.texture * 5)]
    rows, columns = (round(side * shrink) for side in texture.shape[:2])
    corner = int(draws.top * (rows - height)), int(draws.left * (columns - width))
    expected = reference.frost(image, texture, corner, strength, shrink)
    gap = np.abs(frost.apply(image, draws, strength).astype(int) - expected)
    # OpenCV interpolates with weights of 11 bits, so a shrunken texture differs by a level here and there.
    assert gap.max() <= (0 if shrink in (0.2, 1) else 1)


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", SIZES)
def test_apply_is_the_published_function(reference, picture, size, severity) -> None:
    check_reference(reference, picture(*size), severity, seed=severity)


@pytest.mark.parametrize("severity", SEVERITIES)
def test_apply_is_the_published_function_on_photographs_with_the_published_textures(
    reference, photographs, severity
) -> None:
    pytest.importorskip("imagecorruptions")
    set_frost_textures("published")
    for seed, image in enumerate(photographs):
        check_reference(reference, image, severity, seed)


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("size", [*SIZES, (700, 950)])
def test_fast_is_apply(both_paths, picture, size, severity) -> None:
    # The same float64 arithmetic: not a value differs.
    assert np.array_equal(*both_paths("frost", picture(*size), severity, seed=severity))


def test_the_texture_goes_on_mirrored_beyond_its_edges() -> None:
    texture = np.arange(6, dtype=np.uint8).reshape(2, 3, 1).repeat(3, axis=2)
    larger, top, left = place_of([texture], FrostDraws(0.0, 0.5, 0.0), 5, 2)
    assert (top, left) == (1, 0)
    assert larger[top : top + 5, left : left + 2, 0].tolist() == [[3, 4], [3, 4], [0, 1], [0, 1], [3, 4]]


@pytest.mark.parametrize("draw", [0.0, 0.3, 1 - 2**-53])
@pytest.mark.parametrize("size", [(300, 260), (299, 261), (32, 700), (301, 32), (900, 901)])
def test_every_crop_fits(folder, draw, size) -> None:
    texture, top, left = place_of(textures_from(folder), FrostDraws(draw, draw, draw), *size)
    assert texture[top : top + size[0], left : left + size[1]].shape == (*size, 3)


@pytest.mark.parametrize("scale", [0.2, 0.3])
def test_shrinking_is_opencvs(scale) -> None:
    cv2 = pytest.importorskip("cv2")
    texture = np.random.default_rng(0).integers(0, 256, (315, 527, 3), dtype=np.uint8)
    expected = cv2.resize(texture, (0, 0), fx=scale, fy=scale)
    assert np.abs(shrunk(texture, scale).astype(int) - expected).max() <= 1


def test_our_own_textures_are_the_default_and_always_the_same() -> None:
    assert frost_source() == f"procedural-{frost_textures.VERSION}"
    first = frost_textures.procedural_textures()
    frost_textures._texture.cache_clear()
    second = frost_textures.procedural_textures()
    assert len(first) == 5
    for one, other in zip(first, second, strict=True):
        assert one.dtype == np.uint8
        assert one.shape == (*frost_textures.SHAPE, 3)
        assert np.array_equal(one, other)
        assert not one.flags.writeable


def test_a_texture_that_changes_needs_a_new_version() -> None:
    # Golden values of version 2: [texture[100::200, 150::300, 1].ravel() for texture in procedural_textures()].
    assert frost_textures.VERSION == 2
    for texture, expected in zip(frost_textures.procedural_textures(), GOLDEN, strict=True):
        # Rounding may differ by a level from one machine to another.
        np.testing.assert_allclose(texture[100::200, 150::300, 1].ravel(), expected, atol=1)


def log_spectrum(texture: np.ndarray) -> np.ndarray:
    """Power in octaves from 3 to 96 cycles per 224 pixels, mean over crops, logarithm to base ten."""
    grey = texture.astype(float).mean(axis=2)
    window = np.outer(np.hanning(224), np.hanning(224))
    crops = [
        (crop - crop.mean()) * window
        for y in range(0, grey.shape[0] - 223, 90)
        for x in range(0, grey.shape[1] - 223, 90)
        for crop in [grey[y : y + 224, x : x + 224]]
    ]
    power = np.mean([np.abs(np.fft.fft2(crop)) ** 2 for crop in crops], axis=0)
    radius = np.hypot(*np.meshgrid(np.fft.fftfreq(224, 1 / 224), np.fft.fftfreq(224, 1 / 224)))
    octaves = [3, 6, 12, 24, 48, 96]
    return np.log10([power[(radius >= low) & (radius < high)].mean() for low, high in pairwise(octaves)])


def test_our_own_textures_are_like_the_published_ones() -> None:
    pytest.importorskip("imagecorruptions")
    for own, published in zip(frost_textures.procedural_textures(), published_textures(), strict=True):
        assert np.abs(own.mean(axis=(0, 1)) - published.mean(axis=(0, 1))).max() < 4
        assert own.mean(axis=2).std() == pytest.approx(published.mean(axis=2).std(), rel=0.1)
        # Two and a half times the power at most, in any octave, either way.
        assert np.abs(log_spectrum(own) - log_spectrum(published)).max() < 0.4


def test_published_textures_are_five_of_six() -> None:
    pytest.importorskip("imagecorruptions")
    textures = published_textures()
    # Height and width of the photographs in the package.
    assert [texture.shape[:2] for texture in textures] == [(600, 900), (315, 560), (315, 560), (350, 527), (495, 660)]
    assert set_frost_textures("published").startswith("published-")


def test_published_textures_that_are_not_installed(monkeypatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match="pip install --no-deps imagecorruptions"):
        published_textures()


def test_a_folder(folder, both_paths, picture) -> None:
    name = set_frost_textures(folder)
    assert frost_source() == name
    assert [texture.shape[0] for texture in textures_from(folder)] == [40, 300]
    for seed in range(6):
        assert np.array_equal(*both_paths("frost", picture(120, 280), 3, seed=seed))


def test_the_environment_names_the_source(folder, monkeypatch) -> None:
    monkeypatch.setenv(module.VARIABLE, str(folder))
    assert frost_source() == source_of(folder).name


def test_a_source_is_named_by_its_pixels(folder, tmp_path_factory) -> None:
    other = tmp_path_factory.mktemp("elsewhere")
    for path in folder.glob("*.[pP][nN][gG]"):
        (other / path.name).write_bytes(path.read_bytes())
    assert source_of(folder).name == source_of(other).name
    Image.new("RGB", (9, 9)).save(other / "c.png")
    assert source_of(folder).name != source_of(other).name


def test_bad_sources(tmp_path) -> None:
    with pytest.raises(UsageError, match="is no folder; give procedural, published, or a folder"):
        set_frost_textures("publisched")
    with pytest.raises(DataError, match="no images in"):
        set_frost_textures(tmp_path)
    (tmp_path / "broken.png").write_bytes(b"not an image")
    with pytest.raises(DataError, match=r"broken\.png cannot be read as an image"):
        set_frost_textures(tmp_path)
    assert frost_source() == f"procedural-{frost_textures.VERSION}"


def test_same_generator_same_frost_and_the_input_stays(picture) -> None:
    image = picture(120, 90)
    image.flags.writeable = False
    before = image.copy()
    strength = frost.strength(2, 120, 90)
    first, second = (frost.fast(image, np.random.default_rng(4), strength) for _ in range(2))
    assert np.array_equal(first, second)
    assert np.array_equal(image, before)
    assert not np.shares_memory(first, image)
