"""Draw the pictures of the documentation: the quickstart in a terminal, as it is, and a sheet of corruptions.

python docs/make_picture.py
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from rich.console import Console
from rich.text import Text

import oodometer as odo

PROGRESS = re.compile(r"\d+/\d+ |still working ")


def shown(folder: str) -> str:
    """What the quickstart prints, both streams in the order of a terminal."""
    command = [sys.executable, "-u", "-m", "oodometer", "quickstart"]
    done = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True, encoding="utf-8"
    )
    # How long it took is of the machine that drew it.
    return "\n".join(line for line in done.stdout.splitlines() if not PROGRESS.match(line))


def styled(line: str) -> Text:
    """A line with its command, or its interval, in colour."""
    text = Text(line)
    if line.startswith("$"):
        text.stylize("bold cyan")
    text.highlight_regex(r"├?─*●─*┤?", "bold green")
    text.highlight_regex(r"\[[^\]]*\]", "yellow")
    return text


def draw_corruptions() -> None:
    """A picture made by code under every corruption of ImageNet-C."""
    with tempfile.TemporaryDirectory() as folder:
        photo, sheet = Path(folder, "documentation.png"), Path(folder, "sheet.png")
        Image.fromarray(odo.sample_image(256, 256, seed=9)).save(photo)
        odo.sheet(photo, sheet, on=["imagenet-c:raw", "imagenet-c-extra:raw"])
        Image.open(sheet).reduce(2).save(Path(__file__).with_name("corruptions.jpg"), quality=80)
    print("wrote corruptions.jpg")


def draw_quickstart() -> None:
    """Run the quickstart and draw what it prints."""
    with tempfile.TemporaryDirectory() as folder, open("/dev/null", "w") as nowhere:
        console = Console(record=True, width=124, file=nowhere, force_terminal=True)
        console.print(Text("$ make quickstart", style="bold cyan"))
        for line in shown(folder).splitlines():
            console.print(styled(line))
    drawn = console.export_svg(title="oodometer", unique_id="quickstart")
    # The reader's own monospaced font will do: a picture asks no other host for anything.
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)
    target = Path(__file__).with_name("quickstart.svg")
    target.write_text(drawn.replace("Fira Code", "DejaVu Sans Mono"), encoding="utf-8")
    print(f"wrote {target.name}")


if __name__ == "__main__":
    draw_quickstart()
    draw_corruptions()
