"""``oodometer corrupt``: corrupted data sets in the published layouts, and a sheet to look at."""

from __future__ import annotations

import click

from oodometer.cli.output import frost_textures, import_plugins, plugins, say, use_frost, watching
from oodometer.core.errors import UsageError


@click.command(
    "corrupt",
    help="Write corrupted images: CORRUPTION/SEVERITY/CLASS/FILE.JPEG for folders, CORRUPTION.npy and labels.npy for "
    "arrays. What is there already is left alone. With --preview, a sheet of one image.",
)
@click.argument("source")
@click.argument("target")
@click.option("--corruptions", "names", default="common", show_default=True, help="common, extra, bar, all, or names.")
@click.option("--severities", show_default="1-5", help="For example 1-5 or 1,3,5.")
@click.option("--size", type=click.IntRange(min=32), show_default="224", help="Of the centre crop; not for arrays.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of every random draw.")
@frost_textures
@click.option("--threads", type=click.IntRange(min=0), default=0, help="0: one per core.")
@click.option("--skip-broken", is_flag=True, help="Leave out images that can't be read; a later call tries again.")
@click.option("--force", is_flag=True, help="Write over what is there.")
@plugins
@click.option("--preview", is_flag=True, help="SOURCE is one image, TARGET the picture of it under each corruption.")
def command(
    source: str, target: str, names: str, severities: str | None, size: int | None, seed: int, frost: str | None,
    threads: int, skip_broken: bool, force: bool, preview: bool, plugin_modules: tuple[str, ...],
) -> None:  # fmt: skip
    """Corrupt a data set or an image."""
    from oodometer.shifts.contact_sheet import write_sheet
    from oodometer.shifts.write_corrupted import CorruptOptions, corrupt_files

    import_plugins(plugin_modules)
    use_frost(frost)
    options = CorruptOptions(size, seed, threads, skip_broken=skip_broken, force=force)
    if preview:
        if skip_broken:
            raise UsageError("--preview draws one image; leave out --skip-broken")
        levels = severities or "1-5"
        drawn = write_sheet(source, target, corruptions=names, severities=levels, options=options, tell=say)
        say(f"{len(drawn)} corruptions at severities {levels} drawn in {target}")
        return
    with watching("images written") as watcher:
        written = corrupt_files(
            source,
            target,
            corruptions=names,
            severities=severities or "1-5",
            options=options,
            progress=watcher.running,
            tell=say,
        )
    say(str(written))
