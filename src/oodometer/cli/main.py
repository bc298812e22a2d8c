"""The ``oodometer`` command: finds the verb, imports only that, and turns errors into one line and an exit code."""

from __future__ import annotations

import gc
import os
import sys
import threading
from importlib import import_module
from typing import IO, Any

import click

from oodometer import __version__
from oodometer.cli.own_stdout import own_stdout
from oodometer.core.errors import OodometerError

VERBS = {
    "augment": "Write augmented copies of images: DeepAugment, style transfer and others; a sheet of them.",
    "build": "Make a data set: icons of many vendors.",
    "check": "Is this the data set that it claims to be?",
    "compare": "Compare models on the images that they share: two, or all pairs.",
    "confusion": "Whose classes lead where: what a model takes the images of each class for.",
    "consistency": "Who fails on the same images: models, and people beside them.",
    "correlate": "Which synthetic shift predicts which natural one.",
    "corrupt": "Write corrupted images in the published layouts.",
    "estimate": "Accuracy on images without labels, with the error to expect.",
    "explain": "What a drop is made of: the three gaps, as far as the data bound them.",
    "figure": "Draw a figure for a paper: PDF, SVG or PNG.",
    "gaps": "Both sides of every shift, and what is lost between them.",
    "hardest": "The images that most models miss.",
    "hypotheses": "What makes models robust: eight hypotheses, judged from your own runs.",
    "import": "Bring accuracies or predictions from elsewhere into a store.",
    "label": "Which images of a set to label, so that few labels tell much.",
    "ls": "Show what is in a store, or which models, data, conditions and shifts there are.",
    "plan": "How many images would show a difference between two models?",
    "preflight": "Can the answers be right? Preprocessing, labels and outputs, by a few hundred images.",
    "quickstart": "Icons, a zoo of networks, every kind of shift: a leaderboard in minutes.",
    "report": "Everything that a store knows, as one HTML file to look at, print and send.",
    "reproduce": "Derive the papers' published numbers again, ours beside theirs.",
    "rm": "Take a model out of a store.",
    "robustness": "What every model has beyond its clean accuracy: effective and relative robustness.",
    "run": "Ask models about conditions and keep every prediction.",
    "score": "The metrics of every model on every condition, with intervals.",
    "serve": "Explore a store in a browser: models, shifts, single images.",
    "sheet": "Draw images to look at: of each class, clean beside shifted, or one under every shift.",
    "site": "The explorer's pages as files, for any web server.",
    "split": "Cut a manifest into a base and test sets that differ from it in one attribute each.",
    "table": "A table for papers and READMEs: LaTeX, Markdown, CSV or text.",
    "testset": "Build a test set: pool, annotation, near-duplicates, sampling, review, release.",
    "train": "Train a small network on labelled images; ONNX with its card comes out.",
    "verify": "Does a store hold what it promises?",
}
"""Each verb with its help, so that ``oodometer --help`` imports none of them."""


class Verbs(click.Group):
    """The verbs, each imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """All verbs."""
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of a verb."""
        if cmd_name not in VERBS:
            return None
        module = import_module(f"oodometer.cli.{cmd_name}_" if cmd_name == "import" else f"oodometer.cli.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The verb that the arguments begin with."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            from oodometer.core.errors import did_you_mean

            raise click.UsageError(f"no command named {args[0]!r}{did_you_mean(args[0], VERBS)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the verbs without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(VERBS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the verb; an error of the user's ends in one line."""
        # A command makes objects that stay until its end: looking through them for garbage took a fifth of its time.
        gc.set_threshold(100_000, 50, 50)
        # Commands divide their work among threads; NumPy's own would only stand in their way, and change last digits.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        try:
            with own_stdout():
                return super().invoke(ctx)
        except OodometerError as error:
            raise Failure(str(error), error.exit_code) from error
        except KeyboardInterrupt:
            message = "stopped; what is finished is kept: run the same command again to go on"
            raise Failure(message, 130) from None


class Failure(click.ClickException):
    """The end of a command that did not succeed."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc] # click reads it off the instance

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line; end at once where a library still computes what nobody waits for any more."""
        from oodometer.core.model import PENDING

        super().show(file)
        if any(thread.name == PENDING for thread in threading.enumerate()):
            # The end of the interpreter would pull the ground from under it, and the process be aborted.
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(self.exit_code)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="oodometer")
def main() -> None:
    """How far can an image classifier's accuracy be trusted when the data shift?

    Results go to stdout, talk to stderr. Exit codes: 0 done; 1 the work failed, what was finished is kept; 2 wrong
    usage; 3 a stated requirement was not met; 4 whether it is met can't be told, and --strict asks for that.
    """
