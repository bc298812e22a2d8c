"""Take the pictures of the report and of the explorer that the README shows, from the folder of a quickstart.

python docs/make_screenshots.py quickstart/
"""

from __future__ import annotations

import io
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).parent
WIDE = {"width": 1120, "height": 860}


@contextmanager
def explorer(folder: Path) -> Iterator[str]:
    """The address of the explorer of the quickstart's store, as long as it is needed."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    words = [sys.executable, "-m", "oodometer", "serve", f"{folder}/runs", "--data", f"{folder}/icons"]
    served = subprocess.Popen([*words, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(address)
        yield address
    finally:
        served.terminate()
        served.wait()


def _wait_for(address: str) -> None:
    for _ in range(200):
        if _answers(address):
            return
        time.sleep(0.1)
    sys.exit(f"{address}: nobody answers")


def _answers(address: str) -> bool:
    try:
        urlopen(address).close()
    except OSError:
        return False
    return True


def opened(browser: Browser, address: str, *, size: dict[str, int], dark: bool) -> Page:
    """A page as a reader sees it."""
    page = browser.new_page(viewport=size, color_scheme="dark" if dark else "light", device_scale_factor=1.5)
    page.goto(address)
    page.wait_for_load_state("networkidle")
    return page


def keep(page: Page, name: str) -> None:
    """Save what is in view."""
    page.wait_for_timeout(800)
    Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(HERE / f"{name}.png", optimize=True)
    print(f"wrote {name}.png")


def main(folder: Path) -> None:
    """Take the three pictures."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        report = (folder / "report.html").resolve().as_uri()
        keep(opened(browser, report, size=WIDE, dark=False), "report")
        keep(opened(browser, f"{report}#corruptions", size=WIDE, dark=True), "report-dark")
        with explorer(folder) as address:
            # The study is made first, and the page comes anew when it is.
            page = opened(browser, f"{address}/classes", size=WIDE, dark=False)
            page.wait_for_selector("[data-draw=confusion] img", timeout=120_000)
            keep(page, "explorer")
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
