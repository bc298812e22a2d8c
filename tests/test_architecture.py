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
    "build": {"core", "catalogue", "data", "stats", "store", "models"},
    "models": {"core", "data"},
    "copies": {"core", "data", "sheets", "train"},
    "metrics": {"core"},
    "stats": {"core"},
    "published": {"core", "catalogue", "metrics", "stats", "analysis"},
    "store": {"core"},
    "attacks": {"core"},
    "shifts": {"core", "catalogue", "data", "corruptions", "attacks"},
    "sheets": {"core", "catalogue", "data", "shifts"},
    "engine": {"core", "catalogue", "data", "store"},
    "few_labels": {"core", "catalogue", "data", "stats", "store", "analysis", "build", "document"},
    "sampling": {"core", "data", "stats", "store", "engine", "analysis"},
    "preflight": {"core", "catalogue", "data", "stats", "store", "engine"},
    "analysis": {"core", "catalogue", "metrics", "stats", "store"},
    "study": {"core", "catalogue", "metrics", "stats", "store", "analysis", "data", "shifts"},
    "document": {"core"},
    "report": {"core", "metrics", "stats", "store", "analysis", "study", "document", "published", "few_labels"},
    "figures": {"core", "metrics", "stats", "store", "analysis", "study", "document", "report", "published"},
    "cli": {
        "core",
        "catalogue",
        "data",
        "build",
        "copies",
        "models",
        "metrics",
        "stats",
        "store",
        "shifts",
        "sheets",
        "engine",
        "published",
        "analysis",
        "study",
        "document",
        "report",
        "figures",
        "corruptions",
        "train",
        "explorer",
        "quickstart",
        "preflight",
        "sampling",
        "few_labels",
    },
    "explorer": {"core", "analysis", "study", "document", "report", "build", "stats", "metrics", "store"},
    "corruptions": {"core"},
    "train": {"core", "data", "attacks", "models", "metrics", "stats"},
    "quickstart": {
        "core",
        "data",
        "build",
        "models",
        "store",
        "shifts",
        "corruptions",
        "engine",
        "analysis",
        "study",
        "document",
        "report",
    },
}
"""Part to the parts it may import besides itself. Nobody imports cli; a report needs no framework; what is tested
(corruptions, shifts) is never trained on."""

LAZILY = {"study": {"data", "shifts"}}
"""What a part may import inside functions alone: numbers need no images, pictures do."""

SUB_PACKAGES = {
    "build.icons": {"core", "data", "build"},
    "build.testset": {
        "core",
        "catalogue",
        "data",
        "data.kinds",
        "stats",
        "store",
        "models",
        "models.defences",
        "build",
    },
    "cli.testset": {
        "core",
        "cli",
        "data",
        "build",
        "build.testset",
        "explorer",
        "explorer.testset",
        "stats",
        "store",
        "analysis",
        "document",
        "models",
    },
    "corruptions.kernels": {"core", "corruptions"},
    "data.kinds": {"core", "data"},
    "data.layouts": {"core", "catalogue", "data", "data.kinds"},
    "data.check": {"core", "catalogue", "data", "data.kinds", "data.layouts"},
    "explorer.testset": {"core", "document", "build", "build.testset", "explorer"},
    "explorer.pages": {
        "core",
        "stats",
        "store",
        "analysis",
        "study",
        "document",
        "report",
        "report.html",
        "report.tables",
        "explorer",
    },
    "models.defences": {"core", "data", "models"},
    "models.onnx_autograd": {"core", "models"},
    "published.in_text": {"core", "catalogue", "metrics", "stats", "analysis", "published"},
    "report.html": {
        *(
            "core",
            "metrics",
            "stats",
            "store",
            "analysis",
            "study",
            "document",
            "report",
            "report.tables",
            "few_labels",
        ),
    },
    "report.tables": {"core", "stats", "analysis", "study", "document", "report", "store", "published"},
    "train.adversaries": {"core", "attacks", "train"},
    "train.augment": {"core", "train"},
    "train.networks": {"core", "train"},
    "train.objectives": {"core", "attacks", "train", "train.adversaries"},
}
"""A part within a part to those that it may import besides itself; the part alone means the files right in it."""

