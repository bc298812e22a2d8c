"""``oodometer augment``: augmented copies of images, and a sheet to look at."""

from __future__ import annotations

from typing import Any

import click

from oodometer.cli.output import import_plugins, plugins, say, watching


@click.command(
    "augment",
    help="Write augmented copies of the images of SOURCE to the folder TARGET, as PNG in class folders; what is there "
    "already is left alone. Networks that a method needs are learned on the images, in a minute or two, and kept. "
    "Without TARGET, the preview alone.",
)
@click.argument("source")
@click.argument("target", required=False)
@click.option(
    "--method",
    required=True,
    metavar="NAME",
    help="deepaugment (two copies of each image), style, or what changes batches: augmix, erase, mirror...",
)
@click.option("--preview", metavar="FILE", help="Draw originals beside several draws: .png, .jpg...")
@click.option("--rows", type=click.IntRange(min=1), default=6, show_default=True, help="Of the preview: images.")
@click.option(
    "--draws", type=click.IntRange(min=1), default=4, show_default=True, help="Of the preview: of each image."
)
@click.option("--style-images", metavar="DIR", help="For style: take the styles of these images.")
@click.option("--style-weights", metavar="DIR", help="For style: vgg_normalised.pth and decoder.pth.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of every draw.")
@click.option("--threads", type=click.IntRange(min=0), default=0, help="0: one per core.")
@click.option("--force", is_flag=True, help="Write over what is there.")
@plugins
def command(source: str, target: str | None, method: str, preview: str | None, **flags: Any) -> None:
    """Augment images."""
    from oodometer.copies.augment import AugmentOptions, augment
    from oodometer.train.style_sources import StyleSources

    import_plugins(flags["plugin_modules"])
    style = StyleSources(flags["style_images"], flags["style_weights"])
    plain = {name: flags[name] for name in ("seed", "threads", "rows", "draws", "force")}
    options = AugmentOptions(style=style, **plain)
    with watching("images augmented") as watcher:
        made = augment(
            source, target, method=method, preview=preview, options=options, progress=watcher.running, tell=say
        )
    say(str(made))
