"""How quickly the annotation pages answer when 50 people annotate at once.

    python benchmarks/annotators.py [--annotators 50] [--think 1 3] [--seconds 60] [--database sqlite|postgresql]

``oodometer testset serve`` runs as a process, on SQLite and on a PostgreSQL of its own. Each annotator loads a page as
a browser does (its styles and scripts, then 48 images over six connections), thinks, and submits, until the time is up.
The peer: an empty route of the same server, asked in between by everybody, so that it meets the same crowd. At the end
the answers in the database are counted against those that the annotators were told are kept.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from oodometer.build.testset.project.annotators import add_workers
from oodometer.build.testset.project.classes import ClassEntry
from oodometer.build.testset.project.offered import Offered
from oodometer.build.testset.project.pool import CANDIDATE, ORIGINAL, Provenance, add_images
from oodometer.build.testset.project.project import new_project, open_project
from oodometer.build.testset.project.schema import ANSWER, sa
from oodometer.build.testset.project.small_copies import make_small_copies
from oodometer.build.testset.project.tasks import Layout, make_tasks
from postgres_server import MISSING, new_database, postgres_server, programs

PROMISED_MS = 200
CONNECTIONS = 6
"""That a browser opens to one server."""
EMPTY = "/favicon.ico"
CLASSES = tuple(ClassEntry(name, name, f"What {name} means.") for name in ("owl", "duck", "cat", "cup"))
PARTS = re.compile(r'(?:href|src)="(/static/[^"]+)"')
IMAGES = re.compile(r'src="(/shown/[^"]+)"')
TASK = re.compile(r'data-task="([^"]+)"')


def photograph(seed: int) -> bytes:
    """A JPEG of soft shapes and grain, about as large as a photograph of its size."""
    rng = np.random.default_rng(seed)
    soft = Image.fromarray(rng.integers(0, 255, (12, 16, 3), dtype=np.uint8)).resize(
        (500, 375), Image.Resampling.BICUBIC
    )
    pixels = np.asarray(soft).astype(np.int16) + rng.normal(0, 9, (375, 500, 1)).astype(np.int16)
    out = io.BytesIO()
    Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(out, "JPEG", quality=90)
    return out.getvalue()


def made_project(folder: Path, database: str | None, n_annotators: int, n_candidates: int) -> list[str]:
    """A project whose tasks everybody may answer; the tokens."""
    with new_project(folder, classes=CLASSES, database=database, name="birds") as project:
        for role, n, first in ((CANDIDATE, n_candidates, 0), (ORIGINAL, 20, 10**6)):
            seeds = [(entry.name, first + 1000 * at + i) for at, entry in enumerate(CLASSES) for i in range(n)]
            offered = [Offered(f"{name}-{seed}", lambda seed=seed: photograph(seed), name, {}) for name, seed in seeds]
            add_images(project, offered, Provenance("made", "benchmark"), role=role)
        make_tasks(project, Layout(size=48, workers=n_annotators))
        make_small_copies(project)
        return add_workers(project, n_annotators)


@contextmanager
def served(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The server, and its address."""
    command = [sys.executable, "-m", "oodometer", "testset", "serve", str(folder), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.send_signal(2)
        process.wait(30)


@dataclass
class Connection:
    """One connection, kept open, with a cookie."""

    host: str
    port: int
    token: str
    times: dict[str, list[float]]
    stream: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, kind: str, path: str, content: dict[str, Any] | None = None) -> tuple[int, bytes]:
        """The status and body of an answer; its time is kept under the kind."""
        begun = time.perf_counter()
        try:
            answer = await self._asked(path, content)
        except (ConnectionError, asyncio.IncompleteReadError):  # the server had closed it while it was idle
            self.stream = None
            answer = await self._asked(path, content)
        self.times[kind].append(1e3 * (time.perf_counter() - begun))
        return answer

    async def _asked(self, path: str, content: dict[str, Any] | None) -> tuple[int, bytes]:
        reader, writer = self.stream = self.stream or await asyncio.open_connection(self.host, self.port)
        body = b"" if content is None else json.dumps(content).encode()
        head = f"{'GET' if content is None else 'POST'} {path} HTTP/1.1\r\nhost: {self.host}:{self.port}\r\n"
        head += f"cookie: oodometer_worker={self.token}\r\naccept: */*\r\n"
        if content is not None:
            head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
        writer.write(head.encode() + b"\r\n" + body)
        said = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = re.search(r"content-length: (\d+)", said)
        return int(said.split()[1]), await reader.readexactly(int(length[1])) if length else b""


