"""Who may import whom (docs/design.md), the public names, and what a plain import costs."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import oodometer

SOURCE = Path(oodometer.__file__).parent
ROOT = SOURCE.parents[1]

MAY_IMPORT = {
    "core": set(),
    "catalogue": {"core"},
    "data": {"core", "catalogue"},
    "build": {"core", "data"},
    "models": {"core", "data"},
    "metrics": {"core"},
    "stats": {"core"},
    "published": {"core", "catalogue", "metrics", "stats", "analysis"},
    "store": {"core"},
    "attacks": {"core"},
    "shifts": {"core", "catalogue", "data", "corruptions", "attacks"},
    "engine": {"core", "data", "store"},
    "analysis": {"core", "catalogue", "metrics", "stats", "store"},
    "study": {"core", "catalogue", "metrics", "stats", "store", "analysis", "data", "shifts"},
    "report": {"core", "metrics", "stats", "store", "analysis", "study", "published"},
    "figures": {"core", "metrics", "stats", "store", "analysis", "study", "report", "published"},
    "cli": {
        "core",
        "catalogue",
        "data",
        "build",
        "models",
        "metrics",
        "stats",
        "store",
        "shifts",
        "engine",
        "published",
        "analysis",
        "study",
        "report",
        "figures",
        "corruptions",
        "train",
        "explorer",
        "quickstart",
    },
    "explorer": {"core", "analysis", "study", "report", "build", "stats", "metrics", "store"},
    "corruptions": {"core"},
    "train": {"core", "data", "attacks", "models", "metrics", "stats"},
    "quickstart": {
        "core",
        "data",
        "build",
        "models",
        "store",
        "shifts",
        "engine",
        "analysis",
        "study",
        "report",
    },
}
"""Part to the parts it may import besides itself. Nobody imports cli; a report needs no framework; what is tested
(corruptions, shifts) is never trained on."""

CORE_MAY_USE = {*sys.stdlib_module_names, "numpy", "oodometer"}
HEAVY = {
    "torch",
    "scipy",
    "numba",
    "pandas",
    "duckdb",
    "pyarrow",
    "onnxruntime",
    "onnx",
    "PIL",
    "rich",
    "timm",
    "fsspec",
    "plotly",
    "jinja2",
    "matplotlib",
    "fastapi",
}


def imports_of(file: Path, *, top_level: bool = False) -> set[str]:
    """The full names of the modules that a file imports; only those at import time with ``top_level``."""
    tree = ast.parse(file.read_text())
    nodes = ast.walk(tree) if not top_level else iter(tree.body)
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def parts() -> list[str]:
    return sorted(path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists())


def test_every_part_has_a_rule() -> None:
    assert parts() == sorted(MAY_IMPORT)


@pytest.mark.parametrize("part", sorted(MAY_IMPORT))
def test_parts_import_only_what_they_may(part: str) -> None:
    allowed = MAY_IMPORT[part] | {part}
    for file in (SOURCE / part).rglob("*.py"):
        for name in imports_of(file):
            top, _, rest = name.partition(".")
            if top == "oodometer" and rest:
                assert rest.split(".")[0] in allowed, f"{file.relative_to(SOURCE)} imports {name}"


def test_core_uses_the_standard_library_and_numpy_alone() -> None:
    for file in (SOURCE / "core").rglob("*.py"):
        used = {name.split(".")[0] for name in imports_of(file)}
        assert used <= CORE_MAY_USE, f"{file.name}: {used - CORE_MAY_USE}"


def test_commands_import_the_library_only_inside_their_functions() -> None:
    for file in (SOURCE / "cli").glob("*.py"):
        for name in imports_of(file, top_level=True):
            light = name.split(".")[0] != "oodometer" or name.startswith(("oodometer.cli", "oodometer.core.errors"))
            assert light or name == "oodometer", f"{file.name} imports {name} when it starts"


def loaded_after(code: str) -> set[str]:
    shown = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return {name.split(".")[0] for name in shown.stdout.split()}


@pytest.mark.parametrize(
    "code",
    [
        "import oodometer",
        "from oodometer.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass\nimport sys",
        "import oodometer as odo; odo.Estimate; odo.Geometry; odo.Model; odo.rng_for",
    ],
)
def test_a_plain_import_loads_nothing_heavy(code: str) -> None:
    assert not loaded_after(code) & HEAVY


def test_the_public_names_are_pinned_and_reachable() -> None:
    assert oodometer.__all__ == PUBLIC
    for name in PUBLIC:
        assert getattr(oodometer, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = oodometer.nonsense


def test_the_stub_lists_the_same_names() -> None:
    lines = (SOURCE / "__init__.pyi").read_text().splitlines()
    homes = {line.split()[-1]: line.split()[1] for line in lines if " as " in line}
    assert dict(oodometer._MODULES.items()) == homes


PUBLIC = [
    "Audience",
    "Card",
    "Checked",
    "Comparison",
    "Compute",
    "Condition",
    "CorrelateOptions",
    "Correlations",
    "CorruptOptions",
    "CorruptedFiles",
    "DataError",
    "Dataset",
    "Drawn",
    "Estimate",
    "Family",
    "FigureList",
    "FigureOptions",
    "Gap",
    "Gaps",
    "Geometry",
    "Hardest",
    "IconOptions",
    "Input",
    "LabelMap",
    "LabelSpace",
    "Line",
    "Listing",
    "Metric",
    "Model",
    "ModelError",
    "ModelTable",
    "OodometerError",
    "Origin",
    "Predictions",
    "Quickstart",
    "QuickstartPhotographs",
    "Recipe",
    "Removal",
    "Report",
    "Reproductions",
    "RequirementNotMetError",
    "Resampling",
    "Robustness",
    "RobustnessOptions",
    "RunOptions",
    "RunResults",
    "Score",
    "ScoreOptions",
    "Scores",
    "ServeWatcher",
    "Shift",
    "SplitFiles",
    "SplitOptions",
    "Store",
    "StoreError",
    "StoredAnswers",
    "Study",
    "TableOptions",
    "Trained",
    "TrainingJob",
    "TrainingOptions",
    "TrainingWatcher",
    "Transform",
    "TrueLabels",
    "UsageError",
    "Verified",
    "Watcher",
    "bootstrap",
    "bootstrap_means",
    "build_icons",
    "check",
    "clean",
    "compare",
    "correlate",
    "corrupt",
    "corrupt_files",
    "corruption",
    "effective_robustness",
    "figure",
    "figure_list",
    "fit_line",
    "gaps",
    "hardest",
    "import_predictions",
    "import_table",
    "load_data",
    "load_model",
    "load_shifts",
    "ls",
    "mask",
    "metric",
    "open_store",
    "quickstart",
    "quickstart_photographs",
    "read_labels",
    "read_origins",
    "read_predictions",
    "report",
    "report_html",
    "reproduce",
    "results_of",
    "rm",
    "rng_for",
    "robustness",
    "run",
    "sample_image",
    "score",
    "serve",
    "share_of",
    "split",
    "stratified",
    "study_of",
    "super_classes",
    "table",
    "train",
    "training_job",
    "verify",
    "write_sheet",
]
