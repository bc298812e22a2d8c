"""The images of a project as files in its folder, each named by its digest, and small copies that all look alike."""

from __future__ import annotations

import hashlib
import io
import os
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from oodometer.core.errors import DataError
from oodometer.data.decode import decode, header_of

IMAGES, SMALL = "images", "small"
"""Folders of a project: the files as they came, and what the pages show."""

SMALL_SIDE = 256
SMALL_QUALITY = 90

ENDINGS = {"JPEG": "jpg", "MPO": "jpg", "PNG": "png", "WEBP": "webp", "GIF": "gif", "BMP": "bmp", "TIFF": "tif"}


@dataclass(frozen=True)
class KeptFile:
    """An image file of a project.

    Args:
        digest: SHA-256 of its bytes.
        file: Where it lies, below the folder of images.
        width: In pixels, as it is stored.
        height: In pixels.
    """

    digest: str
    file: str
    width: int
    height: int


def keep(folder: Path, content: bytes) -> KeptFile:
    """Put an image into the project; one that is there already is left alone.

    Raises:
        DataError: It is no whole image; the message does not name it.
    """
    decode(content)  # all of it: what is cut short must not come in
    kind, width, height = header_of(io.BytesIO(content))
    digest = hashlib.sha256(content).hexdigest()
    file = f"{digest[:2]}/{digest}.{ENDINGS.get(kind, kind.lower())}"
    place = folder / IMAGES / file
    if not place.exists():
        _write_whole(place, content)
    return KeptFile(digest, file, width, height)


def read_kept(folder: Path, file: str) -> bytes:
    """The bytes of an image of the project."""
    place = folder / IMAGES / file
    try:
        return place.read_bytes()
    except OSError as error:
        raise DataError(f"{place}: can't be read ({error.strerror}); was it taken out of the project?") from error


def small_copy(folder: Path, file: str) -> bytes:
    """A square JPEG of the image's middle, of one size for all images, made once.

    All that would tell where an image is from is lost on the way: its size, its proportions, its kind of file, what
    else stands in it. So a control can't be told from a candidate.
    """
    place = folder / SMALL / f"{Path(file).stem}.jpg"
    try:
        return place.read_bytes()
    except FileNotFoundError:
        content = _square(decode(read_kept(folder, file)))
        _write_whole(place, content)
        return content


def _square(image: Image.Image) -> bytes:
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    kind = Image.Resampling.NEAREST if side * 2 <= SMALL_SIDE else Image.Resampling.LANCZOS
    cut = image.convert("RGB").crop((left, top, left + side, top + side)).resize((SMALL_SIDE, SMALL_SIDE), kind)
    out = io.BytesIO()
    cut.save(out, "JPEG", quality=SMALL_QUALITY)
    return out.getvalue()


def _write_whole(place: Path, content: bytes) -> None:
    """Write aside and rename, so that nobody ever sees half of it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    aside = place.with_name(f".{place.name}.{os.getpid()}.{os.urandom(4).hex()}")
    aside.write_bytes(content)
    aside.replace(place)
