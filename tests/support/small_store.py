"""A small store with every kind of file, the commands that make it, and what the reading commands say about it.

Through the command line, so that tests which damage a store know nothing of how it is laid out.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import CliRunner
from PIL import Image

from oodometer.cli.main import main
from oodometer.store.index import look

MODELS = '''
from pathlib import Path

import numpy as np

COLOURS = np.array([(40, 60, 200), (40, 180, 60), (128, 128, 128), (210, 50, 40)], dtype=np.float64)


def distances(images, weights):
    means = images.reshape(len(images), -1, 3).mean(axis=1, dtype=np.float64)
    return (-(((means[:, None, :] - COLOURS) ** 2) * weights).sum(axis=2) / 1000).astype(np.float32)


def colours(images):
    return distances(images, np.array([1.0, 1.0, 1.0]))


def reds(images):
    return distances(images, np.array([1.0, 0.05, 0.05]))


def greens(images):
    return distances(images, np.array([0.05, 1.0, 0.05]))


def stops(images):
    """Fails at the last of so many batches, where a file says how many."""
    batches = Path("batches-until-failure")
    if batches.exists():
        left = int(batches.read_text()) - 1
        batches.write_text(str(left))
        if left <= 0:
            raise ValueError("no more batches")
    return distances(images, np.array([0.05, 0.05, 1.0]))


def network():
    import torch

    layer = torch.nn.Linear(3, 4)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(COLOURS / 255).float())
        layer.bias.copy_(torch.from_numpy(-((COLOURS / 255) ** 2).sum(axis=1) / 2).float())
    return torch.nn.Sequential(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), layer).eval()
'''
COLOURS = {"blue": (40, 60, 200), "green": (40, 180, 60), "grey": (128, 128, 128), "red": (210, 50, 40)}
N_IMAGES, SIZE, CHUNK = 60, 32, 12
N_BATCHES_ANSWERED = 4
"""Of the unfinished cell, before its model fails: the first is asked when the model is loaded, to count its classes."""

TABLE = "model,condition,accuracy,n\npublished,val,76.1,50000\npublished,v2,63.3,10000\nother,val,70.5,50000\n"
SECOND_TABLE = "model,condition,accuracy,n\nthird,val,61.5,50000\nthird,v2,50.25,10000\n"
RUN = ("run", "--size", str(SIZE), "--resize", "squash", "--chunk", str(CHUNK), "--threads", "1")


@dataclass(frozen=True)
class Command:
    """What a person types, but for the store."""

    words: tuple[str, ...]

    def __call__(self, store: Path) -> Said:
        """Do it in this process."""
        return said(*self.words, "--store", str(store))


@dataclass(frozen=True)
class Said:
    """What a command said.

    Args:
        crash: An error of ours, which a person would see as a traceback; empty where there is none.
    """

    words: tuple[str, ...]
    exit_code: int
    stdout: str
    stderr: str
    crash: str


def said(*words: str) -> Said:
    """The outcome of a command, whatever it is."""
    result = CliRunner().invoke(main, list(words))
    ours = result.exception is not None and not isinstance(result.exception, SystemExit)
    crash = f"{type(result.exception).__name__}: {result.exception}" if ours else ""
    return Said(words, result.exit_code, result.stdout, result.stderr, crash)


def make_workplace(folder: Path) -> None:
    """The pictures, models and tables that the commands name, relative to the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "small_models.py").write_text(MODELS)
    (folder / "table.csv").write_text(TABLE)
    (folder / "second_table.csv").write_text(SECOND_TABLE)
    rows = []
    for number in range(N_IMAGES):
        name, colour = list(COLOURS.items())[number % len(COLOURS)]
        # The tint of a whole picture is what makes models err.
        rng = np.random.default_rng(number)
        pixels = np.asarray(colour) + rng.normal(0, 45, 3) + rng.normal(0, 20, (SIZE, SIZE, 3))
        path = Path("pictures") / name / f"{number:02d}.png"
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(folder / path)
        rows.append([str(path), name, "night" if number % 3 == 0 else "day"])
    with (folder / "pictures.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["path", "label", "light"], *rows])
    rng = np.random.default_rng(0)
    np.save(folder / "answers.npy", rng.normal(0, 1, (50, 10)).astype(np.float32))
    (folder / "ids.txt").write_text("\n".join(f"image-{number:02d}" for number in range(50)))
    (folder / "labels.txt").write_text("\n".join(str(label) for label in rng.integers(0, 10, 50)))


def commands() -> list[Command]:
    """What makes the store, all of it finished; the working directory is the workplace."""
    two = ("--model", "callable:small_models:colours", "--model", "callable:small_models:reds")
    pairs = ("--base", "light=day", "--shift", "light=night", "--test-share", "0.5", "--keep", "logits")
    answers = ("answers.npy", "--labels", "labels.txt", "--ids", "ids.txt", "--model", "elsewhere", "--keep", "logits")
    made = [
        Command((*RUN, *two, "--data", "pictures", "--on", "clean", "--on", "greyscale")),
        Command((*RUN, "--model", "callable:small_models:greens", "--data", "pictures.csv", *pairs)),
        unfinished(),
        Command(("import", "table.csv")),
        Command(("import", "second_table.csv")),
        Command(("import", *answers)),
    ]
    return [*made, attacked()] if find_spec("torch") else made


def unfinished() -> Command:
    """The command that can be made to fail in the middle."""
    return Command((*RUN, "--model", "callable:small_models:stops", "--data", "pictures", "--on", "clean"))


def attacked() -> Command:
    """The command that makes an attack say what it found."""
    network = ("--model", "net=torch:small_models:network", "--data", "pictures")
    return Command((*RUN, *network, "--on", "fgsm-linf-8"))


def fill(store: Path, *, leave_unfinished: bool) -> None:
    """Do all commands."""
    until = Path("batches-until-failure")
    for command in commands():
        stops = leave_unfinished and command == unfinished()
        if stops:
            until.write_text(str(N_BATCHES_ANSWERED + 1))
        outcome = command(store)
        until.unlink(missing_ok=True)
        assert not outcome.crash, outcome
        assert outcome.exit_code == (1 if stops else 0), outcome


# What the reading commands say

READINGS = {
    "score": ("--metrics", "top-1,nll"),
    "score scaled": ("--metrics", "nll", "--temperature", "iid"),  # reads the logits
    "gaps": (),
    "ls": (),
}
"""The questions, by name: the first word is the command."""
IDENTITY = {
    "score": ("model", "weights", "condition", "data", "metric"),
    "gaps": ("model", "weights", "shift", "standard"),
    "ls": ("model", "weights", "condition", "data"),
}
"""What tells two rows of an answer apart, by command."""
MEASURED = {
    "score": ("estimate", "missing", "state"),
    "gaps": ("conditions", "accuracy_standard", "accuracy_shifted", "gap", "paired", "state", "warnings", "kind"),
    "ls": ("rows", "images", "state"),
}
"""What a row says about it."""
TOLD = ("damaged", "incomplete", "missing", "unfinished", "can't be read", "not a ", "left out", "no predictions")
"""Words by which a person learns that something is not as it was."""


@dataclass(frozen=True)
class Answer:
    """What a reading command says: the rows, each by what it is about."""

    verb: str
    said: Said
    rows: dict[tuple[str, ...], dict[str, Any]]


def ask(reading: str, store: Path) -> Answer:
    """The answer to a question."""
    verb = reading.split()[0]
    outcome = said(verb, str(store), *READINGS[reading], "--json")
    outcome = replace(outcome, stderr=outcome.stderr.replace(str(store), "STORE"))
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    listed = json.loads(outcome.stdout) if outcome.exit_code == 0 and not outcome.crash else []
    for row in listed:
        # Without the data: they are named where several conditions share a name, and one of them may be lost.
        name = tuple(str(row[field]).partition("@")[0] for field in IDENTITY[verb])
        while name in rows:
            name = (*name, "again")
        rows[name] = {field: row[field] for field in MEASURED[verb]}
    return Answer(verb, outcome, rows)


def ask_all(store: Path) -> dict[str, Answer]:
    """The answers to all questions."""
    return {reading: ask(reading, store) for reading in READINGS}


def verdict(right: Answer, given: Answer, partial: Partial, *, may_lack: Sequence[tuple[str, ...]] = ()) -> str:
    """How an answer stands to the right one: ``same``, ``error``, ``told``, or what is wrong with it.

    Args:
        partial: What unfinished cells may say.
        may_lack: Rows that need not be there, because nobody was told that they are.
    """
    outcome = given.said
    if outcome.crash:
        return f"TRACEBACK {outcome.crash}"
    if outcome.exit_code != 0:
        return _verdict_on_error(outcome)
    # Of models that are not done a gap is told only where no model is: then it says so itself.
    more = sorted(given.rows.keys() - right.rows.keys())
    strange = [name for name in more if given.verb != "gaps" or not _is_honest(given, name, partial)]
    if strange:
        return f"ROW TOO MANY {strange[0]}"
    differing = [name for name in given.rows if name in right.rows and given.rows[name] != right.rows[name]]
    wrong = [name for name in differing if not _is_honest(given, name, partial)]
    if wrong:
        return f"OTHER NUMBER {wrong[0]}: {given.rows[wrong[0]]} instead of {right.rows[wrong[0]]}"
    lost = sorted(right.rows.keys() - given.rows.keys() - set(may_lack))
    tells = any(word in line for line in _new_lines(right, given) for word in TOLD)
    if lost and not tells:
        return f"ROW LOST {lost[0]}"
    if more and not tells:
        return f"ROW TOO MANY {more[0]}"
    return "told" if lost or more or differing or tells else "same"


def _verdict_on_error(outcome: Said) -> str:
    lines = [line for line in outcome.stderr.splitlines() if line.startswith("Error: ")]
    if outcome.exit_code in (1, 2) and len(lines) == 1:
        return "error"
    return f"NOT ONE LINE: exit code {outcome.exit_code}, {outcome.stderr!r}"


def _new_lines(right: Answer, given: Answer) -> list[str]:
    before = right.said.stderr.splitlines()
    return [line for line in given.said.stderr.splitlines() if line not in before]


def _is_honest(answer: Answer, name: tuple[str, ...], partial: Partial) -> bool:
    """Whether a row that differs says itself that it is of fewer images, and is right about those."""
    row = answer.rows[name]
    if row["state"] != "unfinished":
        return False
    if answer.verb == "ls":
        return int(row["rows"]) <= int(row["images"])
    if answer.verb == "score":
        return partial.has(name[0], name[2], name[4], row["estimate"])
    sides = ((name[3], row["accuracy_standard"]), (name[2], row["accuracy_shifted"]))
    return all(partial.has(name[0], condition, "top-1", estimate) for condition, estimate in sides)


@dataclass(frozen=True)
class Partial:
    """The numbers that unfinished cells may have: those of any of their chunks, by model and condition."""

    values: dict[tuple[str, str], list[tuple[str, int, float]]]

    def has(self, model: str, condition: str, metric: str, estimate: dict[str, Any]) -> bool:
        """Whether an estimate is one of them."""
        return any(
            (name, n) == (metric, estimate["n"]) and math.isclose(value, estimate["value"], rel_tol=1e-6)
            for name, n, value in self.values.get((model, condition), [])
        )


def partial_of(store: Path) -> Partial:
    """What a part of each cell of a finished store amounts to; the one look that is not through the command line."""
    import oodometer as odo

    index = look(odo.open_store(str(store)))
    values = {}
    for cell in index.cells:
        rows = index.read(cell)
        numbers = (("top-1", rows.rank == 0), ("nll", -rows.label_log_probability.astype(np.float64)))
        values[cell.model_name, cell.condition_name] = [
            (metric, len(some), float(each[some].mean()))
            for some in _unions_of_chunks(len(rows.rank))
            for metric, each in numbers
        ]
    return Partial(values)


def _unions_of_chunks(n_rows: int) -> list[np.ndarray]:
    chunks = np.split(np.arange(n_rows), range(CHUNK, n_rows, CHUNK))
    return [np.concatenate(some) for count in range(1, len(chunks) + 1) for some in combinations(chunks, count)]
