"""A project's database: SQLite in its folder, or PostgreSQL by its address; opened, brought up to date, and shared.

Many threads of a server use it at once. SQLite has one writer at a time, who takes the lock when the transaction begins
and not in its middle, where another's work would be in the way; everybody waits for it as long as need be. What is
committed survives a kill of the server. In PostgreSQL a transaction waits as well, for a lock that the whole project
has in common: many changes read first what they then write.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from oodometer.build.testset.project.schema import METADATA, SETTING, STEPS, VERSION, sa
from oodometer.core.errors import DataError, UsageError
from oodometer.core.extras import import_extra

FILE = "testset.db"
SECONDS_OF_WAITING = 60
WRITING = 7_406_000
"""The number of the lock in PostgreSQL under which a project is changed."""

POSTGRES = ("postgresql://", "postgres://")


class Database:
    """The tables of a project."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        # SQLite's own way to wait is to try again after a while: who came first may wait longest.
        self.turn: Any = threading.RLock() if self.is_sqlite else contextlib.nullcontext()

    @contextlib.contextmanager
    def reading(self) -> Iterator[Any]:
        """A connection to ask questions with."""
        with self.engine.connect() as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self, *, alone: bool = True) -> Iterator[Any]:
        """A transaction: all of it, or nothing.

        What it reads by its own connection nobody else changes before its end.

        Args:
            alone: Whether others wait in PostgreSQL too; not for what many do at once and what needs no lock, or has
                one of its own. SQLite has one writer at a time in any case.
        """
        with self.turn, self.engine.begin() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            elif alone:
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(WRITING)))
            yield connection

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file."""
        return bool(self.engine.dialect.name == "sqlite")

    def close(self) -> None:
        """Give all connections back."""
        self.engine.dispose()

    def rows(self, query: Any) -> list[Any]:
        """All that a query finds."""
        with self.reading() as connection:
            return list(connection.execute(query))

    def settings(self) -> dict[str, str]:
        """What is said of the whole project."""
        with self.reading() as connection:
            return settings_in(connection)


def open_database(address: str, *, new: bool = False) -> Database:
    """The database at the address of a file or of PostgreSQL, with the tables of this version.

    Args:
        new: Whether to make the tables; else there must be some.
    """
    is_file = not address.startswith(POSTGRES)
    if is_file and not new and not Path(address).is_file():
        raise DataError(f"{address}: no such database; make a project with: oodometer testset new")
    database = Database(_sqlite(address) if is_file else _postgres(address))
    try:
        _bring_up_to_date(database, address, new=new)
    except sa.exc.SQLAlchemyError as error:
        database.close()
        raise DataError(f"{_without_password(address)}: {_said(error)}") from error
    except Exception:
        database.close()
        raise
    return database


def settings_in(connection: Any) -> dict[str, str]:
    """What is said of the whole project, as a transaction sees it."""
    return {row.key: row.value for row in connection.execute(sa.select(SETTING))}


def now() -> str:
    """The moment in UTC, to a millisecond.

    >>> now().endswith("+00:00")
    True
    """
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def as_text(value: Any) -> str:
    """A value as it is kept in a text, the same for equal values.

    >>> as_text({"b": 1, "a": "ö"})
    '{"a": "ö", "b": 1}'
    """
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def from_text(text: str) -> Any:
    """What was kept."""
    return json.loads(text) if text else {}


def is_storable(text: str) -> bool:
    r"""Whether both kinds of databases can keep a text: PostgreSQL takes no NUL, and neither takes half a character.

    >>> is_storable("owl"), is_storable("ow\0l"), is_storable("\ud83e")
    (True, False, False)
    """
    return "\0" not in text and not any("\ud800" <= one <= "\udfff" for one in text)


def insert_or_leave(database: Database, table: Any, values: Mapping[str, Any] | list[dict[str, Any]]) -> Any:
    """A statement that adds rows, and leaves alone what is there already; its ``rowcount`` is how many were added."""
    dialect = import_module(f"sqlalchemy.dialects.{database.engine.dialect.name}")
    statement = dialect.insert(table).values(values).on_conflict_do_nothing()
    return statement.execution_options(preserve_rowcount=True)  # else PostgreSQL's is -1


def _sqlite(path: str) -> Any:
    engine = sa.create_engine(
        f"sqlite:///{path}",
        connect_args={"timeout": SECONDS_OF_WAITING, "check_same_thread": False},
        pool_size=16,
        max_overflow=32,
    )

    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say so
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    sa.event.listen(engine, "connect", prepare)
    return engine


def _postgres(address: str) -> Any:
    import_extra("psycopg", extra="postgres", what="projects in PostgreSQL")
    plain = address.split("://", 1)[1]
    return sa.create_engine(f"postgresql+psycopg://{plain}", pool_size=16, max_overflow=32, pool_pre_ping=True)


def _bring_up_to_date(database: Database, address: str, *, new: bool) -> None:
    place = _without_password(address)
    there = sa.inspect(database.engine).has_table(SETTING.name)
    if new and there and database.settings():
        raise UsageError(f"{place}: there is a project already; choose another place, or open this one")
    if new:
        METADATA.create_all(database.engine)
        with database.writing() as connection:
            connection.execute(sa.insert(SETTING).values(key="version", value=str(VERSION)))
        return
    if not there:
        raise DataError(f"{place}: not the database of a test set")
    found = database.settings().get("version", "")
    if not found.isdigit() or int(found) > VERSION:
        raise DataError(f"{place}: made by a newer oodometer (version {found} of its tables); update oodometer")
    if int(found) < VERSION:
        _take_steps(database)


def _take_steps(database: Database) -> None:
    with database.writing() as connection:
        found = int(settings_in(connection)["version"])  # another may have taken them meanwhile
        for version in range(found + 1, VERSION + 1):
            STEPS[version](connection)
        connection.execute(sa.update(SETTING).where(SETTING.c.key == "version").values(value=str(VERSION)))


def _without_password(address: str) -> str:
    """An address that may be shown.

    >>> _without_password("postgresql://me:secret@host/birds")
    'postgresql://me@host/birds'
    """
    head, at, rest = address.rpartition("@")
    scheme, slashes, who = head.partition("://")
    return f"{scheme}{slashes}{who.partition(':')[0]}{at}{rest}"


def _said(error: Exception) -> str:
    return str(getattr(error, "orig", None) or error).splitlines()[0]
