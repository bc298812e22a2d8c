"""``oodometer testset filter``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from oodometer.cli.output import as_json, looked_at, print_json, say
from oodometer.core.errors import UsageError

if TYPE_CHECKING:
    from oodometer.build.testset.project.project import Project
    from oodometer.store.index import Index


@click.command(
    "filter",
    help="Take candidates out that are no trouble for some models, by the rule of a published set and from stored "
    "predictions: 'oodometer testset pool' and 'oodometer run --defence each-crop' make them. A person chooses from "
    "what is left. A second call with the same changes nothing, another replaces it.",
)
@click.argument("project")
@click.option("--store", metavar="ADDRESS", default="runs", show_default=True, help="Where the predictions are.")
@click.option(
    "--rule",
    metavar="NAME",
    help="imagenet-a: out goes what any model gets right in any crop, or gives its class much confidence; imagenet-o, "
    "of images of no known class: what a model doesn't take for a known class with confidence.",
)
@click.option("--models", metavar="A,B", default="", help="Bare models.  [default: all that were asked crop by crop]")
@click.option("--confidence", type=float, default=0.15, show_default=True, help="imagenet-a: the most a class may get.")
@click.option("--per-confusion", type=int, default=15, show_default=True, help="imagenet-a: images of a confusion.")
@click.option("--at-least", type=float, metavar="SHARE", help="imagenet-o: the confidence that counts as high.")
@click.option(
    "--groups",
    metavar="CSV|SHARE",
    help="class, group: mistakes within a group of near classes don't count. Or a share such as 0.05: near is what a "
    "model of the store takes for each other so often on the original images.",
)
@click.option("--classes", metavar="A,B", default="", help="The only classes that stay.")
@click.option(
    "--among-classes",
    is_flag=True,
    help="imagenet-a: models answer among the classes of the project alone; for predictions with --keep logits.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw of those that stay of a confusion.")
@click.option("--undo", is_flag=True, help="Take back what the rule took out; without --rule, what any did.")
@as_json
def command(
    project: str, store: str, rule: str | None, models: str, confidence: float, per_confusion: int,
    at_least: float | None, groups: str | None, classes: str, among_classes: bool, seed: int, undo: bool, as_json: bool,
) -> None:  # fmt: skip
    """Filter the pool, or take it back."""
    from oodometer.build.testset.project.filter_pool import REASONS, FilterRequest, filter_pool, undo_filter
    from oodometer.build.testset.project.project import open_project

    with open_project(project) as opened:
        if undo:
            taken_back = {each: undo_filter(opened, each) for each in ([rule] if rule else REASONS)}
            _print_undone(taken_back, as_json=as_json)
            return
        if rule is None:
            raise UsageError(f"say by which rule: --rule {' or --rule '.join(REASONS)}")
        index = looked_at(store)
        request = FilterRequest(
            rule, names_in(models), confidence, per_confusion, at_least, _groups(opened, index, groups),
            names_in(classes), seed, among_classes,
        )  # fmt: skip
        found = filter_pool(opened, index, request)
    print_json(found.as_json()) if as_json else click.echo(found)
    whole = [name for name in found.models if name not in found.by_crop]
    if whole and rule == "imagenet-a":
        say(f"asked about whole images alone, not crop by crop: {', '.join(whole)}")


def _print_undone(taken_back: Mapping[str, int], *, as_json: bool) -> None:
    if as_json:
        told = [{"rule": rule, "taken_back": n} for rule, n in taken_back.items()]
        print_json(told if len(told) > 1 else told[0])
        return
    for rule, n in taken_back.items():
        click.echo(f"{rule}: {n} candidates are in again")


def _groups(project: Project, index: Index, said: str | None) -> dict[str, str]:
    """From a table, or from what models confuse."""
    from oodometer.build.testset.project.filter_pool import groups_by_confusion, read_groups

    if said is None:
        return {}
    try:
        share = float(said)
    except ValueError:
        return read_groups(said)
    groups = groups_by_confusion(project, index, share)
    say(f"near classes: {', '.join(sorted(f'{name} in {group}' for name, group in groups.items())) or 'none'}")
    return groups


def names_in(text: str) -> tuple[str, ...]:
    """Names with commas between them."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
