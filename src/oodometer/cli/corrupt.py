"""``oodometer corrupt``: corrupted data sets in the published layouts."""

from __future__ import annotations

import click

from oodometer.cli.output import frost_textures, import_plugins, plugins, say, use_frost, watching


@click.command(
    "corrupt",
    help="Write corrupted images: CORRUPTION/SEVERITY/CLASS/FILE.JPEG for folders, CORRUPTION.npy and labels.npy for "
    "arrays. What is there already is left alone. 'oodometer sheet' draws one image under each corruption.",
)
@click.argument("source")
@click.argument("target")
@click.option("--corruptions", "names", default="common", show_default=True, help="common, extra, bar, all, or names.")
@click.option("--severities", default="1-5", show_default=True, help="For example 1-5 or 1,3,5.")
@click.option("--size", type=click.IntRange(min=32), show_default="224", help="Of the centre crop; not for arrays.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of every random draw.")
@frost_textures
@click.option("--threads", type=click.IntRange(min=0), default=0, help="0: one per core.")
@click.option("--skip-broken", is_flag=True, help="Leave out images that can't be read; a later call tries again.")
@click.option("--force", is_flag=True, help="Write over what is there.")
@plugins
def command(
    source: str, target: str, names: str, severities: str, size: int | None, seed: int, frost: str | None,
    threads: int, skip_broken: bool, force: bool, plugin_modules: tuple[str, ...],
) -> None:  # fmt: skip
    """Corrupt a data set."""
    from oodometer.shifts.write_corrupted import CorruptOptions, corrupt_files

    import_plugins(plugin_modules)
    use_frost(frost)
    options = CorruptOptions(size, seed, threads, skip_broken=skip_broken, force=force)
    with watching("images written") as watcher:
        written = corrupt_files(
            source,
            target,
            corruptions=names,
            severities=severities,
            options=options,
            progress=watcher.running,
            tell=say,
        )
    say(str(written))
