"""One matrix over all registered corruptions: a new entry is tested the moment it is registered."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import oodometer as odo
from oodometer.corruptions.corrupt import corrupt
from oodometer.corruptions.registry import BAR, COMMON, EXTRA, corruptions
from oodometer.corruptions.sample_image import sample_image
from oodometer.corruptions.severities import side_for, tables

NAMES = [*COMMON, *EXTRA, *BAR]
NOT_MONOTONE = {"elastic_transform", "snow", "saturate"}  # the reference: severity 2 is harder than 3
SEEDLESS = {"brightness", "contrast", "saturate", "pixelate", "jpeg_compression", "defocus_blur", "zoom_blur"} | {
    "gaussian_blur"
}


def distance(image: np.ndarray, name: str, severity: int) -> float:
    """Root mean square change, over a few keys."""
    made = [corrupt(image, name, severity, key=f"k{key}") for key in range(3)]
    return float(np.mean([np.sqrt(np.mean((one.astype(float) - image) ** 2)) for one in made]))


def test_all_are_registered_and_have_constants() -> None:
    assert set(NAMES) <= set(corruptions.names())
    assert set(tables()) == set(NAMES)
    for name in NAMES:
        assert corruptions.get(name).name == name
        assert all(len(levels) == 5 for levels in tables()[name].values())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(224, 224), (32, 32), (97, 150)])
def test_shape_type_and_input(name: str, shape: tuple[int, int]) -> None:
    image = sample_image(*shape)
    image.setflags(write=False)
    before = image.copy()
    for severity in (1, 3, 5):
        made = corrupt(image, name, severity, key="a")
        assert made.shape == (*shape, 3)
        assert made.dtype == np.uint8
        assert made.flags.writeable
    np.testing.assert_array_equal(image, before)


@pytest.mark.parametrize("name", NAMES)
def test_a_draw_depends_on_its_key_and_on_nothing_else(name: str) -> None:
    image = sample_image(64, 64)
    keys = [f"image {number}" for number in range(8)]
    one_by_one = {key: corrupt(image, name, 3, key=key) for key in keys}
    with ThreadPoolExecutor(8) as pool:
        in_threads = dict(
            zip(keys[::-1], pool.map(lambda key: corrupt(image, name, 3, key=key), keys[::-1]), strict=True)
        )
    for key in keys:
        np.testing.assert_array_equal(one_by_one[key], in_threads[key])
    drawn = {one.tobytes() for one in one_by_one.values()}
    other_seed = corrupt(image, name, 3, key=keys[0], seed=1)
    if name in SEEDLESS:
        assert len(drawn) == 1
    else:
        assert len(drawn) > 1
        assert not np.array_equal(other_seed, one_by_one[keys[0]]) or name == "checkerboard_cutout"


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NOT_MONOTONE])
def test_damage_grows_with_severity(name: str) -> None:
    image = sample_image(224, 224, seed=2)
    least, most = distance(image, name, 1), distance(image, name, 5)
    assert 0 < least < most


def has_two_paths(name: str) -> bool:
    """Whether there is a fast path with the same draws; others have one path, or share only the distribution."""
    made = corruptions.get(name)
    return made.fast is not None and made.exact


@pytest.mark.parametrize("name", [name for name in NAMES if has_two_paths(name)])
def test_fast_agrees_with_apply(name: str) -> None:
    made = corruptions.get(name)
    assert made.fast is not None
    for shape in ((224, 224), (64, 48)):
        image = sample_image(*shape, seed=3)
        for severity in range(1, 6):
            strength = made.strength(severity, *shape)
            draws = made.draw(odo.rng_for(name, severity, "x"), *shape, strength)
            plain = made.apply(image, draws, strength).astype(int)
            fast = made.fast(image, odo.rng_for(name, severity, "x"), strength).astype(int)
            apart = np.abs(plain - fast)
            limit = 0.001 if name == "spatter" else 0.0
            assert (apart > 1).mean() <= limit, f"severity {severity}: {apart.max()} levels"


@pytest.mark.parametrize("severity", [0, 6, -1, 2.5, "3", True, None])
def test_a_severity_that_is_none_is_refused(severity: object) -> None:
    with pytest.raises(odo.UsageError, match="must be 1, 2, 3, 4 or 5"):
        corrupt(sample_image(32, 32), "fog", severity, key="a")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros((32, 32, 3)), "must be a uint8 array"),
        (np.zeros((32, 32, 4), np.uint8), r"must have shape \(H, W, 3\)"),
        (np.zeros((3, 32, 32, 3), np.uint8), "must have shape"),
        (np.zeros((0, 32, 3), np.uint8), "empty"),
        (np.zeros((31, 40, 3), np.uint8), "40x31 pixels is too small"),
        ([[1, 2]], "must be a uint8 array"),
    ],
)
def test_what_is_no_image_is_refused(image: object, message: str) -> None:
    with pytest.raises(odo.OodometerError, match=message):
        corrupt(image, "contrast", 1, key="a")  # type: ignore[arg-type]


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(odo.UsageError, match="no corruption named 'gausian_noise'; did you mean gaussian_noise"):
        corrupt(sample_image(32, 32), "gausian_noise", 1, key="a")


def test_grey_images_are_taken_as_equal_channels() -> None:
    grey = sample_image(40, 40)[..., 0]
    expected = corrupt(np.stack([grey] * 3, axis=-1), "contrast", 2, key="a")
    np.testing.assert_array_equal(corrupt(grey, "contrast", 2, key="a"), expected)


def test_the_constants_of_the_nearest_size_are_taken() -> None:
    # |log(s / known)| is least: 32 | 45.25 | 64 | 119.7 | 224 | 258.8 | 299, the geometric means between the sides
    for side, expected in ((32, 32), (45, 32), (46, 64), (119, 64), (120, 224), (258, 224), (259, 299), (1000, 299)):
        assert side_for("gaussian_noise", side, 2 * side) == expected
