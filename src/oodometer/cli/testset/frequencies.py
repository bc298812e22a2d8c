"""``oodometer testset frequencies``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from oodometer.cli.output import as_json, print_json, say

if TYPE_CHECKING:
    from oodometer.build.testset.project.annotation_report import AnnotationReport


@click.command(
    "frequencies",
    help="What annotators said: selection frequencies by class, how good workers are by the hidden controls, how far "
    "they agree, and how many candidates show their class by Dawid and Skene's model.",
)
@click.argument("project")
@click.option("--without-spammers", is_flag=True, help="Leave the answers of workers out who answer whatever is shown.")
@click.option("--threshold", type=float, default=0.7, show_default=True, help="Count the images that reach it.")
@click.option("--csv", "table", metavar="FILE", help="Write a row for each image: frequency, low, high, n, posterior.")
@as_json
def command(project: str, without_spammers: bool, threshold: float, table: str | None, as_json: bool) -> None:
    """Tell it."""
    from oodometer.build.testset.project import annotation_report as reports
    from oodometer.build.testset.project.project import open_project

    with open_project(project) as opened:
        report = reports.annotation_report(opened, without_spammers=without_spammers, threshold=threshold)
    if table is not None:
        say(f"{table}: {reports.write_frequencies(report, table)} rows")
    if as_json:
        print_json(reports.as_json(report))
        return
    click.echo(_table_of_classes(report, threshold))
    click.echo(_table_of_workers(report))
    alpha, prevalence = report.alpha, report.prevalence
    click.echo(f"agreement about candidates, Krippendorff's alpha: {'undefined' if alpha is None else f'{alpha:.3f}'}")
    told = "undefined" if prevalence is None else f"{prevalence:.3f}  n={prevalence.n}"
    click.echo(f"candidates that show their class, by Dawid and Skene's model: {told}")


def _table_of_classes(report: AnnotationReport, threshold: float) -> str:
    from oodometer.document.table import Column, Table

    columns = (
        Column("class"),
        Column("role"),
        Column("answered", "count"),
        Column("of", "count"),
        Column("answers", "count"),
        Column("mean frequency", "percent"),
        Column(f"at {threshold:g} or above", "percent"),
    )
    rows = tuple(
        (
            report.names[summary.code], role, summary.n_answered, summary.n_images, summary.n_answers, summary.mean,
            summary.at_or_above,
        )
        for role, summaries in (("candidates", report.candidates), ("originals", report.originals))
        for summary in summaries
    )  # fmt: skip
    return Table("frequencies", "What people selected, in per cent", columns, rows).written("text")


def _table_of_workers(report: AnnotationReport) -> str:
    from oodometer.document.table import Column, Table

    columns = (
        Column("worker"),
        Column("hits", "percent"),
        Column("rejections", "percent"),
        Column("p", "number", digits=3, least=0.001),
        Column("verdict"),
    )
    rows = tuple(
        (str(number), worker.hits, worker.rejections, worker.adjusted, worker.verdict)
        for number, worker in zip(report.asked.workers.tolist(), report.qualities, strict=True)
    )
    n = report.verdicts["spammer"]
    about = (
        "hits: hidden images of the class that were selected; rejections: of a near class that were not; "
        "p: of guessing, corrected after Holm. Block one with: oodometer testset workers PROJECT --block NUMBER"
    )
    caption = f"{len(rows)} workers, {n} of them {'a spammer' if n == 1 else 'spammers'}"
    return Table("workers", caption, columns, rows, footnotes=(about,)).written("text")
