"""How soon a report is usable after it is opened, and how large it is, against an empty page.

    python benchmarks/report.py TABLE.csv CATEGORIES.csv

The table is one of accuracies, as that of the 204-model testbed: a column for each condition.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROUNDS = 5
EMPTY = "<!doctype html><title>empty</title><button>sort</button>"


def median_seconds(browser: Browser, place: Path, button: str) -> float:
    """The median time from the opening of a page until a button of it was clicked."""
    times = []
    for _ in range(ROUNDS):
        page = browser.new_page()
        begun = time.perf_counter()
        page.goto(place.resolve().as_uri(), wait_until="commit")
        page.locator(button).first.click()
        times.append(time.perf_counter() - begun)
        page.close()
    return statistics.median(times)


def main(table: str, categories: str) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        words = [sys.executable, "-m", "oodometer"]
        report, empty = Path(folder) / "report.html", Path(folder) / "empty.html"
        subprocess.run([*words, "import", table, "--store", f"{folder}/runs"], check=True, capture_output=True)
        begun = time.perf_counter()
        asked = ["report", f"{folder}/runs", "--categories", categories, "-o", str(report)]
        subprocess.run([*words, *asked], check=True, capture_output=True)
        made = time.perf_counter() - begun
        empty.write_text(EMPTY)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        bare = median_seconds(browser, empty, "button")
        shown = median_seconds(browser, report, "#leaderboard-table thead button, table thead button")
        browser.close()
        size = report.stat().st_size / 1e6
    print(f"the report          made in {made:.1f} s, {size:.1f} MB   (promised: at most 8 MB)")
    print(f"an empty page       clicked after {bare:.2f} s")
    print(f"the report's table  sorted after {shown:.2f} s   {shown / bare:.1f} x empty   (promised: at most 2 s)")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
