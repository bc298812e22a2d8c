"""Names for things: built in, registered, or brought by an installed package."""

from __future__ import annotations

import importlib
import math
import sys
from pathlib import Path

import pytest

from oodometer.core.errors import OodometerError, UsageError, did_you_mean
from oodometer.core.registry import Registry

GROUP = "oodometer_test.shapes"


@pytest.fixture
def shapes() -> Registry:
    return Registry("shape", {"sqrt": "math:sqrt", "hypot": "math:hypot"}, group=GROUP)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A real distribution as pip would lay it out: a module and its dist-info, on the path."""
    (tmp_path / "oodometer_test_plugin.py").write_text("def cube(x):\n    return x**3\n")
    info = tmp_path / "oodometer_test_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: oodometer-test-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[{GROUP}]\ncube = oodometer_test_plugin:cube\nsqrt = oodometer_test_plugin:cube\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield tmp_path
    sys.modules.pop("oodometer_test_plugin", None)


def test_builtin_entries_are_imported_when_asked_for(shapes):
    lazy = Registry("shape", {"broken": "no_such_module_anywhere:thing"}, group=GROUP)
    assert lazy.names() == ["broken"]
    assert shapes.get("sqrt") is math.sqrt


def test_an_unknown_name_is_answered_with_the_nearest(shapes):
    with pytest.raises(UsageError) as caught:
        shapes.get("hypo")
    assert str(caught.value) == "no shape named 'hypo'; did you mean hypot?"
    with pytest.raises(UsageError) as caught:
        shapes.get("zzz")
    assert str(caught.value) == "no shape named 'zzz'; known: hypot, sqrt"


def test_an_unknown_name_stays_unknown(shapes):
    for _ in range(2):
        with pytest.raises(UsageError):
            shapes.get("zzz")
    assert shapes.names() == ["hypot", "sqrt"]


def test_a_registered_function_is_found_and_left_as_it_was(shapes):
    @shapes.register("double")
    def double(x):
        return 2 * x

    assert shapes.get("double") is double
    assert double(4) == 8
    assert shapes.names() == ["double", "hypot", "sqrt"]


def test_a_name_can_be_given_once(shapes):
    shapes.register("double")(math.cos)
    shapes.register("double")(math.cos)  # the same again: a module that is imported twice
    for name in ("double", "sqrt"):
        with pytest.raises(UsageError) as caught:
            shapes.register(name)(math.sin)
        assert str(caught.value) == f"there is a shape named {name!r} already; choose another name"
    assert shapes.get("double") is math.cos
    assert shapes.get("sqrt") is math.sqrt


@pytest.mark.usefixtures("installed")
def test_an_installed_package_adds_names(shapes):
    assert shapes.names() == ["cube", "hypot", "sqrt"]
    assert "oodometer_test_plugin" not in sys.modules  # listing imports nothing
    assert shapes.get("cube")(3) == 27
    assert "oodometer_test_plugin" in sys.modules


@pytest.mark.usefixtures("installed")
def test_an_installed_package_does_not_replace_what_is_built_in(shapes):
    assert shapes.get("sqrt") is math.sqrt


@pytest.mark.usefixtures("installed")
def test_installed_names_are_suggested(shapes):
    with pytest.raises(UsageError, match=r"did you mean cube\?$"):
        shapes.get("cub")


def test_other_groups_are_other_peoples(installed, shapes):
    other = Registry("colour", {}, group="oodometer_test.colours")
    assert other.names() == []
    with pytest.raises(UsageError) as caught:
        other.get("cube")
    assert str(caught.value) == "no colour named 'cube'"


def test_a_long_list_of_names_is_not_poured_out():
    assert did_you_mean("zzz", [f"c{index}" for index in range(1000)]) == ""
    assert did_you_mean("cc7", [f"c{index}" for index in range(50)]) == "; did you mean c7?"


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("modela", ["modelB", "modelA"], "; did you mean modelA?"),
        ("accuracy", ["aurc", "top-1"], "; known: aurc, top-1"),
        ("smith2021", ["smith2019"], "; known: smith2019"),
        ("smith2020", ["smith2019"], "; did you mean smith2019?"),
        ("resnet5", ["resnet50", "vit"], "; did you mean resnet50?"),
        ("imagenetv2", ["imagenet-r", "imagenetv2-a", "imagenetv2-b"], "; did you mean imagenetv2-a or imagenetv2-b?"),
    ],
)
def test_a_hint_is_what_was_probably_meant_and_nothing_else(name, known, hint):
    assert did_you_mean(name, known) == hint
    assert did_you_mean("zzz", []) == ""


def test_a_plugin_that_can_not_be_loaded_is_named(shapes, installed):
    (installed / "oodometer_test_plugin.py").write_text("import no_such_module_anywhere\n")
    with pytest.raises(
        OodometerError, match=r"shape 'cube' of an installed package can't be loaded from .*no_such_module"
    ):
        shapes.get("cube")
