"""Files that are whole or not there, and get into place together."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from oodometer.core.errors import StoreError
from oodometer.store.files import ASIDE, OLD_SECONDS, Files


@pytest.fixture
def files(address) -> Files:
    return Files(address)


@pytest.fixture
def local(tmp_path: Path) -> Files:
    return Files(str(tmp_path / "runs"))


def paths_of(files: Files) -> set[str]:
    root = Path(files.address)
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def test_what_is_written_is_read_listed_and_removed(files):
    assert files.names("") == []
    assert not files.exists("a/b.json")
    for path in ("a/b.json", "a/c.json", "d.json"):
        files.write(path, path.encode())
    assert files.read("a/b.json") == b"a/b.json"
    assert files.names("a") == ["b.json", "c.json"]
    assert files.exists("a/b.json")
    files.write("a/b.json", b"new")
    assert files.read("a/b.json") == b"new"
    files.remove("a/b.json")
    files.remove("a/b.json")
    assert files.names("a") == ["c.json"]
    files.remove("a")
    assert files.names("a") == []
    assert files.read("d.json") == b"d.json"
    with pytest.raises(FileNotFoundError):
        files.read("a/c.json")


def test_nothing_is_in_place_before_the_batch_ends(local):
    with local.batch() as batch:
        batch.add("cells/a/rows", b"1")
        batch.add("cells/b/rows", b"2")
        assert {path.split("/")[0] for path in paths_of(local)} == {ASIDE}
        assert not local.exists("cells")
        assert len(local.names(ASIDE)) == 2
    assert paths_of(local) == {"cells/a/rows", "cells/b/rows"}


def test_nothing_of_a_batch_that_failed_is_left(local):
    def fail() -> None:
        with local.batch() as batch:
            batch.add("cells/a/rows", b"1")
            raise RuntimeError("out of order")

    with pytest.raises(RuntimeError, match="out of order"):
        fail()
    assert paths_of(local) == set()


def test_a_batch_may_be_put_in_place_in_between(local):
    with local.batch() as batch:
        batch.add("first", b"1")
        batch.commit()
        assert paths_of(local) == {"first"}
        batch.add("second", b"2")
    assert paths_of(local) == {"first", "second"}


def test_a_folder_that_vanishes_meanwhile_is_made_again(local):
    local.write("cells/a/parts/1", b"1")
    with local.batch() as batch:
        batch.add("cells/a/parts/2", b"2")
        local.remove("cells/a/parts")  # another run has sealed the cell
        local.sweep()
    assert paths_of(local) == {"cells/a/parts/2"}


def test_files_and_folders_are_synced_in_the_order_that_survives_a_power_cut(local, monkeypatch):
    local.write("here", b"")
    steps: list[str] = []
    fsync, move = os.fsync, os.replace

    def note_sync(handle: int) -> None:
        path = os.readlink(f"/proc/self/fd/{handle}")
        steps.append(f"sync {'folder' if os.path.isdir(path) else 'file'}")
        fsync(handle)

    def note_move(*some: str) -> None:
        steps.append("rename")
        move(*some)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(os, "replace", note_move)
    with local.batch() as batch:
        batch.add("one", b"1")
        batch.add("two", b"2")
        assert steps == [], "the disk is waited for once"
    assert steps == ["sync file", "sync file", "rename", "rename", "sync folder"]


# What was left by processes that died

WRITER = """
import os, signal, sys
from oodometer.store.files import Files
with Files(sys.argv[1]).batch() as batch:
    batch.add("rows", b"half of it")
    print("written", flush=True)
    sys.stdin.read()
"""


def writer(files: Files) -> subprocess.Popen[str]:
    """A process that has written a file aside, and waits."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, files.address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "written\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    """Kill it, and wait until it is gone."""
    process.kill()
    process.communicate()


def test_what_a_process_was_writing_is_swept_when_it_has_died(local):
    process = writer(local)
    local.sweep()
    assert len(local.names(ASIDE)) == 1, "it is still being written"
    end(process)
    assert len(local.names(ASIDE)) == 1
    local.sweep()
    assert not local.exists(ASIDE)
    local.sweep()


def test_what_is_being_written_survives_a_sweep(local):
    process = writer(local)
    local.sweep()
    process.communicate("")
    assert process.returncode == 0
    assert local.read("rows") == b"half of it"


def test_files_of_other_machines_are_swept_when_they_are_old(local):
    folder = Path(local.locate(ASIDE))
    folder.mkdir(parents=True)
    for name in (f"another-host-{os.getpid()}-0a1b", f"{socket.gethostname()}-strange-0a1b", "stranger"):
        (folder / name).write_bytes(b"")
    local.sweep()
    assert len(local.names(ASIDE)) == 3
    old = time.time() - OLD_SECONDS - 60
    for path in folder.iterdir():
        os.utime(path, (old, old))
    local.sweep()
    assert not local.exists(ASIDE)


# Signatures and errors


def test_a_signature_changes_with_the_file(local):
    assert local.signature("rows") is None
    local.write("rows", b"1")
    first = local.signature("rows")
    assert first is not None
    assert first == local.signature("rows")
    assert first.size == 1
    local.write("rows", b"2")
    second = local.signature("rows")
    assert second is not None
    assert second.inode != first.inode
    assert Files("memory://nowhere").signature("rows") is None


def test_what_can_not_be_written_is_an_error_of_one_line(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError) as caught:
        Files(str(tmp_path / "file")).write("rows", b"1")
    assert str(caught.value).startswith(f"{tmp_path}/file")
    assert "can't be written (" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_can_not_be_read_is_an_error_of_one_line(tmp_path):
    with pytest.raises(StoreError) as caught:
        Files(str(tmp_path)).read("")
    assert str(caught.value) == f"{tmp_path}: can't be read (Is a directory)"
