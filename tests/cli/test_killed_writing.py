"""``corrupt`` and ``split`` that are really killed: the same command then finishes, and nothing is left lying about."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

from as_typed import oodometer
from oodometer.shifts.unfinished_files import FOLDER
from watching import count_entries

CORRUPTIONS = ("--corruptions", "contrast,pixelate", "--severities", "1-5", "--size", "64", "--threads", "2")

KILLED_AT = """
import os, signal, sys
from oodometer.cli.main import main

moment, calls = int(sys.argv.pop(1)), [0]

def counted(real):
    def call(*words, **more):
        calls[0] += 1
        if calls[0] == moment:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*words, **more)
    return call

import pathlib
os.replace = counted(os.replace)
pathlib.Path.write_text = counted(pathlib.Path.write_text)
main(prog_name="oodometer")
"""


def start(*words: str | Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "oodometer", *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ)


def kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def contents(folder: Path) -> dict[str, bytes]:
    """All files, hidden ones too."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def wait_for(folder: Path, n_files: int, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 120
    while count_entries(folder) < n_files and process.poll() is None:
        assert time.monotonic() < until, "nothing was written"
        time.sleep(0.002)


@pytest.mark.slow
def test_corrupt_that_is_killed_again_and_again(photos: Path, tmp_path: Path) -> None:
    assert oodometer("corrupt", photos, tmp_path / "undisturbed", *CORRUPTIONS).exit_code == 0
    target, chance = tmp_path / "killed", random.Random(0)
    for n_files in (1, 3, 60, 150, 240, 330):
        process = start("corrupt", photos, target, *CORRUPTIONS)
        wait_for(target, n_files, process)
        time.sleep(chance.uniform(0, 0.05))
        kill(process)
    assert 0 < len(list(target.rglob("*.JPEG"))) < 400, "it was not killed in the middle"
    result = oodometer("corrupt", photos, target, *CORRUPTIONS)
    assert result.exit_code == 0, result.stderr
    assert contents(target) == contents(tmp_path / "undisturbed")
    assert not (target / FOLDER).exists()


@pytest.mark.slow
def test_split_that_is_killed_at_every_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{number}.png,{number % 2},{'fr' if number % 3 else 'us'}" for number in range(12)]
    Path("list.csv").write_text("path,label,country\n" + "\n".join(rows) + "\n")
    words = ("split", "list.csv", "--base", "country=us", "--shift", "country=fr", "--out")
    assert oodometer(*words, "undisturbed").exit_code == 0
    right = contents(Path("undisturbed"))
    assert sorted(right) == ["country=fr.csv", "iid.csv", "train.csv"]
    Path("killed_at.py").write_text(KILLED_AT)
    # Three files are written aside and then put in their places: killed before each of the six, and never.
    for moment in range(1, 8):
        command = [sys.executable, "killed_at.py", str(moment), *words, f"killed{moment}"]
        killed = subprocess.run(command, capture_output=True, check=False, env=os.environ)
        assert killed.returncode == (-signal.SIGKILL if moment < 7 else 0), killed.stderr
        put = {name: content for name, content in contents(Path(f"killed{moment}")).items() if FOLDER not in name}
        assert len(put) == max(0, moment - 4)
        assert put.items() <= right.items(), "what is in its place is whole"
        result = oodometer(*words, f"killed{moment}")
        assert result.exit_code == 0, result.stderr
        assert contents(Path(f"killed{moment}")) == right
        assert not Path(f"killed{moment}", FOLDER).exists()


def test_what_a_killed_corrupt_left_stops_nothing_and_is_removed(photos: Path, tmp_path: Path) -> None:
    left = tmp_path / "c" / FOLDER
    left.mkdir(parents=True)
    (left / "0123-456").write_bytes(b"half a pict")
    words = ("corrupt", photos, tmp_path / "c", "--corruptions", "contrast", "--severities", "1", "--size", "32")
    result = oodometer(*words)
    assert result.exit_code == 0, result.stderr
    assert not left.exists()
    assert len(list((tmp_path / "c").rglob("*.JPEG"))) == 40


def test_what_another_call_clears_away_is_written_again(tmp_path: Path) -> None:
    from oodometer.shifts.unfinished_files import write_whole

    taken = []

    def write(file):
        file.write(b"whole")
        file.flush()
        if len(taken) < 3:
            (unfinished,) = (tmp_path / FOLDER).iterdir()
            taken.append(unfinished.name)
            unfinished.unlink()
            (tmp_path / FOLDER).rmdir()

    write_whole(tmp_path, tmp_path / "a" / "b.txt", write)
    assert (tmp_path / "a" / "b.txt").read_bytes() == b"whole"
    assert len(taken) == 3


def test_a_file_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from oodometer.shifts.unfinished_files import nothing_unfinished, write_whole

    monkeypatch.chdir(tmp_path)
    with nothing_unfinished(Path("a.txt").parent):
        write_whole(Path("a.txt").parent, "a.txt", lambda file: file.write(b"whole"))
    assert contents(tmp_path) == {"a.txt": b"whole"}


def test_split_again_changes_nothing_and_foreign_files_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(4):
        Image.new("RGB", (4, 4), (number,) * 3).save(f"{number}.png")
    Path("list.csv").write_text("path,label,country\n0.png,0,us\n1.png,0,us\n2.png,0,us\n3.png,0,fr\n")
    words = ("split", "list.csv", "--base", "country=us", "--shift", "country=fr", "--out", "sets")
    Path("sets").mkdir()
    Path("sets/notes.txt").write_text("mine")
    assert oodometer(*words).exit_code == 0
    before = {path.name: path.stat().st_mtime_ns for path in Path("sets").iterdir()}
    assert oodometer(*words).exit_code == 0
    assert {path.name: path.stat().st_mtime_ns for path in Path("sets").iterdir()} == before
    other = oodometer(*words, "--seed", "1", "--test-share", "0.6")
    assert (other.exit_code, "is there already" in other.stderr) == (1, True)
    assert {path.name: path.stat().st_mtime_ns for path in Path("sets").iterdir()} == before
