"""Fingerprints: what they are of simple pictures, which pairs are found, and how often copies are."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from oodometer.data.decode import decode
from oodometer.data.fingerprints import FLAT_BITS, difference_hash, near_pairs


def ramp(step: int) -> Image.Image:
    row = np.arange(0, 180 * abs(step), abs(step), dtype=np.uint8)[:: 1 if step > 0 else -1]
    return Image.fromarray(np.tile(row, (80, 1)))


def test_the_fingerprint_of_simple_pictures() -> None:
    # Darker than the right neighbour everywhere, nowhere, and in the lower half alone (bytes are rows).
    assert int(difference_hash(ramp(1))) == 2**64 - 1
    assert int(difference_hash(ramp(-1))) == 0
    assert int(difference_hash(Image.new("RGB", (50, 40), "red"))) == 0
    half = Image.new("L", (180, 80))
    half.paste(ramp(-1).crop((0, 0, 180, 40)), (0, 0))
    half.paste(ramp(1).crop((0, 0, 180, 40)), (0, 40))
    assert int(difference_hash(half)) == 0xFFFFFFFF00000000


def brute_force(values: list[int]) -> list[tuple[int, int]]:
    """Every pair, one by one."""
    telling = [FLAT_BITS <= bin(value).count("1") <= 64 - FLAT_BITS for value in values]
    return [
        (one, other)
        for one, other in itertools.combinations(range(len(values)), 2)
        if telling[one] and telling[other] and bin(values[one] ^ values[other]).count("1") <= 2
    ]


@pytest.mark.parametrize("seed", range(5))
def test_the_pairs_are_those_of_a_comparison_one_by_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    centres = [int(one) for one in rng.integers(0, 2**64, 12, dtype=np.uint64)]
    centres += [0, 2**64 - 1, 0b111]  # pictures without structure
    values = [
        centre ^ sum(1 << int(bit) for bit in rng.choice(64, rng.integers(0, 4), replace=False))
        for centre in centres
        for _ in range(8)
    ]
    found = near_pairs(np.array(values, dtype=np.uint64))
    assert found == brute_force(values)
    assert found


def test_very_many_of_one_look_are_each_shown_once() -> None:
    pairs = near_pairs(np.full(500, 0xF0F0F0F0F0, dtype=np.uint64))
    assert pairs == [(0, other) for other in range(1, 500)]


def again(image: Image.Image, quality: int) -> Image.Image:
    target = io.BytesIO()
    image.save(target, "JPEG", quality=quality)
    return decode(target.getvalue())


@pytest.mark.slow
def test_how_often_copies_of_photographs_are_found(imagenet_sample: Path) -> None:
    """What the documentation of the check says: re-encoded and halved copies yes, mirror images and crops no."""
    files = sorted(imagenet_sample.glob("*/*.jpg"))[:200]
    shares = dict.fromkeys(("q75", "half", "mirror", "crop"), 0.0)
    originals = []
    for file in files:
        image = decode(file.read_bytes()).convert("RGB")
        own = int(difference_hash(image))
        originals.append(own)
        width, height = image.size
        copies = {
            "q75": again(image, 75),
            "half": image.resize((width // 2, height // 2)),
            "mirror": image.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
            "crop": image.crop((width // 10, height // 10, width * 9 // 10, height * 9 // 10)),
        }
        for name, copy in copies.items():
            shares[name] += (bin(own ^ int(difference_hash(copy))).count("1") <= 2) / len(files)
    # Measured on 400 photographs: 98 %, 96 %, 0, 0; the bounds are far below what 200 draws could give by chance.
    assert shares["q75"] > 0.93
    assert shares["half"] > 0.90
    assert shares["mirror"] == shares["crop"] == 0
    assert near_pairs(np.array(originals, dtype=np.uint64)) == []
