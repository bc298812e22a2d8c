"""What the beginning of an image file says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from oodometer.core.dataset import silent
from oodometer.data import addresses
from oodometer.data.headers import Header, headers_of, lies_about_its_kind
from oodometer.data.kinds.folder import open_folder


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF", "PPM"])
def test_kind_and_size_of_every_image(
    root: str, kind: str, put: Callable[[str, bytes], str], encode: Callable[..., bytes]
) -> None:
    put(addresses.join(root, "cat/a.png"), encode(0, kind))
    put(addresses.join(root, "cat/b.png"), b"nothing")
    found = headers_of(open_folder(root, name="pets"), silent)
    assert found.found == (Header(kind, 16, 12), None)
    assert list(found.broken) == [1]


@pytest.mark.parametrize(
    ("path", "kind", "lies"),
    [
        ("a.JPEG", "JPEG", False),
        ("a.jpg", "MPO", False),
        ("a.JPEG", "PNG", True),
        ("a.png", "JPEG", True),
        ("a.tif", "TIFF", False),
        ("a.png", "", False),  # rows of pixels have no kind
    ],
)
def test_endings_that_lie(path: str, kind: str, lies: bool) -> None:
    assert lies_about_its_kind(path, Header(kind, 1, 1)) == lies
