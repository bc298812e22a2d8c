"""Measure a zoo with `oodometer run` and write the accuracies into the models' cards.

    python zoo/measure.py icons --data icons/
    python zoo/measure.py cifar10 --data cifar10/

Predictions are kept in a store, so that a second call asks about what is new. The numbers of the training loop are
never written down: what a card says is what anyone can measure again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).parent
MARK = "accuracy_"
SHIFTS = {"icons": "icons", "cifar10": "clean"}
"""What each zoo is measured on."""


def measured(models: list[Path], data: Path, on: str, store: Path) -> dict[str, dict[str, str]]:
    """The accuracy of each model on each condition, as text with interval and n."""
    words = [sys.executable, "-m", "oodometer"]
    asked = [word for path in models for word in ("--model", f"onnx:{path}")]
    run = [*words, "run", *asked, "--data", str(data), "--on", on, "--store", str(store), "--json"]
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
    scored = [*words, "score", str(store), "--metrics", "top-1", "--json"]
    told = subprocess.run(scored, check=True, capture_output=True, text=True)
    found: dict[str, dict[str, str]] = {}
    for one in json.loads(told.stdout):
        number = one["estimate"]
        text = f"{number['value']:.6f} [{number['low']:.6f}, {number['high']:.6f}] n={number['n']}"
        found.setdefault(one["model"], {})[one["condition"]] = text
    return found


def with_accuracies(card: str, accuracies: Mapping[str, str]) -> str:
    """The text of a card whose last table, [notes], ends with these accuracies and no older ones."""
    lines = [line for line in card.splitlines() if not line.startswith(MARK)]
    told = [f'{MARK}{name.replace("-", "_")} = "{text}"' for name, text in sorted(accuracies.items())]
    return "\n".join([*lines, *told, ""])


def main() -> None:
    """Measure all models and write their cards anew."""
    parser = argparse.ArgumentParser(description="Measure a zoo.")
    parser.add_argument("zoo", choices=list(SHIFTS))
    parser.add_argument("--data", type=Path, required=True, help="what `oodometer build` made for this zoo")
    parser.add_argument("--models", type=Path, help="the models and their cards  [default: zoo/ZOO]")
    parser.add_argument("--store", type=Path, default=Path("runs"), help="for the predictions")
    said = parser.parse_args()
    folder = said.models or HERE / said.zoo
    models = sorted(folder.glob("*.onnx"))
    if not models:
        sys.exit(f"{folder}: no models in it; train them with zoo/train.py")
    found = measured(models, said.data, SHIFTS[said.zoo], said.store)
    for path in models:
        card = path.with_suffix(".toml")
        card.write_text(with_accuracies(card.read_text(encoding="utf-8"), found[path.stem]), encoding="utf-8")
        print(path.stem, *(f"{name} {text}" for name, text in sorted(found[path.stem].items())), sep="\n  ")


if __name__ == "__main__":
    main()
