"""Tiny packages in the form of npm's, and an npm that brings them from a folder."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import sys
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from oodometer.build.icons.packages import Kind, Package

NPM = """#!{python}
import os, shutil, sys
assert sys.argv[1] == "pack" and "--ignore-scripts" in sys.argv
with open({log!r}, "a") as log:
    log.write(sys.argv[2] + "\\n")
place = os.path.join({registry!r}, sys.argv[2].lstrip("@").replace("/", "-").replace("@", "-") + ".tgz")
if not os.path.exists(place):
    sys.exit("npm error code ENOTFOUND\\nnpm error network request failed")
shutil.copy(place, ".")
"""

EMOJI = [
    {"codes": "1F986", "name": "duck", "subgroup": "animal-bird"},
    {"codes": "1F989", "name": "owl", "subgroup": "animal-bird"},
    {"codes": "1F426 200D 2B1B", "name": "black bird", "subgroup": "animal-bird"},
    {"codes": "1F448", "name": "backhand index pointing left", "subgroup": "hand-single-finger"},
    {"codes": "1F449", "name": "backhand index pointing right", "subgroup": "hand-single-finger"},
    {"codes": "1F449 1F3FF", "name": "backhand index pointing right: dark skin tone", "subgroup": "hand-single-finger"},
    {"codes": "2764 FE0F", "name": "red heart", "subgroup": "heart"},
    {"codes": "2764", "name": "red heart", "subgroup": "heart"},
    {"codes": "1F1F3 1F1F4", "name": "flag: Norway", "subgroup": "country-flag"},
    {"codes": "1F1E7 1F1FB", "name": "flag: Bouvet Island", "subgroup": "country-flag"},
    {"codes": "1F40C", "name": "snail", "subgroup": "animal-bug"},
]


def filled(colour: str, *, left: int = 0, width: int = 6) -> dict[str, str]:
    """An icon of 16 x 16: a bar of one colour on nothing."""
    return {"body": f'<path fill="{colour}" d="M{left} 0h{width}v16h-{width}z"/>'}


CODED = {
    "icons.json": {
        "prefix": "noto",
        "icons": {
            "duck": filled("#00ff00"),
            "owl": filled("#804000"),
            "pointing-left": filled("#ffcc00"),
            "pointing-left-dark": filled("#503000"),
            "red-heart": filled("#ff0000"),
            "flag-norway": filled("#cc0000", width=12),
            "flag-bouvet-island": filled("#cc0000", width=12),
            "snail": filled("#123456"),
            "black-bird": {**filled("#000000"), "hidden": True},
        },
        "aliases": {
            "pointing-right": {"parent": "pointing-left", "hFlip": True},
            "pointing-right-dark": {"parent": "pointing-left-dark", "hFlip": True},
            "mallard": {"parent": "duck"},
        },
        "width": 16,
        "height": 16,
    },
    "chars.json": {
        "1f986": "duck",
        "1f989": "owl",
        "1f448": "pointing-left",
        "1f449": "pointing-right",
        "1f449-1f3ff": "pointing-right-dark",
        "2764": "red-heart",
        "1f1f3-1f1f4": "flag-norway",
        "1f1e7-1f1fb": "flag-bouvet-island",
        "1f40c": "snail",
        "1f426-200d-2b1b": "black-bird",
    },
}
NAMED = {
    "icons.json": {
        "prefix": "old",
        "icons": {
            "mallard": filled("#0000ff"),
            "flag-for-norway": filled("#dd0000"),
            "heavyblackheart": filled("#ee0000"),
        },
        "width": 16,
        "height": 16,
    },
    "chars.json": {},
}


def picture(colour: tuple[int, int, int], side: int = 64) -> bytes:
    """A picture whose left half is transparent."""
    pixels = np.zeros((side, side, 4), np.uint8)
    pixels[:, side // 2 :] = (*colour, 255)
    target = io.BytesIO()
    Image.fromarray(pixels).save(target, "PNG")
    return target.getvalue()


class Registry:
    """A folder of packages, and the npm that brings them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log.txt"
        folder.mkdir()

    def put(
        self, name: str, members: Mapping[str, Any], *, kind: Kind = "vector", style: str = "", drawing: str = ""
    ) -> Package:
        """A package with these members, packed as npm packs it."""
        target = io.BytesIO()
        with tarfile.open(fileobj=target, mode="w:gz") as tar:
            for path, content in {"package.json": {"name": name}, **members}.items():
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                info = tarfile.TarInfo(f"package/{path}")
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        return self.put_bytes(name, target.getvalue(), kind=kind, style=style, drawing=drawing)

    def put_bytes(
        self, name: str, content: bytes, *, kind: Kind = "vector", style: str = "", drawing: str = ""
    ) -> Package:
        """A package of any content."""
        (self.folder / f"{name.lstrip('@').replace('/', '-')}-1.0.0.tgz").write_bytes(content)
        digest = f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"
        return Package(name, "1.0.0", digest, kind, "MIT", "somebody", "https://example.org", style, drawing)

    def asked(self) -> list[str]:
        """What npm was asked for."""
        return self.log.read_text().split() if self.log.exists() else []


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """An npm on the path that knows nothing yet."""
    made = Registry(tmp_path / "registry")
    tools = tmp_path / "tools"
    tools.mkdir()
    npm = tools / "npm"
    npm.write_text(NPM.format(python=sys.executable, registry=str(made.folder), log=str(made.log)))
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("OODOMETER_CACHE", str(tmp_path / "cache"))
    return made


@pytest.fixture
def packages(registry: Registry) -> tuple[Package, ...]:
    """Unicode's list, a set with code points, one with names alone, and one of pictures."""
    return (
        registry.put("emoji.json", {"emoji.json": EMOJI}, kind="unicode"),
        registry.put("@iconify-json/noto", CODED, style="google", drawing="new"),
        registry.put("@iconify-json/old", NAMED, style="mozilla", drawing="old"),
        registry.put(
            "emoji-datasource-apple",
            {
                "img/apple/64/1f986.png": picture((9, 8, 7)),
                "img/apple/64/2764-fe0f.png": picture((6, 5, 4)),
                "img/apple/sheets/64.png": b"no picture of ours",
            },
            kind="raster",
            style="apple",
            drawing="new",
        ),
    )


@pytest.fixture
def error_of() -> Callable[[Callable[[], object]], str]:
    """The message of the one-line error that a call ends in."""
    from oodometer.core.errors import OodometerError

    def message(call: Callable[[], object]) -> str:
        with pytest.raises(OodometerError) as caught:
            call()
        text = str(caught.value)
        assert "\n" not in text
        return text

    return message
