"""``oodometer corrupt``: corrupted data sets in the published layouts, and a sheet to look at."""

from __future__ import annotations

import click

from oodometer.cli.output import frost_textures, import_plugins, plugins, say, use_frost, watching


@click.command(
    "corrupt",
    help="Write corrupted images: CORRUPTION/SEVERITY/CLASS/FILE.JPEG for folders, CORRUPTION.npy and labels.npy for "
    "arrays. What is there already is left alone. With --preview, a sheet of one image.",
)
@click.argument("source")
@click.argument("target")
@click.option("--corruptions", "names", default="common", show_default=True, help="common, extra, bar, all, or names.")
@click.option("--severities", default="1-5", show_default=True, help="For example 1-5 or 1,3,5.")
@click.option("--size", type=click.IntRange(min=32), default=224, show_default=True, help="Of the centre crop.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of every random draw.")
@frost_textures
@click.option("--threads", type=click.IntRange(min=0), default=0, help="0: one per core.")
@click.option("--force", is_flag=True, help="Write over what is there.")
@plugins
@click.option("--preview", is_flag=True, help="SOURCE is one image, TARGET the picture of it under each corruption.")
def command(
    source: str, target: str, names: str, severities: str, size: int, seed: int, frost: str | None,
    threads: int, force: bool, preview: bool, plugin_modules: tuple[str, ...],
) -> None:  # fmt: skip
    """Corrupt a data set or an image."""
    from oodometer.shifts.contact_sheet import write_sheet
    from oodometer.shifts.write_corrupted import CorruptOptions, corrupt_files

    import_plugins(plugin_modules)
    use_frost(frost)
    options = CorruptOptions(size, seed, threads, force=force)
    if preview:
        drawn = write_sheet(source, target, corruptions=names, options=options, tell=say)
        say(f"{len(drawn)} corruptions at 5 severities drawn in {target}")
        return
    with watching("images written") as watcher:
        say(
            str(
                corrupt_files(
                    source,
                    target,
                    corruptions=names,
                    severities=severities,
                    options=options,
                    progress=watcher.running,
                    tell=say,
                )
            )
        )
