"""What images look like: a digest of their pixels, and a fingerprint that small changes leave almost the same."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from oodometer.core.dataset import Dataset, ImageSource, Progress
from oodometer.core.errors import DataError
from oodometer.data.decode import decode
from oodometer.data.headers import SourceNames, as_kept
from oodometer.data.scan import Finding, scan_images
from oodometer.data.source import ArraySource, EncodedSource

DISTANCE = 2
"""Fingerprints that differ in so few of their 64 bits are near-identical."""

BRIGHTEST_BLACK = 8
"""Of 255: no pixel of a black image is brighter."""

FLAT_BITS = 8
"""Fingerprints with fewer bits set, or unset, are of pictures without structure and are not compared."""

_BANDS = tuple((0, 21, 42, 64)[place : place + 2] for place in range(3))
"""Two fingerprints that differ in at most `DISTANCE` bits agree in one of these bands, which are one more."""

_BYTES_OF_DIGEST = 8
_BYTES_OF_LOOKS = 3 * _BYTES_OF_DIGEST + 1
"""A digest, two hashes, and whether it is black."""

_BITS_OF = np.array([bin(value).count("1") for value in range(1 << 16)], dtype=np.uint8)
_WORKED_ON_AT_ONCE = 1 << 22
_SHOWN_IN_FULL = 100


@dataclass(frozen=True)
class Looks:
    """How the images of a data set look.

    Args:
        pixels: The digest of each image's size and RGB pixels, 8 bytes.
        fingerprints: The difference hash of each, (N,) uint64.
        mirrored: That of each in a mirror.
        black: Whether each is black everywhere, (N,) bool.
        broken: Position of each image that can't be decoded, and what is wrong with it.
    """

    pixels: tuple[bytes, ...]
    fingerprints: np.ndarray
    mirrored: np.ndarray
    black: np.ndarray
    broken: dict[int, str]


def looks_of(dataset: Dataset, progress: Progress) -> Looks:
    """Decode every image, once; kept as scans are."""

    def inspect(index: int) -> Finding:
        try:
            image = _decoded(dataset.source, index)
        except DataError as error:
            return Finding(bytes(_BYTES_OF_LOOKS), str(error))
        return Finding(_digest(image) + hashes(image).tobytes() + bytes([is_black(image)]), None)

    scan = scan_images(dataset.rows, SourceNames(dataset.source, "looks 2"), inspect, progress, width=_BYTES_OF_LOOKS)
    kept = np.frombuffer(b"".join(scan.contents), dtype=np.uint8).reshape(-1, _BYTES_OF_LOOKS)
    both = np.ascontiguousarray(kept[:, _BYTES_OF_DIGEST:-1]).view("<u8")
    pixels = tuple(one[:_BYTES_OF_DIGEST] for one in scan.contents)
    return Looks(pixels, both[:, 0].copy(), both[:, 1].copy(), kept[:, -1].astype(bool), dict(scan.broken))


def difference_hash(image: Image.Image) -> np.ndarray:
    """64 bits: in a grey 9 x 8 reduction, whether each pixel is darker than its right neighbour; () uint64."""
    return np.asarray(hashes(image)[0])


def hashes(image: Image.Image) -> np.ndarray:
    """The difference hash of an image, and that of the image in a mirror, (2,) uint64."""
    small = np.asarray(image.convert("L").resize((9, 8), Image.Resampling.BILINEAR, reducing_gap=3.0))
    bits = [one[:, :-1] < one[:, 1:] for one in (small, small[:, ::-1])]
    return np.asarray(np.packbits(np.stack(bits)).view("<u8"))


def is_black(image: Image.Image) -> bool:
    """Whether no pixel is brighter than what an encoder may make of black.

    >>> is_black(Image.new("RGB", (4, 4))), is_black(Image.new("L", (4, 4), 200))
    (True, False)
    """
    return max(high for _, high in _extrema(image)) <= BRIGHTEST_BLACK


def _extrema(image: Image.Image) -> Sequence[tuple[int, int]]:
    return image.convert("RGB").getextrema()  # type: ignore[return-value]  # of three bands, a pair for each


def mirrored_pairs(looks: Looks) -> list[tuple[int, int]]:
    """The pairs of positions of which one looks like the other in a mirror, but not like it as it is."""
    n = len(looks.fingerprints)
    alike = set(near_pairs(looks.fingerprints))
    pairs = near_pairs(np.concatenate([looks.fingerprints, looks.mirrored]))
    found = {(min(one, other - n), max(one, other - n)) for one, other in pairs if one < n <= other}
    return sorted(pair for pair in found - alike if pair[0] != pair[1])


def near_pairs(fingerprints: np.ndarray) -> list[tuple[int, int]]:
    """The pairs of positions whose fingerprints differ in at most two bits, first position first, in order.

    >>> near_pairs(np.array([0xFF00, 0xFF03, 0xFF0F, 0, 0], dtype=np.uint64))
    [(0, 1), (1, 2)]
    """
    values, belongs = np.unique(np.asarray(fingerprints, dtype=np.uint64), return_inverse=True)
    bits = _differing_bits(values, np.uint64(0))
    telling = np.flatnonzero((bits >= FLAT_BITS) & (bits <= 64 - FLAT_BITS))
    members: dict[int, list[int]] = {}
    for position, value in enumerate(belongs.reshape(-1).tolist()):
        members.setdefault(value, []).append(position)
    found: set[tuple[int, int]] = set()
    for value in telling.tolist():
        found.update(_pairs_within(members[value]))
    for one, other in _near_values(values[telling]):
        for first in members[int(telling[one])]:
            found.update((min(first, second), max(first, second)) for second in members[int(telling[other])])
    return sorted(found)


def _pairs_within(positions: Sequence[int]) -> list[tuple[int, int]]:
    """All pairs; of very many that look the same, each with the first one, which shows it too."""
    if len(positions) > _SHOWN_IN_FULL:
        return [(positions[0], other) for other in positions[1:]]
    return list(itertools.combinations(positions, 2))


def _near_values(values: np.ndarray) -> set[tuple[int, int]]:
    """The pairs of places of different values that differ in few bits."""
    found: set[tuple[int, int]] = set()
    for low, high in _BANDS:
        band = (values >> np.uint64(low)) & np.uint64((1 << (high - low)) - 1)
        order = np.argsort(band, kind="stable")
        edges = np.concatenate([[0], np.flatnonzero(np.diff(band[order])) + 1, [len(order)]])
        for start in np.flatnonzero(np.diff(edges) > 1).tolist():
            found.update(_near_within(values, order[edges[start] : edges[start + 1]]))
    return found


def _near_within(values: np.ndarray, bucket: np.ndarray) -> list[tuple[int, int]]:
    step = max(1, _WORKED_ON_AT_ONCE // len(bucket))
    pairs: list[tuple[int, int]] = []
    for start in range(0, len(bucket), step):
        some = bucket[start : start + step]
        near = _differing_bits(values[some][:, None], values[bucket][None, :]) <= DISTANCE
        pairs += [
            (int(some[row]), int(bucket[column])) for row, column in np.argwhere(near) if some[row] < bucket[column]
        ]
    return pairs


def _differing_bits(first: np.ndarray, second: np.ndarray | np.uint64) -> np.ndarray:
    words = np.ascontiguousarray(np.bitwise_xor(first, second))[..., None].view(np.uint16)
    return np.asarray(_BITS_OF[words].sum(axis=-1, dtype=np.uint8))


def _decoded(source: ImageSource, index: int) -> Image.Image:
    source = as_kept(source)
    if isinstance(source, EncodedSource):
        content = source.images.read(index)
        try:
            return decode(content)
        except DataError as error:
            raise DataError(f"{source.images.name(index)}: {error}") from error
    if isinstance(source, ArraySource):
        return Image.fromarray(source.rows.read(index))
    return Image.fromarray(source.views(index, [None])[0])


def _digest(image: Image.Image) -> bytes:
    total = hashlib.blake2b(f"{image.width}x{image.height}".encode(), digest_size=_BYTES_OF_DIGEST)
    total.update(image.convert("RGB").tobytes())
    return total.digest()
