"""How quickly the explorer answers on a store of 20 million predictions, to several readers at once.

    python benchmarks/serve.py [--cells 400] [--folder FOLDER] [--clients 8] [--seconds 10]

How soon the first page is answered after the start, and how long all that is read in the background takes. Then every
page as HTML and as JSON, each request about another model or image, through a real server. Its peers in the same run:
an empty route of the same framework, and the same question asked of DuckDB over the bare files by one client. The
folder is kept when it is named, as by benchmarks/store.py.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

sys.path.insert(0, str(Path(__file__).parent))
from oodometer.catalogue.class_names import human_names
from oodometer.core.labels import numbered
from store import N_CLASSES, N_IMAGES, fill

PROMISED_MS = 200
PROMISED_START_S = 2

EMPTY = """
import sys, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.get("/")
def nothing() -> dict[str, int]:
    return {}
print("http://127.0.0.1:" + sys.argv[1] + "/", flush=True)
uvicorn.run(app, port=int(sys.argv[1]), log_level="warning", access_log=False)
"""

BARE_IMAGE = """
SELECT filename, prediction, rank, confidence
FROM read_parquet($files, filename = true, hive_partitioning = false) WHERE image = $image
"""


def addresses(n_models: int) -> dict[str, Callable[[random.Random], str]]:
    """What readers ask, each time about something else."""

    def model(rng: random.Random) -> str:
        return f"model-{rng.randrange(n_models):03d}"

    def two(rng: random.Random) -> str:
        a, b = rng.sample(range(n_models), 2)
        return f"a=model-{a:03d}&b=model-{b:03d}&show=both"

    def image(rng: random.Random) -> str:
        at = rng.randrange(N_IMAGES)
        return f"data=val&id=n{at % N_CLASSES:08d}/val_{at:08d}"

    classes = human_names(numbered(N_CLASSES))  # as pages call them

    def list_(rng: random.Random) -> str:
        wanted = (
            f"class={quote(rng.choice(classes))}",
            f"right_from={rng.randrange(200)}&right_to=300",
            f"model={model(rng)}&answer=wrong&order=sure",
            f"model={model(rng)}&sure_from=0.2&sure_to=0.6&page={rng.randrange(1, 40)}",
        )
        return rng.choice(wanted)

    return {
        "leaderboard": lambda _: "/",
        "model": lambda rng: f"/model/{model(rng)}",
        "compare": lambda rng: f"/compare?{two(rng)}",
        "images": lambda rng: f"/images?{list_(rng)}",
        "image": lambda rng: f"/image?{image(rng)}",
    }


def started(*command: str) -> tuple[subprocess.Popen[str], str]:
    """A server, and the address that it prints when it is ready."""
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    place = urlsplit(address)
    for _ in range(100):
        try:
            http.client.HTTPConnection(str(place.hostname), place.port, timeout=5).connect()
            break
        except OSError:
            time.sleep(0.1)
    return process, address


def twin(address: str) -> str:
    """The same as JSON."""
    path, mark, query = address.partition("?")
    return f"{path}.json{mark}{query}"


def asked(
    address: str, ask: Callable[[random.Random], str], clients: int, seconds: float, *, twins: bool = True
) -> list[float]:
    """Milliseconds of each answer, to that many clients at once; with twins every second one asks for JSON."""
    place = urlsplit(address)
    stop = time.monotonic() + seconds

    def client(number: int) -> list[float]:
        rng, times = random.Random(number), []
        connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=60)
        while time.monotonic() < stop:
            path = twin(ask(rng)) if twins and number % 2 else ask(rng)
            begun = time.perf_counter()
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            times.append(1e3 * (time.perf_counter() - begun))
            if answer.status != 200:
                raise SystemExit(f"{path}: {answer.status}")
        return times

    with ThreadPoolExecutor(clients) as pool:
        return [spent for times in pool.map(client, range(clients)) for spent in times]


def told(name: str, times: list[float], cpu: float | None, empty: float | None = None) -> dict[str, float]:
    """Print and return the median and the 95th percentile, and what an answer costs whatever else the machine does."""
    p50, p95 = statistics.median(times), statistics.quantiles(times, n=20)[-1]
    beside = f", {p50 / empty:.1f} x an empty route" if empty else ""
    work = "" if cpu is None else f", {1e3 * cpu / len(times):.1f} ms of CPU each"
    print(f"{name:12} {p50:6.0f} ms, 95 % within {p95:5.0f} ms ({len(times)} answers{work}{beside})", flush=True)
    return {"p50": round(p50, 1), "p95": round(p95, 1)}


def cpu_seconds(process: subprocess.Popen[str]) -> float | None:
    """What the process has worked so far; None where the system does not tell."""
    try:
        words = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return None


def measured(name: str, server: tuple[subprocess.Popen[str], str], given: argparse.Namespace, **how: Any) -> Any:
    """Ask one kind of page for a while."""
    process, address = server
    before = cpu_seconds(process)
    times = asked(address, how["ask"], given.clients, given.seconds, twins=how.get("twins", True))
    after = cpu_seconds(process)
    spent = None if before is None or after is None else after - before
    return told(name, times, spent, how.get("empty"))


def bare_image(folder: str, rounds: int = 3) -> float:
    """Milliseconds of DuckDB for all answers about one image, from the Parquet files as they are."""
    import duckdb

    files = [str(file) for file in Path(folder).glob("cells/*/rows*.parquet")]
    times = []
    for at in range(rounds):
        begun = time.perf_counter()
        duckdb.execute(BARE_IMAGE, {"files": files, "image": 1000 * at}).fetchall()
        times.append(1e3 * (time.perf_counter() - begun))
    return statistics.median(times)


def answer_to(address: str, path: str) -> bytes:
    """What the server answers, on a connection of its own."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=600)
    connection.request("GET", path)
    return connection.getresponse().read()


