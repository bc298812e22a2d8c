"""ImageNet-P: how many frames, which one is the clean image, and where each pixel goes."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
from scipy import ndimage

from oodometer.core.errors import DataError, UsageError
from oodometer.corruptions.registry import corruptions
from oodometer.corruptions.sample_image import sample_image
from oodometer.corruptions.sequences import (
    NOISES,
    SEQUENCES,
    SNOW,
    SPATTER,
    Scene,
    affine,
    drifted,
    sequence,
    tilt,
    warped,
)
from oodometer.corruptions.snow import apply_snow, draw_snow
from oodometer.corruptions.spatter import apply_spatter, draw_spatter

SIZE = 64
RANDOM = {*NOISES, "snow", "spatter"}


@pytest.fixture(scope="module")
def image() -> np.ndarray:
    made = sample_image(73, 90)  # Shorter side 256/224 of a frame.
    made.setflags(write=False)
    return made


def frames(image: np.ndarray, name: str, **options) -> np.ndarray:
    return sequence(image, name, key="a", **{"size": SIZE, **options})


def centre(image: np.ndarray) -> np.ndarray:
    top, left = round((image.shape[0] - SIZE) / 2), round((image.shape[1] - SIZE) / 2)
    return image[top : top + SIZE, left : left + SIZE]


def levels_apart(first: np.ndarray, second: np.ndarray) -> int:
    return int(np.abs(first.astype(int) - second).max())


@pytest.mark.parametrize("name", SEQUENCES)
def test_frames_and_input(name: str, image: np.ndarray) -> None:
    before = image.copy()
    found = frames(image, name)
    assert found.shape == (41 if name == "translate" else 31, SIZE, SIZE, 3)
    assert found.dtype == np.uint8
    assert found.flags.writeable
    np.testing.assert_array_equal(image, before)
    changes = [np.abs(one.astype(int) - other).mean() for one, other in pairwise(found)]
    assert max(changes) > 0  # not the least: two close angles of motion blur may share their whole pixels
    assert max(changes) < 40


def test_the_published_ten_come_first() -> None:
    # Hendrycks & Dietterich 2019, section 4.2 names ten; four more are for development.
    assert SEQUENCES[:10] == (
        "gaussian_noise", "shot_noise", "motion_blur", "zoom_blur", "snow",
        "brightness", "translate", "rotate", "tilt", "scale",
    )  # fmt: skip
    assert len(SEQUENCES) == 14


@pytest.mark.parametrize("name", SEQUENCES)
def test_a_sequence_depends_on_its_key_and_on_nothing_else(name: str, image: np.ndarray) -> None:
    keys = ["a", "b", "c"]
    one_by_one = {key: sequence(image, name, key=key, size=SIZE) for key in keys}
    with ThreadPoolExecutor(3) as pool:
        again = dict(
            zip(keys[::-1], pool.map(lambda key: sequence(image, name, key=key, size=SIZE), keys[::-1]), strict=True)
        )
    for key in keys:
        np.testing.assert_array_equal(one_by_one[key], again[key])
    assert np.array_equal(one_by_one["a"], one_by_one["b"]) == (name not in RANDOM)
    assert np.array_equal(one_by_one["a"], sequence(image, name, key="a", seed=1, size=SIZE)) == (name not in RANDOM)


@pytest.mark.parametrize("name", [*NOISES, "zoom_blur"])
def test_frame_0_is_the_clean_image(name: str, image: np.ndarray) -> None:
    np.testing.assert_array_equal(frames(image, name)[0], centre(image))


@pytest.mark.parametrize(("name", "frame"), [("translate", 20), ("rotate", 15), ("scale", 24), ("shear", 15)])
def test_the_frame_without_a_change_is_the_image(name: str, frame: int, image: np.ndarray) -> None:
    np.testing.assert_array_equal(frames(image, name)[frame], centre(image))


def test_brightness_is_unchanged_in_the_middle_and_grows(image: np.ndarray) -> None:
    found = frames(image, "brightness")
    assert levels_apart(found[15], centre(image)) <= 1  # truncated after a way through hue, saturation and value
    means = found.mean(axis=(1, 2, 3))
    assert np.all(np.diff(means) > 0)


@pytest.mark.parametrize("harder", [0, 1, 2])
def test_gaussian_noise_has_its_deviation(harder: int) -> None:
    grey = np.full((SIZE, SIZE, 3), 128, np.uint8)
    found = frames(grey, "gaussian_noise", harder=harder).astype(float)
    # truncation adds the variance 1/12; 30 x 64 x 64 x 3 values leave an error of 0.12 per cent
    wanted = math.sqrt((255 * NOISES["gaussian_noise"][harder]) ** 2 + 1 / 12)
    assert found[1:].std() == pytest.approx(wanted, rel=6e-3)
    # no two frames share their noise: correlations of 12288 pairs have a deviation of 0.009
    assert np.abs(np.corrcoef(found[1:].reshape(30, -1)) - np.eye(30)).max() < 0.05


@pytest.mark.parametrize("harder", [0, 1, 2])
def test_shot_and_speckle_noise_have_their_deviation(harder: int) -> None:
    grey = np.full((SIZE, SIZE, 3), 102, np.uint8)  # 0.4
    photons, sigma = NOISES["shot_noise"][harder], NOISES["speckle_noise"][harder]
    shot = frames(grey, "shot_noise", harder=harder)[1:].astype(float)
    speckle = frames(grey, "speckle_noise", harder=harder)[1:].astype(float)
    # Poisson's deviation is the root of its mean
    assert shot.std() == pytest.approx(255 * math.sqrt(0.4 * photons) / photons, rel=1e-2)
    assert speckle.std() == pytest.approx(math.sqrt((102 * sigma) ** 2 + 1 / 12), rel=1e-2)


def test_translate_is_slicing(image: np.ndarray) -> None:
    found = frames(image, "translate")
    top, left = round((73 - SIZE) / 2), 13
    for frame in range(41):
        shift = frame - 20  # to the right
        begin = left - shift
        visible = image[top : top + SIZE, max(begin, 0) : begin + SIZE]
        at = max(-begin, 0)
        np.testing.assert_array_equal(found[frame][:, at : at + visible.shape[1]], visible)
        assert not found[frame][:, :at].any()
        assert not found[frame][:, at + visible.shape[1] :].any()


def expected_affine(image: np.ndarray, forward: np.ndarray) -> np.ndarray:
    """The crop of the image under a map about half a pixel off its centre, by scipy; not a number outside."""
    height, width = image.shape[:2]
    middle = np.array([height / 2, width / 2])  # (H + 1) / 2 in places where pixel 0 is at 1/2
    backward = np.linalg.inv(forward)[::-1, ::-1]  # (y, x) in place of (x, y)
    planes = [
        ndimage.affine_transform(
            image[..., c].astype(float), backward, middle - backward @ middle, order=1, cval=np.nan
        )
        for c in range(3)
    ]
    return centre(np.stack(planes, axis=2))


@pytest.mark.parametrize(
    ("name", "frame", "forward"),
    [
        ("rotate", 0, lambda: rotation(-15)),
        ("rotate", 22, lambda: rotation(7)),
        ("scale", 0, lambda: np.eye(2) * 0.4),
        ("scale", 30, lambda: np.eye(2) * 1.15),
        ("shear", 3, lambda: np.array([[1, -math.sin(math.radians(-12))], [0, math.cos(math.radians(-12))]])),
    ],
)
def test_affine_frames_against_scipy(name: str, frame: int, forward, image: np.ndarray) -> None:
    found = frames(image, name)[frame].astype(float)
    wanted = expected_affine(image, forward())
    inside = ~np.isnan(wanted)
    assert inside.mean() > 0.2
    error = (found - wanted)[inside]
    assert -1 - 1e-6 <= error.min() <= error.max() <= 1e-6  # Pillow truncates
    # Black outside, but for half a pixel around the image, which Pillow still fills.
    outside = ~ndimage.binary_dilation(inside.all(axis=2), iterations=2)
    assert not found[outside].any()


def rotation(degrees: float) -> np.ndarray:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[c, -s], [s, c]])


def test_zoom_blur_is_the_running_mean(image: np.ndarray) -> None:
    found = frames(image, "zoom_blur")
    scene = Scene(image, SIZE, (), 0)
    zooms = [affine(scene, scale=1 + 0.004 * k) for k in range(31)]
    for frame in (1, 15, 30):
        wanted = np.mean([zoom.astype(float) for zoom in zooms[: frame + 1]], axis=0)
        assert levels_apart(found[frame], np.floor(wanted + 1e-9)) == 0


@pytest.mark.parametrize("frame", [0, 15, 29])
def test_tilt_against_opencv(frame: int, image: np.ndarray) -> None:
    cv2 = pytest.importorskip("cv2")
    height, width = image.shape[:2]
    whole = cv2.warpPerspective(image, tilt(height, width, frame - 15), (width, height))
    apart = np.abs(frames(image, "tilt")[frame].astype(int) - centre(whole))
    # OpenCV 4 may move places to whole 32nds of a pixel first.
    assert apart.max() <= (1 if int(cv2.__version__.split(".")[0]) >= 5 else 8)


def test_tilt_turns_about_both_axes() -> None:
    # The published chain of 4 x 4 matrices: P2 T RX RY P1, with the plane at z = 1.
    height, width, angle = 256, 320, math.radians(9)
    c, s, focus = math.cos(angle), math.sin(angle), math.hypot(256, 320)
    point = np.array([20.0, 200.0])
    space = np.array([point[0] - width / 2, point[1] - height / 2, 1])
    space = np.array([c * space[0] - s * space[2], space[1], s * space[0] + c * space[2]])
    space = np.array([space[0], c * space[1] - s * space[2], s * space[1] + c * space[2]])
    depth = space[2] + focus
    wanted = focus * space[:2] / depth + (width / 2, height / 2)
    found = tilt(height, width, 9) @ [*point, 1]
    np.testing.assert_allclose(found[:2] / found[2], wanted)


def test_a_warp_by_whole_pixels_is_slicing(image: np.ndarray) -> None:
    shift = np.array([[1.0, 0, 3], [0, 1, -2], [0, 0, 1]])
    out = warped(image, shift, 5, 4, SIZE)
    np.testing.assert_array_equal(out, image[3 : 3 + SIZE, 7 : 7 + SIZE])


def test_motion_blur_turns_from_frame_to_frame() -> None:
    # A bright line across the frame is not changed by a blur along it (frame 30, 0 degrees), and most by one across
    # it; at -120 degrees (frame 0) it is between the two.
    line = np.zeros((SIZE, SIZE, 3), np.uint8)
    line[32] = 250
    found = frames(line, "motion_blur")
    np.testing.assert_array_equal(found[30], line)
    assert found[8, :, 32].max() < found[22, :, 32].max()  # -88 and -32 degrees


def test_snow_and_spatter_begin_as_the_corruptions_do(image: np.ndarray) -> None:
    crop = np.ascontiguousarray(centre(image))
    draws = draw_snow(Scene(image, SIZE, ("snow", 0, "a"), 0).rng(), SIZE, SIZE, SNOW)
    wanted = apply_snow(crop, draws._replace(angle=-150 + 4 * 10), SNOW)
    np.testing.assert_array_equal(frames(image, "snow")[10], wanted)
    drops = draw_spatter(Scene(image, SIZE, ("spatter", 0, "a"), 0).rng(), SIZE, SIZE, SPATTER)
    np.testing.assert_array_equal(frames(image, "spatter")[0], apply_spatter(crop, drops, (*SPATTER, 0)))


def test_spatter_drifts_down() -> None:
    # The published step: np.convolve of each column with these weights, mode "same".
    liquid = np.random.default_rng(0).random((40, 7))
    wanted = np.stack([np.convolve(column, [0.05, 0.1, 0.15, 0.7], mode="same") for column in liquid.T], axis=1)
    np.testing.assert_allclose(drifted(liquid), wanted)


def test_gaussian_blur_grows(image: np.ndarray) -> None:
    found = frames(image, "gaussian_blur").astype(float)
    roughness = np.abs(np.diff(found, axis=2)).mean(axis=(1, 2, 3))
    assert np.all(np.diff(roughness) < 0)
    # sigma = 1 of the corruption, cut at 4 sigma instead of 6; the two nearest frames enclose it
    blurred = corruptions.get("gaussian_blur").apply(np.ascontiguousarray(centre(image)), None, (0.25 + 0.035 * 21,))
    assert levels_apart(found[21].astype(np.uint8), blurred) <= 1


def test_grey_images_and_the_usual_size() -> None:
    grey = sample_image(256, 256)[..., 0]
    assert sequence(grey, "translate", key="a").shape == (41, 224, 224, 3)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"name": "rotat"}, UsageError, "no perturbation sequence named 'rotat'; did you mean rotate?"),
        ({"harder": 1}, UsageError, "harder=1: 0, or 1 or 2 for gaussian_noise, shot_noise, speckle_noise"),
        ({"name": "shot_noise", "harder": 3}, UsageError, "harder=3: 0, or 1 or 2 for gaussian_noise, shot_noise"),
        ({"size": 16}, UsageError, "frames of 16 pixels are too small: at least 32"),
        ({"size": 80}, DataError, "an image of 90x73 pixels is too small for frames of 80 pixels"),
    ],
)
def test_bad_input(options: dict, error: type[Exception], message: str, image: np.ndarray) -> None:
    with pytest.raises(error) as caught:
        sequence(image, **{"name": "rotate", "key": "a", "size": SIZE, **options})
    assert str(caught.value).startswith(message)
