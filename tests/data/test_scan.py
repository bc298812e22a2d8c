import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from oodometer.core.digests import content_digest
from oodometer.core.errors import DataError
from oodometer.data import addresses, scan, source
from oodometer.data.load import load_data


@pytest.fixture
def folder(tmp_path, encode, put):
    for seed in range(5):
        put(str(tmp_path / "set" / "0" / f"{seed}.png"), encode(seed))
    return tmp_path / "set"


@pytest.fixture
def decodes(monkeypatch):
    """How many images the scan decoded."""
    seen = []
    real = scan.decode
    monkeypatch.setattr(scan, "decode", lambda content: seen.append(len(content)) or real(content))
    return seen


def test_digests_are_those_of_the_files(folder):
    found = load_data(str(folder)).scan()
    assert found.contents == tuple(content_digest(file.read_bytes()) for file in sorted(folder.glob("*/*")))
    assert found.broken == {}


def test_broken_files_are_found_and_named(folder, encode, decodes):
    whole = encode(9, "JPEG")
    (folder / "0" / "a.jpg").write_bytes(whole)
    (folder / "0" / "b.jpg").write_bytes(whole[:-40])
    (folder / "0" / "c.png").write_bytes(encode(1)[:-1])
    (folder / "0" / "d.webp").write_bytes(encode(1, "WEBP")[:-5])
    (folder / "0" / "e.png").write_bytes(b"<html>404</html>")
    (folder / "0" / "f.png").write_bytes(b"")
    (folder / "0" / "g.gif").write_bytes(encode(1, "GIF"))
    data = load_data(str(folder))
    broken = data.scan().broken
    assert {data.ids[place] for place in broken} == {"0/b", "0/d", "0/e", "0/f"}
    assert all(f"{data.ids[place].partition('/')[2]}." in text for place, text in broken.items())
    assert len(decodes) == 6  # all but the whole JPEG and PNG files; Pillow forgives c its last byte


def test_whole_files_are_not_decoded(folder, encode, decodes):
    (folder / "0" / "a.jpg").write_bytes(encode(1, "JPEG"))
    (folder / "0" / "b.webp").write_bytes(encode(1, "WEBP"))
    load_data(str(folder)).scan()
    assert decodes == []


