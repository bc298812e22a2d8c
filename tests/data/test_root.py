"""Sets below a root: found however they are spelled, told from archives, and refused in one line if not whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from oodometer.core.dataset import Dataset
from oodometer.core.errors import UsageError
from oodometer.data import addresses
from oodometer.data.kinds.folder import open_folder
from oodometer.data.layouts.known_set import KnownSet, known_sets
from oodometer.data.root import VARIABLE, DataRoot, missing_line, root_at

Put = Callable[[str, bytes], str]
Encode = Callable[..., bytes]
ErrorOf = Callable[[Callable[[], object]], str]

PETS = KnownSet(
    name="pets-a",
    title="Pets",
    page="https://example.org/pets",
    layout="class folders cat and dog",
    places=("pets-a/val", "pets-a", "PetsA2020"),
    open=open_folder,
    n_images=3,
    n_classes=2,
)


@pytest.fixture(autouse=True)
def pets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The only set that is known."""
    monkeypatch.setattr(known_sets, "_addresses", {})
    monkeypatch.setattr(known_sets, "_loaded", {PETS.name: PETS})


@pytest.fixture
def fill(root: str, put: Put, encode: Encode) -> Callable[..., str]:
    """Put pets into a folder below the root: one cat and as many dogs as wanted."""

    def write(place: str, *, dogs: int = 2) -> str:
        put(addresses.join(root, f"{place}/cat/0.png"), encode(0))
        for number in range(dogs):
            put(addresses.join(root, f"{place}/dog/{number}.png"), encode(1 + number))
        return addresses.join(root, place)

    return write


@pytest.mark.parametrize(
    "place",
    ["pets-a/val", "pets-a", "PetsA2020", "Pets_A", "PETS-A/val", "petsa", "pets_a2020"],
)
def test_a_set_is_found_in_each_of_its_places_however_it_is_spelled(
    root: str, place: str, fill: Callable[..., str]
) -> None:
    expected = fill(place)
    assert DataRoot(root).place_of("pets-a") == expected
    assert DataRoot(root).has("pets-a")
    assert DataRoot(root).open("pets-a").ids == ("cat/0", "dog/0", "dog/1")


def test_places_count_in_their_order_and_exact_names_before_others(root: str, fill: Callable[..., str]) -> None:
    other = fill("Pets_A")
    assert DataRoot(root).place_of("pets-a") == other
    second = fill("PetsA2020")
    assert DataRoot(root).place_of("pets-a") == second
    first = fill("pets-a/val")
    assert DataRoot(root).place_of("pets-a") == first


@pytest.mark.parametrize("name", ["pets-a.tar", "Pets_A.tar.gz", "PetsA2020.zip", "pets-a.TGZ"])
def test_an_archive_beside_is_not_the_set(root: str, name: str, put: Put, error_of: ErrorOf) -> None:
    put(addresses.join(root, name), b"")
    assert not DataRoot(root).has("pets-a")
    assert error_of(lambda: DataRoot(root).open("pets-a")) == (
        f"pets-a: {name} lies in {root} but is not unpacked; expected pets-a/val (class folders cat and dog)"
    )


def test_other_archives_mean_nothing(root: str, put: Put, error_of: ErrorOf) -> None:
    put(addresses.join(root, "pets-b.tar"), b"")
    assert error_of(lambda: DataRoot(root).open("pets-a")) == (
        f"pets-a is not in {root}: expected pets-a/val (class folders cat and dog); "
        "get it from https://example.org/pets"
    )


@pytest.mark.parametrize("folder", ["pets-a", "Pets_A"])
def test_a_folder_that_holds_only_an_archive_is_not_unpacked(
    root: str, folder: str, put: Put, error_of: ErrorOf
) -> None:
    put(addresses.join(root, f"{folder}/pets.tar.gz"), b"")
    inside = addresses.join(root, folder)
    assert not DataRoot(root).has("pets-a")
    assert error_of(lambda: DataRoot(root).open("pets-a")) == (
        f"pets-a: pets.tar.gz lies in {inside} but is not unpacked; expected pets-a/val (class folders cat and dog)"
    )


