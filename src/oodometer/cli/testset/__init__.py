"""``oodometer testset``: build a test set, from a pool of candidates to a release."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from oodometer.core.errors import did_you_mean

VERBS = {
    "new": "Begin a test set: a project folder with its database.",
    "plan": "What to search for each class, and what came of it.",
    "add": "Put candidates into the pool.",
    "tasks": "Put candidates into annotation tasks, with hidden controls.",
    "workers": "Addresses for people who annotate, and how many there are.",
    "frequencies": "What annotators said: selection frequencies, how good workers are, how far they agree.",
    "export": "Annotation tasks for Mechanical Turk or Label Studio.",
    "import": "Answers from Mechanical Turk or Label Studio.",
    "keywords": "The keyword of each original image, by its nearest neighbour in a source.",
    "choose": "Two people choose images by keyword: one selects, the other verifies, as for CIFAR-10.1.",
    "duplicates": "Near-duplicates: in the pool, among the originals, in a training set; or between any two data sets.",
    "sample": "Choose images from the pool, and keep the choice as a revision.",
    "exclude": "Take images out of all samples, with a reason, or back in.",
    "revisions": "All samples that were taken, and what changed between two of them.",
    "release": "Write a revision as a data set.",
    "verify": "Is a release what it was when it was written?",
    "quiz": "How well people name the hardest images of both sets, and what came of it.",
    "pool": "The candidates as data that models can be asked about.",
    "filter": "Keep the candidates that models get wrong, by ImageNet-A's or ImageNet-O's rule.",
    "contamination": "What near-duplicates of training images did to each model's accuracy, on any data.",
    "splits": "Tables to train on: half of a release, or folds against the original set.",
    "study": "What a release shows about itself: by frequency and revision, drops, discriminator, hardest images.",
    "status": "How far the test set is, class by class.",
    "serve": "The pages on which people annotate and review.",
    "simulate": "Let simulated annotators answer, to try everything out.",
}
"""Each with its help, so that ``--help`` imports none of them."""

MODULES = {"import": "import_answers", "export": "export_tasks", "filter": "filter_pool"}
"""Where a module can't be, or is better not, named like its command."""


class _Verbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        module = import_module(f"oodometer.cli.testset.{MODULES.get(cmd_name, cmd_name.replace('-', '_'))}")
        command: click.Command = module.command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise click.UsageError(f"no command named {args[0]!r}{did_you_mean(args[0], VERBS)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(
    "testset",
    cls=_Verbs,
    help="Build a test set as the papers did: pool, annotation, frequencies, near-duplicates, sampling, review, "
    "filtration, release.",
)
def command() -> None:
    """Build a test set."""