@dataclass
class Crowd:
    """Annotators at work.

    Args:
        times: Milliseconds of each request, by kind.
        kept: By task how many answers the server said that it has.
    """

    address: str
    think: tuple[float, float]
    stop: float
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    kept: Counter[str] = field(default_factory=Counter)

    async def work(self, tokens: list[str]) -> None:
        """All of them, who don't begin in the same moment."""
        await asyncio.gather(*(self._annotate(at, token) for at, token in enumerate(tokens)))

    async def _annotate(self, number: int, token: str) -> None:
        rng, cached = random.Random(number), set[str]()
        place = urlsplit(self.address)
        connections = [
            Connection(str(place.hostname), int(place.port or 0), token, self.times) for _ in range(CONNECTIONS)
        ]
        await asyncio.sleep(rng.uniform(0, 0.5 + self.think[1]))
        try:
            while time.monotonic() < self.stop and await self._one_page(connections, cached, rng):
                pass
        finally:
            for connection in connections:
                if connection.stream:
                    connection.stream[1].close()

    async def _one_page(self, connections: list[Connection], cached: set[str], rng: random.Random) -> bool:
        """Load, think, submit; False where there is nothing left."""
        first = connections[0]
        begun = time.perf_counter()
        page = _right(await first.ask("page", "/annotate")).decode()
        task = TASK.search(page)
        if task is None:
            return False
        wanted = [("style or script", path) for path in PARTS.findall(page) if path not in cached]
        cached.update(PARTS.findall(page))  # their server lets a browser keep them for longer than this lasts
        wanted += [("image", path) for path in IMAGES.findall(page)]
        await _over(connections, wanted)
        self.times["page with all images"].append(1e3 * (time.perf_counter() - begun))
        await first.ask("empty route", EMPTY)
        await asyncio.sleep(rng.uniform(*self.think))
        selected = [rng.random() < 0.7 for _ in IMAGES.findall(page)]
        said = {"task": task[1], "selected": selected, "seconds": 2.0}
        assert json.loads(_right(await first.ask("submission", "/annotate/answer", said))) == {"new": True}
        self.kept[task[1]] += 1
        return True


async def _over(connections: list[Connection], wanted: list[tuple[str, str]]) -> None:
    """Ask for all of it, each connection for what comes next."""
    left = iter(wanted)

    async def take(connection: Connection) -> None:
        for kind, path in left:
            _right(await connection.ask(kind, path))

    await asyncio.gather(*(take(connection) for connection in connections))


def _right(answer: tuple[int, bytes]) -> bytes:
    status, body = answer
    if status != 200:
        raise SystemExit(f"{status}: {body[:300]!r}")
    return body


def cpu_seconds(process: subprocess.Popen[str]) -> float:
    """What the process has worked so far; NaN where the system does not tell."""
    try:
        words = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return float("nan")


def answers_in(folder: Path) -> int:
    """How many answers the database has."""
    with open_project(folder) as project:
        return len(project.database.rows(sa.select(ANSWER.c.task_id)))


def told(crowd: Crowd) -> dict[str, dict[str, float]]:
    """Print and return the quantiles of each kind of request beside those of the empty route."""
    found = {}
    for kind, times in crowd.times.items():
        cuts = statistics.quantiles(times, n=100) if len(times) > 1 else [times[0]] * 99
        found[kind] = {"n": len(times), "p50": cuts[49], "p95": cuts[94], "p99": cuts[98]}
    empty = found["empty route"]
    for kind, row in found.items():
        ratios = f"{row['p50'] / empty['p50']:.1f} and {row['p95'] / empty['p95']:.1f} x an empty route"
        print(
            f"  {kind:20} p50 {row['p50']:6.1f} ms, p95 {row['p95']:6.1f}, p99 {row['p99']:6.1f}"
            f"   ({row['n']:.0f}; p50 and p95 {ratios})",
            flush=True,
        )
    return found


def measured(name: str, folder: Path, tokens: list[str], given: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Let them annotate for a while."""
    with served(folder) as (process, address):
        before, begun, there = cpu_seconds(process), time.monotonic(), answers_in(folder)
        crowd = Crowd(address, tuple(given.think), begun + given.seconds)
        asyncio.run(crowd.work(tokens))
        took, worked = time.monotonic() - begun, cpu_seconds(process) - before
    n = sum(len(times) for kind, times in crowd.times.items() if kind != "page with all images")
    print(f"{name}, {len(tokens)} annotators who think {given.think[0]:g} to {given.think[1]:g} s: ", end="")
    print(f"{n} answers in {took:.0f} s, {n / took:.0f} a second, {1e3 * worked / n:.2f} ms of CPU each")
    found = told(crowd)
    n_kept, n_new = sum(crowd.kept.values()), answers_in(folder) - there
    print(f"  {n_kept} answers said to be kept, {n_new} in the database")
    if n_kept != n_new:
        raise SystemExit("answers were lost or doubled")
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--annotators", type=int, default=50)
    parser.add_argument("--think", type=float, nargs=2, default=(1.0, 3.0), metavar=("LOW", "HIGH"))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--candidates", type=int, default=250, help="of each of four classes")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], action="append")
    given = parser.parse_args()
    worst = {}
    for name in given.database or ["sqlite", "postgresql"]:
        if name == "postgresql" and programs() is None:
            print(MISSING)
            continue
        with (
            tempfile.TemporaryDirectory() as scratch,
            postgres_server() if name == "postgresql" else nullcontext() as at,
        ):
            folder = Path(scratch) / "birds"
            tokens = made_project(folder, at and new_database(at), given.annotators, given.candidates)
            found = measured(name, folder, tokens, given)
            worst[name] = max(found[kind]["p95"] for kind in ("page", "image", "submission"))
    for name, slowest in worst.items():
        print(f"{name}: 95 % within {slowest:.0f} ms   (promised: at most {PROMISED_MS} ms)")


if __name__ == "__main__":
    main()
