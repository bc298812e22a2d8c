"""The quickstart on photographs: the networks of pip packages on the twenty labelled photographs of another."""

from __future__ import annotations

import csv
import re
from importlib.util import find_spec
from pathlib import Path

import click

from oodometer.cli.output import say, watching
from oodometer.core.errors import MissingExtraError, OodometerError

PHOTOGRAPH = re.compile(r"imagenet_\d+_(\d+)\.jpg")


def measure_photographs(out: str, data: str | None) -> None:
    """Run, score and compare the networks for photographs; ``data`` names others with ImageNet labels."""
    from oodometer.analysis.compare import compare
    from oodometer.analysis.score import score
    from oodometer.core.condition import clean
    from oodometer.data.load import load_data
    from oodometer.engine.run import run
    from oodometer.models.load import expand, load_model

    address = data or str(write_manifest(Path(out)))
    store = f"{out}/runs"
    say(f"$ oodometer run --model 'zoo:efficientnet-*' --data {address} --store {store}")
    models = [load_model(spec) for spec in expand("zoo:efficientnet-*")]
    with watching() as watcher:
        run(models, [clean(load_data(address))], store=store, watcher=watcher)
    say(f"$ oodometer score {store} --plot")
    click.echo(score(store).table(plot=True))
    say(f"$ oodometer compare {store} {models[0].name} {models[-1].name}")
    found = compare(store, models[0].name, models[-1].name)
    click.echo("\n".join(str(one) for one in found))
    say(f"Every prediction is in {store}. Next: your own model and data, see docs/tutorial.md")


def write_manifest(folder: Path) -> Path:
    """A manifest of the photographs that the package foolbox carries; the package itself is not imported."""
    spec = find_spec("foolbox")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("quickstart", "the photographs of the quickstart")
    photographs = Path(spec.submodule_search_locations[0], "data").glob("imagenet_*.jpg")
    rows = [(str(path), match[1]) for path in sorted(photographs) if (match := PHOTOGRAPH.fullmatch(path.name))]
    if not rows:
        raise OodometerError("the installed foolbox has no photographs; install foolbox 3.3.4, or give --data ADDRESS")
    folder.mkdir(parents=True, exist_ok=True)
    manifest = folder / "photographs.csv"
    with manifest.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("path", "label"), *rows])
    return manifest
