"""Files whose names hold the digest of their content and place: whatever happens to them is noticed."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oodometer.core.errors import StoreError
from oodometer.store.checked import (
    Checked,
    DamagedError,
    check_of,
    first_good,
    is_whole,
    listed,
    named_for,
    of_stem,
    parse_name,
    put,
    read_checked,
)
from oodometer.store.files import Files

quick = settings(deadline=None, derandomize=True, max_examples=100)
CONTENT = b"what the file holds"


@pytest.fixture
def files(address) -> Files:
    return Files(address)


def test_what_is_put_comes_back_from_under_its_name(files):
    name = put(files, "cells/ab", "rows", "parquet", CONTENT)
    assert name == named_for("cells/ab", "rows", "parquet", CONTENT)
    assert files.names("cells/ab") == [name.name]
    assert read_checked(files, name) == CONTENT
    assert listed(files, "cells/ab") == [name]


def test_the_check_is_blake2b_of_the_place_and_the_content():
    # reference: hashlib on the whole text at once
    whole = hashlib.blake2b(b"cells/ab/rows\0" + CONTENT, digest_size=8).hexdigest()
    assert check_of("cells/ab", "rows", CONTENT) == whole
    assert named_for("cells/ab", "rows", "json", CONTENT).path == f"cells/ab/rows.{whole}.json"
    assert named_for("", "index", "parquet", CONTENT).path.startswith("index.")


def test_the_same_content_at_another_place_has_another_name():
    checks = {check_of(folder, stem, CONTENT) for folder, stem in (("a", "b"), ("a", "c"), ("b", "b"), ("", "a/b"))}
    assert len(checks) == 4


@quick
@given(folder=st.sampled_from(["", "cells/ab"]), stem=st.from_regex(r"[a-z0-9.\-]{1,12}", fullmatch=True))
def test_a_name_says_what_it_was_made_of(folder, stem):
    name = named_for(folder, stem, "json", CONTENT)
    assert parse_name(folder, name.name) == name


@pytest.mark.parametrize(
    "name",
    [
        "rows.parquet",
        "rows.0123.parquet",
        "rows.0123456789ABCDEF.parquet",
        "rows.0123456789abcdef.txt",
        "rows.0123456789abcdef.parquet.tmp",
        ".0123456789abcdef.json",
        ".DS_Store",
        "",
    ],
)
def test_other_files_have_no_such_name(name):
    assert parse_name("", name) is None


@quick
@given(
    place=st.integers(0, len(CONTENT) - 1),
    change=st.sampled_from(["cut", "flip", "zero", "empty", "longer"]),
)
def test_any_change_is_noticed(tmp_path_factory, place, change):
    files = Files(str(tmp_path_factory.mktemp("store")))
    name = put(files, "cells", "rows", "parquet", CONTENT)
    damaged = {
        "cut": CONTENT[:place],
        "flip": CONTENT[:place] + bytes([CONTENT[place] ^ 4]) + CONTENT[place + 1 :],
        "zero": CONTENT[:place] + bytes(len(CONTENT) - place),
        "empty": b"",
        "longer": CONTENT + CONTENT[place:],
    }[change]
    assert is_whole(files, name)
    files.write(name.path, damaged)
    assert not is_whole(files, name)
    with pytest.raises(DamagedError) as caught:
        read_checked(files, name)
    assert str(caught.value) == f"{files.locate(name.path)}: damaged; run again to replace it"
    assert isinstance(caught.value, StoreError)


def test_a_file_under_the_name_of_another_is_damaged(files):
    rows, logits = (put(files, "cells", stem, "parquet", stem.encode()) for stem in ("rows", "logits"))
    files.write(rows.path, b"logits")
    with pytest.raises(DamagedError):
        read_checked(files, rows)
    # The same bytes under the same file name, but in another folder.
    files.write(f"elsewhere/{logits.name}", b"logits")
    with pytest.raises(DamagedError):
        read_checked(files, logits._replace(folder="elsewhere"))


def test_a_file_that_is_not_there_is_not_damaged(files):
    with pytest.raises(FileNotFoundError):
        read_checked(files, Checked("cells", "rows", "0" * 16, "parquet"))
    assert not is_whole(files, Checked("cells", "rows", "0" * 16, "parquet"))


def test_a_large_file_is_looked_at_piece_by_piece(files, monkeypatch):
    monkeypatch.setattr("oodometer.store.files.PIECE", 4)
    name = put(files, "cells", "logits", "parquet", CONTENT)
    assert b"".join(files.pieces(name.path)) == CONTENT
    assert is_whole(files, name)


def test_the_first_file_that_is_whole_counts(files):
    gone, damaged = (Checked("cells", "rows", check * 16, "parquet") for check in "01")
    files.write(damaged.path, b"something")
    good = put(files, "cells", "rows", "parquet", CONTENT)
    also = put(files, "cells", "rows", "parquet", b"of another run, with other last bits")
    assert first_good(files, [gone, damaged, good, also]) == (good, CONTENT)
    assert first_good(files, [gone, damaged]) is None
    assert first_good(files, []) is None
    put(files, "cells", "logits", "parquet", CONTENT)
    assert set(of_stem(listed(files, "cells"), "rows")) == {damaged, good, also}
