"""``oodometer corrupt``: corrupted data sets in the published layouts, and a sheet to look at."""

from __future__ import annotations

import io
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from oodometer.cli.output import import_plugins, plugins, say, say_if_compiling, watching
from oodometer.core.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from oodometer.core.dataset import Dataset
    from oodometer.core.preprocessing import Geometry
    from oodometer.shifts.corrupted_files import Job

T = TypeVar("T")

SIZE = 224


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
@click.option("--frost-textures", metavar="DIR", help="A folder of frost photographs, or: published, procedural.")
@click.option("--threads", type=click.IntRange(min=0), default=0, help="0: one per core.")
@click.option("--skip-broken", is_flag=True, help="Leave out images that can't be read; a later call tries again.")
@click.option("--force", is_flag=True, help="Write over what is there.")
@plugins
@click.option("--preview", is_flag=True, help="SOURCE is one image, TARGET the picture of it under each corruption.")
def command(
    source: str, target: str, names: str, severities: str | None, size: int | None, seed: int,
    frost_textures: str | None, threads: int, skip_broken: bool, force: bool, preview: bool,
    plugin_modules: tuple[str, ...],
) -> None:  # fmt: skip
    """Corrupt a data set or an image."""
    from oodometer.core.preprocessing import Geometry
    from oodometer.shifts.corrupted_files import Job, check_target, parse_names, parse_severities, write_mark
    from oodometer.shifts.unfinished_files import nothing_unfinished

    import_plugins(plugin_modules)
    if frost_textures:
        from oodometer.corruptions.frost import set_frost_textures

        set_frost_textures(frost_textures)
    side = size or SIZE
    view = Geometry(side, side, resize=round(side * 256 / 224))
    if preview:
        if severities is not None or skip_broken:
            raise UsageError("--preview draws one image at all five severities; leave out --severities, --skip-broken")
        write_sheet(source, target, names, view, seed=seed, force=force)
        return
    dataset, is_array = open_source(source)
    if is_array and size is not None:
        raise UsageError(f"{source}: images of an array keep their size; leave out --size")
    job = Job(
        dataset=dataset,
        target=Path(target),
        names=tuple(parse_names(names)),
        severities=tuple(parse_severities(severities or "1-5")),
        view=None if is_array else view,
        seed=seed,
    )
    check_target(job, source, force=force)
    job = readable(job, skip_broken=skip_broken)
    with nothing_unfinished(job.target):
        write_mark(job, force=force)
        say_if_compiling()
        made = (write_arrays if is_array else write_files)(job, threads=threads, force=force)
    say(f"{made} images written to {target}" if made else f"nothing new to do: everything is in {target} already")


def open_source(source: str) -> tuple[Dataset, bool]:
    """The data, and whether they are arrays."""
    from oodometer.data.load import kind_of, load_data

    if not re.search(r"://|[{*?]", source) and not Path(source).exists():
        raise DataError(f"{source}: no such file or folder")
    return load_data(source), kind_of(source) == "arrays"


def readable(job: Job, *, skip_broken: bool) -> Job:
    """The job on the images that can be read; an error where there are others that are not to be left out."""
    from oodometer.engine.run import check_readable
    from oodometer.shifts.corrupted_files import without

    with watching() as watcher:
        check_readable(job.dataset, watcher, skip_broken=skip_broken)
    return without(job, job.dataset.scan().broken)


def write_files(job: Job, *, threads: int, force: bool) -> int:
    """Write the files of all images."""
    from oodometer.shifts.corrupted_files import write_image

    per_image = len(job.names) * len(job.severities)
    return _mapped(partial(write_image, job, force=force), range(len(job.dataset)), threads, per_image)


def write_arrays(job: Job, *, threads: int, force: bool) -> int:
    """Write the arrays of all corruptions."""
    from oodometer.shifts.corrupted_files import write_array, write_labels

    images = [job.dataset.image(index) for index in range(len(job.dataset))]
    write_labels(job, force=force)
    per_name = len(images) * len(job.severities)
    return _mapped(partial(write_array, job, images, force=force), job.names, threads, per_name)


def _mapped(work: Callable[[T], int], items: Iterable[T], threads: int, per_item: int) -> int:
    """The number of images that were written; the watcher is told about all that were looked at."""
    from oodometer.engine.executors import Threads
    from oodometer.engine.run import n_cores

    listed = list(items)
    total, done, made = per_item * len(listed), 0, 0
    with watching("images written") as watcher:
        watcher.running(0, total)
        for count in Threads(threads or n_cores()).map(work, listed, stop=lambda: None):
            made, done = made + count, done + per_item
            watcher.running(done, total)
    return made


def write_sheet(source: str, target: str, names: str, view: Geometry, *, seed: int, force: bool) -> None:
    """Draw one image under every corruption."""
    from PIL import Image

    from oodometer.corruptions.registry import COMMON, EXTRA
    from oodometer.data.decode import decode
    from oodometer.data.resize import as_view
    from oodometer.shifts.contact_sheet import contact_sheet
    from oodometer.shifts.corrupted_files import parse_names
    from oodometer.shifts.unfinished_files import nothing_unfinished, write_whole

    if Path(target).exists() and not force:
        raise DataError(f"{target}: is there already; choose another name, or --force")
    if Path(target).suffix.lower() not in Image.registered_extensions():
        raise DataError(f"{target}: no kind of picture that is known by its name; use for example .png or .jpg")
    if not Path(target).parent.is_dir():
        raise DataError(f"{target}: there is no folder {Path(target).parent}; make it first")
    try:
        image = as_view(decode(Path(source).read_bytes()), view)
    except OSError as error:
        raise DataError(f"{source}: can't be read as an image ({error.strerror})") from error
    except DataError as error:
        raise DataError(f"{source}: {error}") from error
    say_if_compiling()
    chosen = [*COMMON, *EXTRA] if names == "common" else parse_names(names)
    sheet = Image.fromarray(contact_sheet(image, chosen, key=Path(source).stem, seed=seed))
    picture = io.BytesIO()
    try:
        sheet.save(picture, format=Image.registered_extensions()[Path(target).suffix.lower()])
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{target}: no such picture can be made ({error}); use for example .png or .jpg") from error
    with nothing_unfinished(Path(target).parent):
        write_whole(Path(target).parent, target, lambda file: file.write(picture.getvalue()))
    say(f"{len(chosen)} corruptions at 5 severities drawn in {target}")
