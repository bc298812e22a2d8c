"""In CI a skip without a declared reason fails: in a test, in a fixture, by a mark, and of a whole file."""

from __future__ import annotations

from pathlib import Path

import pytest

from declared_skips import ALLOWED, is_declared

pytest_plugins = "pytester"

SUPPORT = Path(__file__).parent / "support"
CONFTEST = f"""
import sys
sys.path.insert(0, {str(SUPPORT)!r})
from declared_skips import pytest_make_collect_report, pytest_runtest_makereport
"""
TESTS = """
import pytest

@pytest.fixture
def tool():
    pytest.skip("the tool is not here")

def test_in_a_test():
    pytest.skip("I don't feel like it")

def test_in_a_fixture(tool):
    pass

@pytest.mark.skipif(True, reason="not today")
def test_by_a_mark():
    pass

def test_declared():
    pytest.skip("needs moto")

@pytest.mark.xfail(reason="known", strict=True)
def test_expected_to_fail():
    assert False

def test_that_runs():
    pass
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project of its own with the hook and tests that skip in every way."""
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(test_tests=TESTS, test_file="import pytest\npytest.importorskip('no_such_module')")
    return pytester


def test_in_ci_a_skip_needs_a_declared_reason(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    result = project.runpytest_subprocess("test_tests.py", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, skipped=1, xfailed=1, failed=1, errors=2)
    for reason in ("I don't feel like it", "the tool is not here", "not today"):
        result.stdout.fnmatch_lines([f"*skipped in CI: *{reason}*; run it here, or declare the reason in *"])


def test_in_ci_a_whole_file_needs_it_too(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    result = project.runpytest_subprocess("test_file.py", "-p", "no:cacheprovider")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*skipped in CI: *could not import 'no_such_module'*"])
    assert result.ret != 0


def test_workers_say_so_too(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xdist")
    monkeypatch.setenv("CI", "true")
    result = project.runpytest_subprocess("test_tests.py", "-p", "no:cacheprovider", "-n", "1")
    result.assert_outcomes(passed=1, skipped=1, xfailed=1, failed=1, errors=2)


def test_elsewhere_a_skip_is_a_skip(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    result = project.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, skipped=5, xfailed=1)


def test_what_is_not_beside_the_project_may_be_missing_only_as_a_whole(tmp_path: Path) -> None:
    reason = "../shared/testbed is not here"
    assert is_declared(reason, tmp_path / "shared")
    (tmp_path / "shared").mkdir()
    assert not is_declared(reason, tmp_path / "shared")
    assert is_declared("needs s3fs", tmp_path / "shared")


def test_a_reason_is_declared_whole() -> None:
    assert not is_declared("needs moto and patience")
    assert not any(pattern.startswith(".*") for pattern in ALLOWED)
