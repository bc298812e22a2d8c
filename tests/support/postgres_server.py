"""A PostgreSQL of its own for tests: Debian's programs, a folder that goes away, a free port of this machine."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

MISSING = "no PostgreSQL on this machine"


def programs() -> Path | None:
    """The folder of the newest installed server, of Debian or on PATH; None where there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda place: int(place.parts[-3]))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A server for all tests that want one."""
    if programs() is None:
        pytest.skip(MISSING)
    pytest.importorskip("psycopg")
    with postgres_server() as address:
        yield address


NUMBERS = count()


def new_database(server: str) -> str:
    """The address of an empty database."""
    import psycopg

    name = f"test_{next(NUMBERS)}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return f"{server}/{name}"


@pytest.fixture(params=["sqlite", "postgresql"])
def either_database(request: pytest.FixtureRequest) -> str | None:
    """The address of an empty database; None: SQLite in the folder of a project."""
    return None if request.param == "sqlite" else new_database(request.getfixturevalue("postgres"))


@contextmanager
def postgres_server() -> Iterator[str]:
    """The address of a running server, without a password, that this machine alone can reach."""
    port = _free_port()
    # Not in a folder of pytest: the server's user could not get there.
    place = Path(tempfile.mkdtemp(prefix="oodometer-pg-"))
    user = _user()
    if user:
        os.chown(place, user.pw_uid, user.pw_gid)
    data = place / "data"
    _run("initdb", "-D", data, "-U", "tester", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale", "C.UTF-8")
    options = f"-h 127.0.0.1 -p {port} -k {place} -c max_connections=200"
    _run("pg_ctl", "-D", data, "-o", options, "-l", place / "log", "-w", "-t", "60", "start")
    try:
        yield f"postgresql://tester@127.0.0.1:{port}"
    finally:
        _run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(place, ignore_errors=True)


def _user() -> pwd.struct_passwd | None:
    """Whom the server runs as: it refuses root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("no user to run PostgreSQL as")


def _run(program: str, *arguments: object) -> None:
    folder = programs()
    if folder is None:
        raise RuntimeError(MISSING)
    user = _user()
    who = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    command = [str(folder / program), *map(str, arguments)]
    done = subprocess.run(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        cwd="/",
        check=False,
        **who,
    )
    if done.returncode:
        raise RuntimeError(f"{program}: {done.stderr.decode(errors='replace')[-500:]}")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
