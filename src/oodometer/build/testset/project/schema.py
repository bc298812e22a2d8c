"""The tables of a project, the same in SQLite and in PostgreSQL, and the steps from each version of them to the next.

Times are UTC in ISO 8601. What is open-ended (columns of a manifest, arguments of a sampler) is JSON in a text, written
and read here alone. No table but ``worker`` and those that name its numbers tells who anybody is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from oodometer.core.extras import import_extra

sa: Any = import_extra("sqlalchemy", extra="testset", what="test sets")

VERSION = 1
"""Of the tables below."""

METADATA = sa.MetaData()


def _table(name: str, *columns: Any) -> Any:
    return sa.Table(name, METADATA, *columns)


def _of(name: str, to: str, *, optional: bool = False, key: bool = False) -> Any:
    """A column that names a row of another table."""
    return sa.Column(name, sa.Integer, sa.ForeignKey(f"{to}.id"), nullable=optional, primary_key=key)


def _text(name: str, **more: Any) -> Any:
    return sa.Column(name, sa.Text, nullable=more.pop("nullable", False), **more)


def _id() -> Any:
    return sa.Column("id", sa.Integer, primary_key=True)


SETTING = _table("setting", _text("key", primary_key=True), _text("value"))
"""What is said once of the whole project: its version, its name, where the original set lies."""

CLASS = _table(
    "class",
    _id(),
    _text("name", unique=True),
    _text("title"),  # for people
    _text("gloss"),  # what it means
    _text("link"),
    _text("synonyms"),  # JSON
)

SOURCE = _table("source", _id(), _text("address"), _text("kind"), _text("licence"), _text("note"), _text("added"))
"""Each time that images were added: from where, and under which licence unless an image has its own."""

IMAGE = _table(
    "image",
    _id(),
    _text("key", unique=True),  # its id in samples and releases
    _text("role"),  # candidate or original
    _of("class_id", "class"),
    _of("source_id", "source"),
    _text("digest"),  # SHA-256 of the file
    _text("file"),  # below images/
    sa.Column("width", sa.Integer, nullable=False),
    sa.Column("height", sa.Integer, nullable=False),
    _text("licence"),
    _text("author"),
    _text("url"),
    _text("keyword"),
    _text("columns"),  # JSON: what else its manifest says
    sa.UniqueConstraint("role", "class_id", "digest"),
)

QUERY = _table(
    "query",
    _id(),
    _of("class_id", "class"),
    _text("kind"),  # plain, style or blurry
    sa.Column("step", sa.Integer, nullable=False),
    _text("words"),
    sa.Column("wanted", sa.Integer, nullable=False),
    _text("since"),
    _text("until"),
    _text("order"),
    _text("state"),  # open or done
    sa.UniqueConstraint("class_id", "kind", "step", "words"),
)
"""The search plan: what a connector asks a source of images for."""

TASK = _table(
    "task", _id(), _text("key", unique=True), _of("class_id", "class"), _text("made"), sa.Column("workers", sa.Integer)
)
"""A grid of images of one class, and how many workers are to answer it."""

SHOWN = _table(
    "shown",
    _of("task_id", "task", key=True),
    sa.Column("position", sa.Integer, primary_key=True),
    _of("image_id", "image"),
    _text("kind"),  # candidate, positive or negative
    _text("key", unique=True),  # what the page calls it: it tells nothing
)

WORKER = _table(
    "worker",
    _id(),
    _text("token", unique=True),  # its digest
    _text("name"),
    _text("made"),
    sa.Column("blocked", sa.Integer, nullable=False, server_default="0"),
)
"""Who may answer, and whose answers count: not those of a blocked worker."""

HANDED = _table(
    "handed", _of("task_id", "task", key=True), _of("worker_id", "worker", key=True), _text("at"), _text("until")
)
"""Tasks that somebody was given, and until when they are kept for that worker."""

ANSWER = _table(
    "answer",
    _of("task_id", "task", key=True),
    _of("worker_id", "worker", key=True),
    _text("selected"),  # a 1 or 0 for each position
    _text("at"),
    sa.Column("seconds", sa.Float, nullable=True),
)
"""One row per worker and task, all of it or nothing."""

sa.Index("answer_worker", ANSWER.c.worker_id)
sa.Index("handed_worker", HANDED.c.worker_id)
sa.Index("shown_image", SHOWN.c.image_id)

PAIR = _table(
    "pair",
    _id(),
    _of("image_id", "image"),
    _text("against"),  # the other set; empty: the pool itself
    _text("other"),  # the key of the other image of the pool, or its id in the other set
    _text("other_file"),  # below images/: a copy of the other image, so that it can be looked at
    _text("metric"),
    sa.Column("distance", sa.Float, nullable=False),
    sa.Column("mirrored", sa.Integer, nullable=False),
    _text("verdict"),  # duplicate, different, or empty: nobody has looked
    _text("at"),
    _text("by"),
    sa.UniqueConstraint("image_id", "against", "other", "metric"),
)
"""Images that lie close together, and what a person said of them."""

LAST_JUDGED = sa.Index("pair_at", PAIR.c.at, PAIR.c.id)

EXCLUSION = _table(
    "exclusion", _id(), _of("image_id", "image"), _text("reason"), _text("at"), _text("by"), _text("revoked")
)
"""Images that a person or a filter took out; revoked: when that was taken back, or empty."""

EXCLUDED_ONCE = sa.Index(
    "exclusion_active",
    EXCLUSION.c.image_id,
    EXCLUSION.c.reason,
    unique=True,
    sqlite_where=EXCLUSION.c.revoked == "",
    postgresql_where=EXCLUSION.c.revoked == "",
)
"""An image is out for a reason once at a time."""

DECISION = _table(
    "decision",
    _of("image_id", "image", key=True),
    _text("role", primary_key=True),  # selector or verifier
    sa.Column("taken", sa.Integer, nullable=False),
    _text("at"),
    _text("by"),
)
"""What two people said of candidates of one keyword: one takes images, the other says whether that is right."""

REVISION = _table(
    "revision",
    _id(),
    _of("parent_id", "revision", optional=True),
    _text("sampler"),
    _text("arguments"),  # JSON
    sa.Column("seed", sa.BigInteger, nullable=False),
    _text("counts"),  # JSON: moved, short and excluded images by reason
    _text("at"),
    _text("by"),
    _text("note"),
)

CHOSEN = _table(
    "chosen",
    _of("revision_id", "revision", key=True),
    _of("image_id", "image", key=True),
    sa.Column("frequency", sa.Float, nullable=True),
    sa.Column("n_answers", sa.Integer, nullable=False),
)
"""The images of a revision, and what annotators had said of each when it was sampled."""

REVIEW = _table(
    "review", _of("revision_id", "revision", key=True), _of("class_id", "class", key=True), _text("at"), _text("by")
)
"""Classes that a person has gone through in a revision."""

FILTER = _table("filter", _id(), _text("rule"), _text("arguments"), _text("funnel"), _text("at"), _text("by"))
"""Filtrations: the rule, its arguments and the funnel as JSON. What it took out are exclusions."""

QUIZ = _table("quiz", _id(), _text("key", unique=True), _of("image_id", "image"), _text("at"))
"""Images that people are asked to name without knowing which set they are of."""

NAMED = _table(
    "named",
    _of("quiz_id", "quiz", key=True),
    _of("worker_id", "worker", key=True),
    _text("classes"),  # JSON: the names that the person thinks may be right
    _text("at"),
)


STEPS: dict[int, Callable[[Any], None]] = {}
"""By version, how a database of the version before it becomes one of it. The first is made by the tables above."""
