"""``oodometer preflight``: can the answers be right?"""

from __future__ import annotations

from typing import Any

import click

from oodometer.cli.model_options import declared_by, what_they_are_shown, which_models
from oodometer.cli.output import as_json, import_plugins, plugins, print_json, say, talk_on_stderr


@click.command(
    "preflight",
    help="Ask a few hundred images and look at the answers: the preprocessing against its usual alternatives, the "
    "order of the classes, whether the outputs are logits, and whether the data are a set that is scored otherwise. "
    "Nothing is changed or kept. Exit code 3 where something is found.",
)
@which_models
@click.option("--data", required=True, metavar="ADDRESS", help="Clean images with labels.")
@click.option("--data-kind", metavar="KIND", help="Say what the data are instead of letting the address tell.")
@click.option("--images", type=click.IntRange(min=1), default=256, show_default=True, help="So many are asked.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the choice of images.")
@what_they_are_shown
@plugins
@as_json
def command(**flags: Any) -> None:
    """Look at the answers of models."""
    from oodometer.core.errors import PreflightError
    from oodometer.data.load import load_data
    from oodometer.models.load import load_models
    from oodometer.preflight.preflight import preflight

    import_plugins(flags["plugin_modules"])
    with talk_on_stderr():
        models = load_models(flags["models"], declared_by(flags), allow_pickle=flags["allow_pickle"], tell=say)
        data = load_data(flags["data"], kind=flags["data_kind"])
        flown = preflight(models, data, address=flags["data"], n=flags["images"], seed=flags["seed"])
    print_json(flown.as_json()) if flags["as_json"] else click.echo(flown)
    if not flown.is_clean:
        raise PreflightError("something can't be right, as told above")
