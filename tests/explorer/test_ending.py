"""An explorer that ends: what goes on in the background is stopped first, and waited for."""

from __future__ import annotations

import threading

from oodometer.explorer import explorer as module
from oodometer.explorer.explorer import Explorer


def test_work_in_the_background_is_waited_for(shop):
    explorer, done = Explorer(shop.store), threading.Event()
    explorer.catalogue()
    begun = threading.Event()

    def work() -> None:
        begun.set()
        explorer.wait_for_study()
        done.set()

    explorer.behind(work)
    begun.wait(30)
    explorer.close()
    assert done.is_set()


def test_a_study_stops_when_nobody_looks_any_more(shop, monkeypatch):
    explorer, begun, ended = Explorer(shop.store), threading.Event(), threading.Event()
    told = []

    def study_of(index, *, origins, progress):
        begun.set()
        ended.wait(30)
        told.append("first")
        progress(0, 2)
        told.append("second")

    monkeypatch.setattr(module, "study_of", study_of)
    explorer.study()
    assert begun.wait(30)
    closing = threading.Thread(target=explorer.close)
    closing.start()
    while not explorer._ended:
        closing.join(0.01)
    ended.set()
    closing.join(30)
    assert told == ["first"]
    assert explorer.study() is None  # and none is begun again
