import os
from types import SimpleNamespace

import pytest

from oodometer.core.errors import DataError
from oodometer.data import addresses


def test_bytes_ranges_and_versions_anywhere(root, put, settle):
    file = put(f"{root}/a/b.bin", b"0123456789")
    assert addresses.read_bytes(file) == b"0123456789"
    assert addresses.read_range(file, 3, 4) == b"3456"
    assert addresses.read_range(file, 3, 0) == b""
    with addresses.open_binary(file) as opened:
        opened.seek(8)
        assert opened.read() == b"89"
    settle()
    before = addresses.version_of(file)
    assert before == addresses.version_of(file)
    put(file, b"other size")
    put(file, b"other size now")
    assert addresses.version_of(file) != before


def test_the_version_of_what_changed_just_now_never_comes_again(root, put):
    file = put(f"{root}/a.bin", b"0123456789")
    assert addresses.version_of(file) != addresses.version_of(file)


@pytest.mark.parametrize(
    ("changed_ns", "asked_ns", "settled"),
    [
        (5_000_000_001, 5_060_000_000, True),
        (5_000_000_001, 5_040_000_000, False),
        (5_000_000_000, 6_900_000_000, False),  # a file system that keeps whole seconds
        (4_000_000_000, 6_000_000_001, True),
        (9_000_000_001, 5_000_000_000, False),  # in the future: a clock was wrong
    ],
)
def test_when_a_time_of_change_tells(changed_ns, asked_ns, settled):
    for times in ({"st_mtime_ns": changed_ns, "st_ctime_ns": 1}, {"st_mtime_ns": 1, "st_ctime_ns": changed_ns}):
        version = addresses._version_of_stat(SimpleNamespace(st_size=1, st_ino=2, **times), asked_ns)
        assert ("seen at" not in version) == settled


def test_a_range_beyond_the_end_is_an_error(root, put, error_of):
    file = put(f"{root}/short.bin", b"0123")
    assert "cut short" in error_of(lambda: addresses.read_range(file, 2, 10))


def test_files_are_listed_in_order_without_hidden_ones(root, put):
    for path in ("b/2.png", "b/10.png", "a/x/y.png", ".hidden", "a/.DS_Store", ".git/config", "top.txt"):
        put(f"{root}/{path}", b"x")
    assert [file.path for file in addresses.list_files(root)] == ["a/x/y.png", "b/10.png", "b/2.png", "top.txt"]
    assert all(file.version for file in addresses.list_files(root))
    assert addresses.list_folders(root) == ["a", "b"]


def test_a_link_is_followed_and_a_circle_ends(tmp_path, put):
    put(str(tmp_path / "far" / "a.png"), b"x")
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "link").symlink_to(tmp_path / "far")
    (tmp_path / "far" / "back").symlink_to(tmp_path / "near")
    assert "link/a.png" in [file.path for file in addresses.list_files(str(tmp_path / "near"))]


@pytest.mark.parametrize("work", ["read_bytes", "open_binary", "version_of", "list_files", "list_folders"])
def test_a_missing_path_is_one_line(tmp_path, error_of, work):
    missing = str(tmp_path / "nowhere")
    assert error_of(lambda: getattr(addresses, work)(missing)) == f"{missing}: no such file or folder; check the path"


def test_a_missing_remote_file_is_one_line(error_of):
    assert "memory://none/such" in error_of(lambda: addresses.read_bytes("memory://none/such"))
    assert "never" in error_of(lambda: addresses.exists("never://heard/of"))


def test_patterns(root, put):
    for number in range(3):
        put(f"{root}/val-{number:02d}.tar", b"x")
    names = ["val-00.tar", "val-01.tar", "val-02.tar"]
    assert [addresses.base_name(one) for one in addresses.expand(f"{root}/val-*.tar")] == names
    assert addresses.expand(f"{root}/val-{{00..02}}.tar") == [f"{root}/{name}" for name in names]
    assert all(addresses.exists(one) for one in addresses.expand(f"{root}/val-*.tar"))


def test_an_existing_file_is_no_pattern(tmp_path, put):
    odd = put(str(tmp_path / "val[1].tar"), b"x")
    assert addresses.expand(odd) == [odd]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_no_permission_is_one_line(tmp_path, put):
    file = put(str(tmp_path / "locked"), b"x")
    os.chmod(file, 0)
    with pytest.raises(DataError, match="Permission denied"):
        addresses.read_bytes(file)


def test_an_archive_that_is_not_there_or_is_none_is_an_error_of_one_line(tmp_path, error_of):
    address = f"zip://val::{tmp_path}/nowhere.zip"
    assert error_of(lambda: addresses.exists(address)) == f"{address}: no such file or folder; check the path"
    (tmp_path / "text.zip").write_text("no archive")
    address = f"zip://val::{tmp_path}/text.zip"
    assert error_of(lambda: addresses.list_files(address)) == f"{address}: can't be read (File is not a zip file)"
