"""Every verb of the command line is a function of the library, and the command line holds no logic of its own."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import oodometer as odo
from oodometer.build import testset
from oodometer.cli.main import VERBS
from oodometer.cli.testset import VERBS as TESTSET_VERBS

CLI = Path(odo.__file__).parent / "cli"

TWINS = {
    "build": ("build_cifar10", "build_icons"),
    "compare": ("compare", "compare_effective", "compare_many"),
    "corrupt": ("corrupt", "corrupt_files"),
    "estimate": ("estimate_without_labels", "estimate_from_labels"),
    "figure": ("figure", "figure_list"),
    "import": ("import_table", "import_predictions"),
    "label": ("choose_images_to_label",),
    "quickstart": ("quickstart", "quickstart_photographs"),
    "report": ("report", "report_html"),
    "run": ("run", "run_sampled", "plan_sampling", "results_of"),
    "train": ("training_job", "train"),
}
"""Verb to its functions, where these are not one of the same name."""

TALK = ("main.py", "output.py")
"""Where commands are found, and how they talk: bars and lines; all others parse, call and print."""

MOST_LINES = 30
PRINTING = {"say", "warn", "echo"}
COMPUTING = {"numpy", "csv", "socket", "threading", "concurrent", "re"}
"""Modules that are for doing something, rather than for asking somebody to."""
OPTIONS = "oodometer.stats.bootstrap"
"""Where the options of resampling are."""


TESTSET_TWINS = {
    "add": ("add_images",),
    "choose": ("let_choose", "still_missing", "leave_out_others"),
    "contamination": ("contaminations",),
    "duplicates": ("find_duplicates", "judge_pair"),
    "exclude": ("exclude", "exclusions", "revoke"),
    "export": ("export_for_label_studio", "export_for_mechanical_turk"),
    "filter": ("filter_pool", "undo_filter"),
    "frequencies": ("annotation_report", "write_frequencies"),
    "import": ("import_from_label_studio", "import_from_mechanical_turk"),
    "keywords": ("find_keywords", "write_keywords"),
    "new": ("new_project",),
    "plan": ("make_plan", "plan_rows", "expand"),
    "pool": ("write_pool",),
    "quiz": ("make_quiz", "quiz_results"),
    "release": ("write_release",),
    "revisions": ("revisions", "difference"),
    "sample": ("take_samples", "sample_again"),
    "simulate": ("simulate_answers",),
    "splits": ("halves", "folds"),
    "status": ("counts_by_class",),
    "study": ("study_of", "studied"),
    "tasks": ("make_tasks",),
    "verify": ("verify_release",),
    "workers": ("add_workers", "block_worker", "workers_in"),
}
"""Command of ``oodometer testset`` to its functions in ``oodometer.build.testset``; serving is for people."""


@pytest.mark.parametrize("verb", sorted(set(TESTSET_VERBS) - {"serve"}))
def test_every_command_of_testset_is_a_function(verb: str) -> None:
    for name in TESTSET_TWINS[verb]:
        assert name in testset.__all__
        assert inspect.isfunction(getattr(testset, name))


def test_every_name_of_testset_is_there() -> None:
    for name in testset.__all__:
        assert getattr(testset, name) is not None


@pytest.mark.parametrize("verb", sorted(set(VERBS) - {"testset"}))
def test_every_verb_is_a_function_of_the_library(verb: str) -> None:
    for name in TWINS.get(verb, (verb,)):
        assert name in odo.__all__
        assert inspect.isfunction(getattr(odo, name))


def test_a_verb_is_not_hidden_by_the_part_of_its_name() -> None:
    import oodometer.preflight.preflight
    import oodometer.quickstart.icons
    import oodometer.report.write
    import oodometer.train.training  # noqa: F401 - importing it is what is tested

    for verb in ("preflight", "quickstart", "report", "train"):
        assert inspect.isfunction(getattr(odo, verb))


def command_modules() -> Iterator[tuple[str, ast.Module]]:
    for file in sorted(CLI.glob("*.py")):
        if file.name not in TALK:
            yield file.name, ast.parse(file.read_text(encoding="utf-8"))


def functions_of(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def lines_of(function: ast.FunctionDef) -> int:
    """Of the body, without what decorates it and the sentence that says what it is."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def is_printing(node: ast.stmt) -> bool:
    """Whether a statement prints, or decides whether and how often to."""
    if isinstance(node, ast.For | ast.If):
        return all(is_printing(child) for child in [*node.body, *node.orelse])
    called = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in PRINTING


def test_commands_have_no_classes_and_no_long_functions() -> None:
    for name, tree in command_modules():
        assert not [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)], name
        long = [function.name for function in functions_of(tree) if lines_of(function) > MOST_LINES]
        assert not long, f"{name}: {long}"


def test_commands_loop_only_to_print() -> None:
    allowed = {("robustness.py", "_all"), ("import_.py", "command")}  # puts options on commands; one call for each file
    for name, tree in command_modules():
        for function in functions_of(tree):
            loops = [node for node in ast.walk(function) if isinstance(node, ast.For | ast.While)]
            if (name, function.name) not in allowed:
                assert all(is_printing(loop) for loop in loops), f"{name}: {function.name}"


def test_commands_compute_nothing() -> None:
    for name, tree in command_modules():
        imported = {
            alias.name if isinstance(node, ast.Import) else str(node.module)
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        roads = {module for module in imported if module.split(".")[0] in COMPUTING}
        measures = {module for module in imported if module.startswith(("oodometer.stats", "oodometer.metrics"))}
        assert not roads | measures - {OPTIONS}, f"{name}: {roads | measures - {OPTIONS}}"
