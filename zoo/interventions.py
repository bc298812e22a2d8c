"""What each intervention changes, as tables of Markdown: each model of a zoo against the one that it was made from.

    oodometer run --model 'zoo:icons/*' --data icons/ --on icons --store runs/
    oodometer run --model 'zoo:icons/*' --data icons/iid.csv --on cifar-10-c --on pgd-linf-2 --store runs/
    python zoo/interventions.py icons runs/             # prints them
    python zoo/interventions.py icons runs/ --write     # puts them into docs/interventions.md

And the same for `cifar10`, of `--data cifar10/ --on cifar-10-c --on pgd-linf-2`.

Differences are paired by image; under corruptions, an image counts by the share of them in which it is right.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from oodometer.analysis.common_images import right_on_common
from oodometer.core.estimate import Estimate
from oodometer.document.table import Column, Table
from oodometer.published.hypotheses_beside import hypotheses
from oodometer.stats.intervals import mean_of
from oodometer.study import Study, StudyShift, study_of
from oodometer.study.corruption_grid import GROUPS
from oodometer.study.interventions import interventions_of, parents_of

PAGE = Path(__file__).parents[1] / "docs" / "interventions.md"
FAMILY = "cifar-10-c"
SHARED = {FAMILY: "all 75", "pgd-linf-2": "PGD"}
TITLES = {
    "icons": {
        "icons-iid": "IID",
        "icons-versions": "version",
        "icons-style": "style",
        "icons-subtypes": "subtype",
        **SHARED,
    },
    "cifar10": {"clean": "clean", **SHARED},
}
"""What is told of each zoo; the kinds of corruptions stand before their mean."""

Values = Callable[[str], list[Estimate | None]]
"""From the name of a model to its row."""


def differences(study: Study, titles: Mapping[str, str]) -> Table:
    """By how many points each model is better than its parent, on every shift and under each kind of corruption."""
    pairs = parents_of(study)
    found = interventions_of(study)
    values: dict[tuple[str, str], Estimate] = {}
    for one in found.found:
        keep_larger(values, (one.model, one.clean.condition), one.clean.difference)
        keep_larger(values, (one.model, one.shift), one.shifted.difference)
    for kind, corruptions in GROUPS.items():
        for model, parent in pairs.items():
            if (gain := gain_under(study, model, parent, corruptions)) is not None:
                values[model, kind] = gain
    every = [name for title in titles for name in ((*GROUPS, title) if title == FAMILY else (title,))]
    asked = [name for name in every if any(on == name for _, on in values)]
    columns = [Column(titles.get(name, name), "points") for name in asked]
    return table("differences", study, pairs, columns, lambda model: [values.get((model, name)) for name in asked])


def keep_larger(values: dict[tuple[str, str], Estimate], at: tuple[str, str], new: Estimate) -> None:
    """Keep an estimate unless one from more images is there: an attack is often made on fewer, which are clean, too."""
    if at not in values or (values[at].n or 0) < (new.n or 0):
        values[at] = new


def gain_under(study: Study, model: str, parent: str, corruptions: Sequence[str]) -> Estimate | None:
    """The mean over these corruptions and all severities of the difference to the parent; None where one is missing."""
    shares = [share_right(study, name, corruptions) for name in (model, parent)]
    if shares[0] is None or shares[1] is None:
        return None
    return mean_of(shares[0] - shares[1])


def share_right(study: Study, model: str, corruptions: Sequence[str]) -> np.ndarray | None:
    """Of each image, in what share of these conditions the model is right, (N,)."""
    keys = {
        one.record.key
        for one in study.conditions
        if one.record and one.member and one.member.name == FAMILY and one.member.corruption in corruptions
    }
    cells = [cell for one in study.models if one.name == model for cell in one.cells if cell.condition.key in keys]
    return np.mean(right_on_common(study.index, cells).values, axis=0) if cells else None


def robustness(study: Study, titles: Mapping[str, str]) -> Table:
    """ρ of each model on every shift that has a line."""
    shifts = [shift for name in titles for shift in study.shifts if shift.name == name and shift.robustness]
    columns = [Column(titles[shift.name], "points") for shift in shifts]
    return table("rho", study, parents_of(study), columns, lambda model: [rho_of(shift, model) for shift in shifts])


def rho_of(shift: StudyShift, model: str) -> Estimate | None:
    """Its effective robustness under the shift."""
    return shift.of_model[model].rho if model in shift.of_model else None


def table(id_: str, study: Study, pairs: dict[str, str], columns: list[Column], values: Values) -> Table:
    """A row for each model that has a parent; numbers whose interval is without 0 are bold."""
    models = [model.name for model in study.models if model.name in pairs]
    rows = tuple((name, pairs[name], *values(name)) for name in models)
    bold = frozenset((at, place) for at, row in enumerate(rows) for place, one in enumerate(row) if is_clear(one))
    return Table(id_, "", (Column("model"), Column("made from"), *columns), rows, bold=bold)


def is_clear(value: object) -> bool:
    """Whether it is an estimate whose interval is on one side of 0."""
    return (
        isinstance(value, Estimate) and value.low is not None and value.high is not None and value.low * value.high > 0
    )


def parts(study: Study, zoo: str) -> Iterator[tuple[str, str]]:
    """What stands between marks on the page, by name."""
    for one in (differences(study, TITLES[zoo]), robustness(study, TITLES[zoo])):
        yield one.id, one.written("markdown", "brackets").strip()
    judged = hypotheses(study.index)
    yield "hypotheses", f"```text\n{judged.table()}\n{judged.rule}\n```"


def with_part(page: str, name: str, text: str) -> str:
    """The page with this text between the marks of that name."""
    begin, end = f"<!-- zoo/interventions.py writes {name} -->\n", "<!-- until here -->\n"
    before, found, rest = page.partition(begin)
    if not found:
        raise SystemExit(f"{PAGE}: no line {begin.strip()}")
    return f"{before}{begin}\n{text}\n\n{end}{rest.partition(end)[2]}"


def main() -> None:
    """Print the tables, or write them into the page."""
    parser = argparse.ArgumentParser(description="What each intervention changes.")
    parser.add_argument("zoo", choices=list(TITLES))
    parser.add_argument("store")
    parser.add_argument("--write", action="store_true", help="into docs/interventions.md")
    said = parser.parse_args()
    page = PAGE.read_text(encoding="utf-8") if said.write else ""
    for name, text in parts(study_of(said.store), said.zoo):
        if said.write:
            page = with_part(page, f"{said.zoo}-{name}", text)
        else:
            print(text, end="\n\n")
    if said.write:
        PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
