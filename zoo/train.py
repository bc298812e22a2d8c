"""Train a zoo from its table: what is missing, and after a kill where it was.

    oodometer build icons --out icons/
    python zoo/train.py icons --icons icons/
    python zoo/train.py cifar10 --cifar10 cifar10/

Every model is one `oodometer train` with one thread, so that its weights don't depend on the machine's number of cores;
several run at once. Checkpoints and logs stay in the work folder, finished models are copied to zoo/TABLE/.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MOST_BYTES = 195 * 10**5
"""Of the models of a table; those of CIFAR-10 take 4.7 MB, so that all together stay below 25."""
OPTIONS = (
    "net",
    "recipe",
    "epochs",
    "lr",
    "schedule",
    "warm-up",
    "weight-decay",
    "batch",
    "size",
    "seed",
    "objective",
    "objective-weight",
    "adversarial",
    "eps",
    "precision",
    "category",
    "parent",
)
"""Keys of a row that are options of the command, with - or _ between their words."""
KEYS = {"name", "data", "hold_out", "augment", "init", "in_zoo", *(key.replace("-", "_") for key in OPTIONS)}

DATA = {
    "icons": "what `oodometer build icons` made",
    "outside": "icons outside the 50 classes",
    "cifar10": "what `oodometer build cifar10` made",
}
"""What a table may train on, each an option of this script."""


@dataclass(frozen=True)
class Places:
    """Where the data are, by the name that the table uses, and where models go."""

    data: Mapping[str, Path]
    work: Path
    out: Path


def read_table(path: Path) -> list[dict[str, Any]]:
    """The rows of the table, with the defaults in them."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    rows = [{**table["defaults"], **row} for row in table["model"]]
    for row in rows:
        if unknown := set(row) - KEYS:
            sys.exit(f"{path}: {row['name']} has a key {unknown.pop()!r}; known: {', '.join(sorted(KEYS))}")
    return rows


def command_of(row: Mapping[str, Any], places: Places) -> list[str]:
    """The words of the command that trains a row."""
    words = [sys.executable, "-m", "oodometer", "train", str(places.data[row["data"]])]
    words += ["--out", str(places.work / f"{row['name']}.onnx"), "--half", "--threads", "1"]
    said = {f"--{key}": row[key.replace("-", "_")] for key in OPTIONS if key.replace("-", "_") in row}
    words += [word for flag, value in said.items() for word in (flag, str(value))]
    words += ["--augment", ",".join(row["augment"]) or "none"]
    words += [word for one in row["hold_out"] for word in ("--hold-out", one)]
    if "init" in row:
        words += ["--init", str(places.work / f"{row['init']}.pt")]
    return words


def train_row(row: Mapping[str, Any], places: Places) -> str | None:
    """Train a row if need be and copy it to its place; what went wrong, if anything did."""
    name = row["name"]
    if row["data"] not in places.data:
        return f"{name}: left out, since --{row['data']} is not given"
    if "init" in row and not (places.work / f"{row['init']}.onnx").exists():
        return f"{name}: left out, since {row['init']} is not trained"
    with (places.work / f"{name}.log").open("a") as log:
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command_of(row, places), stdout=log, stderr=log, check=False, env=environment)
    if done.returncode:
        return f"{name}: failed; see {places.work / name}.log"
    if row.get("in_zoo", True):
        copy_model(places.work / f"{name}.onnx", places.out / f"{name}.onnx")
    print(f"{name}: there", flush=True)
    return None


def copy_model(source: Path, target: Path) -> None:
    """Copy a model and its card, unless the model is there: its card may have been added to."""
    if target.exists() and target.read_bytes() == source.read_bytes():
        return
    for ending in (".toml", ".onnx"):
        aside = target.with_name(f".{target.stem}{ending}.partial")
        shutil.copyfile(source.with_suffix(ending), aside)
        aside.replace(target.with_suffix(ending))


def train_all(rows: Sequence[Mapping[str, Any]], places: Places, *, jobs: int) -> list[str]:
    """Train all rows, those that begin with the weights of another after the others; what went wrong."""
    waves = [[row for row in rows if "init" not in row], [row for row in rows if "init" in row]]
    problems: list[str | None] = []
    for wave in waves:
        with ThreadPoolExecutor(jobs) as pool:
            problems += pool.map(lambda row: train_row(row, places), wave)
    return [one for one in problems if one is not None]


def main() -> None:
    """Train what the command line asks for."""
    parser = argparse.ArgumentParser(description="Train a zoo from its table.")
    parser.add_argument("table", nargs="?", default="icons", help="which: icons reads zoo/icons.toml  [default: icons]")
    for name, help_ in DATA.items():
        parser.add_argument(f"--{name}", type=Path, help=help_)
    parser.add_argument("--work", type=Path, help="for checkpoints and logs  [default: zoo-work/TABLE]")
    parser.add_argument("--out", type=Path, help="for finished models  [default: zoo/TABLE]")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="models at once")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="these models alone")
    said = parser.parse_args()
    rows = [row for row in read_table(HERE / f"{said.table}.toml") if said.only is None or row["name"] in said.only]
    data = {name: path for name in DATA if (path := getattr(said, name)) is not None}
    places = Places(data, said.work or Path("zoo-work", said.table), said.out or HERE / said.table)
    for folder in (places.work, places.out):
        folder.mkdir(parents=True, exist_ok=True)
    problems = train_all(rows, places, jobs=said.jobs)
    n_bytes = sum(path.stat().st_size for path in places.out.glob("*.onnx"))
    print(f"{len(list(places.out.glob('*.onnx')))} models, {n_bytes / 1e6:.1f} MB")
    if n_bytes > MOST_BYTES:
        problems.append(f"{places.out}: more than {MOST_BYTES / 1e6:.0f} MB")
    for one in problems:
        print(one, file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
