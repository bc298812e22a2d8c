import os
from pathlib import Path

import numpy as np
import pytest

from oodometer.core.digests import content_digest
from oodometer.data import scan, source
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


def test_the_second_scan_reads_nothing(folder, reads):
    first = load_data(str(folder)).scan()
    reads.clear()
    seen = []
    assert load_data(str(folder)).scan(lambda done, total: seen.append((done, total))) == first
    assert reads == []
    assert seen == [(5, 5)]


@pytest.mark.parametrize("change", ["content", "time"])
def test_a_changed_file_is_read_again(folder, reads, encode, change):
    before = load_data(str(folder)).digest
    reads.clear()
    file = folder / "0" / "3.png"
    if change == "content":
        file.write_bytes(encode(77))
    os.utime(file, ns=(1, 1))
    assert (load_data(str(folder)).digest == before) == (change == "time")
    assert len(reads) == 5


def test_broken_files_are_remembered(folder, reads):
    (folder / "0" / "3.png").write_bytes(b"nothing")
    first = load_data(str(folder)).scan()
    assert list(first.broken) == [3]
    reads.clear()
    assert load_data(str(folder)).scan() == first
    assert reads == []


def test_a_failed_read_is_not_remembered(folder, scan_cache):
    data = load_data(str(folder))
    (folder / "0" / "3.png").rename(folder / "away")
    assert list(data.scan().broken) == [3]
    assert not scan_cache.exists()


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
    np.savez(kept, contents=np.zeros((5, 16), np.uint8), positions=np.array([0]), problems=np.array([{}], dtype=object))
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
