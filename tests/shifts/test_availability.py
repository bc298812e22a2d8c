"""The overview of the shifts that there really are: complete, narrow enough, and quick."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from oodometer.catalogue.shifts import declared_groups, declared_shifts
from oodometer.cli.main import main
from oodometer.data import addresses
from oodometer.data.layouts.known_set import known_sets
from oodometer.data.root import DataRoot
from oodometer.shifts.availability import overview


def test_every_name_is_listed_once(tmp_path: Path) -> None:
    found = overview(DataRoot(str(tmp_path)))
    names = [one.name for one in found.shifts]
    assert len(set(names)) == len(names)
    # The testbed's other names of the same things are in its group; what the user registers has no name yet.
    only_there = {name for name, one in declared_shifts().items() if one.make.startswith("testbed:")}
    assert set(declared_shifts()) - only_there - {"own"} <= set(names)
    assert [one.name for one in found.groups] == sorted(declared_groups())
    assert [one.name for one in found.sets] == known_sets.names()


def test_every_need_is_a_set_that_is_known_and_has_a_page() -> None:
    found = overview(None)
    sets = {one.name: one for one in found.sets}
    for shift in found.shifts:
        assert set(shift.sets) <= set(sets), shift.name
    for one in found.sets:
        assert one.page.startswith(("https://", "http://")), one.name


def test_what_is_there_makes_shifts_and_groups(tmp_path: Path) -> None:
    empty = overview(DataRoot(str(tmp_path)))
    assert not any(one.there for one in empty.shifts)
    assert [len(one.there) for one in empty.groups] == [0] * len(empty.groups)
    for place in ("imagenet/val/n01440764", "imagenet-a/n01498041"):
        (tmp_path / place).mkdir(parents=True)
    found = overview(DataRoot(str(tmp_path)))
    there = {one.name for one in found.shifts if one.there}
    assert {"imagenet-a", "imagenet-c", "greyscale"} <= there
    assert not {"imagenet-r", "imagenet-c:disk", "cifar-10.1-v4"} & there
    natural = next(one for one in found.groups if one.name == "natural")
    assert natural.there == ("imagenet-a",)


def test_nothing_is_opened_or_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in known_sets.names():
        folder = tmp_path / known_sets.get(name).places[0]
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.write_bytes(b"not a data set at all") if folder.suffix in (".npy", ".json") else folder.mkdir()
        if folder.is_dir():
            (folder / "something").write_bytes(b"")

    def never(folder: str) -> list[object]:
        raise AssertionError(f"{folder} is walked through")

    monkeypatch.setattr(addresses, "list_files", never)
    begun = time.perf_counter()
    found = overview(DataRoot(str(tmp_path)))
    assert time.perf_counter() - begun < 1.0
    assert all(one.place for one in found.sets)


@pytest.mark.parametrize("words", [("ls", "shifts"), ("ls", "shifts", "--data-root", ".")])
def test_it_fits_into_120_columns(words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OODOMETER_DATA", raising=False)
    shown = CliRunner().invoke(main, words, catch_exceptions=False).stdout.splitlines()
    # The first line tells the root, however long its path is.
    assert [line for line in shown[1:] if len(line) > 120] == []
    assert any(line.startswith("imagenetv2-matched-frequency-format-val  dataset") for line in shown)
