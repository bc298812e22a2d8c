"""Each check of a data set, on small sets with one thing wrong."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageOps

from oodometer.core.dataset import Dataset, Progress
from oodometer.data import addresses
from oodometer.data.check.check_set import Checked
from oodometer.data.check.check_set import check as check_set
from oodometer.data.kinds.folder import open_folder
from oodometer.data.layouts.known_set import KnownSet, known_sets

Encode = Callable[..., bytes]
ErrorOf = Callable[[Callable[[], object]], str]

PETS = KnownSet(
    name="pets-a",
    title="Pets",
    page="https://example.org/pets",
    layout="class folders cat and dog",
    places=("pets-a",),
    open=open_folder,
    n_images=4,
    n_classes=2,
    per_class=2,
    size=(16, 12),
    classes=lambda: frozenset({"cat", "dog"}),
    clean="pets",
)
CLEAN = replace(PETS, name="pets", title="Clean pets", places=("pets/val", "pets"), clean=None)


@pytest.fixture(autouse=True)
def two_sets(monkeypatch: pytest.MonkeyPatch) -> dict[str, KnownSet]:
    """The only sets that are known; a test may change them."""
    sets = {one.name: one for one in (PETS, CLEAN)}
    monkeypatch.setattr(known_sets, "_addresses", {})
    monkeypatch.setattr(known_sets, "_loaded", sets)
    return sets


@pytest.fixture
def pets(tmp_path: Path, encode: Encode) -> Path:
    """Pets as they are published: two cats, two dogs, 16x12."""
    return fill(tmp_path / "data" / "pets-a", encode, first=0)


def fill(folder: Path, encode: Encode, *, first: int) -> Path:
    for number, name in enumerate(("cat/0", "cat/1", "dog/0", "dog/1")):
        path = folder / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode(first + number))
    return folder


def unusual(checked: Checked) -> list[tuple[str, str, str, str]]:
    """The rows that are not ok: check, what was found, verdict, first example."""
    return [
        (row.check, row.found, row.verdict, row.examples[0] if row.examples else "")
        for row in checked.rows
        if row.verdict != "ok"
    ]


def row_of(checked: Checked, check: str) -> Any:
    return next(row for row in checked.rows if row.check == check)


@pytest.mark.parametrize(
    ("n_classes", "lacking"), [(2, "the number of images"), (None, "the numbers of images and classes")]
)
def test_a_set_of_unknown_size_is_never_said_to_be_right(pets, two_sets, n_classes, lacking) -> None:
    two_sets["pets-a"] = replace(PETS, n_images=None, n_classes=n_classes, per_class=None)
    checked = check_set(str(pets))
    assert checked.verdict == (
        f"{pets} may be pets-a: nothing wrong in what could be checked; not published, so not checked: {lacking}"
    )
    assert checked.as_json()["unchecked"] == [lacking]


def test_a_whole_set_has_nothing_wrong(pets: Path) -> None:
    checked = check_set(str(pets), thorough=True)
    assert unusual(checked) == []
    assert checked.verdict == f"{pets} is pets-a: nothing wrong"
    assert [row.check for row in checked.rows] == [
        "layout",
        "images",
        "classes",
        "unknown class ids",
        "missing classes",
        "empty folders",
        "images per class",
        "unreadable images",
        "size",
        "endings that mislead",
        "images not in the set",
        "files that are no images",
        "same bytes, two classes",
        "same bytes, one class",
        "same pixels, two classes",
        "same pixels, one class",
        "near-identical",
        "mirrored copies",
        "black images",
    ]
    assert (row_of(checked, "images").expected, row_of(checked, "size").expected) == ("4", "16x12")


def test_sets_at_any_address(root: str, put: Callable[[str, bytes], str], encode: Encode) -> None:
    place = addresses.join(root, "Pets_A")
    for number, name in enumerate(("cat/0.png", "cat/1.png", "dog/0.jpg")):
        put(addresses.join(place, name), encode(number))
    put(addresses.join(place, "dog/1.png"), b"")
    put(addresses.join(root, "pets/val/cat/0.png"), encode(0))
    checked = check_set(place, thorough=True)
    assert (checked.name, checked.place) == ("pets-a", place)
    assert unusual(checked) == [
        ("unreadable images", "1", "wrong", "dog/1.png: the file is empty"),
        ("endings that mislead", "1", "note", "dog/0.jpg is PNG"),
        ("same bytes as in pets", "1", "wrong", "cat/0 = cat/0"),
    ]


def test_too_few_images_and_an_uneven_class(pets: Path) -> None:
    (pets / "dog" / "1.png").unlink()
    checked = check_set(str(pets))
    assert unusual(checked) == [("images", "3", "wrong", ""), ("images per class", "1 to 2", "note", "dog: 1")]
    assert checked.verdict == f"{pets} is not pets-a as it should be: images"


def test_a_class_that_is_missing(pets: Path) -> None:
    for path in (pets / "dog").iterdir():
        path.unlink()
    (pets / "dog").rmdir()
    assert unusual(check_set(str(pets)))[:3] == [
        ("images", "2", "wrong", ""),
        ("classes", "1", "wrong", ""),
        ("missing classes", "1", "wrong", "dog"),
    ]


def test_an_empty_class(pets: Path) -> None:
    for path in (pets / "dog").iterdir():
        path.rename(pets / "cat" / f"was dog {path.name}")
    checked = check_set(str(pets))
    assert ("missing classes", "1", "wrong", "dog") in unusual(checked)
    assert ("empty folders", "1", "wrong", "dog") in unusual(checked)


def test_a_class_that_nobody_published(pets: Path, encode: Encode) -> None:
    (pets / "fish").mkdir()
    (pets / "fish" / "0.png").write_bytes(encode(9))
    (pets / "plants").mkdir()
    assert unusual(check_set(str(pets)))[:4] == [
        ("images", "5", "wrong", ""),
        ("classes", "3", "wrong", ""),
        ("unknown class ids", "2", "wrong", "fish"),
        ("empty folders", "1", "wrong", "plants"),
    ]


def test_missing_classes_are_not_asked_of_a_set_that_has_some_of_its_ids(
    pets: Path, two_sets: dict[str, KnownSet]
) -> None:
    two_sets["pets-a"] = replace(PETS, classes=lambda: frozenset({"cat", "dog", "fish"}))
    assert unusual(check_set(str(pets))) == []


def test_folders_that_are_numbers_are_compared_by_number(tmp_path: Path, encode: Encode) -> None:
    folder = fill(tmp_path / "pets-a", encode, first=0)
    (folder / "cat").rename(folder / "0")
    (folder / "dog").rename(folder / "2")
    assert unusual(check_set(str(folder)))[:2] == [
        ("unknown class ids", "1", "wrong", "2"),
        ("missing classes", "1", "wrong", "1"),
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b"<html>404</html>", "not an image that can be read"),
        ("cut", "damaged image"),
    ],
)
def test_files_that_can_not_be_read(pets: Path, encode: Encode, content: bytes | str, reason: str) -> None:
    path = pets / "dog" / "1.png"
    path.write_bytes(encode(3)[:-200] if isinstance(content, str) else content)
    ((check, found, verdict, example),) = unusual(check_set(str(pets)))
    assert (check, found, verdict) == ("unreadable images", "1", "wrong")
    assert example.startswith(f"dog/1.png: {reason}")


def test_damage_inside_a_file_is_found_by_decoding(pets: Path, encode: Encode) -> None:
    path = pets / "dog" / "1.png"
    content = bytearray(encode(3))
    content[60:80] = bytes(20)
    path.write_bytes(content)
    assert unusual(check_set(str(pets))) == []
    ((check, _, verdict, example),) = unusual(check_set(str(pets), thorough=True))
    assert (check, verdict) == ("unreadable images", "wrong")
    assert example.startswith("dog/1.png: damaged image")


def test_two_broken_files_are_no_duplicates(pets: Path) -> None:
    for name in ("cat/0.png", "dog/0.png"):
        (pets / name).write_bytes(b"")
    assert [row[0] for row in unusual(check_set(str(pets), thorough=True))] == ["unreadable images"]


def test_a_beginning_and_an_end_without_an_image_between(pets: Path) -> None:
    # It begins and ends as a JPEG does, which is what the quick scan looks at; there is no header in it.
    (pets / "dog" / "1.png").write_bytes(b"\xff\xd8\xff" + bytes(50) + b"\xff\xd9")
    assert [row[:3] for row in unusual(check_set(str(pets)))] == [("unreadable images", "1", "wrong")]


def test_images_of_another_size(pets: Path, encode: Encode, pixels: Callable[..., np.ndarray]) -> None:
    (pets / "cat" / "1.png").write_bytes(encode(pixels(1, height=16, width=12)))
    assert unusual(check_set(str(pets))) == [("size", "1 differ", "wrong", "cat/1 is 12x16")]


def test_an_ending_that_lies_is_a_note(pets: Path) -> None:
    (pets / "cat" / "1.png").rename(pets / "cat" / "1.JPEG")
    assert unusual(check_set(str(pets))) == [("endings that mislead", "1", "note", "cat/1.JPEG is PNG")]


def test_files_that_do_not_belong_are_notes(pets: Path, encode: Encode, two_sets: dict[str, KnownSet]) -> None:
    def without_extras(address: str, *, name: str) -> Dataset:
        whole = open_folder(address, name=name)
        kept = np.array([at for at, one in enumerate(whole.ids) if "extra" not in one])
        return whole.take(kept)

    two_sets["pets-a"] = replace(PETS, open=without_extras)
    (pets / "README.txt").write_text("pets")
    (pets / "cat" / "extra.png").write_bytes(encode(7))
    assert unusual(check_set(str(pets))) == [
        ("images not in the set", "1", "note", "cat/extra.png"),
        ("files that are no images", "1", "note", "README.txt"),
    ]
    assert check_set(str(pets)).verdict == f"{pets} is pets-a: nothing wrong (2 notes)"


def test_the_same_file_in_one_class_and_in_two(pets: Path) -> None:
    (pets / "cat" / "1.png").write_bytes((pets / "cat" / "0.png").read_bytes())
    assert unusual(check_set(str(pets), thorough=True)) == [
        ("same bytes, one class", "1", "note", "cat/0 = cat/1"),
    ]
    (pets / "dog" / "1.png").write_bytes((pets / "cat" / "0.png").read_bytes())
    assert unusual(check_set(str(pets), thorough=True)) == [
        ("same bytes, two classes", "1", "wrong", "cat/0 = cat/1 = dog/1"),
    ]


def test_the_same_pixels_in_another_encoding(pets: Path, encode: Encode) -> None:
    (pets / "cat" / "1.bmp").write_bytes(encode(0, "BMP"))
    (pets / "cat" / "1.png").unlink()
    (pets / "dog" / "1.png").write_bytes(encode(2, compress_level=0))
    assert unusual(check_set(str(pets))) == []
    assert unusual(check_set(str(pets), thorough=True)) == [
        ("same pixels, one class", "2", "note", "cat/0 = cat/1"),
    ]
    (pets / "dog" / "0.bmp").write_bytes(encode(0, "BMP"))
    (pets / "dog" / "0.png").unlink()
    assert unusual(check_set(str(pets), thorough=True))[0] == (
        ("same bytes, two classes", "1", "wrong", "cat/1 = dog/0")
    )


def smooth(seed: int) -> Image.Image:
    """A picture with structure, as photographs have it, of 160x120."""
    coarse = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(coarse).resize((160, 120), Image.Resampling.BICUBIC)


def jpeg(image: Image.Image, quality: int) -> bytes:
    target = io.BytesIO()
    image.save(target, "JPEG", quality=quality)
    return target.getvalue()


def test_near_identical_images_are_a_note(pets: Path, two_sets: dict[str, KnownSet]) -> None:
    two_sets["pets-a"] = replace(PETS, size=None)
    for seed, name in enumerate(("cat/0", "cat/1", "dog/0", "dog/1")):
        (pets / f"{name}.png").unlink()
        (pets / f"{name}.jpg").write_bytes(jpeg(smooth(seed), 95))
    assert unusual(check_set(str(pets), thorough=True)) == []
    (pets / "dog" / "1.jpg").write_bytes(jpeg(smooth(0).resize((80, 60)), 80))
    assert unusual(check_set(str(pets))) == []
    assert unusual(check_set(str(pets), thorough=True)) == [("near-identical", "1", "note", "cat/0 ~ dog/1")]


def test_mirrored_copies_are_a_note(pets: Path, two_sets: dict[str, KnownSet]) -> None:
    """Hendrycks et al. 2021 (many faces), on ImageNet-Sketch: duplicates were mirrored, and some were pitch-black."""
    two_sets["pets-a"] = replace(PETS, size=None)
    for seed, name in enumerate(("cat/0", "cat/1", "dog/0")):
        (pets / f"{name}.png").unlink()
        (pets / f"{name}.jpg").write_bytes(jpeg(smooth(seed), 95))
    (pets / "dog" / "1.png").unlink()
    (pets / "dog" / "1.jpg").write_bytes(jpeg(ImageOps.mirror(smooth(0)).resize((80, 60)), 80))
    assert unusual(check_set(str(pets))) == []
    for _ in range(2):  # the second time from what was kept
        assert unusual(check_set(str(pets), thorough=True)) == [("mirrored copies", "1", "note", "cat/0 ~ dog/1")]


def test_a_drawing_on_white_is_found_in_a_mirror(pets: Path) -> None:
    drawing = Image.new("RGB", (16, 12), "white")
    drawing.paste((0, 0, 0), (2, 2, 6, 10))
    drawing.paste((90, 90, 90), (6, 5, 12, 7))
    drawing.save(pets / "cat/0.png")
    ImageOps.mirror(drawing).save(pets / "cat/1.png")
    assert ("mirrored copies", "1", "note", "cat/0 ~ cat/1") in unusual(check_set(str(pets), thorough=True))


@pytest.mark.parametrize("kind", ["png", "jpg"])
def test_black_images_are_a_note(pets: Path, kind: str) -> None:
    (pets / "dog/1.png").unlink()
    Image.new("RGB", (16, 12), (2, 1, 3)).save(pets / f"dog/1.{kind}")
    assert unusual(check_set(str(pets), thorough=True)) == [("black images", "1", "note", "dog/1")]


def test_what_looks_alike_on_purpose_is_not_compared(pets: Path, two_sets: dict[str, KnownSet]) -> None:
    def with_frames(address: str, *, name: str) -> Dataset:
        found = open_folder(address, name=name)
        return replace(found, columns={"frame": np.arange(len(found))})

    two_sets["pets-a"] = replace(PETS, open=with_frames)
    assert "near-identical" not in [row.check for row in check_set(str(pets), thorough=True).rows]


def test_one_file_that_is_listed_twice_is_no_duplicate(pets: Path, two_sets: dict[str, KnownSet]) -> None:
    def twice(address: str, *, name: str) -> Dataset:
        found = open_folder(address, name=name)
        ids = ("cat/0 near 1", "cat/0 near 2", "dog/0", "dog/1")
        return replace(found, ids=ids, labels=np.array([0, 1, 1, 1]), rows=np.array([0, 0, 2, 3]))

    two_sets["pets-a"] = replace(PETS, open=twice, per_class=None)
    checked = check_set(str(pets), thorough=True)
    assert unusual(checked) == [("images not in the set", "1", "note", "cat/1.png")]


def test_images_with_a_label_in_common_are_of_one_class(pets: Path, two_sets: dict[str, KnownSet]) -> None:
    def several(address: str, *, name: str) -> Dataset:
        return replace(open_folder(address, name=name), other_labels=((1,), (), (), ()))

    two_sets["pets-a"] = replace(PETS, open=several, per_class=None)
    (pets / "dog" / "1.png").write_bytes((pets / "cat" / "0.png").read_bytes())
    assert [row[:3] for row in unusual(check_set(str(pets)))] == [("same bytes, one class", "1", "note")]


def test_images_of_the_clean_set_below_the_same_root(pets: Path, encode: Encode) -> None:
    fill(pets.parent / "pets" / "val", encode, first=10)
    assert unusual(check_set(str(pets), thorough=True)) == []
    (pets / "cat" / "0.png").write_bytes(encode(13))
    (pets / "cat" / "1.png").write_bytes(encode(12, compress_level=0))
    assert unusual(check_set(str(pets))) == [("same bytes as in pets", "1", "wrong", "cat/0 = dog/1")]
    assert unusual(check_set(str(pets), thorough=True)) == [
        ("same bytes as in pets", "1", "wrong", "cat/0 = dog/1"),
        ("same pixels as in pets", "1", "wrong", "cat/1 = dog/0"),
    ]


def test_a_corruption_may_leave_an_image_as_it_was(pets: Path, encode: Encode, two_sets: dict[str, KnownSet]) -> None:
    def corrupted(address: str, *, name: str) -> Dataset:
        return replace(open_folder(address, name=name), columns={"corruption": np.full(4, "fog")})

    two_sets["pets-a"] = replace(PETS, open=corrupted)
    fill(pets.parent / "pets", encode, first=3)
    assert unusual(check_set(str(pets))) == [("same bytes as in pets", "1", "note", "dog/1 = cat/0")]


def test_near_identical_images_in_the_clean_set(pets: Path, encode: Encode, two_sets: dict[str, KnownSet]) -> None:
    two_sets["pets-a"] = replace(PETS, size=None)
    clean = fill(pets.parent / "pets", encode, first=10)
    (clean / "dog" / "0.png").write_bytes(jpeg(smooth(0), 95))
    (pets / "cat" / "0.png").write_bytes(jpeg(smooth(0), 60))
    checked = check_set(str(pets), thorough=True)
    assert ("near-identical in pets", "1", "note", "cat/0 ~ dog/0") in unusual(checked)


def test_against_what_the_user_names(pets: Path, encode: Encode, tmp_path: Path, error_of: ErrorOf) -> None:
    other = fill(tmp_path / "mine", encode, first=3)
    checked = check_set(str(pets), against=str(other))
    assert unusual(checked) == [("same bytes as in mine", "1", "wrong", "dog/1 = cat/0")]
    assert "no such file or folder" in error_of(lambda: check_set(str(pets), against=str(tmp_path / "nowhere")))


def test_a_clean_set_that_can_not_be_opened_stops_nothing(pets: Path) -> None:
    (pets.parent / "pets").mkdir()
    (pets.parent / "pets" / "readme.txt").write_text("later")
    assert unusual(check_set(str(pets))) == []


def test_a_layout_that_can_not_be_opened_still_gets_a_table(pets: Path, encode: Encode) -> None:
    (pets / "loose.png").write_bytes(encode(8))
    (pets / "fish").mkdir()
    checked = check_set(str(pets))
    assert unusual(checked) == [
        (
            "layout",
            "not readable",
            "wrong",
            "1 images, such as loose.png, are in no class folder; put each into a folder named after its class, or "
            "list them in a manifest (path,label); images without labels are --data-kind images",
        ),
        ("image files", "5", "wrong", ""),
        ("unknown class ids", "1", "wrong", "fish"),
        ("empty folders", "1", "wrong", "fish"),
    ]
    assert row_of(checked, "layout").examples[1] == "expected class folders cat and dog"


def test_a_set_that_is_not_unpacked(tmp_path: Path) -> None:
    (tmp_path / "pets-a").mkdir()
    (tmp_path / "pets-a" / "pets-a.tar.gz").write_bytes(b"")
    assert row_of(check_set(str(tmp_path / "pets-a")), "layout").examples == (
        f"pets-a.tar.gz lies in {tmp_path / 'pets-a'} but is not unpacked",
        "no images in it; expected class folders with .jpg, .png, .webp or other image files",
        "expected class folders cat and dog",
    )


def test_a_corrupted_set_that_is_not_whole(pets: Path, two_sets: dict[str, KnownSet]) -> None:
    def corrupted(address: str, *, name: str) -> Dataset:
        columns = {"corruption": np.full(4, "fog"), "severity": np.array([1, 1, 2, 4])}
        return replace(open_folder(address, name=name), columns=columns)

    two_sets["pets-a"] = replace(PETS, open=corrupted)
    checked = check_set(str(pets))
    assert unusual(checked) == [
        ("missing severities", "2", "wrong", "fog/3"),
        ("corruptions not whole", "2", "wrong", "fog/2: 1 of 2"),
    ]


def test_units_other_than_images_are_counted(pets: Path, two_sets: dict[str, KnownSet]) -> None:
    def anchors(address: str, *, name: str) -> Dataset:
        return replace(open_folder(address, name=name), columns={"anchor": np.array(["a", "a", "b", "b"])})

    two_sets["pets-a"] = replace(PETS, open=anchors, unit="anchor", n_images=3)
    assert unusual(check_set(str(pets))) == [("anchors", "2", "wrong", "")]


def test_images_of_no_class_are_counted_by_their_folders(pets: Path, two_sets: dict[str, KnownSet]) -> None:
    def unlabelled(address: str, *, name: str) -> Dataset:
        found = open_folder(address, name=name)
        return replace(found, labels=np.full(4, -1), columns={"folder": np.array(["cat", "cat", "cat", "cow"])})

    two_sets["pets-a"] = replace(PETS, open=unlabelled, per_class=None)
    assert unusual(check_set(str(pets))) == [
        ("unknown class ids", "1", "wrong", "cow"),
        ("missing classes", "1", "wrong", "dog"),
    ]


def test_arrays_are_checked_too(tmp_path: Path, pixels: Callable[..., np.ndarray]) -> None:
    images = np.stack([pixels(0), pixels(1), pixels(1), pixels(2)])
    np.savez(tmp_path / "pets.npz", images=images, labels=np.array([0, 0, 1, 1]))
    checked = check_set(str(tmp_path / "pets.npz"), as_="arrays", thorough=True)
    assert unusual(checked) == [("same bytes, two classes", "1", "wrong", "1 = 2")]
    assert checked.verdict == f"{tmp_path / 'pets.npz'}: same bytes, two classes"


def test_a_second_check_reads_no_file_again(
    pets: Path, reads: list[str], settle: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    settle()
    first = check_set(str(pets), thorough=True)
    opened: list[str] = []
    monkeypatch.setattr("oodometer.data.addresses.open_binary", lambda address: opened.append(address))
    reads.clear()
    assert check_set(str(pets), thorough=True) == first
    assert (reads, opened) == ([], [])


def test_progress_names_each_stage(pets: Path, encode: Encode) -> None:
    fill(pets.parent / "pets", encode, first=10)
    seen: list[tuple[str, int, int]] = []

    def stage(what: str) -> Progress:
        return lambda done, total: seen.append((what, done, total))

    check_set(str(pets), thorough=True, progress=stage)
    assert seen == [
        ("files read", 4, 4),
        ("images decoded", 4, 4),
        ("headers read", 4, 4),
        ("files read", 4, 4),
        ("images decoded", 4, 4),
    ]


def test_json_has_everything(pets: Path) -> None:
    (pets / "dog" / "1.png").write_bytes(b"")
    told = check_set(str(pets)).as_json()
    assert (told["set"], told["place"], told["verdict"], told["thorough"]) == ("pets-a", str(pets), "wrong", False)
    (bad,) = [row for row in told["checks"] if row["verdict"] == "wrong"]
    assert bad == {
        "check": "unreadable images",
        "expected": "none",
        "found": "1",
        "verdict": "wrong",
        "examples": ["dog/1.png: the file is empty"],
    }
    assert "difference hashes" in told["methods"]["near-identical"]
