"""What is decoded is what was scanned, in every kind of data."""

import io
import pickle
import tarfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oodometer.core.dataset import Scan
from oodometer.core.digests import content_digest
from oodometer.core.errors import DataError
from oodometer.core.preprocessing import Geometry
from oodometer.data.load import load_data
from oodometer.data.scan import rehashing
from oodometer.data.source import ChangedError, Scanned


def write_folder(place, pictures, encode):
    for number, picture in enumerate(pictures):
        file = Path(place) / "set" / "0" / f"{number}.bmp"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encode(picture, "BMP"))
    return str(Path(place) / "set")


def write_manifest(place, pictures, encode):
    folder = write_folder(place, pictures, encode)
    rows = "".join(f"set/0/{number}.bmp,0\n" for number in range(len(pictures)))
    (Path(place) / "list.csv").write_text(f"path,label\n{rows}")
    assert folder
    return str(Path(place) / "list.csv")


def write_npy(place, pictures, encode):
    np.save(Path(place) / "rows.npy", np.stack(pictures))
    return str(Path(place) / "rows.npy")


def write_npz(place, pictures, encode):
    np.savez(Path(place) / "rows.npz", images=np.stack(pictures))
    return str(Path(place) / "rows.npz")


def write_tar(place, pictures, encode):
    with tarfile.open(Path(place) / "set.tar", "w") as archive:
        for number, picture in enumerate(pictures):
            content = encode(picture, "PNG", compress_level=0)
            info = tarfile.TarInfo(f"{number}.png")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return str(Path(place) / "set.tar")


def write_parquet(place, pictures, encode):
    pq.write_table(pa.table({"image": [encode(one, "BMP") for one in pictures]}), Path(place) / "set.parquet")
    return str(Path(place) / "set.parquet")


@pytest.fixture(params=[write_folder, write_manifest, write_npy, write_npz, write_tar, write_parquet])
def write(request):
    return request.param


def test_an_image_that_changed_since_the_scan_is_an_error_and_the_next_scan_is_right(tmp_path, write, pixels, encode):
    pictures = [pixels(seed) for seed in range(3)]
    address = write(tmp_path, pictures, encode)
    data = load_data(address)
    before = data.scan()
    data = pickle.loads(pickle.dumps(data))  # as on another machine; it has nothing of the images in memory
    write(tmp_path, [pictures[0], pixels(7), pictures[2]], encode)
    np.testing.assert_array_equal(data.image(0), pictures[0])
    for view in (None, Geometry(4, 4)):
        with pytest.raises(ChangedError, match=r"^[^\n]*: has changed since it was scanned; run again$"):
            data.views(1, [view])
    again = load_data(address)
    assert [one == other for one, other in zip(again.scan().contents, before.contents, strict=True)] == [1, 0, 1]
    np.testing.assert_array_equal(again.image(1), pixels(7))


def test_an_image_that_was_not_scanned_is_not_compared(tmp_path, write, pixels, encode):
    pictures = [pixels(seed) for seed in range(3)]
    data = load_data(write(tmp_path, pictures, encode))
    data.take(np.array([0])).scan()
    data = pickle.loads(pickle.dumps(data))
    write(tmp_path, [pictures[0], pixels(7), pictures[2]], encode)
    np.testing.assert_array_equal(data.image(1), pixels(7))


def test_what_a_wrong_scan_said_is_not_trusted_by_the_next_run(tmp_path, pixels, encode, settle, scan_cache):
    """Times that lie (of another machine's clock, say) must not make 'run again' fail for ever."""
    address = write_folder(tmp_path, [pixels(seed) for seed in range(3)], encode)
    settle()
    right = load_data(address).scan()
    (kept,) = scan_cache.glob("scans/*.npz")
    with np.load(kept) as arrays:
        np.savez(kept, versions=arrays["versions"], contents=np.ones_like(arrays["contents"]))
    wrong = load_data(address)
    assert wrong.scan() != right
    with pytest.raises(ChangedError):
        wrong.image(1)
    assert load_data(address).scan() == right


def test_an_image_that_two_scans_found_otherwise_is_right_for_neither(tmp_path, pixels, encode):
    first = load_data(write_folder(tmp_path, [pixels(0), pixels(1)], encode))
    second = first.take(np.array([1, 0]))
    first.scan()
    write_folder(tmp_path, [pixels(0), pixels(7)], encode)
    with rehashing():
        second.scan()
    for position, data in ((1, first), (0, second)):
        with pytest.raises(ChangedError):
            data.image(position)
    np.testing.assert_array_equal(first.image(0), pixels(0))


def test_an_image_that_was_broken_and_is_mended_is_left_out_of_this_run(tmp_path, pixels, encode):
    address = write_folder(tmp_path, [pixels(0), pixels(1)], encode)
    file = Path(address) / "0" / "1.bmp"
    whole = file.read_bytes()
    file.write_bytes(whole[:50])
    data = load_data(address)
    assert list(data.scan().broken) == [1]
    file.write_bytes(whole)
    with pytest.raises(DataError, match="could not be read when it was scanned; run again") as caught:
        data.image(1)
    assert not isinstance(caught.value, ChangedError)  # --skip-broken leaves it out
    np.testing.assert_array_equal(load_data(address).image(1), pixels(1))


def test_rows_may_be_scanned_in_any_order_and_number():
    class Images:
        def name(self, index):
            return f"row {index}"

        def version(self, index):
            return None

    scanned = Scanned()
    digests = [content_digest(bytes([number])) for number in range(10)]
    for rows in ([7, 2], [], [9, 2, 0]):
        scanned.remember(np.array(rows, dtype=np.int64), Scan(tuple(digests[row] for row in rows), {}))
    assert [scanned.is_known(row) for row in range(12)] == [row in (0, 2, 7, 9) for row in range(12)]
    for row in (0, 2, 7, 9):
        scanned.check(row, digests[row], Images())
        with pytest.raises(ChangedError, match=f"^row {row}: has changed"):
            scanned.check(row, digests[3], Images())
