"""The zoo of icons as a table of Markdown, from the accuracies on the models' cards.

python zoo/table.py            # prints it
python zoo/table.py --write    # puts it into docs/howto-icons.md
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "howto-icons.md"
BEGIN, END = "<!-- zoo/table.py writes this table -->\n", "<!-- until here -->\n"

PROTOCOLS = {"iid": "IID", "versions": "version", "style": "style", "subtypes": "subtype"}

PAPER = {
    "resnet20": {"versions": 97.2, "style": 58.3, "subtypes": 57.5},
}
"""Hendrycks and Dietterich 2019 on ICONS-50, the same network, in per cent; no intervals are given there.

Their ResNeXt-29 is 8x32d, of 8.7 million parameters; that of the zoo is 4x8d, and has no row there.
"""


def table(cards: Mapping[str, Mapping[str, Any]]) -> str:
    """The lines of the table, the best on IID first; below a network of the paper its numbers there."""
    any_notes = next(iter(cards.values()))["notes"]
    sizes = [any_notes[f"accuracy_icons_{one}"].rpartition(" ")[2] for one in PROTOCOLS]
    measured = [f"{title}, {n}" for title, n in zip(PROTOCOLS.values(), sizes, strict=True)]
    titles = ["network", "parameters", "trained for", *measured]
    lines = [titles, ["---", *["---:"] * (len(titles) - 1)]]
    for name in sorted(cards, key=lambda one: -_value(cards[one], "iid")):
        notes = cards[name]["notes"]
        first = ", first [outside](#more-data)" if notes.get("init") else ""
        epochs = f"{notes['epochs']} epochs{first}" if "epochs" in notes else "-"
        accuracies = [_percent(notes[f"accuracy_icons_{one}"]) for one in PROTOCOLS]
        lines.append([f"`{name}`", f"{notes['parameters']:,}", epochs, *accuracies])
        if name in PAPER:
            said = [f"{PAPER[name][one]:.1f}" if one in PAPER[name] else "-" for one in PROTOCOLS]
            lines.append(["*in the paper*", "", "50 epochs", *(f"*{one}*" for one in said)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _value(card: Mapping[str, Any], protocol: str) -> float:
    return float(card["notes"][f"accuracy_icons_{protocol}"].partition(" ")[0])


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
    lines = table(read_cards(HERE / "icons"))
    if "--write" in sys.argv[1:]:
        PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8"), lines), encoding="utf-8")
    else:
        print(lines, end="")


if __name__ == "__main__":
    main()
