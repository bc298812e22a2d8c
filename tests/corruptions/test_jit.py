"""Compiled kernels belong to the sources they were compiled from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import oodometer

KERNELS = {
    "inner.py": "from oodometer.corruptions.jit import jit\n\n@jit\ndef inner(x):\n    return x + {added}\n",
    "outer.py": "from oodometer.corruptions.jit import jit\nfrom inner import inner\n\n@jit\ndef outer(x):\n"
    "    return inner(x)\n",
}


def answer(folder: Path, added: int) -> str:
    """What a kernel gives that calls another one, in a process of its own; ``jit`` takes the folder for its sources."""
    for name, text in KERNELS.items():
        (folder / name).write_text(text.format(added=added))
        os.utime(folder / name, (1_600_000_000, 1_600_000_000))  # as files from a package may have: never newer
    code = (
        "import oodometer.corruptions.jit as jit\n"
        f"jit.__file__ = {str(folder / 'jit.py')!r}\n"
        "from outer import outer\n"
        "print(outer(1))"
    )
    root = Path(oodometer.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{root}", "NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip()


@pytest.mark.slow
def test_a_kernel_is_compiled_anew_when_one_that_it_calls_has_changed(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    assert answer(tmp_path, 1) == "2"
    assert list((tmp_path / "cache").rglob("*.nbc")), "nothing was kept, so nothing was tested"
    assert answer(tmp_path, 5) == "6"


def test_a_kernel_works_where_nothing_can_be_kept(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    (tmp_path / "a file").write_text("")
    code = (
        "import numpy as np, oodometer as odo; print(odo.corrupt(odo.sample_image(), 'brightness', 1, key='a').shape)"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "a file")}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "(224, 224, 3)"
