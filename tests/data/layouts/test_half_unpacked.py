"""Every published set that is empty, packed or something else: one line that says what was expected and found."""

from __future__ import annotations

from pathlib import Path

import pytest

from oodometer.core.errors import OodometerError
from oodometer.data.check.check_set import check as check_set
from oodometer.data.layouts.known_set import known_sets
from oodometer.data.root import DataRoot

# What tests register is theirs.
NAMES = sorted(known_sets._addresses)


def line_of(root: Path, name: str) -> str:
    with pytest.raises(OodometerError) as caught:
        DataRoot(str(root)).open(name)
    line = str(caught.value)
    assert "\n" not in line
    return line


@pytest.mark.parametrize("name", NAMES)
def test_missing(tmp_path: Path, name: str) -> None:
    known = known_sets.get(name)
    assert line_of(tmp_path, name) == (
        f"{name} is not in {tmp_path}: expected {known.places[0]} ({known.layout}); get it from {known.page}"
    )


@pytest.mark.parametrize("name", NAMES)
def test_an_archive_instead(tmp_path: Path, name: str) -> None:
    archive = f"{known_sets.get(name).places[0].partition('/')[0]}.tar.gz"
    (tmp_path / archive).write_bytes(b"")
    assert line_of(tmp_path, name).startswith(f"{name}: {archive} lies in {tmp_path} but is not unpacked; expected ")


@pytest.mark.parametrize("name", NAMES)
def test_something_else_in_its_place(tmp_path: Path, name: str) -> None:
    place = tmp_path / known_sets.get(name).places[0]
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.suffix in (".npy", ".json"):
        place.write_bytes(b"something else")
    else:
        place.mkdir()
        (place / "README.txt").write_text("something else")
    line = line_of(tmp_path, name)
    assert line.startswith(str(place.parent if place.is_file() else place))
    assert "expected" in line
    checked = check_set(str(place))
    assert checked.name == name
    assert checked.rows[0].check == "layout"
    assert checked.rows[0].verdict == "wrong"
    assert "\n" not in "".join(checked.rows[0].examples)


@pytest.mark.parametrize("name", NAMES)
def test_every_place_of_every_set_is_recognised_by_its_name(tmp_path: Path, name: str) -> None:
    from oodometer.data.identify import claim_of

    for place in known_sets.get(name).places:
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix in (".npy", ".npz", ".json"):
            path.write_bytes(b"")
        else:
            path.mkdir(exist_ok=True)
        claim = claim_of(str(path))
        assert claim.known is known_sets.get(name), place
        assert claim.root == str(tmp_path)
