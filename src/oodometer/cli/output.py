"""How commands talk: results on stdout, as text or JSON; progress and warnings on stderr."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from oodometer.core.errors import OodometerError, UsageError

if TYPE_CHECKING:
    from oodometer.analysis.origins import Origin
    from oodometer.engine.run import Watcher
    from oodometer.store.index import Index
    from oodometer.train.loop import Epoch

SECONDS_BETWEEN_LINES = 10.0
SECONDS_BETWEEN_EPOCHS = 1.0
SECONDS_OF_SILENCE = 15.0
"""After so long without a line, one says that the work goes on: a log that stands still looks like a hang."""

TOLD_FROM, STEPS_TOLD_FROM = 0.02, 20
"""Of the whole, and steps: before both, the time left would be guessed from how long it took to begin."""

NOTHING = "nothing new to do: every prediction is there already"

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


data_root = click.option(
    "--data-root",
    metavar="DIR",
    help="The folder of published data sets, each in its own layout.  [default: $OODOMETER_DATA]",
)

frost_textures = click.option(
    "--frost-textures", "frost", metavar="DIR", help="A folder of frost photographs, or: published, procedural."
)

plugins = click.option(
    "--plugin",
    "plugin_modules",
    multiple=True,
    metavar="MODULE",
    help="Import a Python module of yours first, so that what it registers has a name here.",
)


def use_frost(textures: str | None) -> None:
    """Take the frost from there, where somebody says so."""
    if textures:
        from oodometer.corruptions.frost import set_frost_textures

        set_frost_textures(textures)


def import_plugins(modules: Sequence[str]) -> None:
    """Import the user's modules; the current folder counts, as with ``python -m``."""
    import importlib

    from oodometer.models.callable import current_directory_on_path

    for name in modules:
        with current_directory_on_path(), _explained(name):
            importlib.import_module(name)


@contextlib.contextmanager
def _explained(name: str) -> Iterator[None]:
    try:
        yield
    except OodometerError:
        raise
    except Exception as error:
        raise UsageError(f"--plugin {name}: can't be imported ({type(error).__name__}: {error})") from error


def say(line: str) -> None:
    """A line of talk, on stderr."""
    click.echo(line, err=True)


@contextlib.contextmanager
def talk_on_stderr() -> Iterator[None]:
    """While this holds, what models and other code of the user's print goes to stderr: stdout is for results."""
    with contextlib.redirect_stdout(sys.stderr):
        yield


def say_if_compiling() -> None:
    """A line before a wait that looks like a hang: kernels are compiled when they are first used, and kept."""
    from oodometer.corruptions.jit import tell_if_compiling

    tell_if_compiling(say)


def origins_in(categories: str | None) -> dict[str, Origin]:
    """What the user's table says about the models."""
    from oodometer.analysis.origins import read_origins

    return read_origins(categories) if categories else {}


def looked_at(address: str) -> Index:
    """What is in a store; what is damaged in it is told on stderr."""
    from oodometer.store.index import index_at

    index = index_at(address)
    for line in index.problems:
        warn(line)
    return index


def print_json(value: Any) -> None:
    """A result for programs, on stdout; numbers that are not known are null."""
    click.echo(json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False))


@contextlib.contextmanager
def watching(what: str = "predictions") -> Iterator[Watcher]:
    """Someone who watches a run: bars with rate and time left on a terminal, plain lines elsewhere."""
    from oodometer.engine.run import Watcher

    if not sys.stderr.isatty():
        running, scanning = Lines(what), Lines("files checked")
        with beating(running, scanning):
            yield Watcher(running=running, scanning=scanning, warn=warn)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _rate(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        yield Watcher(running=_bar(bars, what), scanning=_bar(bars, "files checked"), warn=warn)


def warn(line: str) -> None:
    """A warning, on stderr."""
    say(f"warning: {line}")


def _bar(bars: Any, what: str) -> Any:
    tasks: list[Any] = []

    def show(done: int, total: int) -> None:
        if not total:
            say(NOTHING)
        elif not tasks:
            tasks.append(bars.add_task(what, total=total))
        if tasks:
            bars.update(tasks[0], completed=done, total=total)

    return show


def _rate() -> Any:
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

    class Rate(ProgressColumn):
        """How many a second."""

        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.0f}/s" if task.speed else "", style="dim")

    return Rate()


@contextlib.contextmanager
def beating(*lines: Lines) -> Iterator[None]:
    """While this holds, nobody waits long for a sign of life, however slow a step is."""
    pulse, over = Pulse(lines), threading.Event()

    def beat() -> None:
        while not over.wait(SECONDS_OF_SILENCE / 3):
            pulse.beat()

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class Pulse:
    """A line where none of several counts said one for a while."""

    def __init__(self, lines: Sequence[Lines]) -> None:
        self.lines = lines
        self.begun = self.said = time.monotonic()

    def beat(self) -> None:
        """Tell that the work goes on, if it is time to."""
        now = time.monotonic()
        last = max(self.said, *(count.said for count in self.lines))
        if now - last < SECONDS_OF_SILENCE * 2 / 3:  # the next beat would come too late
            return
        self.said = now
        counts = [f"{count.done}/{count.total} {count.what}" for count in self.lines if count.ended is None]
        where = ", ".join(text for text in counts if not text.startswith("0/0"))
        say(f"{where}{', ' if where else ''}still working after {now - self.begun:.0f} s")


class Lines:
    """Progress as a plain line every few seconds, and one at the end; whoever ends may begin anew."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.begun = time.monotonic()
        self.said = self.begun
        self.ended: float | None = None
        self.done = self.total = self.n_steps = 0

    def __call__(self, done: int, total: int) -> None:
        """Tell how far it is, if it is time to."""
        now = time.monotonic()
        self.done, self.total = done, total
        self.n_steps += 1
        if self.ended is not None:
            self.begun = self.said = self.ended
        self.ended = now if done == total else None
        if total == 0:
            say(NOTHING)
        elif done == 0:
            self.begun, self.said, self.n_steps = now, now, 0
        elif now - self.said >= SECONDS_BETWEEN_LINES or (done == total and now - self.begun >= 1):
            self.said = now
            say(f"{done}/{total} {self.what}{self._pace(now - self.begun)}")

    def _pace(self, seconds: float) -> str:
        """How fast it goes, and when it will be over, once that can be told."""
        rate = self.done / max(seconds, 1e-9)
        if self.done == self.total:
            return f" in {seconds:.1f} s, {rate:.1f}/s"
        if self.done < TOLD_FROM * self.total and self.n_steps < STEPS_TOLD_FROM:
            return f" after {seconds:.0f} s"
        return f", {rate:.1f}/s, {(self.total - self.done) / rate:.0f} s left"


class EpochLines:
    """A line for an epoch, if the last one was a while ago, and for the last epoch in any case."""

    def __init__(self) -> None:
        self.said = 0.0

    def __call__(self, epoch: Epoch) -> None:
        """Tell how the epoch went."""
        now = time.monotonic()
        if now - self.said < SECONDS_BETWEEN_EPOCHS and epoch.number < epoch.n_epochs:
            return
        self.said = now
        say(
            f"epoch {epoch.number}/{epoch.n_epochs}: loss {epoch.loss:.4f}, accuracy {epoch.accuracy:.4f}, "
            f"IID accuracy {epoch.iid_accuracy:.4f}, {epoch.seconds:.1f} s"
        )
