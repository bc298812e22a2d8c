"""Which set a folder claims to be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from oodometer.data.identify import claim_of
from oodometer.data.kinds.folder import open_folder
from oodometer.data.layouts.known_set import KnownSet, known_sets

ErrorOf = Callable[[Callable[[], object]], str]

PETS = KnownSet(
    name="pets",
    title="Pets",
    page="https://example.org/pets",
    layout="class folders",
    places=("pets/val", "pets"),
    open=open_folder,
)
BIRDS = replace(PETS, name="birds-1.0", places=("birds/val", "birds_v1", "val"))


@pytest.fixture(autouse=True)
def two_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_sets, "_addresses", {})
    monkeypatch.setattr(known_sets, "_loaded", {one.name: one for one in (PETS, BIRDS)})


def folder(path: Path) -> str:
    (path / "cat").mkdir(parents=True)
    return str(path)


@pytest.mark.parametrize(
    ("path", "name", "place", "root"),
    [
        ("root/pets/val", "pets", "root/pets/val", "root"),  # and not the place val of birds
        ("root/pets", "pets", "root/pets", "root"),
        ("root/Birds-V1", "birds-1.0", "root/Birds-V1", "root"),
        ("root/BIRDS/val", "birds-1.0", "root/BIRDS/val", "root"),
        ("root/birds_1.0", "birds-1.0", "root/birds_1.0", "root"),  # by what it is called here
        ("elsewhere/val", "birds-1.0", "elsewhere/val", "elsewhere"),
    ],
)
def test_the_end_of_the_address_tells(tmp_path: Path, path: str, name: str, place: str, root: str) -> None:
    claim = claim_of(folder(tmp_path / path))
    assert claim.known is known_sets.get(name)
    assert claim.place == str(tmp_path / place)
    assert claim.root == str(tmp_path / root)


def test_a_folder_that_holds_the_set_leads_to_it(tmp_path: Path) -> None:
    inside = folder(tmp_path / "pets" / "val")
    assert claim_of(str(tmp_path / "pets")).place == inside
    unpacked = folder(tmp_path / "downloads" / "birds_v1")
    claim = claim_of(str(tmp_path / "downloads"))
    assert (claim.place, claim.known, claim.root) == (unpacked, BIRDS, str(tmp_path / "downloads"))


def test_said_by_the_user(tmp_path: Path, error_of: ErrorOf) -> None:
    mine = folder(tmp_path / "mine")
    claim = claim_of(mine, "pets")
    assert (claim.known, claim.place, claim.root) == (PETS, mine, str(tmp_path))
    inside = folder(tmp_path / "mine" / "birds_v1")
    assert claim_of(mine, "birds-1.0").place == inside
    plain = claim_of(mine, "folder")
    assert (plain.known, plain.kind) == (None, "folder")
    assert error_of(lambda: claim_of(mine, "pet")) == (
        "--as pet: no data set and no kind of data of that name; did you mean pets?; the sets are "
        "birds-1.0, pets; for any data: arrays, cifar-10-batches, "
        "folder, imagenet-c, images, manifest, parquet, webdataset"
    )


def test_a_folder_that_tells_nothing(tmp_path: Path, error_of: ErrorOf) -> None:
    mine = folder(tmp_path / "mine")
    assert error_of(lambda: claim_of(mine)) == (
        f"{mine}: which data set is it? it is not named as one of the published sets; say it with --as NAME: "
        "the sets are birds-1.0, pets; for any data: arrays, cifar-10-batches, "
        "folder, imagenet-c, images, manifest, parquet, webdataset"
    )
    close = folder(tmp_path / "petss")
    assert error_of(lambda: claim_of(close)).startswith(f"{close}: which data set is it? did you mean pets?; say it")


def test_a_root_of_several_sets(tmp_path: Path, error_of: ErrorOf) -> None:
    first = folder(tmp_path / "data" / "birds_v1")
    folder(tmp_path / "data" / "pets")
    assert error_of(lambda: claim_of(str(tmp_path / "data"))) == (
        f"{tmp_path / 'data'}: it holds 2 data sets, birds-1.0, pets; check one of them, such as {first}"
    )


def test_a_folder_that_several_sets_share(tmp_path: Path, error_of: ErrorOf, monkeypatch: pytest.MonkeyPatch) -> None:
    """As CIFAR-10.1 has its two versions in one folder."""
    versions = [replace(PETS, name=f"fish-{one}", places=(f"fish/{one}.npy",)) for one in ("v1", "v2")]
    monkeypatch.setattr(known_sets, "_loaded", {one.name: one for one in versions})
    shared = tmp_path / "fish"
    shared.mkdir()
    (shared / "v1.npy").touch()
    claim = claim_of(str(shared))
    assert (claim.known, claim.place, claim.root) == (versions[0], f"{shared}/v1.npy", str(tmp_path))
    (shared / "v2.npy").touch()
    assert error_of(lambda: claim_of(str(shared))) == (
        f"{shared}: it holds 2 data sets, fish-v1, fish-v2; check one of them, such as {shared}/v1.npy"
    )


def test_an_archive_is_to_be_unpacked(tmp_path: Path, error_of: ErrorOf) -> None:
    archive = tmp_path / "pets.tar.gz"
    archive.touch()
    line = "an archive; unpack it first, and check the folder (tar shards: --as webdataset)"
    assert error_of(lambda: claim_of(str(archive))) == f"{archive}: {line}"
    assert claim_of(str(archive), "webdataset").kind == "webdataset"


def test_what_is_not_there_or_not_unpacked(tmp_path: Path, error_of: ErrorOf) -> None:
    nowhere = str(tmp_path / "pets")
    assert error_of(lambda: claim_of(nowhere)) == f"{nowhere}: no such file or folder; check the path"
    (tmp_path / "downloads").mkdir()
    (tmp_path / "downloads" / "pets.tar").write_bytes(b"")
    assert error_of(lambda: claim_of(str(tmp_path / "downloads"))) == (
        f"pets.tar lies in {tmp_path / 'downloads'} but is not unpacked; unpack it first"
    )