def test_what_quick_and_full_check_say_of_photographs(imagenet_sample):
    for path in sorted(imagenet_sample.glob("*/*.jpg"))[::100]:
        content = path.read_bytes()
        assert scan.looks_whole(content)
        assert scan.problem_of(content[: len(content) // 2]) is not None


def test_the_second_scan_reads_nothing(folder, reads, settle):
    settle()
    first = load_data(str(folder)).scan()
    reads.clear()
    seen = []
    assert load_data(str(folder)).scan(lambda done, total: seen.append((done, total))) == first
    assert reads == []
    assert seen == [(5, 5)]


@pytest.mark.parametrize("change", ["content", "time"])
def test_only_a_changed_file_is_read_again(folder, reads, encode, settle, change):
    settle()
    before = load_data(str(folder)).digest
    reads.clear()
    file = folder / "0" / "3.png"
    if change == "content":
        file.write_bytes(encode(77))
    os.utime(file, ns=(1, 1))
    seen = []
    changed = load_data(str(folder))
    changed.scan(lambda done, total: seen.append((done, total)))
    assert (changed.digest == before) == (change == "time")
    assert (reads, seen) == ([str(file)], [(5, 5)])


def same_length(content):
    """Another content of the same length: one bit within the pixels differs."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize("how", ["written over", "put in its place"])
def test_a_change_that_keeps_size_and_time_is_noticed(tmp_path, encode, put, settle, how):
    """As programs do that restore the time of a file (rsync --times, exiftool -P)."""
    for seed in range(3):
        put(str(tmp_path / "set" / "0" / f"{seed}.bmp"), encode(seed, "BMP"))
    settle()
    load_data(str(tmp_path / "set")).scan()
    file = tmp_path / "set" / "0" / "1.bmp"
    before = file.stat()
    changed = same_length(file.read_bytes())
    if how == "written over":
        file.write_bytes(changed)
    else:
        put(str(tmp_path / "new.bmp"), changed)
        (tmp_path / "new.bmp").replace(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = file.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert load_data(str(tmp_path / "set")).scan().contents[1] == content_digest(changed)


def test_a_change_within_the_grain_of_the_clock_is_noticed(tmp_path, encode, put, monkeypatch):
    """All times of the files are the same second, as where a file system keeps no fractions."""
    for seed in range(3):
        put(str(tmp_path / "set" / "0" / f"{seed}.bmp"), encode(seed, "BMP"))
    second = 1_700_000_000
    monkeypatch.setattr(addresses, "_version_of_stat", in_whole_seconds(second * 10**9))
    monkeypatch.setattr(addresses.time, "time_ns", lambda: second * 10**9 + 300_000_000)
    load_data(str(tmp_path / "set")).scan()
    file = tmp_path / "set" / "0" / "1.bmp"
    file.write_bytes(same_length(file.read_bytes()))
    monkeypatch.setattr(addresses.time, "time_ns", lambda: (second + 100) * 10**9)
    assert load_data(str(tmp_path / "set")).scan().contents[1] == content_digest(file.read_bytes())


def in_whole_seconds(changed_ns):
    real = addresses._version_of_stat

    def version(status, asked_ns):
        times = SimpleNamespace(st_size=status.st_size, st_ino=7, st_mtime_ns=changed_ns, st_ctime_ns=changed_ns)
        return real(times, asked_ns)

    return version


def test_who_wants_to_be_sure_reads_everything(folder, reads, encode, settle):
    settle()
    load_data(str(folder)).scan()
    reads.clear()
    with scan.rehashing():
        found = load_data(str(folder)).scan()
        assert len(reads) == 5
    assert found == load_data(str(folder)).scan()
    assert len(reads) == 5


def test_what_is_read_to_be_sure_is_kept(folder, scan_cache, settle):
    settle()
    right = load_data(str(folder)).scan()
    (kept,) = scan_cache.glob("scans/*.npz")
    with np.load(kept) as arrays:
        versions, contents = arrays["versions"], np.zeros_like(arrays["contents"])
    np.savez(kept, versions=versions, contents=contents)
    assert load_data(str(folder)).scan() != right
    with scan.rehashing():
        assert load_data(str(folder)).scan() == right
    assert load_data(str(folder)).scan() == right


def test_broken_files_are_looked_at_each_time_and_the_others_are_not(folder, reads, settle):
    (folder / "0" / "3.png").write_bytes(b"nothing")
    settle()
    first = load_data(str(folder)).scan()
    assert list(first.broken) == [3]
    reads.clear()
    assert load_data(str(folder)).scan() == first
    assert reads == [str(folder / "0" / "3.png")]


@pytest.mark.parametrize("kind", ["PNG", "npy"])
def test_what_could_not_be_read_once_is_tried_again(tmp_path, folder, monkeypatch, settle, pixels, kind):
    """An error of the disk or the network passes, and the file is the same as ever."""
    address = str(folder)
    if kind == "npy":
        address = str(tmp_path / "rows.npy")
        np.save(address, np.stack([pixels(seed) for seed in range(5)]))
    settle()
    real, fails = {name: getattr(addresses, name) for name in ("read_bytes", "read_range")}, [True]

    def flaky(name):
        def read(path, *args):
            if fails and (path.endswith("3.png") or args[:1] == (128 + 3 * 12 * 16 * 3,)):
                raise DataError(f"{path}: can't be read (Input/output error)")
            return real[name](path, *args)

        return read

    for name in real:
        monkeypatch.setattr(addresses, name, flaky(name))
    assert list(load_data(address).scan().broken) == [3]
    assert list(load_data(address).scan().broken) == [3]
    fails.clear()
    mended = load_data(address).scan()
    assert mended.broken == {}
    with scan.rehashing():
        assert load_data(address).scan() == mended


def test_a_missing_file_does_not_make_the_others_be_read_again(folder, reads, put, settle):
    rows = "".join(f"{folder}/0/{number}.png,{number % 2}\n" for number in range(5))
    put(str(folder.parent / "list.csv"), f"path,label\n{rows}".encode())
    (folder / "0" / "3.png").rename(folder / "away")
    settle()
    assert list(load_data(str(folder.parent / "list.csv")).scan().broken) == [3]
    reads.clear()
    assert list(load_data(str(folder.parent / "list.csv")).scan().broken) == [3]
    assert [path for path in reads if path.endswith(".png")] == [str(folder / "0" / "3.png")]


def test_a_damaged_cache_is_done_without(folder, scan_cache):
    first = load_data(str(folder)).scan()
    (kept,) = scan_cache.glob("scans/*.npz")
    whole = kept.read_bytes()
    for content in (b"", b"PK", whole[:100], whole[: len(whole) // 2], b"\x80\x04K\x01."):
        kept.write_bytes(content)
        assert load_data(str(folder)).scan() == first
    np.save(kept.with_suffix(".npy"), np.arange(3))
    kept.with_suffix(".npy").replace(kept)
    assert load_data(str(folder)).scan() == first
    np.savez(kept, contents=np.zeros((5, 16), np.uint8), versions=np.array([{}] * 5, dtype=object))
    assert load_data(str(folder)).scan() == first
    np.savez(kept, contents=np.zeros((4, 16), np.uint8), versions=np.zeros((4, 16), np.uint8))
    assert load_data(str(folder)).scan() == first


def test_a_cache_that_cant_be_written_is_done_without(folder, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("OODOMETER_CACHE", str(tmp_path / "file"))
    assert len(load_data(str(folder)).scan().contents) == 5


def test_nothing_is_left_beside_the_cache(folder, scan_cache):
    load_data(str(folder)).scan()
    assert [file.suffix for file in (scan_cache / "scans").iterdir()] == [".npz"]


def test_one_image_alone_is_not_kept(folder, scan_cache):
    data = load_data(str(folder))
    assert data.take(np.array([3])).scan().contents == data.scan().contents[3:4]
    assert len(list(scan_cache.glob("scans/*.npz"))) == 1  # that of all


def test_progress_ends_at_the_total(tmp_path, encode, put):
    content = encode()
    for number in range(150):
        put(str(tmp_path / "many" / "0" / f"{number}.png"), content)
    seen = []
    load_data(str(tmp_path / "many")).scan(lambda done, total: seen.append((done, total)))
    assert seen == [(64, 150), (128, 150), (150, 150)]


def test_an_interrupted_scan_stops(folder):
    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_data(str(folder)).scan(interrupt)


def test_where_scans_are_kept(monkeypatch):
    monkeypatch.setenv("OODOMETER_CACHE", "/somewhere")
    assert scan.cache_folder() == str(Path("/somewhere/scans"))
    monkeypatch.delenv("OODOMETER_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert scan.cache_folder() == str(Path("/cache/oodometer/scans"))
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert scan.cache_folder() == str(Path.home() / ".cache" / "oodometer" / "scans")


def test_an_unknown_version_is_never_cached(tmp_path, encode, scan_cache):
    class Versionless:
        def read(self, index):
            return encode(index)

        def name(self, index):
            return str(index)

        def version(self, index):
            return None

    found = source.EncodedSource(Versionless()).scan(np.arange(3), lambda done, total: None)
    assert len(set(found.contents)) == 3
    assert not scan_cache.exists()


def test_a_subset_is_scanned_alone(folder):
    data = load_data(str(folder))
    assert data.take(np.array([3, 1])).scan().contents == tuple(data.scan().contents[place] for place in (3, 1))
