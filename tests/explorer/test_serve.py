"""``oodometer serve`` as a process of its own: it listens, answers, and ends when it is told to."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from click.testing import CliRunner

from oodometer.cli.main import main
from oodometer.explorer.links import path_link, twin
from oodometer.explorer.serve import reached_at

COMMAND = (sys.executable, "-m", "oodometer", "serve")


def started(*words: str) -> tuple[subprocess.Popen[str], str]:
    """The process, and the address that it prints."""
    process = subprocess.Popen([*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def ended(process: subprocess.Popen[str], how: int) -> tuple[int, str]:
    process.send_signal(how)
    _, said = process.communicate(timeout=30)
    return process.returncode, said


def fetched(address: str, **headers: str) -> bytes:
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=30) as answer:
        return answer.read()


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_answers_and_ends_cleanly(shop, how):
    process, address = started(str(shop.store), "--port", "0")
    try:
        assert address.startswith("http://127.0.0.1:")
        assert b"Leaderboard" in fetched(address)
        for model in shop.models:  # through a real server, names arrive as they are
            assert json.loads(fetched(address[:-1] + twin(path_link("model", model))))["name"] == model
        with pytest.raises(urllib.error.HTTPError, match="403"):
            fetched(address, Host="evil.example")
        with pytest.raises(urllib.error.HTTPError, match="404"):
            fetched(f"{address}static/..%2f..%2fapp.py")
    finally:
        code, said = ended(process, how)
    assert code == 0, said
    assert "Traceback" not in said
    assert "predictions; Ctrl-C ends" in said


@pytest.mark.slow
def test_beyond_this_machine_it_asks_for_a_token(shop):
    process, address = started(str(shop.store), "--port", "0", "--host", "0.0.0.0")
    try:
        place, _, token = address.partition("?token=")
        assert len(token) >= 32
        assert "0.0.0.0" not in place  # no address that a browser elsewhere could open
        with pytest.raises(urllib.error.HTTPError, match="401"):
            fetched(place)
        assert json.loads(fetched(f"{place}.json", Authorization=f"Bearer {token}"))["n_models"] == len(shop.models)
    finally:
        assert ended(process, signal.SIGINT)[0] == 0


@pytest.mark.parametrize(("host", "family"), [("0.0.0.0", socket.AF_INET), ("::", socket.AF_INET6)])
def test_the_address_of_all_addresses_is_one_of_this_machine(monkeypatch, host, family):
    with socket.socket(family) as listening:
        try:
            listening.bind((host, 0))
        except OSError:
            pytest.skip(f"{host} is not on this machine")
        named = reached_at(listening, host)
        assert named not in ("", host)
        with socket.socket(family) as taken:  # only addresses of this machine can be bound
            if named != socket.gethostname():
                taken.bind((named.strip("[]"), 0))

        def without_network(*_: object) -> None:
            raise OSError("Network is unreachable")

        monkeypatch.setattr(socket.socket, "connect", without_network)
        assert reached_at(listening, host) == socket.gethostname()


def test_an_address_of_its_own_is_told_as_it_was_given():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        assert (reached_at(listening, "localhost"), reached_at(listening, "::1")) == ("localhost", "[::1]")


def test_a_port_in_use_is_one_line(shop):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        shown = CliRunner().invoke(main, ["serve", str(shop.store), "--port", str(port)])
    assert shown.exit_code == 1
    assert shown.stderr == (
        f"Error: can't listen at 127.0.0.1, port {port} (Address already in use); "
        "give another with --port, or --port 0 for any that is free\n"
    )


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["{folder}/nothing"], 1, "no store there"),
        (["{store}", "--host", "no.such.host.invalid"], 2, "--host no.such.host.invalid: no such address"),
        (["{store}", "--categories", "nothing.csv"], 1, "nothing.csv: no such table of categories"),
        (["{store}", "--data", "{folder}"], 1, ""),
        (["{store}", "--port", "70000"], 2, "70000"),
    ],
)
def test_wrong_usage_is_one_line(shop, tmp_path, words, code, says):
    given = [word.format(store=shop.store, folder=tmp_path) for word in words]
    shown = CliRunner().invoke(main, ["serve", *given])
    assert (shown.exit_code, shown.stdout) == (code, "")
    assert says in shown.stderr
    assert "Traceback" not in shown.stderr