def wait_until_computed(address: str) -> None:
    """Until the server is done with what it computes in the background."""
    answer_to(address, "/")
    while json.loads(answer_to(address, "/progress.json"))["computing"]:
        time.sleep(0.2)


def watched_memory(process: subprocess.Popen[str]) -> Iterator[float]:
    """Megabytes that the server has in memory, at its most so far; none where the system does not tell."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        yield from (int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    except OSError:
        return


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=400)
    parser.add_argument("--folder")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or f"{scratch}/large"
        fill(folder, given.cells)
        print(f"{given.cells * N_IMAGES:,} predictions, {given.clients} clients at once, HTML and JSON")
        begun = time.perf_counter()
        server = started("-c", EMPTY, "8971")
        answer_to(server[1], "/")
        bare_start = time.perf_counter() - begun
        empty = measured("empty route", server, given, ask=lambda _: "/", twins=False)["p50"]
        server[0].terminate()
        server[0].wait()
        begun = time.perf_counter()
        process, address = server = started("-m", "oodometer", "serve", folder, "--port", "0")
        try:
            answer_to(address, "/")
            first = time.perf_counter() - begun
            print(f"first page after {first:.1f} s   (promised: at most {PROMISED_START_S} s)")
            print(f"  {first / bare_start:.1f} x an empty route from its start, {bare_start:.1f} s")
            wait_until_computed(address)
            print(f"all read and computed after {time.perf_counter() - begun:.1f} s")
            found = {
                name: measured(name, server, given, ask=ask, empty=empty)
                for name, ask in addresses(given.cells).items()
            }
            for megabytes in watched_memory(process):
                print(f"memory of the server: {megabytes:.0f} MB at most")
        finally:
            process.send_signal(2)
            process.wait()
        print(f"DuckDB alone, one client, all answers about an image from the files: {bare_image(folder):.0f} ms")
        worst = max(page["p95"] for page in found.values())
        print(f"the slowest page: 95 % within {worst:.0f} ms   (promised: at most {PROMISED_MS} ms)")
        print(json.dumps(found))


if __name__ == "__main__":
    main()
