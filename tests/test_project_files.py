"""What the files around the code say about it is one thing: the version, the Pythons, the address."""

from __future__ import annotations

import fnmatch
import re
import tomllib
from pathlib import Path

import pytest

import oodometer

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def pythons() -> list[str]:
    """The versions of Python in the classifiers, oldest first."""
    minors = re.findall(r"Python :: 3\.(\d+)", " ".join(PROJECT["classifiers"]))
    return [f"3.{minor}" for minor in sorted(map(int, minors))]


def cited(key: str) -> str:
    """The value of a key of CITATION.cff, on one line."""
    (value,) = re.findall(rf"^{key}: (.+)$", text_of("CITATION.cff"), re.MULTILINE)
    return value


def test_one_version() -> None:
    assert PROJECT["version"] == oodometer.__version__ == cited("version")
    assert re.search(rf"^## {re.escape(oodometer.__version__)} ", text_of("CHANGELOG.md"), re.MULTILINE)


def test_one_licence_and_one_address() -> None:
    assert PROJECT["license"] == cited("license")
    assert PROJECT["urls"]["Repository"] == cited("repository-code")
    assert f"{PROJECT['urls']['Repository']}/security/advisories" in text_of("SECURITY.md")


def test_ci_tries_the_pythons_that_are_promised() -> None:
    (matrix,) = re.findall(r"^ +python: \[(.+)\]$", text_of(".github/workflows/ci.yml"), re.MULTILINE)
    assert re.findall(r"[\d.]+", matrix) == pythons()
    assert PROJECT["requires-python"] == f">={pythons()[0]}"
    assert f"Python ({pythons()[0]} to {pythons()[-1]})" in text_of("README.md")


def test_no_folder_of_tests_or_examples_is_passed_over(pytestconfig: pytest.Config) -> None:
    patterns = pytestconfig.getini("norecursedirs")
    folders = {folder for part in ("tests", "src") for folder in (ROOT / part).rglob("*") if folder.is_dir()}
    passed_over = {folder for folder in folders for pattern in patterns if fnmatch.fnmatch(folder.name, pattern)}
    passed_over = {folder for folder in passed_over if not folder.name.startswith(".")}
    assert not passed_over, "pytest would never look there"