CORE_MAY_USE = {*sys.stdlib_module_names, "numpy", "oodometer"}
HEAVY = {
    "faiss",
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
    "sqlalchemy",
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
        elif isinstance(node, ast.ImportFrom):
            assert node.module, f"{file}: say the whole name"
            names.add(node.module)
            if node.module == "oodometer":
                names |= {f"oodometer.{alias.name}" for alias in node.names}
    return names


def packages_below(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if (path / "__init__.py").exists())


def parts() -> list[str]:
    return packages_below(SOURCE)


def home_of(module: str) -> str:
    """The part or the part within a part that a module is in; empty for what is in none.

    >>> home_of("oodometer.data.kinds.folder"), home_of("oodometer.data.resize"), home_of("oodometer.__version__")
    ('data.kinds', 'data', '')
    """
    _, *names = module.split(".")
    inside = [".".join(names[:n]) for n in (2, 1) if len(names) >= n]
    return next((one for one in inside if (SOURCE / one.replace(".", "/") / "__init__.py").exists()), "")


def files_of(home: str) -> list[Path]:
    """The files of a part within a part; of a part, those right in it."""
    folder = SOURCE / home.replace(".", "/")
    return sorted(folder.rglob("*.py") if "." in home else folder.glob("*.py"))


def homes_imported(home: str, *, top_level: bool = False) -> dict[str, str]:
    """The parts, and parts within parts, that one imports, each with a file that does."""
    found = {}
    for file in files_of(home):
        for name in imports_of(file, top_level=top_level):
            if name.startswith("oodometer.") and home_of(name) not in ("", home):
                found[home_of(name)] = str(file.relative_to(SOURCE))
    return found


def part_of(home: str) -> str:
    return home.partition(".")[0]


def test_every_part_has_a_rule() -> None:
    assert parts() == sorted(MAY_IMPORT)
    assert sorted(f"{part}.{one}" for part in parts() for one in packages_below(SOURCE / part)) == sorted(SUB_PACKAGES)


@pytest.mark.parametrize("home", sorted({*MAY_IMPORT, *SUB_PACKAGES}))
def test_parts_import_only_what_they_may(home: str) -> None:
    allowed = MAY_IMPORT[part_of(home)] | {part_of(home)}
    for other, file in homes_imported(home).items():
        assert part_of(other) in allowed, f"{file} imports {other}"
        assert home not in SUB_PACKAGES or other in SUB_PACKAGES[home], f"{file} imports {other}"


@pytest.mark.parametrize("part", sorted(LAZILY))
def test_what_is_wanted_for_pictures_alone_is_imported_lazily(part: str) -> None:
    for other, file in homes_imported(part, top_level=True).items():
        assert part_of(other) not in LAZILY[part], f"{file} imports {other} when it is imported"


def test_nobody_goes_around_the_rules_through_the_package_itself() -> None:
    """The public names are reachable from ``oodometer`` too, whatever part they are of."""
    for part in set(parts()) - {"cli"}:
        for file in (SOURCE / part).rglob("*.py"):
            used = {name for name in imports_of(file) if name.startswith("oodometer") and not home_of(name)}
            assert used <= {"oodometer", "oodometer.__version__"}, f"{file.relative_to(SOURCE)}: {used}"
            whole = [line for line in file.read_text().splitlines() if line.strip().startswith("import oodometer")]
            assert not whole, f"{file.relative_to(SOURCE)}: {whole}"


def cycle_in(graph: dict[str, set[str]]) -> list[str]:
    """A way along the arrows of a graph that comes back to where it began; empty where there is none.

    >>> cycle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}}), cycle_in({"a": {"b", "c"}, "b": {"c"}, "c": set()})
    (['b', 'c', 'b'], [])
    """
    left = {node: set(graph[node]) for node in graph}
    while ends := [node for node in left if not left[node] & left.keys()]:
        for node in ends:
            del left[node]
    if not left:
        return []
    way = [min(left)]
    while way[-1] not in way[:-1]:
        way.append(min(left[way[-1]] & left.keys()))
    return way[way.index(way[-1]) :]


def test_a_cycle_is_seen() -> None:
    assert cycle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert cycle_in({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_there_are_no_cycles_between_parts() -> None:
    """Lazy imports count too: a part is understood, and taken out, without those that use it."""
    graph: dict[str, set[str]] = {part: set() for part in parts()}
    for home in (*MAY_IMPORT, *SUB_PACKAGES):
        graph[part_of(home)] |= {part_of(other) for other in homes_imported(home)} - {part_of(home)}
    assert graph["analysis"] >= {"core", "store"}, "the imports are seen"
    assert cycle_in(graph) == []


@pytest.mark.parametrize("part", sorted({part_of(home) for home in SUB_PACKAGES}))
def test_there_are_no_cycles_between_the_parts_of_a_part(part: str) -> None:
    inside = [home for home in SUB_PACKAGES if part_of(home) == part]
    assert cycle_in({home: homes_imported(home).keys() & set(inside) for home in inside}) == []


def test_core_uses_the_standard_library_and_numpy_alone() -> None:
    for file in (SOURCE / "core").rglob("*.py"):
        used = {name.split(".")[0] for name in imports_of(file)}
        assert used <= CORE_MAY_USE, f"{file.name}: {used - CORE_MAY_USE}"


def test_commands_import_the_library_only_inside_their_functions() -> None:
    for file in (SOURCE / "cli").glob("*.py"):
        for name in imports_of(file, top_level=True):
            light = name.split(".")[0] != "oodometer" or name.startswith(("oodometer.cli", "oodometer.core.errors"))
            assert light or name in ("oodometer", "oodometer.__version__"), f"{file.name} imports {name} when it starts"


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


def test_a_study_is_a_value() -> None:
    """What is behind the numbers of a study is read by its own part (study/evidence.py), by nobody else."""
    others = [file for file in SOURCE.rglob("*.py") if file.parent.name != "study"]
    assert not [file.name for file in others if "study.index" in file.read_text(encoding="utf-8")]


PUBLIC = [
    "Aim",
    "Audience",
    "AugmentOptions",
    "Augmented",
    "BuiltCifar10",
    "CannotTellError",
    "Card",
    "Checked",
    "ChosenImages",
    "ClassChange",
    "ClassChanges",
    "CompareOptions",
    "Comparison",
    "Compute",
    "Condition",
    "Confused",
    "Confusion",
    "Consistencies",
    "CorrelateOptions",
    "Correlations",
    "CorruptOptions",
    "CorruptedFiles",
    "DataError",
    "Dataset",
    "Drawn",
    "Estimate",
    "Explanation",
    "Family",
    "FamilyComparison",
    "FewLabelEstimates",
    "FewLabelOptions",
    "FewLabels",
    "FigureList",
    "FigureOptions",
    "Gap",
    "Gaps",
    "Gate",
    "Geometry",
    "Hardest",
    "Hypotheses",
    "HypothesisOptions",
    "IconOptions",
    "ImagePlan",
    "Input",
    "LabelMap",
    "LabelSpace",
    "Line",
    "Listing",
    "ManyComparisons",
    "MeanGap",
    "Metric",
    "Model",
    "ModelError",
    "ModelPreflight",
    "OodometerError",
    "Origin",
    "PlanOptions",
    "PlannedNumber",
    "Predictions",
    "Preflight",
    "PreflightError",
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
    "SamplingPlan",
    "Score",
    "ScoreOptions",
    "Scores",
    "ServeWatcher",
    "Sheet",
    "SheetOptions",
    "Shift",
    "Site",
    "SplitFiles",
    "SplitOptions",
    "Store",
    "StoreError",
    "StoredAnswers",
    "Study",
    "Table",
    "TableOptions",
    "Trained",
    "TrainingJob",
    "TrainingOptions",
    "TrainingWatcher",
    "Transform",
    "TrueLabels",
    "UnlabelledAccuracies",
    "UnlabelledAccuracy",
    "UsageError",
    "Verified",
    "Watcher",
    "augment",
    "bootstrap",
    "bootstrap_means",
    "build_cifar10",
    "build_icons",
    "check",
    "choose_images_to_label",
    "class_changes",
    "clean",
    "compare",
    "compare_effective",
    "compare_many",
    "confidence_sequence",
    "confusion",
    "consistency",
    "correlate",
    "corrupt",
    "corrupt_files",
    "corruption",
    "effective_robustness",
    "estimate_from_labels",
    "estimate_without_labels",
    "explain",
    "figure",
    "figure_list",
    "fit_line",
    "gaps",
    "gate",
    "hardest",
    "hypotheses",
    "import_predictions",
    "import_table",
    "load_data",
    "load_model",
    "load_shifts",
    "ls",
    "mask",
    "metric",
    "open_store",
    "plan",
    "plan_sampling",
    "preflight",
    "published_test_set",
    "quickstart",
    "quickstart_photographs",
    "read_few_labels",
    "read_labels",
    "read_origins",
    "read_people_answers",
    "read_predictions",
    "report",
    "report_html",
    "reproduce",
    "results_of",
    "rm",
    "rng_for",
    "robustness",
    "run",
    "run_sampled",
    "sample_image",
    "score",
    "serve",
    "share_of",
    "sheet",
    "site",
    "split",
    "stratified",
    "study_of",
    "super_classes",
    "table",
    "train",
    "training_job",
    "training_set",
    "verify",
]
