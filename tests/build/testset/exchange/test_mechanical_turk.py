"""Tasks for Mechanical Turk and their answers: what is written, what is read, and what hostile tables do."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from made_testset import made_project
from oodometer.build.testset.exchange.incoming import SALT, Imported
from oodometer.build.testset.exchange.mechanical_turk import (
    COLUMNS,
    answers_in_results,
    export_for_mechanical_turk,
    import_from_mechanical_turk,
    template,
)
from oodometer.build.testset.exchange.open_tasks import shown_of, tasks_in_need
from oodometer.build.testset.project.annotated import answers_of
from oodometer.build.testset.project.annotators import add_workers
from oodometer.build.testset.project.classes import ClassEntry
from oodometer.build.testset.project.handing_out import next_task, submit
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import ANSWER, TASK, WORKER, sa
from oodometer.build.testset.project.tasks import Layout, make_tasks
from oodometer.core.errors import DataError, UsageError

AT = "https://example.org/birds/"
HOSTILE = "=1+1</script><img src=x onerror=alert(1)>\U0001f989"


@pytest.fixture
def project(tmp_path: Path, either_database: str | None) -> Iterator[Project]:
    """Three tasks of twelve images, each for two workers."""
    with made_project(tmp_path / "p", candidates=6, originals=4, database=either_database) as made:
        make_tasks(made, Layout(size=12, workers=2))
        yield made


def rows_of(table: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(table.read_text("ascii"), newline="")))


def kind_of(file: Path) -> tuple[tuple[int, int], str | None]:
    with Image.open(file) as image:
        return image.size, image.format


Result = dict[str, str]


def result(task: str, worker: str, selected: str, **more: str) -> Result:
    """A row of a table of results, as Mechanical Turk has it."""
    plain = {
        "HITId": "3H",
        "AssignmentId": f"3A{worker}",
        "WorkerId": worker,
        "AssignmentStatus": "Submitted",
        "WorkTimeInSeconds": "60",
        "Input.task": task,
        "Answer.selected": selected,
        "Answer.seconds": "12.5",
        "Approve": "",
        "Reject": "",
    }
    return {**plain, **more}


@pytest.fixture
def results(tmp_path: Path) -> Callable[[list[Result]], str]:
    def write(rows: list[Result]) -> str:
        place = tmp_path / "results.csv"
        with place.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)))
            writer.writeheader()
            writer.writerows(rows)
        return str(place)

    return write


def keys_of(project: Project) -> list[str]:
    return [row.key for row in project.database.rows(sa.select(TASK.c.key).order_by(TASK.c.id))]


def test_an_export_is_a_row_for_each_task_and_an_image_for_each_place(project: Project, tmp_path: Path) -> None:
    made = export_for_mechanical_turk(project, tmp_path / "out", images_at=AT)
    assert (made.n_tasks, made.n_images, made.needed, made.notes) == (3, 36, 2, ())
    rows = rows_of(tmp_path / "out" / "tasks.csv")
    assert tuple(rows[0]) == COLUMNS
    assert [unquote(row["task"]) for row in rows] == keys_of(project)
    tasks = tasks_in_need(project)
    for row, task in zip(rows, tasks, strict=True):
        expected = [f"https://example.org/birds/{key}.jpg" for key, _ in shown_of(project, tasks)[task.id]]
        assert row["images"].split(" ") == expected
    assert unquote(rows[0]["gloss"]) == "A bird that hunts at night."
    files = sorted((tmp_path / "out" / "images").iterdir())
    assert {f"{AT}{file.name}" for file in files} == {one for row in rows for one in row["images"].split(" ")}
    assert {kind_of(file) for file in files} == {((256, 256), "JPEG")}


def test_nothing_in_the_table_means_anything_to_html_or_a_spreadsheet(tmp_path: Path) -> None:
    classes = (ClassEntry("a", HOSTILE, "@SUM(A1)", "https://example.org/?q=<b>"), ClassEntry("b", "-2+3"))
    with made_project(tmp_path / "p", classes=classes, candidates=2, originals=2) as project:
        make_tasks(project, Layout(size=6, positive=1, negative=1))
        export_for_mechanical_turk(project, tmp_path / "out", images_at=AT)
    rows = rows_of(tmp_path / "out" / "tasks.csv")
    cells = [cell for row in rows for cell in row.values() if cell]
    assert not [cell for cell in cells if cell[0] in "=+-@\t\r" or set(cell) & set("<>\"'&${}")]
    assert (unquote(rows[0]["title"]), unquote(rows[0]["gloss"])) == (HOSTILE, "@SUM(A1)")


def test_the_template_names_the_columns_and_no_others() -> None:
    page = template(drawings=False)
    asked = {part.partition("}")[0] for part in page.split("${")[1:]}
    assert asked == set(COLUMNS)
    assert "only photographs count" in page
    assert "only photographs count" not in template(drawings=True)
    assert "<!-- how -->" not in page
    assert "/* script */" not in page


def test_answers_come_in_once(project: Project, results: Callable[[list[Result]], str]) -> None:
    first, second, _ = keys_of(project)
    table = results([result(first, "A1", "yn" * 6), result(first, "A2", "n" * 12), result(second, "A1", "y" * 12)])
    assert import_from_mechanical_turk(project, table) == Imported(3, n_added=3, n_workers=2)
    assert import_from_mechanical_turk(project, table) == Imported(3, n_there=3)
    rows = project.database.rows(sa.select(ANSWER).order_by(ANSWER.c.task_id, ANSWER.c.worker_id))
    assert [(row.selected, row.seconds) for row in rows] == [("10" * 6, 12.5), ("0" * 12, 12.5), ("1" * 12, 12.5)]
    assert len(answers_of(project).workers) == 2
    assert [task.needed for task in tasks_in_need(project)] == [1, 2]


def test_a_contradicting_answer_is_counted_and_the_first_stands(
    project: Project, results: Callable[[list[Result]], str]
) -> None:
    task = keys_of(project)[0]
    import_from_mechanical_turk(project, results([result(task, "A1", "y" * 12)]))
    told = import_from_mechanical_turk(project, results([result(task, "A1", "n" * 12)]))
    assert told == Imported(1, n_otherwise=1)
    assert "1 contradict an earlier one of the same worker, which stands" in str(told)
    (row,) = project.database.rows(sa.select(ANSWER))
    assert row.selected == "1" * 12


def test_nobody_is_known_by_name(project: Project, results: Callable[[list[Result]], str]) -> None:
    task = keys_of(project)[0]
    import_from_mechanical_turk(project, results([result(task, "A1SECRETWORKER", "y" * 12)]))
    rows = [*project.database.rows(sa.select(WORKER)), *project.database.rows(sa.select(ANSWER))]
    assert "SECRET" not in str(rows)
    (worker,) = project.database.rows(sa.select(WORKER))
    assert (worker.name, worker.token[:16], len(worker.token)) == ("", "mechanical-turk:", 16 + 64)
    assert len(project.database.settings()[SALT]) == 64


def test_two_projects_know_a_worker_by_different_numbers(
    project: Project, tmp_path: Path, results: Callable[[list[Result]], str]
) -> None:
    with made_project(tmp_path / "q", candidates=6, originals=4) as other:
        make_tasks(other, Layout(size=12))
        for one in (project, other):
            import_from_mechanical_turk(one, results([result(keys_of(one)[0], "A1", "y" * 12)]))
        tokens = [one.database.rows(sa.select(WORKER.c.token))[0].token for one in (project, other)]
    assert tokens[0] != tokens[1]


def test_what_is_rejected_does_not_count(project: Project, results: Callable[[list[Result]], str]) -> None:
    task = keys_of(project)[0]
    rows = [
        result(task, "A1", "y" * 12, AssignmentStatus="Rejected"),
        result(task, "A2", "y" * 12, AssignmentStatus="Approved"),
        result(task, "A3", "y" * 12, Reject="he answered whatever was shown"),
    ]
    assert import_from_mechanical_turk(project, results(rows)) == Imported(3, n_added=1, n_set_aside=2, n_workers=1)
    late = results([result(task, "A2", "y" * 12, AssignmentStatus="Rejected")])
    assert import_from_mechanical_turk(project, late) == Imported(1, n_set_aside=1, n_set_aside_late=1)


def test_damaged_rows_are_told_and_the_others_come_in(project: Project, results: Callable[[list[Result]], str]) -> None:
    task = keys_of(project)[0]
    rows = [
        result("no-such-task", "A1", "y" * 12),
        result(task, "A1", "y" * 11),
        result(task, "", "y" * 12),
        result(task, "A1", "yes"),
        result(task, "A1", ""),
        result(task, "A1", "y" * 12, AssignmentStatus="Whatever"),
        result(task, "A" * 300, "y" * 12),
        result(task, "A1", "y" * 12, AssignmentId=""),
        result(task, "A7", "y" * 12, **{"Answer.seconds": "<b>"}),
    ]
    told = import_from_mechanical_turk(project, results(rows))
    assert (told.n_answers, told.n_added) == (9, 1)
    assert told.refused == {
        "row 2": "no task of this project has that key",
        "row 3": "an answer about 11 images to a task of 12",
        "row 4": "it doesn't say which worker answered",
        "row 5": "its answer is not a y or n for each image",
        "row 6": "its answer is not a y or n for each image",
        "row 7": "its status is none of Submitted, Approved, Rejected",
        "row 8": "the worker's name is too long",
        "row 9": "it has no assignment",
    }
    (row,) = project.database.rows(sa.select(ANSWER))
    assert row.seconds is None


def test_answers_as_json_of_all_fields(project: Project, results: Callable[[list[Result]], str]) -> None:
    task = keys_of(project)[0]
    row = result(task, "A1", "", **{"Answer.taskAnswers": '[{"selected": "yyyyyynnnnnn", "seconds": "3"}]'})
    del row["Answer.selected"], row["Answer.seconds"]
    assert import_from_mechanical_turk(project, results([row])).n_added == 1
    (kept,) = project.database.rows(sa.select(ANSWER))
    assert (kept.selected, kept.seconds) == ("1" * 6 + "0" * 6, 3.0)


def test_an_enormous_cell_and_cut_rows_do_no_harm(
    project: Project, tmp_path: Path, results: Callable[[list[Result]], str]
) -> None:
    task = keys_of(project)[0]
    table = Path(results([result(task, "A1", "y" * 12), result(task, "A2", "y" * 12)]))
    head, first, last = table.read_text().splitlines()
    table.write_text("\n".join([head, first, "x" * 300_000, "only,three,cells", last, "\0,\ud7ff", ""]), "utf-8")
    told = import_from_mechanical_turk(project, str(table))
    assert (told.n_added, len(told.refused)) == (2, 3)


HEADER = "WorkerId,AssignmentId,AssignmentStatus,Input.task,Answer.selected,Answer.taskAnswers\n"


@settings(deadline=None, derandomize=True, max_examples=150)
@given(st.binary(max_size=300) | st.text(alphabet='",\n[]{}yn0=<A', max_size=200).map(str.encode))
def test_no_table_crashes_the_reader(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    place = tmp_path_factory.mktemp("any") / "results.csv"
    place.write_bytes(HEADER.encode() + content)
    for one in answers_in_results(str(place)):
        assert one.place.startswith("row ")


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "WorkerId,AssignmentId,AssignmentStatus,Input.task\n"])
def test_other_tables_are_told(tmp_path: Path, project: Project, text: str) -> None:
    place = tmp_path / "other.csv"
    place.write_text(text)
    with pytest.raises(DataError, match=r"no table of results|not the results of tasks that were exported"):
        import_from_mechanical_turk(project, str(place))


@pytest.mark.parametrize(
    "address", ["birds", "ftp://x/y", "https://", "https://x/a b", 'https://x/"onload=', "https://x/?a=${task}"]
)
def test_addresses_that_are_none_are_told(project: Project, tmp_path: Path, address: str) -> None:
    with pytest.raises(UsageError, match="not the address of a folder on the web"):
        export_for_mechanical_turk(project, tmp_path / "out", images_at=address)
    assert not (tmp_path / "out").exists()


def test_an_export_goes_into_a_new_folder_and_http_is_noted(project: Project, tmp_path: Path) -> None:
    made = export_for_mechanical_turk(project, tmp_path / "out", images_at="http://example.org/x")
    assert "is not https" in made.notes[0]
    with pytest.raises(UsageError, match="export into a new folder"):
        export_for_mechanical_turk(project, tmp_path / "out", images_at=AT)


def test_tasks_that_are_done_are_not_exported(project: Project, tmp_path: Path) -> None:
    add_workers(project, 2)
    for worker in (1, 2):
        while (task := next_task(project, worker)) is not None:
            submit(project, worker, task.key, [True] * 12)
    made = export_for_mechanical_turk(project, tmp_path / "out", images_at=AT)
    assert (made.n_tasks, made.n_images, made.needed) == (0, 0, 0)
    assert SALT not in project.database.settings()
