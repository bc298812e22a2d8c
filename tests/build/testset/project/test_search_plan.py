"""The search plan: queries of each class, the five steps of expansion, and tables for connectors."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from made_testset import picture
from oodometer.build.testset.project.classes import ClassEntry
from oodometer.build.testset.project.offered import Offered
from oodometer.build.testset.project.pool import Provenance, add_images
from oodometer.build.testset.project.project import Project, new_project
from oodometer.build.testset.project.search_plan import (
    BLURRY,
    COLUMNS,
    STYLE,
    STYLE_WORDS,
    PlannedQuery,
    PlanOptions,
    as_one_word,
    expand,
    make_plan,
    mark_done,
    plan_rows,
    read_parents,
    read_plan,
    with_parents,
    write_plan,
    yields,
)
from oodometer.core.errors import DataError, UsageError

PHONE = ClassEntry("n03187595", "dial phone", "a telephone with a dial", "", ("dial telephone", "dial phone", "dialer"))
KITE = ClassEntry("kite", "kite", "a long-tailed hawk", "", ("kite",))
PARENTS = {"kite": ("hawk", "bird"), "n03187595": ("electronic equipment",)}


@pytest.fixture
def project(tmp_path: Path, either_database: str | None) -> Iterator[Project]:
    with new_project(tmp_path / "p", classes=[PHONE, KITE], database=either_database) as made:
        yield made


def told(rows: tuple[PlannedQuery, ...] | list[PlannedQuery]) -> list[tuple[int, str, int, str, str]]:
    return [(one.step, one.words, one.wanted, one.since, one.until) for one in rows]


# The numbers and dates here are those of Recht et al. (2019), appendix C.1.1.
YEAR = ("2012-07-11", "2013-07-11")
TWO_YEARS = ("2012-07-11", "2014-07-11")


def test_each_synonym_gets_its_share_of_100(project: Project) -> None:
    assert make_plan(project) == 4
    assert told(plan_rows(project)) == [
        (0, "dial telephone", 34, *YEAR),
        (0, "dial phone", 33, *YEAR),
        (0, "dialer", 33, *YEAR),
        (0, "kite", 100, *YEAR),
    ]
    assert {(one.order, one.state) for one in plan_rows(project)} == {("upload date", "open")}
    assert make_plan(project) == 0


def test_the_five_steps(project: Project) -> None:
    make_plan(project)
    steps = [expand(project, "kite", parents=PARENTS) for _ in range(3)]
    assert [told(one.queries) for one in steps] == [
        [(1, "kite hawk", 100, *YEAR)],
        [(2, "kite", 100, *YEAR), (2, "kite hawk", 100, *YEAR)],
        [(3, "kite", 100, *TWO_YEARS), (3, "kite hawk", 100, *TWO_YEARS)],
    ]
    fourth = expand(project, "kite", parents=PARENTS)
    assert told(fourth.queries) == [(4, "kitehawk", 200, *TWO_YEARS)]
    with pytest.raises(UsageError, match="words that a person picks"):
        expand(project, "kite", parents=PARENTS)
    last = expand(project, "kite", words=["Milan royal", "milano reale"])
    assert told(last.queries) == [(5, "Milan royal", 100, *TWO_YEARS), (5, "milano reale", 100, *TWO_YEARS)]
    with pytest.raises(UsageError, match="in the plan already"):
        expand(project, "kite", words=["Milan royal"])
    assert [one.class_name for one in plan_rows(project, class_name="n03187595")] == ["n03187595"] * 3


def test_steps_that_give_nothing_are_passed_over(project: Project) -> None:
    make_plan(project)
    second = expand(project, "n03187595", parents=PARENTS)
    assert (second.step, second.skipped) == (2, (1,))
    assert [one.wanted for one in second.queries] == [67, 67, 66]
    assert expand(project, "n03187595").step == 3
    assert [one.words for one in expand(project, "n03187595").queries] == ["dialtelephone", "dialphone"]


def test_words_of_a_person_do_not_end_the_other_steps(project: Project) -> None:
    make_plan(project)
    assert expand(project, "kite", words=["milan"]).step == 5
    assert expand(project, "kite", parents=PARENTS).step == 1


@pytest.mark.parametrize(
    ("entry", "parents", "expected"),
    [
        (KITE, ["hawk", "bird"], ["kite hawk"]),
        (KITE, ["bird of prey"], []),
        (ClassEntry("x", gloss="a hawk", synonyms=("red hawk", "buteo")), ["Hawk, raptor"], ["buteo hawk"]),
        (ClassEntry("x", gloss="dog for the hunt of a dog", synonyms=("setter",)), ["the dog", "dog"], ["setter dog"]),
        (ClassEntry("x", gloss="", synonyms=("setter",)), ["dog"], []),
    ],
)
def test_words_of_parents_that_stand_in_the_gloss(entry: ClassEntry, parents: list[str], expected: list[str]) -> None:
    assert with_parents(entry, parents) == expected


def test_compounds() -> None:
    assert [as_one_word(one) for one in ("dial phone", "jack-o'-lantern", "owl")] == [
        "dialphone",
        "jacko'lantern",
        "owl",
    ]


def test_renditions_and_blur(project: Project) -> None:
    assert make_plan(project, kind=STYLE) == 4 * len(STYLE_WORDS)
    assert make_plan(project, kind=BLURRY) == 4
    rows = plan_rows(project)
    kites = [one for one in rows if one.class_name == "kite"]
    assert [one.words for one in kites] == [*(f"kite {word}" for word in STYLE_WORDS), "blurry kite"]
    assert {(one.wanted, one.since, one.until) for one in kites} == {(100, "", "")}
    assert [one.wanted for one in rows if one.words.startswith("blurry d")] == [34, 33, 33]
    assert len(STYLE_WORDS) == 15  # Hendrycks et al. (2021), section 3.1: fifteen words "and so on"
    with pytest.raises(UsageError, match="no query is planned yet"):
        expand(project, "kite")
    assert make_plan(project, kind=STYLE, styles=["stamps"]) == 4


def test_a_plan_keeps_its_dates(project: Project) -> None:
    other = PlanOptions(limit=10, since="2020-01-01", until="2021-01-01", later="2022-01-01", order="id")
    make_plan(project, other)
    assert make_plan(project) == 0
    with pytest.raises(UsageError, match="the plan was made with limit 10, since 2020-01-01"):
        make_plan(project, PlanOptions())
    assert told(expand(project, "kite").queries) == [(2, "kite", 20, "2020-01-01", "2021-01-01")]
    assert told(expand(project, "kite").queries) == [(3, "kite", 20, "2020-01-01", "2022-01-01")]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"limit": 0}, "--limit 0: at least 1"),
        ({"since": "yesterday"}, "--since yesterday: not a day"),
        ({"since": "2013-08-01"}, "must be in this order"),
        ({"order": "\x00"}, "can't be searched"),
    ],
)
def test_options_that_can_not_be(options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        PlanOptions(**options)  # type: ignore[arg-type]


def test_the_yield_of_each_query_is_counted(project: Project) -> None:
    make_plan(project)
    first, *_, last = plan_rows(project)
    offered = [
        Offered(f"{i}", lambda i=i: picture(0, "candidate", i), "kite", {"query": str(query)})  # type: ignore[misc]
        for i, query in enumerate([last.id, last.id, first.id, "", "77"])
    ]
    add_images(project, offered, Provenance("made", "test"))
    assert yields(project) == {str(last.id): 2, str(first.id): 1, "77": 1}
    assert [one.n_images for one in plan_rows(project)] == [1, 0, 0, 2]


def test_out_and_in(project: Project, tmp_path: Path) -> None:
    make_plan(project)
    table = tmp_path / "plan.csv"
    assert write_plan(project, table) == 4
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert read_plan(project, str(table)).n_changed == 0
    rows[3]["state"] = "done"
    plain = dict.fromkeys(COLUMNS, "")
    rows.append({**plain, "class": "kite", "words": " milan  royal ", "wanted": "50", "until": "2020-01-01"})
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    taken = read_plan(project, str(table))
    assert (taken.n_added, taken.n_changed) == (1, 1)
    again = read_plan(project, str(table))
    assert (again.n_added, again.n_changed) == (0, 0)
    *_, kite, new = plan_rows(project)
    assert kite.state == "done"
    assert told([new]) == [(5, "milan royal", 50, "2012-07-11", "2020-01-01")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n", "expected the columns class and words"),
        ("class,words\n", "a row or more"),
        ("class,words\nowl,x\n", "row 2: no class named 'owl'"),
        ("class,words\nkite,\n", "row 2: '' can't be searched"),
        ("class,words,wanted\nkite,x,-1\n", "row 2: wanted '-1' is not a number"),
        ("class,words,since\nkite,x,soon\n", "row 2: --since soon: not a day"),
        ("class,words,query\nkite,x,99\n", "query 99 is not in the plan"),
        ("class,words,query,state\nkite,x,1,maybe\n", "expected a number, and open or done"),
        ("class,words,query\nkite,x,²\n", "expected a number"),
        ('class,words\nkite,"x', "not a readable CSV"),
    ],
)
def test_wrong_tables_are_told_and_change_nothing(project: Project, tmp_path: Path, text: str, said: str) -> None:
    make_plan(project)
    before = plan_rows(project)
    (tmp_path / "plan.csv").write_text(text)
    with pytest.raises(DataError, match=said):
        read_plan(project, str(tmp_path / "plan.csv"))
    assert plan_rows(project) == before


def test_queries_are_marked(project: Project) -> None:
    make_plan(project)
    mark_done(project, 1)
    assert [one.state for one in plan_rows(project)] == ["done", "open", "open", "open"]
    mark_done(project, 1, done=False)
    assert plan_rows(project)[0].state == "open"
    with pytest.raises(UsageError, match="query 99: there is none"):
        mark_done(project, 99)


def test_parents_of_a_table(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("class,parent\nkite,hawk\nkite,bird\nhawk,bird\n")
    assert read_parents(str(tmp_path / "tree.csv")) == {"kite": ("hawk", "bird"), "hawk": ("bird",)}


def test_classes_that_are_none(project: Project) -> None:
    with pytest.raises(UsageError, match="no class named 'kit' in this project; did you mean kite"):
        expand(project, "kit")
    with pytest.raises(UsageError, match="no kind of queries named 'x'"):
        make_plan(project, kind="x")
