"""The commands that give the numbers of a study again, as far as its store knows them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from oodometer.analysis.line_rules import DEFAULT_OPTIONS
from oodometer.analysis.measured_shifts import CLEAN
from oodometer.analysis.sampled import sample_of
from oodometer.core.condition import Family
from oodometer.core.records import PREDICTIONS
from oodometer.metrics.corruption_error import COMMON, SEVERITIES
from oodometer.store.cells import Cell
from oodometer.study import Study
from oodometer.study.evidence import family_of_cell, imported, keeps_logits, pairs_run, published_size
from oodometer.study.explained_drops import with_parts
from oodometer.study.hard_conditions import cells_of_most, hard_conditions
from oodometer.study.interventions import parents_of
from oodometer.study.ood_histograms import outside_sets

Line = tuple[str, ...]
"""The words of a command."""

CATEGORIES, DATA, ANSWERS, LABELS, SIZES = "CATEGORIES.csv", "DATA", "ANSWERS.npy", "LABELS.txt", "SIZES.csv"
"""In place of what a store does not know: where files and data lie."""
MOST_COMPARISONS = 20

OF_CONFIDENCES = "aurra"
"""Where it is defined, all that needs confidences is."""

METRICS = ("mce", "relative-mce", "mean-corruption-error", "ece", "rms-calibration", OF_CONFIDENCES)
"""What the leaderboard has besides accuracies."""


@dataclass(frozen=True)
class Commands:
    """Commands for one purpose: what they give, and the words of each."""

    what: str
    lines: tuple[Line, ...]


def commands_of(study: Study) -> tuple[Commands, ...]:
    """What made the predictions, and what gives each kind of number in the report."""
    found = (
        Commands("The predictions:", tuple(_runs(study))),
        Commands("What was imported:", tuple(_imports(study))),
        Commands("Accuracies, corruption errors, calibration, AURRA:", tuple(_scores(study))),
        Commands("The line of each shift, ρ and τ:", tuple(_robustness(study))),
        _comparisons(study),
        Commands("What the drops are made of:", tuple(_explanations(study))),
        Commands("Errors in common, and the hardest images:", tuple(_errors(study))),
        Commands("This report:", (_line("report", study.address, *_categories(study), *_of_the_line(study)),)),
    )
    return tuple(one for one in found if one.lines)


def written(words: Sequence[str], width: int = 100) -> str:
    r"""A command as a shell takes it, over several lines where it is long; an option stays with its value.

    >>> print(written(["oodometer", "run", "--model", "zoo:a", "--model", "zoo:b c", "--data", "$HOME"], 30))
    oodometer run --model zoo:a \
        --model 'zoo:b c' \
        --data '$HOME'
    """
    parts: list[list[str]] = [[]]
    for word in words:
        if word.startswith("--"):
            parts.append([])
        parts[-1].append(shlex.quote(word))
    lines = [" ".join(parts[0])]
    for part in parts[1:]:
        text = " ".join(part)
        if len(lines[-1]) + 1 + len(text) > width - 2:  # with room for the sign that it goes on
            lines.append(f"    {text}")
        else:
            lines[-1] += f" {text}"
    return " \\\n".join(lines)


def _line(*words: str) -> tuple[str, ...]:
    return "oodometer", *words


@dataclass(frozen=True)
class _Run:
    """What one command asks of models: the same images, keeping the same.

    Args:
        images: How many, where not all; ``sampled`` says instead by which rule their number came about.
    """

    data: str
    images: str
    seed: str
    precision: str
    sampled: tuple[str, ...] = ()
    keep: str = "summary"


def _runs(study: Study) -> list[Line]:
    """A command for each data set that models were run on."""
    pairs = pairs_run(study)
    asked: dict[_Run, tuple[dict[str, None], dict[str, Family | None]]] = {}
    for model in study.models:
        for cell in model.cells:
            is_standard = any((pair.standard.key == cell.condition.key) for pair in pairs)
            if cell.model.kind == PREDICTIONS or (is_standard and cell.condition_name != CLEAN):
                continue
            run = _run(cell)
            if any((pair.shifted.key == cell.condition.key) for pair in pairs) and not _is_made(cell):
                run = replace(run, data=DATA)  # a set of its own, from data whose name the store does not know
            run = replace(run, keep="logits") if keeps_logits(study, cell) else run
            models, on = asked.setdefault(run, ({}, {}))
            models[spec_of(cell)] = None
            on[cell.condition_name] = family_of_cell(study, cell)
    return [_line("run", *_run_words(study, one, list(models), _named(on))) for one, (models, on) in asked.items()]


def _named(on: Mapping[str, Family | None]) -> list[str]:
    """What conditions are called together, where all of a corruption or of a family are there.

    >>> fog = {f"imagenet-c/fog/{severity}": Family("imagenet-c", "fog", severity) for severity in (1, 2, 3, 4, 5)}
    >>> _named({"clean": None, **fog}), _named({"imagenet-c/fog/3": Family("imagenet-c", "fog", 3)})
    (['clean', 'imagenet-c/fog'], ['imagenet-c/fog/3'])
    """
    members = [family for family in on.values() if family is not None]
    names = []
    for condition, family in on.items():
        if family is None or family.severity not in SEVERITIES:
            names.append(family.name if family else condition)
            continue
        mine = [one for one in members if one.name == family.name]
        severities = {one.severity for one in mine if one.corruption == family.corruption}
        if condition != f"{family.name}/{family.corruption}/{family.severity}" or severities < set(SEVERITIES):
            names.append(condition if severities < set(SEVERITIES) else family.name)
        elif len({one.corruption for one in mine}) < len(COMMON):
            names.append(f"{family.name}/{family.corruption}")
        else:
            names.append(family.name)
    return list(dict.fromkeys(names))


def _is_made(cell: Cell) -> bool:
    """Whether the images are those of a data set, changed."""
    return cell.condition.transform is not None or cell.condition.attack is not None


def _run(cell: Cell) -> _Run:
    images, _, chosen = cell.data.subset.partition(", seed ")
    drawn = cell.condition.transform.parameters.get("seed") if cell.condition.transform else None
    data, sample = replace(cell.data, subset="").title, sample_of(cell)
    if sample is not None:
        sampled = f"--{sample.rule}", f"{sample.aims[-1][1]:g}"
        return _Run(data, "", str(sample.seed), cell.precision, sampled)
    seed = chosen or ("0" if drawn is None else str(drawn))
    return _Run(data, images, seed, cell.precision)


def spec_of(cell: Cell) -> str:
    """A model as ``run --model`` takes it: its kind and name, or its place in the zoo."""
    kind, name = cell.model.kind, cell.model_name
    place = cell.model.notes.get("zoo", "")
    if not place:
        return f"{kind}:{name}"
    return f"{kind}:{place}" if place.rpartition("/")[2] == name else f"{name}={kind}:{place}"


def _run_words(study: Study, run: _Run, models: Sequence[str], on: Sequence[str]) -> list[str]:
    words = [word for name in models for word in ("--model", name)]
    words += ["--data", run.data]
    words += [word for name in on for word in ("--on", name)]
    words += ["--images", run.images] if run.images else []
    words += run.sampled
    words += ["--seed", run.seed] if run.seed != "0" else []
    words += ["--keep", run.keep] if run.keep != "summary" else []
    words += ["--device", "cuda", "--precision", run.precision] if run.precision != "float32" else []
    return [*words, "--store", study.address]


def _imports(study: Study) -> list[Line]:
    answers = dict.fromkeys(
        (cell.model_name, cell.condition_name)
        for model in study.models
        for cell in model.cells
        if cell.model.kind == PREDICTIONS
    )
    store = "--store", study.address
    tables = [_line("import", source, *_sizes(study, source), *store) for source in study.sources]
    return tables + [
        _line("import", ANSWERS, "--labels", LABELS, "--model", model, "--condition", condition, *store)
        for model, condition in answers
    ]


def _sizes(study: Study, source: str) -> tuple[str, ...]:
    """The numbers of images of a table, as ``import`` takes them; the table itself may have said them."""
    rows = [row for row in imported(study) if row.source == source]
    sizes = {row.n for row in rows}
    if sizes == {None}:
        return ()
    if all(row.n == published_size(row.condition) for row in rows):
        return "--sizes", "published"
    return ("--n", str(sizes.pop())) if len(sizes) == 1 else ("--sizes", SIZES)


def _scores(study: Study) -> list[Line]:
    """What is defined here, since a metric that is nowhere is an error when it is asked for by name."""
    store, options = study.address, [*_level(study), *_draws(study)]
    known = {one.metric.partition("[")[0] for one in study.scores}
    names = ["top-1", *(name for name in METRICS if name in known)]
    lines = [_line("score", store, "--metrics", ",".join(names), *options)]
    if OF_CONFIDENCES in known:
        lines.append(_line("score", store, "--metrics", "reliability,response-curve", *options))
    outside = "auroc,aupr,fpr@95%"
    return lines + [
        _line("score", store, "--metrics", outside, "--ood", name, *options) for name in outside_sets(study)
    ]


def _draws(study: Study) -> list[str]:
    mine, default = study.options.resampling, DEFAULT_OPTIONS.resampling
    words = ["--draws", str(mine.draws)] if mine.draws != default.draws else []
    return words + _seed(study)


def _seed(study: Study) -> list[str]:
    mine, default = study.options.resampling.seed, DEFAULT_OPTIONS.resampling.seed
    return ["--seed", str(mine)] if mine != default else []


def _level(study: Study) -> list[str]:
    mine, default = study.options.resampling.level, DEFAULT_OPTIONS.resampling.level
    return ["--level", f"{mine:g}"] if mine != default else []


def _robustness(study: Study) -> list[Line]:
    """A command for each shift that has a line."""
    lines = []
    for shift in study.shifts:
        if shift.robustness is None:
            continue
        words = ["--shift", shift.name]
        words += [*_categories(study), *_of_the_line(study), *_draws(study)]
        lines.append(_line("robustness", study.address, *words))
    return lines


def _explanations(study: Study) -> list[Line]:
    """A command for each natural shift to other images."""
    how = [*_level(study), *_seed(study)]
    return [_line("explain", study.address, "--shifted", shift.name, *how) for shift in with_parts(study)]


def _errors(study: Study) -> list[Line]:
    """Commands for each condition on which at least two models are looked at image by image."""
    names = [one.name for one in hard_conditions(study) if len(cells_of_most(study, one)) > 1]
    how = [*_level(study), *_draws(study)]
    return [
        line
        for name in names
        for line in (
            _line("consistency", study.address, "--on", name, *how),
            _line("hardest", study.address, "--on", name),
        )
    ]


def _of_the_line(study: Study) -> list[str]:
    """The options of the line that are not as they are by default."""
    mine, default = study.options, DEFAULT_OPTIONS
    words = ["--scale", mine.scale] if mine.scale != default.scale else []
    words += ["--baseline", mine.baseline or "all"] if mine.baseline != default.baseline else []
    words += ["--baseline-above", f"{mine.baseline_above:g}"] if mine.baseline_above is not None else []
    words += ["--knee", str(mine.knee)] if mine.knee is not None else []
    words += [word for pattern in mine.leave_out for word in ("--leave-out", pattern)]
    return words + _level(study)


def _categories(study: Study) -> list[str]:
    """The table of categories, where models have some that no card says."""
    for model in study.models:
        card = model.cells[0].model.card if model.cells else None
        known = (card.category, card.parent) if card else ("", None)
        if (model.origin.category, model.origin.parent) != known:
            return ["--categories", CATEGORIES]
    return []


def _comparisons(study: Study) -> Commands:
    with_cells = {model.name for model in study.models if model.cells}
    pairs = [(model, parent) for model, parent in parents_of(study).items() if {model, parent} <= with_cells]
    some = f" (the first {MOST_COMPARISONS} of {len(pairs)})" if len(pairs) > MOST_COMPARISONS else ""
    lines = [
        _line("compare", study.address, parent, model, *_level(study)) for model, parent in pairs[:MOST_COMPARISONS]
    ]
    return Commands(f"Models against their parents{some}:", tuple(lines))
