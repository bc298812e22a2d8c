"""The pages of a store from Python: told when they are there, and ended as by Ctrl-C."""

from __future__ import annotations

import logging

import oodometer as odo
from colour_model import colour_model


class Noticing(logging.Handler):
    """A handler that knows whether somebody closed it."""

    closed = False

    def close(self) -> None:
        self.closed = True
        super().close()


def test_it_leaves_the_logging_of_its_caller_alone(tmp_path, photos, monkeypatch):
    import uvicorn

    odo.run([colour_model()], [odo.clean(odo.load_data(photos))], store=str(tmp_path / "runs"))
    own = Noticing()
    logging.getLogger("of_the_caller").addHandler(own)
    monkeypatch.setattr(uvicorn.Server, "run", lambda server, sockets: None)
    odo.serve(str(tmp_path / "runs"), port=0)
    logging.getLogger("of_the_caller").removeHandler(own)
    assert not own.closed


def test_it_tells_the_address_and_ends_quietly(tmp_path, photos, capsys, monkeypatch):
    import uvicorn

    odo.run([colour_model()], [odo.clean(odo.load_data(photos))], store=str(tmp_path / "runs"))
    told, pages = [], []

    def ready(address: str) -> None:
        told.append(address)

    def answer_and_end(server: uvicorn.Server, sockets: list[object]) -> None:
        assert told[-1].startswith("http://127.0.0.1:")
        pages.append((server.config.app, sockets))
        raise KeyboardInterrupt

    monkeypatch.setattr(uvicorn.Server, "run", answer_and_end)
    odo.serve(str(tmp_path / "runs"), port=0, watcher=odo.ServeWatcher(ready, told.append))
    assert len(pages) == 1
    assert "40 predictions; Ctrl-C ends" in told
    assert capsys.readouterr() == ("", "")
