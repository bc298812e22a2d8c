"""A disk of its own, an ext4 in a file, whose current can be cut for real; where the user may mount one."""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

SHUT_DOWN, WITHOUT_FLUSHING_THE_LOG = 0x8004587D, 2
"""FS_IOC_SHUTDOWN of the Linux kernel, as the crash tests of its file systems use it."""
NASTY = "loop,data=writeback,noauto_da_alloc"
"""Without what ext4 does for programs that forget to fsync."""


@dataclass(frozen=True)
class Disk:
    """An image and the folder where it is mounted."""

    image: Path
    folder: Path

    def format(self) -> None:
        """Begin with an empty disk."""
        subprocess.run(["mkfs.ext4", "-q", "-F", str(self.image)], check=True, capture_output=True)

    def mount(self) -> None:
        """Show the disk; after a cut the journal is played back."""
        subprocess.run(["mount", "-o", NASTY, str(self.image), str(self.folder)], check=True, capture_output=True)

    def unmount(self) -> None:
        """Take it away, also where a command that failed still holds a file open: behind a cut nothing is written."""
        done = subprocess.run(["umount", str(self.folder)], check=False, capture_output=True)
        if done.returncode != 0:
            subprocess.run(["umount", "--lazy", str(self.folder)], check=True, capture_output=True)

    def cut(self) -> None:
        """Cut the current: from now on nothing reaches the disk, and what was on its way is lost."""
        descriptor = os.open(self.folder, os.O_RDONLY)
        fcntl.ioctl(descriptor, SHUT_DOWN, struct.pack("I", WITHOUT_FLUSHING_THE_LOG))
        os.close(descriptor)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """A mounted, empty disk of 64 MB."""
    if not (shutil.which("mkfs.ext4") and shutil.which("mount")):
        pytest.skip("there is no mkfs.ext4 or no mount")
    made = Disk(tmp_path / "disk.img", tmp_path / "disk")
    made.folder.mkdir()
    with made.image.open("wb") as file:
        file.truncate(64 << 20)
    made.format()
    try:
        made.mount()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"an image can't be mounted here: {error.stderr.decode().strip()}")
    yield made
    if os.path.ismount(made.folder):
        made.unmount()


@contextmanager
def disk_in_memory(folder: Path, size: str) -> Iterator[Path]:
    """A file system of its own in memory, so small that it is soon full; where the user may mount one."""
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if done.returncode != 0:
        pytest.skip(f"a tmpfs can't be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)
