"""The command line as a person types it."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner, Result

from oodometer.cli.main import main


def oodometer(*words: str | Path) -> Result:
    """What the command gives; an error that is ours, not the user's, is raised."""
    result = CliRunner().invoke(main, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result
