"""The quickstart on photographs: the networks of pip packages on the twenty labelled photographs of another."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from oodometer.analysis.compare import Compared, compare
from oodometer.analysis.score import score
from oodometer.analysis.score_table import Scores
from oodometer.core.condition import clean
from oodometer.core.errors import MissingExtraError, OodometerError
from oodometer.data.load import load_data
from oodometer.engine.run import run
from oodometer.models.load import expand, load_model
from oodometer.quickstart.audience import NOBODY, Audience

PHOTOGRAPH = re.compile(r"imagenet_\d+_(\d+)\.jpg")
ZOO = "zoo:efficientnet-*"


@dataclass(frozen=True)
class QuickstartPhotographs:
    """What a quickstart on photographs made: the scores, and the first network against the last.

    Args:
        store: Where every prediction is.
    """

    store: str
    scores: Scores
    comparisons: tuple[Compared, ...]

    def __str__(self) -> str:
        return "\n".join([str(self.scores), *map(str, self.comparisons)])

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        comparisons = [comparison.as_json() for comparison in self.comparisons]
        return {"store": self.store, "scores": self.scores.as_json(), "comparisons": comparisons}


def quickstart_photographs(
    out: str = "quickstart", data: str | None = None, *, audience: Audience = NOBODY
) -> QuickstartPhotographs:
    """Run, score and compare the networks for photographs.

    Args:
        out: The folder where everything is put.
        data: Other data with ImageNet labels than the twenty photographs.
        audience: Told how it goes.
    """
    address = data or str(write_manifest(Path(out)))
    store = f"{out}/runs"
    audience.tell(f"$ oodometer run --model '{ZOO}' --data {address} --store {store}")
    models = [load_model(spec) for spec in expand(ZOO)]
    with audience.watch("predictions") as watcher:
        run(models, [clean(load_data(address))], store=store, watcher=watcher)
    comparisons = compare(store, models[0].name, models[-1].name)
    return QuickstartPhotographs(store, score(store), tuple(comparisons))


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
