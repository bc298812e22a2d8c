"""Write docs/reference.md from the code: every command with its options, every public name with its docstring.

python docs/make_reference.py
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType

import click

import oodometer as odo
from oodometer.build import testset
from oodometer.cli.main import VERBS, main

HEADER = """\
# Reference

Made from the code by `make docs`; a test keeps it so.

## Commands

Results go to stdout, talk to stderr. `--json` prints what the table shows, and more, for programs.
Exit codes: 0 done; 1 the work failed, what was finished is kept; 2 wrong usage; 3 a stated requirement was not met; 4
whether it is met can't be told (`compare --strict`); 130 interrupted.
"""

JSON = """\
## JSON

What each command prints with `--json`; tests pin the keys. An `Estimate` is an object with `value`, `low`, `high`,
`n`, `interval`. What is not known is null. The types are described under Python and under Parts of results.

- `score`, `run`: a list of `Score`.
- `compare` of two models: a list of `Comparison`, or `FamilyComparison` for a family, each with its `verdict`; with
  `--fail-if-worse` also its `gate`: `answer` (worse, not worse, can't tell), `margin`, `reason`, `difference` with the
  corrected interval, `correction`. Of more models: a `ManyComparisons`, each pair with its `state` (separated, tied,
  can't be tested). `plan`: an `ImagePlan`.
- `robustness`: a `Robustness`. `correlate`: a `Correlations`. `hardest`: a `Hardest`.
- `label`: an object: `set`, `design`, `seed`, `pool_size`, `pool`, `notes`, and `images`, a list of `id`,
  `inclusion_probability`, `label`. `estimate --labels`: a `FewLabelEstimates`, each `FromFewLabels` of it with its
  `factor` (worth over labels) and `saved` (labels).
- `reproduce`: a list of papers: `paper`, `title`, `checks` (a list of `Check`, each with `difference` and `holds`),
  `not_derived` (a list of `TextNumber`) and `remarks` (a list of `Remark`). `ls numbers`: a list of `TextNumber`.
- `train`: an object: `model`, `file`, `architecture`, `parameters`, `training_images`, `held_out_images`,
  `iid_accuracy` (an `Estimate`), `digest`, `is_new`.
- `ls STORE`: a list of cells: `model`, `weights`, `condition`, `data`, `rows`, `images`, `state`, `logits`, `key`,
  `input`, `card`, `versions`.
"""

PARTS = (
    "analysis.gate:Judged",
    "analysis.many_comparisons:ComparedOn",
    "analysis.many_comparisons:ComparedModel",
    "analysis.many_comparisons:PairOfModels",
    "analysis.image_plan:PlannedPair",
    "analysis.robustness:ModelRobustness",
    "analysis.robustness:Order",
    "analysis.robustness_line:Fitted",
    "analysis.robustness_line:Piece",
    "analysis.correlate:FittedShift",
    "analysis.correlate:ShiftPair",
    "analysis.hardest:HardImage",
    "few_labels.estimate:ModelFromFew",
    "few_labels.label_table:Design",
    "published.checks:Check",
    "published.checks:Remark",
    "published.in_text.numbers:TextNumber",
    "stats.paired:PairedCounts",
    "stats.prediction_powered:FromFewLabels",
)
"""Types that public results are made of, without being public names themselves."""


def reference() -> str:
    """The whole page."""
    commands = "\n".join(command_help(verb) for verb in sorted(VERBS))
    names = "\n".join(described(name) for name in odo.__all__)
    of_testset = "\n".join(described(name, testset, "testset") for name in testset.__all__)
    parts = "\n".join(part(address) for address in PARTS)
    python = f"## Python\n\n`import oodometer as odo`\n\n{names}"
    building = f"## Building a test set\n\n`from oodometer.build import testset`\n\n{of_testset}"
    return f"{HEADER}\n{commands}\n{JSON}\n{python}\n{building}\n## Parts of results\n\n{parts}"


def part(address: str) -> str:
    """A type that results are made of, by its module and name."""
    module, _, name = address.partition(":")
    return of_class(f"### {name}\n\n", name, getattr(importlib.import_module(f"oodometer.{module}"), name))


def command_help(verb: str) -> str:
    """A command's help, as it is printed."""
    group = click.Context(main, info_name="oodometer", **main.context_settings)
    command = main.get_command(group, verb)
    assert command is not None
    if isinstance(command, click.Group):
        names = sorted(command.list_commands(group))
        parts = [(name, command.get_command(group, name)) for name in names]
        return "\n".join(one_help(part, f"{verb} {name}", group) for name, part in parts if part is not None)
    return one_help(command, verb, group)


def one_help(command: click.Command, name: str, group: click.Context) -> str:
    """The help of a command that has no commands below it."""
    with click.Context(command, info_name=name, parent=group, terminal_width=100, max_content_width=100) as context:
        return f"### oodometer {name}\n\n```text\n{command.get_help(context)}\n```\n"


def described(name: str, home: ModuleType = odo, called: str = "odo") -> str:
    """A public name with its signature or fields and its docstring."""
    thing = getattr(home, name)
    heading = f"### {called}.{name}\n\n"
    if inspect.isfunction(thing):
        return f"{heading}```python\n{signature_of(name, thing)}\n```\n\n{document(thing)}\n"
    if dataclasses.is_dataclass(thing):
        return of_class(heading, name, thing)
    return f"{heading}{document(thing)}\n"


def of_class(heading: str, name: str, thing: type) -> str:
    """A frozen dataclass: its fields, its docstring, its methods."""
    fields = ", ".join(f"{one.name}: {one.type}" for one in dataclasses.fields(thing))
    return f"{heading}```python\n{name}({fields})\n```\n\n{document(thing)}\n{methods(thing)}"


def signature_of(name: str, function: object) -> str:
    """The signature in one line, addresses of defaults left out."""
    text = str(inspect.signature(function)).replace("'", "")  # type: ignore[arg-type]
    return f"{name}{re.sub(r' at 0x[0-9a-f]+', '', text)}"


def document(thing: object) -> str:
    """The docstring; what is indented in it stays as it is."""
    return f"```text\n{inspect.getdoc(thing)}\n```\n"


def methods(thing: type) -> str:
    """The public methods of a class, a line each."""
    lines = []
    for name, member in sorted(vars(thing).items()):
        inner = member.fget if isinstance(member, property) else getattr(member, "func", member)
        if name.startswith("_") or not inspect.isfunction(inner) or not inner.__doc__:
            continue
        first = inner.__doc__.strip().splitlines()[0]
        lines.append(f"- `{name}{'' if inner is not member else '()'}`: {first}")
    return "\n".join(lines) + "\n" if lines else ""


if __name__ == "__main__":
    target = Path(__file__).with_name("reference.md")
    target.write_text(reference(), encoding="utf-8")
    print(f"wrote {target.name}")
