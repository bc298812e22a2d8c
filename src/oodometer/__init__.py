"""How far can an accuracy be trusted when the data shift? An odometer for out-of-distribution robustness.

import oodometer as odo

store = odo.run([odo.load_model("onnx:mine.onnx")], [odo.clean(odo.load_data("val/"))], store="runs/")
print(odo.score(store))
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

__version__ = "0.1.0"

# Where each public name lives; imported when first used, so that `import oodometer` costs nothing. The types are in
# __init__.pyi, and a test keeps the two lists the same.
_HOMES = {
    "build.cifar10": "BuiltCifar10 build_cifar10",
    "build.icons.build": "IconOptions build_icons",
    "copies.augment": "AugmentOptions Augmented augment",
    "core.condition": "Condition Family Shift Transform clean",
    "core.dataset": "Dataset",
    "core.errors": "CannotTellError DataError ModelError OodometerError PreflightError RequirementNotMetError "
    "StoreError UsageError",
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
    "data.check.check_set": "Checked check",
    "data.label_file": "read_labels",
    "data.load": "load_data",
    "data.subset": "stratified",
    "data.training_set": "published_test_set training_set",
    "document.table": "Table",
    "engine.imports": "import_predictions import_table",
    "engine.run": "RunOptions Watcher run",
    "explorer.serve": "ServeWatcher serve",
    "explorer.site": "Site site",
    "few_labels.choose": "ChosenImages choose_images_to_label",
    "few_labels.estimate": "FewLabelEstimates estimate_from_labels",
    "few_labels.label_table": "FewLabels",
    "few_labels.options": "FewLabelOptions",
    "few_labels.read": "read_few_labels",
    "figures.figure": "Drawn FigureList figure figure_list",
    "figures.options": "FigureOptions",
    "metrics.metric": "Metric metric",
    "models.load": "load_model",
    "models.predictions": "read_predictions",
    "analysis.origins": "Origin read_origins",
    "analysis.metric_request": "ScoreOptions",
    "analysis.compare": "Comparison compare",
    "analysis.compare_effective": "compare_effective",
    "analysis.compare_family": "FamilyComparison",
    "analysis.compare_many": "compare_many",
    "analysis.image_plan": "ImagePlan PlanOptions plan",
    "analysis.judged_pair": "CompareOptions",
    "analysis.many_comparisons": "ManyComparisons",
    "analysis.class_changes": "ClassChange ClassChanges class_changes",
    "analysis.confusion": "Confused Confusion confusion",
    "analysis.explain": "Explanation explain",
    "analysis.gate": "Gate gate",
    "analysis.consistency": "Consistencies consistency",
    "analysis.people_answers": "read_people_answers",
    "analysis.correlate": "CorrelateOptions Correlations correlate",
    "analysis.gaps": "Gap Gaps gaps",
    "analysis.mean_gap": "MeanGap",
    "analysis.hardest": "Hardest hardest",
    "analysis.hypotheses": "Hypotheses HypothesisOptions",
    "quickstart.audience": "Audience",
    "quickstart.icons": "Quickstart quickstart",
    "quickstart.photographs": "QuickstartPhotographs quickstart_photographs",
    "report.html.page": "report_html",
    "report.tables.of_store": "table",
    "report.tables.options": "TableOptions",
    "report.write": "Report report",
    "preflight.finding": "ModelPreflight Preflight",
    "preflight.preflight": "preflight",
    "published.hypotheses_beside": "hypotheses",
    "published.reproduce": "Reproductions reproduce",
    "analysis.line_rules": "RobustnessOptions",
    "analysis.robustness": "Robustness robustness",
    "analysis.run_results": "RunResults results_of",
    "analysis.score": "score",
    "analysis.unlabelled": "estimate_without_labels",
    "analysis.unlabelled_table": "UnlabelledAccuracies UnlabelledAccuracy",
    "analysis.score_table": "Score Scores",
    "study": "Study study_of",
    "sampling.aim": "Aim",
    "sampling.plan": "PlannedNumber SamplingPlan plan_sampling",
    "sampling.run": "run_sampled",
    "sheets.options": "SheetOptions",
    "sheets.sheet": "Sheet sheet",
    "shifts.resolve": "load_shifts",
    "shifts.split": "SplitFiles SplitOptions split",
    "shifts.write_corrupted": "CorruptOptions CorruptedFiles corrupt_files",
    "stats.bootstrap": "Resampling bootstrap bootstrap_means",
    "stats.confidence_sequence": "confidence_sequence",
    "stats.effective_robustness": "effective_robustness",
    "stats.intervals": "share_of",
    "stats.lines": "Line fit_line",
    "store.listing": "Listing ls",
    "store.remove": "Removal rm",
    "store.store": "Store open_store",
    "store.verify": "Verified verify",
    "train.job": "TrainingJob TrainingWatcher",
    "train.job_from_options": "TrainingOptions training_job",
    "train.recipe": "Recipe",
    "train.training": "Trained train",
}
_MODULES = {name: f"oodometer.{module}" for module, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'oodometer' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


class _Oodometer(ModuleType):
    """The package: a verb that is called like a part (train, report, quickstart, preflight) is the verb.

    Importing a part sets it as an attribute of the package, where it would hide the verb of that name. The parts are
    found by ``from oodometer.train.recipe import Recipe`` as any other.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _MODULES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Oodometer
