"""How far can an accuracy be trusted when the data shift? An odometer for out-of-distribution robustness.

import oodometer as odo

store = odo.run([odo.load_model("onnx:mine.onnx")], [odo.clean(odo.load_data("val/"))], store="runs/")
print(odo.score(store))
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Where each public name lives; imported when first used, so that `import oodometer` costs nothing. The types are in
# __init__.pyi, and a test keeps the two lists the same.
_HOMES = {
    "core.condition": "Condition Family Shift Transform clean",
    "core.dataset": "Dataset",
    "core.errors": "DataError ModelError OodometerError RequirementNotMetError StoreError UsageError",
    "core.estimate": "Estimate",
    "core.labels": "LabelMap LabelSpace mask super_classes",
    "core.model": "Card Compute Input Model",
    "core.predictions": "Predictions",
    "core.random": "rng_for",
    "core.stored_answers": "StoredAnswers",
    "core.true_labels": "TrueLabels",
    "core.preprocessing": "Geometry",
    "corruptions.corrupt": "corrupt",
    "corruptions.registry": "corruption",
    "corruptions.sample_image": "sample_image",
    "data.label_file": "read_labels",
    "data.load": "load_data",
    "data.subset": "stratified",
    "engine.imports": "import_predictions import_table",
    "engine.run": "RunOptions Watcher run",
    "metrics.metric": "Metric metric",
    "models.load": "load_model",
    "models.predictions": "read_predictions",
    "analysis.metric_request": "ScoreOptions",
    "analysis.compare": "Comparison compare",
    "analysis.correlate": "CorrelateOptions Correlations correlate",
    "analysis.gaps": "Gap Gaps gaps",
    "analysis.hardest": "Hardest hardest",
    "report.html.page": "report_html",
    "published.reproduce": "Reproductions reproduce",
    "analysis.robustness": "Robustness RobustnessOptions robustness",
    "analysis.score": "score",
    "analysis.score_table": "Score Scores",
    "study": "Study study_of",
    "shifts.resolve": "load_shifts",
    "stats.bootstrap": "Resampling bootstrap bootstrap_means",
    "stats.effective_robustness": "effective_robustness",
    "stats.intervals": "share_of",
    "stats.lines": "Line fit_line",
    "store.store": "Store open_store",
}
_MODULES = {name: f"oodometer.{module}" for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'oodometer' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
