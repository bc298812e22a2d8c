"""Taking a model out of a store from Python: asked first, or at once."""

from __future__ import annotations

import pytest

import oodometer as odo
from colour_model import colour_model


@pytest.fixture
def store(tmp_path, photos) -> str:
    data = odo.load_data(photos)
    models = [colour_model(), colour_model("other", "b" * 32)]
    odo.run(models, [odo.clean(data)], store=str(tmp_path / "runs"))
    return str(tmp_path / "runs")


def models_in(store: str) -> list[str]:
    return [row["model"] for row in odo.ls(store).as_json()]


def test_who_is_asked_and_says_no_keeps_everything(store):
    asked = []
    assert odo.rm(store, "other", confirm=lambda removal: bool(asked.append(str(removal)))) is None
    assert asked == ["40 predictions on clean"]
    assert models_in(store) == ["colours", "other"]


def test_without_anybody_to_ask_it_is_removed(store):
    removed = odo.rm(store, "other")
    assert str(removed) == "40 predictions on clean"
    assert [(cell["model"], cell["condition"]) for cell in removed.as_json()["cells"]] == [("other", "clean")]
    assert models_in(store) == ["colours"]
    assert odo.verify(store).damage == ()
