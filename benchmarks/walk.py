"""How many files of the package an image passes on its way: those in which a function runs, imports not counted.

python benchmarks/walk.py FOLDER_OF_PHOTOGRAPHS [--source SRC] [--show]

With --source, another checkout of the package is walked through, to compare.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

WALK = r"""
import json, os, signal, sys, threading, urllib.request
source, out, *words = sys.argv[1:]
sys.path.insert(0, source)
passed = set()

def while_importing(frame):
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(source):
            return True
        frame = frame.f_back
    return False

def note(frame, event, _):
    name = frame.f_code.co_filename
    if event == "call" and name.startswith(source) and name[len(source) + 1 :] not in passed:
        if not while_importing(frame):
            passed.add(name[len(source) + 1 :])

def visit(text):
    with urllib.request.urlopen(text.strip()) as page:
        page.read()
    os.kill(os.getpid(), signal.SIGINT)

if words[0] == "serve":
    import click
    def visit_it(text="", **_):
        if "http" in str(text):
            threading.Thread(target=visit, args=(text,)).start()
    click.echo = visit_it
from oodometer.cli.main import main
threading.setprofile(note)
sys.setprofile(note)
try:
    main(words, standalone_mode=False)
except (SystemExit, KeyboardInterrupt):
    pass
finally:
    sys.setprofile(None)
    open(out, "w").write(json.dumps(sorted(passed)))
"""


def walk(source: str, folder: str, words: list[str]) -> list[str]:
    """The files that a command passes."""
    out = os.path.join(folder, "passed.json")
    environment = {**os.environ, "PYTHONPATH": source}
    subprocess.run(
        [sys.executable, "-c", WALK, source, out, *words], cwd=folder, env=environment, capture_output=True, check=True
    )
    return list(json.loads(Path(out).read_text()))


def main() -> None:
    """Walk and print."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("photographs")
    parser.add_argument("--source", default=str(Path(__file__).parents[1] / "src"))
    parser.add_argument("--show", action="store_true", help="Name the files.")
    given = parser.parse_args()
    data = str(Path(given.photographs).resolve())
    asked = ["--model", "zoo:efficientnet-lite0", "--data", data, "--images", "4", "--store"]
    ways = {
        "run --on clean": ["run", *asked, "clean"],
        "run --on imagenet-c/fog/3": ["run", *asked, "runs", "--on", "clean", "--on", "imagenet-c/fog/3"],
        "report": ["report", "runs", "-o", "report.html"],
        "serve, its first page": ["serve", "runs", "--port", "0"],
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, words in ways.items():
            passed = walk(str(Path(given.source).resolve()), folder, words)
            print(f"{name:28s} {len(passed):4d} files")
            if given.show:
                print("\n".join(f"    {one}" for one in passed))


if __name__ == "__main__":
    main()
