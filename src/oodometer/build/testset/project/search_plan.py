"""The search plan: what a connector asks a source of images for, class by class.

As Recht et al. (2019, appendix C.1.1) asked Flickr: each of the k synonyms of a class is a query for 100/k images, of
those taken and uploaded from 11 July 2012 to 11 July 2013 (the year after ImageNet's last release) in the order of
their upload, since a search engine's order by relevance may be by a model that has learned from ImageNet. A class that
needs more images goes one step further at a time:

1. a word of the parent class is appended, where it stands in the gloss of the class;
2. 200 images of the class in place of 100;
3. those until 11 July 2014 as well, two years in place of one;
4. compound words as one word: "dialphone" for "dial phone";
5. other words that a person picks, translations among them.

For renditions, style words are appended (ImageNet-R: Hendrycks et al. 2021, section 3.1); for real blur, "blurry" is
put before the name of the class (Real Blurry Images: the same, section 5). Nothing is said there of dates.

A connector reads the plan as a table, fetches, and writes a manifest for ``oodometer testset add`` whose column
``query`` says which query each image is from: so the yield of each is known.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from oodometer.build.testset.project.classes import ClassEntry
from oodometer.build.testset.project.database import as_text, from_text, insert_or_leave
from oodometer.build.testset.project.pool import CANDIDATE
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import CLASS, IMAGE, QUERY, SETTING, sa
from oodometer.build.testset.sampling.apportion import largest_remainder
from oodometer.core.errors import DataError, UsageError, did_you_mean
from oodometer.data import addresses

PLAIN, STYLE, BLURRY = "plain", "style", "blurry"
KINDS = (PLAIN, STYLE, BLURRY)
OPEN, DONE = "open", "done"
STATES = (OPEN, DONE)

STYLE_WORDS = (
    "art",
    "cartoons",
    "graffiti",
    "embroidery",
    "graphics",
    "origami",
    "paintings",
    "patterns",
    "plastic objects",
    "plush objects",
    "sculptures",
    "line drawings",
    "tattoos",
    "toys",
    "video game",
)
"""Those that Hendrycks et al. (2021, section 3.1) name; they say that there were more."""

STEPS = {
    1: "words of the parent class that stand in the gloss",
    2: "twice as many images",
    3: "a later end of the dates",
    4: "compound words as one",
    5: "words that a person picked",
}

MOST_LETTERS = 200
COLUMNS = ("query", "class", "kind", "step", "words", "wanted", "since", "until", "order", "state", "images")


@dataclass(frozen=True)
class PlanOptions:
    """How to search.

    Args:
        limit: Images of a class; for renditions, of a class in one style.
        since: The first day; empty: any.
        until: The last day at first.
        later: The last day from the third step of expansion on.
        order: In which a source is to give its images.
    """

    limit: int = 100
    since: str = "2012-07-11"
    until: str = "2013-07-11"
    later: str = "2014-07-11"
    order: str = "upload date"

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise UsageError(f"--limit {self.limit}: at least 1")
        days = [_day(name, getattr(self, name)) for name in ("since", "until", "later")]
        given = [day for day in days if day]
        if given != sorted(given):
            raise UsageError(f"dates from {self.since} to {self.until}, later {self.later}: must be in this order")
        _checked_words(self.order)


def options_for(kind: str, **given: int | str | None) -> PlanOptions | None:
    """Those of the paper for a kind of queries, but for what is given; None where nothing is.

    >>> options_for("blurry", limit=10)
    PlanOptions(limit=10, since='', until='', later='', order='upload date')
    """
    said: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    days: dict[str, Any] = {} if kind == PLAIN else {"since": "", "until": "", "later": ""}
    return PlanOptions(**{**days, **said}) if said else None


@dataclass(frozen=True)
class PlannedQuery:
    """A query, and what came of it.

    Args:
        id: Its number, which the images that it gives name in their column ``query``.
        kind: plain, style or blurry.
        step: 0, or the step of expansion that it is of.
        words: What is searched.
        wanted: How many images at most.
        since: The first day; empty: any. ``until`` the last one.
        state: open or done.
        n_images: Candidates that are from it.
    """

    id: int
    class_name: str
    kind: str
    step: int
    words: str
    wanted: int
    since: str
    until: str
    order: str
    state: str
    n_images: int

    def cells(self) -> tuple[str | int, ...]:
        """A row of the table."""
        return tuple(getattr(self, one.name) for one in fields(self))

    def as_json(self) -> dict[str, str | int]:
        """For programs."""
        return dict(zip(COLUMNS, self.cells(), strict=True))


@dataclass(frozen=True)
class Expansion:
    """A step further for a class.

    Args:
        step: Which of the five.
        queries: The new ones.
        skipped: Steps on the way that give this class no new query.
    """

    step: int
    queries: tuple[PlannedQuery, ...]
    skipped: tuple[int, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "step": self.step,
            "what": STEPS[self.step],
            "queries": [one.as_json() for one in self.queries],
            "skipped": list(self.skipped),
        }


@dataclass(frozen=True)
class TakenIn:
    """What a table changed in the plan: queries that are new, and queries whose state is another."""

    n_added: int
    n_changed: int


def make_plan(
    project: Project,
    options: PlanOptions | None = None,
    *,
    kind: str = PLAIN,
    styles: Sequence[str] = STYLE_WORDS,
) -> int:
    """Plan queries for all classes; gives how many are new. A second call adds nothing.

    Args:
        options: Of the first call; by default those of the paper. They stay the same from then on.
        kind: plain; style, with each of the style words; or blurry.
        styles: Words to append.
    """
    if kind not in KINDS:
        raise UsageError(f"no kind of queries named {kind!r}; there are {', '.join(KINDS)}")
    kept = _keep_options(project, kind, options)
    rows: list[dict[str, Any]] = []
    for number, entry in project.classes().items():
        for group in _first_words(entry, kind, styles):
            rows += _rows(number, kind, 0, group, kept)
    return _insert(project, rows)


def plan_rows(project: Project, *, class_name: str | None = None) -> list[PlannedQuery]:
    """The queries in order, each with how many candidates are from it."""
    images = yields(project)
    query = sa.select(QUERY, CLASS.c.name).join(CLASS, CLASS.c.id == QUERY.c.class_id).order_by(QUERY.c.id)
    if class_name is not None:
        query = query.where(CLASS.c.id == _class_number(project, class_name))
    return [
        PlannedQuery(
            row.id, row.name, row.kind, row.step, row.words, row.wanted, row.since, row.until, row.order, row.state,
            images[str(row.id)],
        )
        for row in project.database.rows(query)
    ]  # fmt: skip


def yields(project: Project) -> Counter[str]:
    """How many candidates are from each query, by what their manifest calls it."""
    rows = project.database.rows(sa.select(IMAGE.c.columns).where(IMAGE.c.role == CANDIDATE))
    named = (from_text(row.columns).get("query", "") for row in rows)
    return Counter(str(name).strip() for name in named if name)


def mark_done(project: Project, query: int, *, done: bool = True) -> None:
    """Say that a query was asked, or that it is to be asked again."""
    with project.database.writing() as connection:
        change = sa.update(QUERY).where(QUERY.c.id == query).values(state=DONE if done else OPEN)
        if connection.execute(change).rowcount == 0:
            raise UsageError(f"query {query}: there is none of that number in the plan")


def expand(
    project: Project,
    class_name: str,
    *,
    parents: Mapping[str, Sequence[str]] | None = None,
    words: Sequence[str] = (),
) -> Expansion:
    """Take a class that has too few images one step further; steps that give no new query are passed over.

    Args:
        parents: By class the names of its parent classes (`read_parents`), for the first step.
        words: What a person picked, for the last step; with them, it is taken at once.
    """
    number = _class_number(project, class_name)
    there = [one for one in plan_rows(project, class_name=class_name) if one.kind == PLAIN]
    if not there:
        raise UsageError(f"class {class_name}: no query is planned yet; begin with: oodometer testset plan")
    entry, options = project.classes()[number], _options(project, PLAIN)
    skipped: list[int] = []
    last = max((one.step for one in there if one.step < 5), default=0)
    for step in [5] if words else range(last + 1, 5):
        new = _words_of(step, entry, there, (parents or {}).get(class_name, ()), words)
        before = {one.id for one in there}
        if new and _insert(project, _rows(number, PLAIN, step, new, options)):
            rows = plan_rows(project, class_name=class_name)
            return Expansion(step, tuple(one for one in rows if one.id not in before), tuple(skipped))
        skipped.append(step)
    said = "these words are in the plan already" if words else "what is left are words that a person picks"
    raise UsageError(f"class {class_name}: {said}; give others with --words 'one|another'")


def read_parents(address: str) -> dict[str, tuple[str, ...]]:
    """The parent classes of each class, of a table with the columns class and parent."""
    found: dict[str, tuple[str, ...]] = {}
    for row in _table(address, ("class", "parent")):
        found[row["class"]] = (*found.get(row["class"], ()), row["parent"])
    return found


def write_plan(project: Project, address: str | Path) -> int:
    """Write the plan as a table for a connector; gives how many queries."""
    rows = plan_rows(project)
    with Path(address).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(one.cells() for one in rows)
    return len(rows)


def read_plan(project: Project, address: str) -> TakenIn:
    """Take in a table: rows with a number say whether that query is done, those without are new queries.

    A new one needs class and words, and may have wanted, since, until and order; it is of the last step, a person's.
    """
    classes, options = project.class_numbers(), _options(project, PLAIN)
    rows = _table(address, ("class", "words"))
    new = [
        _new_row(row, classes, options, f"{address}, row {at}") for at, row in _numbered(rows) if not row.get("query")
    ]
    states = [_state(row, f"{address}, row {at}") for at, row in _numbered(rows) if row.get("query")]
    changed = _change_states(project, states, address)
    return TakenIn(_insert(project, new), changed)


def _first_words(entry: ClassEntry, kind: str, styles: Sequence[str]) -> list[list[str]]:
    """Groups of queries that share one limit."""
    if kind == STYLE:
        return [[f"{word} {style}" for word in entry.synonyms] for style in styles]
    if kind == BLURRY:
        return [[f"blurry {word}" for word in entry.synonyms]]
    return [list(entry.synonyms)]


def _words_of(
    step: int, entry: ClassEntry, there: Sequence[PlannedQuery], parents: Sequence[str], picked: Sequence[str]
) -> list[str]:
    """What is searched in a step, other than before or in another way."""
    known = list(dict.fromkeys(one.words for one in there if one.step < 4))
    if step == 1:
        return with_parents(entry, parents)
    if step in (2, 3):
        return known
    wanted = [as_one_word(one) for one in known] if step == 4 else [_checked_words(one) for one in picked]
    return [one for one in dict.fromkeys(wanted) if one not in {other.words for other in there}]


def with_parents(entry: ClassEntry, parents: Iterable[str]) -> list[str]:
    """The synonyms of a class, each with the words of its parents that stand in its gloss.

    >>> with_parents(ClassEntry("kite", gloss="a long-tailed hawk", synonyms=("kite",)), ["hawk, raptor"])
    ['kite hawk']
    """
    gloss = set(_single_words(entry.gloss))
    shared = [word for parent in dict.fromkeys(parents) for word in _single_words(parent) if word in gloss]
    pairs = [(name, word) for name in entry.synonyms for word in dict.fromkeys(shared)]
    return [f"{name} {word}" for name, word in pairs if word not in _single_words(name)]


def as_one_word(words: str) -> str:
    """A compound without what parts it.

    >>> as_one_word("dial phone"), as_one_word("T-shirt")
    ('dialphone', 'Tshirt')
    """
    return re.sub(r"[\s_-]+", "", words)


SMALL_WORDS = {"a", "an", "and", "any", "as", "at", "by", "for", "from", "in", "its", "of", "on", "or", "that", "the"}
"""They stand in every gloss and say nothing."""


def _single_words(text: str) -> list[str]:
    return [word for word in re.findall(r"[^\W\d_]+", text.lower()) if word not in SMALL_WORDS]


def _rows(number: int, kind: str, step: int, words: Sequence[str], options: PlanOptions) -> list[dict[str, Any]]:
    """Queries that share the limit of their step: 100/k each."""
    limit = options.limit * (2 if step >= 2 else 1)
    shares = largest_remainder(np.ones(len(words), dtype=np.int64), limit)
    plain = {"class_id": number, "kind": kind, "step": step, "since": options.since, "order": options.order}
    plain |= {"until": options.later if step >= 3 else options.until, "state": OPEN}
    return [
        {**plain, "words": _checked_words(one), "wanted": max(int(share), 1)}
        for one, share in zip(words, shares, strict=True)
    ]


def _insert(project: Project, rows: Iterable[dict[str, Any]]) -> int:
    with project.database.writing() as connection:
        return sum(connection.execute(insert_or_leave(project.database, QUERY, row)).rowcount for row in rows)


def _keep_options(project: Project, kind: str, options: PlanOptions | None) -> PlanOptions:
    """Those of the first call; an error where others are given later."""
    given = options or options_for(kind, limit=PlanOptions().limit) or PlanOptions()
    row = {"key": _setting(kind), "value": as_text(asdict(given))}
    with project.database.writing() as connection:
        connection.execute(insert_or_leave(project.database, SETTING, row))
    kept = _options(project, kind)
    if options is not None and kept != options:
        raise UsageError(f"the plan was made with {_told(kept)}; a plan keeps its limit, dates and order")
    return kept


def _options(project: Project, kind: str) -> PlanOptions:
    kept = from_text(project.database.settings().get(_setting(kind), ""))
    return PlanOptions(**kept) if kept else PlanOptions()


def _setting(kind: str) -> str:
    return f"search plan, {kind}"


def _told(options: PlanOptions) -> str:
    return ", ".join(f"{name} {value or 'any'}" for name, value in asdict(options).items())


def _class_number(project: Project, name: str) -> int:
    classes = project.class_numbers()
    if name not in classes:
        raise UsageError(f"no class named {name!r} in this project{did_you_mean(name, classes)}")
    return classes[name]


def _checked_words(words: str) -> str:
    text = " ".join(words.split())
    if not text or len(text) > MOST_LETTERS or not text.isprintable():
        raise UsageError(f"{words[:40]!r} can't be searched: 1 to {MOST_LETTERS} letters")
    return text


def _day(name: str, text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise UsageError(f"--{name} {text}: not a day, such as 2012-07-11") from None


def _table(address: str, needed: Sequence[str]) -> list[dict[str, str]]:
    try:
        text = addresses.read_bytes(address).decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{address}: not a readable CSV file in UTF-8 ({error})") from error
    if not rows or not set(needed) <= set(rows[0]):
        raise DataError(f"{address}: expected the columns {' and '.join(needed)}, and a row or more")
    return [{name: (value or "").strip() for name, value in row.items() if isinstance(name, str)} for row in rows]


def _numbered(rows: list[dict[str, str]]) -> list[tuple[int, dict[str, str]]]:
    return list(enumerate(rows, start=2))


def _new_row(row: dict[str, str], classes: Mapping[str, int], options: PlanOptions, place: str) -> dict[str, Any]:
    name = row["class"]
    if name not in classes:
        raise DataError(f"{place}: no class named {name!r} in this project{did_you_mean(name, classes)}")
    wanted = row.get("wanted") or str(options.limit)
    if not wanted.isascii() or not wanted.isdigit() or not 0 < len(wanted) < 7 or int(wanted) == 0:
        raise DataError(f"{place}: wanted {wanted[:20]!r} is not a number of images")
    try:
        days = {key: row.get(key) or getattr(options, key) for key in ("since", "until")}
        PlanOptions(since=days["since"], until=days["until"], later="")
        said = {"words": _checked_words(row["words"]), "order": _checked_words(row.get("order") or options.order)}
    except UsageError as error:
        raise DataError(f"{place}: {error}") from error
    return {"class_id": classes[name], "kind": PLAIN, "step": 5, "wanted": int(wanted), **days, **said, "state": OPEN}


def _state(row: dict[str, str], place: str) -> tuple[int, str]:
    number, state = row["query"], row.get("state") or OPEN
    if not (number.isascii() and number.isdigit() and len(number) < 10) or state not in STATES:
        raise DataError(f"{place}: query {number[:20]!r} and state {state[:20]!r}: expected a number, and open or done")
    return int(number), state


def _change_states(project: Project, states: Iterable[tuple[int, str]], address: str) -> int:
    there = {row.id: row.state for row in project.database.rows(sa.select(QUERY.c.id, QUERY.c.state))}
    wanted = dict(states)
    if missing := set(wanted) - set(there):
        raise DataError(f"{address}: query {min(missing)} is not in the plan of this project")
    other = {number: state for number, state in wanted.items() if there[number] != state}
    for number, state in other.items():
        mark_done(project, number, done=state == DONE)
    return len(other)
