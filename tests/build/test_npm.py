"""Fetching: once, checked, and one line for everything that goes wrong."""

from __future__ import annotations

import hashlib
import os
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from oodometer.build.npm import fetch, read_members


def cached(tmp_path: Path) -> list[str]:
    folder = tmp_path / "cache" / "packages"
    return sorted(os.listdir(folder)) if folder.exists() else []


def test_a_package_is_fetched_once(tmp_path: Path, registry: Any) -> None:
    package = registry.put("@scope/tiny", {"icons.json": {"a": 1}})
    first = fetch(package)
    assert cached(tmp_path) == ["scope-tiny-1.0.0.tgz"]
    assert fetch(package) == first == fetch(package, offline=True)
    assert registry.asked() == ["@scope/tiny@1.0.0"]
    assert read_members(package, first, lambda path: path == "icons.json") == {"icons.json": b'{"a": 1}'}


def test_a_damaged_copy_is_fetched_again(registry: Any) -> None:
    package = registry.put("tiny", {})
    place = fetch(package)
    whole = place.read_bytes()
    place.write_bytes(whole[:-1])
    assert fetch(package).read_bytes() == whole
    assert len(registry.asked()) == 2


def test_without_the_network(tmp_path: Path, registry: Any, error_of: Callable[..., str]) -> None:
    package = replace(registry.put("tiny", {}), version="2.0.0")
    message = error_of(lambda: fetch(package))
    assert message == (
        "tiny@2.0.0: npm did not bring it (npm error code ENOTFOUND); check the network, or use --offline"
    )
    assert cached(tmp_path) == []


def test_offline_and_not_in_the_cache(registry: Any, error_of: Callable[..., str]) -> None:
    package = registry.put("tiny", {})
    message = error_of(lambda: fetch(package, offline=True))
    assert message.startswith("tiny@1.0.0: not in the cache (")
    assert message.endswith("); run once without --offline to fetch it")
    assert registry.asked() == []


def test_without_npm(
    tmp_path: Path, registry: Any, monkeypatch: pytest.MonkeyPatch, error_of: Callable[..., str]
) -> None:
    package = registry.put("tiny", {})
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert error_of(lambda: fetch(package)) == (
        "tiny@1.0.0: npm is not installed, and it fetches the packages; install Node.js first"
    )


def test_another_digest_is_never_used(tmp_path: Path, registry: Any, error_of: Callable[..., str]) -> None:
    package = replace(registry.put("tiny", {}), integrity="sha512-AAAA")
    assert "what npm brought has not the pinned digest" in error_of(lambda: fetch(package))
    assert cached(tmp_path) == []


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b\x08\0cut"])
def test_a_broken_package(registry: Any, error_of: Callable[..., str], content: bytes) -> None:
    package = registry.put_bytes("tiny", content)
    place = fetch(package)
    assert "tiny@1.0.0: a broken package (" in error_of(lambda: read_members(package, place, lambda path: True))
    assert not place.exists(), "so that it is fetched again"


def test_only_plain_files_are_read(tmp_path: Path, registry: Any) -> None:
    place = tmp_path / "odd.tgz"
    with tarfile.open(place, "w:gz") as tar:
        link = tarfile.TarInfo("package/icons.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    package = registry.put("tiny", {})
    assert read_members(package, place, lambda path: True) == {}


def test_the_digest_is_as_npm_writes_it(registry: Any) -> None:
    package = registry.put_bytes("tiny", b"abc")
    # FIPS 180-2, appendix C.1: the digest of "abc" begins so.
    assert hashlib.sha512(b"abc").hexdigest().startswith("ddaf35a193617aba")
    assert package.integrity.startswith("sha512-3a81oZNherrMQXNJriBBMRLm")
    fetch(package)
