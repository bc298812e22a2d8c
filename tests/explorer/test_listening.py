"""The socket that the pages are served at."""

from __future__ import annotations

import socket

import pytest

from oodometer.core.errors import OodometerError, UsageError
from oodometer.explorer.serve import listening_at


def test_answers_are_sent_at_once():
    # asyncio sets TCP_NODELAY of a connection only where its socket says that it is TCP
    with listening_at("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
        with socket.create_connection(listening.getsockname()):
            connection, _ = listening.accept()
            with connection:
                assert connection.proto == socket.IPPROTO_TCP
                assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_port_in_use_and_a_host_that_is_none():
    with listening_at("127.0.0.1", 0) as taken, pytest.raises(OodometerError, match=r"can't listen at 127\.0\.0\.1"):
        listening_at("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(UsageError, match="no such address"):
        listening_at("no.such.host.invalid", 0)
