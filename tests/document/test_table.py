"""A table in each form, in files, and as plain values."""

from __future__ import annotations

import json

import pytest

from oodometer.core.errors import UsageError


def test_a_form_that_nobody_writes_is_named(four):
    with pytest.raises(UsageError, match=r"no form 'latx' of a table; did you mean latex\?; there are latex, "):
        four.written("latx")


@pytest.mark.parametrize(("file", "form"), [("t.tex", "latex"), ("t.md", "markdown"), ("t.csv", "csv"), ("t", "text")])
def test_a_file_is_written_as_it_ends(four, tmp_path, file, form):
    four.write(tmp_path / file)
    assert (tmp_path / file).read_bytes().decode().rstrip("\r\n") == four.written(form).rstrip("\r\n")


def test_as_json_in_full(four):
    found = json.loads(json.dumps(four.as_json(), allow_nan=False))
    clean = four.rows[0][2]
    assert found["models"][0] == {
        "model": "a",
        "category": "standard",
        "values": {
            "clean": {**vars(clean), "best": True},
            "new": {**vars(four.rows[0][3]), "best": False},
            "rho:new": -0.35,
        },
    }
    assert found["columns"][1] == {
        "id": "new", "title": "acc.", "over": "new", "unit": "percent", "better": "high", "about": "",
    }  # fmt: skip
    assert (found["name"], found["caption"]) == ("board", "Accuracy.")


def test_printed_as_text(four):
    assert str(four) == four.written("text")
