"""``oodometer testset duplicates``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING

import click

from oodometer.cli.output import as_json, print_json, say, talk_on_stderr, warn, watching
from oodometer.core.errors import UsageError

if TYPE_CHECKING:
    from oodometer.build.testset.likeness import Reach
    from oodometer.build.testset.project.close_pairs import DuplicateSearch
    from oodometer.build.testset.project.project import Project

WARNED_OF = 3


@click.command(
    "duplicates",
    help="Look for near-duplicates of the candidates of PROJECT: in the pool, among the originals and in other data. "
    "PROJECT may be any data too: then the pairs go to a table, and nothing else is kept.",
)
@click.argument("project")
@click.option("--against", multiple=True, metavar="DATA", help="Other data, such as a training set; may be repeated.")
@click.option(
    "--metrics",
    metavar="NAMES",
    help="Of pixels, structure, crops, soft-pixels, features:MODEL, with commas.  [default: pixels,structure,crops]",
)
@click.option("--neighbours", type=int, metavar="N", help="The nearest of each image, so many.  [default: 30]")
@click.option("--within", type=float, metavar="R", help="All that are at most so far apart, however many.")
@click.option(
    "--threshold", multiple=True, metavar="METRIC=R", help="So close a pair is one picture until somebody has looked."
)
@click.option(
    "--judge", multiple=True, metavar="PAIR=VERDICT", help="duplicate, different or open. Nothing is searched."
)
@click.option("--verdicts", metavar="CSV", help="The table of --pairs, its column verdict filled in by a person.")
@click.option("--pairs", "table", metavar="CSV", help="Write a row for each pair and metric.")
@as_json
def command(
    project: str,
    against: tuple[str, ...],
    metrics: str | None,
    neighbours: int | None,
    within: float | None,
    threshold: tuple[str, ...],
    judge: tuple[str, ...],
    verdicts: str | None,
    table: str | None,
    as_json: bool,
) -> None:
    """Look for them."""
    from oodometer.build.testset.likeness import DEFAULT_METRICS, check_metrics
    from oodometer.build.testset.project.place import is_project

    given = threshold or judge or verdicts
    names = DEFAULT_METRICS if metrics is None else check_metrics([name.strip() for name in metrics.split(",")])
    reach = _reach(neighbours, within)
    if not is_project(project):
        if given:
            raise UsageError(f"--threshold, --judge and --verdicts are for a project, which {project} is not")
        _between(project, against, names, reach, table, as_json)
    elif given and not (against or metrics or neighbours or within is not None):
        _say_of_pairs(project, threshold, judge, verdicts, table, as_json)
    elif judge or verdicts:
        raise UsageError("--judge and --verdicts are about pairs that are there: give them without a search")
    else:
        _search(project, against, names, reach, threshold, table, as_json)


def _reach(neighbours: int | None, within: float | None) -> Reach:
    from oodometer.build.testset.likeness import NEAREST, Reach

    if neighbours is not None and neighbours < 1:
        raise UsageError(f"--neighbours {neighbours}: at least 1")
    if within is not None:
        return Reach(neighbours, within)
    return Reach(NEAREST if neighbours is None else neighbours)


def _between(
    address: str, against: Sequence[str], names: Sequence[str], reach: Reach, table: str | None, as_json: bool
) -> None:
    from oodometer.build.testset.pair_table import close_pairs_of, write_pair_table
    from oodometer.data.load import load_data

    data, others = load_data(address), [(one, load_data(one)) for one in against]
    with watching("images") as watcher, talk_on_stderr():
        rows, unreadable = close_pairs_of(data, others, metrics=names, reach=reach, progress=watcher.running)
    _tell_unreadable(unreadable)
    if table is not None:
        say(f"{table}: {write_pair_table(rows, table)} rows")
    found: dict[str, dict[str, int]] = {one or "itself": dict.fromkeys(names, 0) for one in against or ("",)}
    for row in rows:
        found[row.against or "itself"][row.metric] += 1
    n = len({(row.first, row.second, row.against) for row in rows})
    if as_json:
        print_json({"found": found, "pairs": n, "unreadable": unreadable})
        return
    _print_counts(found)
    click.echo(f"{n} pairs of images")
    if table is None and n:
        say("next: --pairs FILE.csv writes them")


def _search(
    folder: str,
    against: Sequence[str],
    names: Sequence[str],
    reach: Reach,
    threshold: Sequence[str],
    table: str | None,
    as_json: bool,
) -> None:
    from oodometer.build.testset.project.close_pairs import find_duplicates, set_thresholds
    from oodometer.build.testset.project.project import open_project

    with open_project(folder) as opened:
        if threshold:
            set_thresholds(opened, _thresholds(threshold))
        with watching("images") as watcher, talk_on_stderr():
            found = find_duplicates(opened, against, metrics=names, reach=reach, progress=watcher.running)
        _tell_unreadable(found.unreadable)
        _tell(opened, folder, found, table, as_json=as_json)


def _say_of_pairs(
    folder: str,
    threshold: Sequence[str],
    judge: Sequence[str],
    verdicts: str | None,
    table: str | None,
    as_json: bool,
) -> None:
    from oodometer.build.testset.pair_table import read_verdicts
    from oodometer.build.testset.project.close_pairs import judge_pairs, set_thresholds
    from oodometer.build.testset.project.project import open_project

    said = {**(read_verdicts(verdicts) if verdicts else {}), **_judged(judge)}
    with open_project(folder) as opened:
        if threshold:
            set_thresholds(opened, _thresholds(threshold))
        judge_pairs(opened, said, by="command line")
        _tell(opened, folder, None, table, as_json=as_json)


def _judged(judge: Sequence[str]) -> dict[int, str]:
    said: dict[int, str] = {}
    for text in judge:
        number, _, verdict = text.partition("=")
        if not number.isdecimal() or not verdict:
            raise UsageError(f"--judge {text}: expected the number of a pair and a verdict, such as 12=duplicate")
        said[int(number)] = verdict
    return said


def _thresholds(texts: Sequence[str]) -> dict[str, float]:
    radii: dict[str, float] = {}
    for text in texts:
        metric, _, radius = text.rpartition("=")
        try:
            radii[metric] = float(radius)
        except ValueError as error:
            raise UsageError(f"--threshold {text}: expected a metric and a distance, such as pixels=0.05") from error
    return radii


def _tell(opened: Project, folder: str, found: DuplicateSearch | None, table: str | None, *, as_json: bool) -> None:
    from oodometer.build.testset.pair_table import write_pair_table
    from oodometer.build.testset.project.pair_list import counts_of_pairs, n_to_look_at, pair_rows

    if table is not None:
        say(f"{table}: {write_pair_table(pair_rows(opened), table)} rows")
    to_look_at, every = n_to_look_at(opened)
    if as_json:
        verdicts = {metric: dict(counts) for metric, counts in counts_of_pairs(opened).items()}
        search = {} if found is None else found.as_json()
        print_json({**search, "to look at": to_look_at, "pairs": every, "verdicts": verdicts})
        return
    if found is not None:
        _print_counts({against or "pool": counts for against, counts in found.n_found.items()})
        click.echo(f"{found.n_added} of these rows are new")
    click.echo(f"{to_look_at} of {every} pairs of images below a threshold are to be looked at")
    if to_look_at:
        serve = f"oodometer testset serve {quote(folder)}"
        say(f"next: {serve}; or --pairs FILE.csv, fill in its verdicts, --verdicts FILE.csv")


def _print_counts(found: Mapping[str, Mapping[str, int]]) -> None:
    for against, counts in found.items():
        click.echo(f"{against}: {', '.join(f'{n} by {metric}' for metric, n in counts.items())}")


def _tell_unreadable(unreadable: Mapping[str, str]) -> None:
    for why in list(unreadable.values())[:WARNED_OF]:
        warn(why)
    if len(unreadable) > WARNED_OF:
        warn(f"{len(unreadable)} images can't be read in all; they are in no pair")
