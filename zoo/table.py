"""A zoo as a table of Markdown, from the accuracies on the models' cards.

python zoo/table.py icons            # prints it
python zoo/table.py icons --write    # puts it into its page: docs/howto-icons.md, of cifar10 docs/interventions.md
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DOCS = HERE.parent / "docs"
BEGIN, END = "<!-- zoo/table.py writes this table -->\n", "<!-- until here -->\n"


@dataclass(frozen=True)
class Zoo:
    """What is told of a zoo.

    Args:
        page: Where its table stands.
        conditions: Those on which accuracies are told, as the cards name them, with their titles; the first sorts.
        paper: What a paper says of the same network on some of them, in per cent.
    """

    page: Path
    conditions: Mapping[str, str]
    paper: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


PAPER = {
    "resnet20": {"icons_versions": 97.2, "icons_style": 58.3, "icons_subtypes": 57.5},
}
"""Hendrycks and Dietterich 2019 on ICONS-50, the same network, in per cent; no intervals are given there.

Their ResNeXt-29 is 8x32d, of 8.7 million parameters; that of the zoo is 4x8d, and has no row there.
"""

FIRST = {
    "resnet14-outside": ", first [outside](#more-data)",
    "resnet20-outside": ", first [outside](#more-data)",
    "resnet20-mixed": " more",
}
"""What is told of the weights that a training began with."""

ZOOS = {
    "icons": Zoo(
        DOCS / "howto-icons.md",
        {"icons_iid": "IID", "icons_versions": "version", "icons_style": "style", "icons_subtypes": "subtype"},
        PAPER,
    ),
    "cifar10": Zoo(DOCS / "interventions.md", {"clean": "test images"}),
}


def table(cards: Mapping[str, Mapping[str, Any]], zoo: Zoo) -> str:
    """The lines of the table, the best on the first condition first; below a network of a paper its numbers there."""
    any_notes = next(iter(cards.values()))["notes"]
    sizes = [any_notes[f"accuracy_{one}"].rpartition(" ")[2] for one in zoo.conditions]
    measured = [f"{title}, {n}" for title, n in zip(zoo.conditions.values(), sizes, strict=True)]
    titles = ["network", "parameters", "trained for", *measured]
    lines = [titles, ["---", *["---:"] * (len(titles) - 1)]]
    for name in sorted(cards, key=lambda one: -_value(cards[one], next(iter(zoo.conditions)))):
        notes = cards[name]["notes"]
        first = FIRST.get(notes.get("init", ""), "")
        epochs = f"{notes['epochs']} epochs{first}" if "epochs" in notes else "-"
        accuracies = [_percent(notes[f"accuracy_{one}"]) for one in zoo.conditions]
        lines.append([f"`{name}`", f"{notes['parameters']:,}", epochs, *accuracies])
        if (paper := zoo.paper.get(name)) is not None:
            said = [f"{paper[one]:.1f}" if one in paper else "-" for one in zoo.conditions]
            lines.append(["*in the paper*", "", "50 epochs", *(f"*{one}*" for one in said)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _value(card: Mapping[str, Any], condition: str) -> float:
    return float(card["notes"][f"accuracy_{condition}"].partition(" ")[0])


def _percent(text: str) -> str:
    """``0.884354 [0.850806, 0.912655] n=441`` in per cent.

    >>> _percent("0.884354 [0.850806, 0.912655] n=441")
    '88.4 [85.1, 91.3]'
    """
    value, low, high = (float(one.strip("[,]")) for one in text.split()[:3])
    return f"{100 * value:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def read_cards(folder: Path) -> dict[str, dict[str, Any]]:
    """The cards of all models of the zoo, by name."""
    return {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.toml"))}


def with_table(page: str, lines: str) -> str:
    """The page with this table between its marks."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}{lines}{END}{rest.partition(END)[2]}"


def main() -> None:
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description="A zoo as a table.")
    parser.add_argument("zoo", choices=list(ZOOS))
    parser.add_argument("--write", action="store_true", help="into its page")
    said = parser.parse_args()
    zoo = ZOOS[said.zoo]
    lines = table(read_cards(HERE / said.zoo), zoo)
    if said.write:
        zoo.page.write_text(with_table(zoo.page.read_text(encoding="utf-8"), lines), encoding="utf-8")
    else:
        print(lines, end="")


if __name__ == "__main__":
    main()
