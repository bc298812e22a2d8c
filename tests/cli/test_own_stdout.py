"""What a library prints past Python does not reach stdout: another program reads that."""

from __future__ import annotations

import json
import os
import subprocess
import sys

PROGRAM = """
import ctypes, os, sys
import oodometer.cli.ls as ls
from oodometer.cli.main import main
say = ls.command.callback
def talkative(**given):
    os.write(1, b"by the descriptor\\n")
    ctypes.CDLL(None).puts(b"by the C library")
    say(**given)
ls.command.callback = talkative
main(["ls", "models", "--json"])
"""


def test_what_is_printed_natively_goes_to_stderr() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)
    assert sorted(done.stderr.splitlines()) == ["by the C library", "by the descriptor"]


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    command = f"{sys.executable} -m oodometer ls models | true"
    done = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