def test_an_empty_folder_is_not_the_set(tmp_path: Path, error_of: ErrorOf) -> None:
    (tmp_path / "pets-a").mkdir()
    assert not DataRoot(str(tmp_path)).has("pets-a")
    assert error_of(lambda: DataRoot(str(tmp_path)).open("pets-a")) == (
        f"pets-a: {tmp_path / 'pets-a'} is an empty folder; expected pets-a/val (class folders cat and dog)"
    )


def test_an_archive_beside_the_unpacked_set_does_no_harm(root: str, put: Put, fill: Callable[..., str]) -> None:
    expected = fill("pets-a")
    put(addresses.join(root, "pets-a.tar"), b"")
    put(addresses.join(root, "pets-a/pets-a.tar"), b"")
    assert DataRoot(root).place_of("pets-a") == expected


def test_a_symbolic_link_is_followed(tmp_path: Path, put: Put, encode: Encode, error_of: ErrorOf) -> None:
    for number, name in enumerate(("cat/0", "dog/0", "dog/1")):
        put(str(tmp_path / f"elsewhere/{name}.png"), encode(number))
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "pets-a").symlink_to(tmp_path / "elsewhere")
    assert len(DataRoot(str(tmp_path / "root")).open("pets-a")) == 3
    (tmp_path / "root" / "pets-a").unlink()
    (tmp_path / "root" / "pets-a").symlink_to(tmp_path / "nowhere")
    assert "is not in" in error_of(lambda: DataRoot(str(tmp_path / "root")).open("pets-a"))


def test_a_set_that_is_not_whole_is_one_line_of_what_was_expected_and_found(
    root: str, fill: Callable[..., str], put: Put, encode: Encode, error_of: ErrorOf
) -> None:
    place = fill("pets-a", dogs=0)
    assert error_of(lambda: DataRoot(root).open("pets-a")) == (
        f"{place}: 1 images instead of 3 and 1 classes instead of 2; is it unpacked whole? "
        f"('oodometer check {place}'; --partial uses it as it is)"
    )
    assert len(DataRoot(root, partial=True).open("pets-a")) == 1
    put(addresses.join(place, "loose.png"), encode(9))
    assert error_of(lambda: DataRoot(root).open("pets-a")).startswith(
        f"{place}: 1 images, such as loose.png, are in no class folder"
    )


def test_an_error_of_a_file_says_what_was_expected(
    root: str, fill: Callable[..., str], error_of: ErrorOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_list(address: str, *, name: str) -> Dataset:
        addresses.read_bytes(addresses.join(address, "list.json"))
        raise AssertionError("there is no list")

    monkeypatch.setitem(known_sets._loaded, "pets-a", replace(PETS, open=open_list))
    place = fill("pets-a")
    assert error_of(lambda: DataRoot(root).open("pets-a")) == (
        f"{addresses.join(place, 'list.json')}: no such file or folder; check the path; "
        "of pets-a is expected: class folders cat and dog"
    )


def test_each_set_is_opened_once(root: str, fill: Callable[..., str]) -> None:
    fill("pets-a")
    here = DataRoot(root)
    assert here.open("pets-a") is here.open("pets-a")


def test_the_root_comes_from_the_flag_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert root_at(None) is None
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(UsageError, match=r"nowhere \(from OODOMETER_DATA\): no such folder"):
        root_at(None)
    found = root_at(str(tmp_path), partial=True)
    assert found == DataRoot(str(tmp_path), partial=True)


def test_where_there_is_no_root_the_missing_line_still_says_what_to_do() -> None:
    assert missing_line(PETS, "the data root").startswith("pets-a is not in the data root: expected pets-a/val")


def test_a_root_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "imagenet-a.tar").write_bytes(b"")
    with pytest.raises(UsageError, match=r"imagenet-a\.tar: not a folder; it should hold the data sets"):
        root_at(str(tmp_path / "imagenet-a.tar"))
