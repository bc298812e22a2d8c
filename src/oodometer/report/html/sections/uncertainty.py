"""Uncertainty: whether models know when they are wrong, and when they see what they can't know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from oodometer.analysis.classwise_scores import CONVENTION as CLASSWISE
from oodometer.analysis.text import plural
from oodometer.core.estimate import Estimate
from oodometer.document.numbers import in_words
from oodometer.document.section import Part, Plot, Section, Words
from oodometer.document.table import Column, Table
from oodometer.metrics.calibration_error import IMAGES_PER_BIN
from oodometer.metrics.metric import metrics
from oodometer.metrics.ood_detection import SCORES
from oodometer.metrics.reliability import DEFAULT_BINS
from oodometer.report.palette import UNKNOWN
from oodometer.study import Study
from oodometer.study.confidences import NUMBERS, Answers, Confidences, Sides, confidences_of
from oodometer.study.ood_histograms import MEASURES, Outside, outside_of
from oodometer.study.prediction_sets import Promise, promised, promises_of

TITLE = "Uncertainty"
MOST_TOLD = 4
"""Conditions whose coverage is told above the table that has all of them."""

WORDS = {
    "max-softmax": ("largest softmax probability", "low"),
    "max-logit": ("largest logit", "low"),
    "energy": ("log-sum-exp of the logits (negative energy)", "low"),
    "entropy": ("entropy of the softmax, in nats", "high"),
}
"""Each score as it is stored, and the end that means outside; the signs are those of `SCORES`."""


def section(study: Study) -> Section:
    """Reliability and response rates on both sides of each shift, and scores of images that belong to no class."""
    found = confidences_of(study)
    if not found.answers:
        why = "only their accuracies or best classes are known" if not found.models else "none could be read"
        return Section("uncertainty", TITLE, (f"Nothing is known of the models' confidences: {why}.", *found.notes), ())
    chosen = [model for model in study.models if model.name in found.models]
    outside, notes = outside_of(study, chosen, found.how)
    promises, without = promises_of(study, found)
    parts: list[Part] = [_reliability(study, found), _numbers(found)]
    parts += [_promises(promises)] if promises else []
    parts.append(_response(study, found))
    if outside:
        parts += [_histograms(outside), _detection(outside)]
    if lines := (*found.notes, *without, *notes):
        parts.append(Words(lines, "note"))
    return Section("uncertainty", TITLE, _lead(found), tuple(parts))


def _lead(found: Confidences) -> tuple[str, ...]:
    """What calibration is, and how it is on both sides of the first shift."""
    sides = found.sides[0]
    lines = []
    for place, name in enumerate((sides.clean, sides.shifted)):
        errors = [one.numbers["ece"] for one in _of_side(found, sides, place)]
        if name and errors:
            lines.append(f"On {name} the expected calibration error is {_range(errors)}.")
    if shifted := _of_side(found, sides, 1):
        sure = sum(one.confidence.value > one.accuracy.value for one in shifted)
        best = shifted[0]
        several = f"{sure} of {len(shifted)} models are surer than they are right there. " if len(shifted) > 1 else ""
        lines.append(
            f"{several}{best.model} is {in_words(best.confidence, 'percent')} sure on average, and right on "
            f"{in_words(best.accuracy, 'percent')} of {plural(best.accuracy.n or 0, 'image')}."
        )
    return "A model that knows how good it is says 80 % where it is right 80 % of the time.", " ".join(lines)


def _range(errors: Sequence[Estimate]) -> str:
    """From the least to the greatest; of one model its own, with its interval."""
    if len(errors) == 1:
        return in_words(errors[0], "percent")
    values = [one.value for one in errors]
    return " to ".join(dict.fromkeys(f"{100 * one:.1f} %" for one in (min(values), max(values))))


def _of_side(found: Confidences, sides: Sides, place: int) -> list[Answers]:
    keys = [pair[place] for pair in sides.cells.values()]
    return [found.answers[key] for key in keys if key is not None and key in found.answers]


def _reliability(study: Study, found: Confidences) -> Plot:
    return Plot(
        "reliability",
        "Reliability: how often a model is right, in bins of how sure it is, with the number of images in each bin "
        f"below. On the diagonal it knows itself; below it is too sure. {DEFAULT_BINS} bins of equal width; bars: "
        f"{found.how.of_counts} {100 * found.how.level:g} % intervals.",
        "reliability",
        {
            **_chooser(study, found),
            "n_bins": DEFAULT_BINS,
            "answers": [_drawn_bins(one) for one in found.answers.values()],
        },
        height=520,
    )


def _response(study: Study, found: Confidences) -> Plot:
    rows = tuple(
        (one.model, _condition(one), rate, one_rate, one_rate.n)
        for one in found.answers.values()
        for rate, one_rate in one.response
    )
    table = Table(
        "response-numbers",
        "Accuracy among the most confident images.",
        (
            Column("model"),
            Column("condition"),
            Column("answered", "percent", "Share of the images that are answered, the most confident ones"),
            Column("accuracy", "percent", "Among the answered", "high"),
            Column("n", "count", "Images answered"),
        ),
        rows,
        filters="condition",
        folded=True,
    )
    return Plot(
        "response",
        "Response rate: accuracy when only the most confident images are answered. A steep curve means that a model "
        "knows which answers to keep to itself. AURRA is the mean height of the curve. The band is of the chosen "
        f"model: {found.how.of_counts} {100 * found.how.level:g} % intervals.",
        "response",
        {**_chooser(study, found), "answers": [_drawn_response(one) for one in found.answers.values()]},
        height=460,
        table=table,
    )


def _chooser(study: Study, found: Confidences) -> dict[str, Any]:
    """What both plots choose from: models, shifts, and the places of their answers."""
    places = {key: place for place, key in enumerate(found.answers)}
    category = {model.name: model.origin.category for model in study.models}
    return {
        "models": [{"name": name, "category": category[name] or UNKNOWN} for name in found.models],
        "shifts": [{"name": one.shift, "clean": one.clean, "shifted": one.shifted} for one in found.sides],
        "pairs": [
            [[places.get(key or "") for key in one.cells.get(model, (None, None))] for model in found.models]
            for one in found.sides
        ],
    }


def _drawn_bins(one: Answers) -> dict[str, Any]:
    return {
        "n": one.accuracy.n,
        "accuracy": _plain(one.accuracy),
        "confidence": one.confidence.value,
        "ece": _plain(one.numbers["ece"]),
        "rms": _plain(one.numbers["rms-calibration"]),
        "bins": [[mean, *_plain(share), share.n] for mean, share in one.bins],
    }


def _drawn_response(one: Answers) -> dict[str, Any]:
    return {
        "n": one.accuracy.n,
        "aurra": _plain(one.numbers["aurra"]),
        "curve": [[rate, *_plain(share)] for rate, share in one.response],
    }


def _numbers(found: Confidences) -> Table:
    intervals = {
        name: " or ".join(sorted({one.numbers[name].interval for one in found.answers.values()})) for name in NUMBERS
    }
    columns = (
        Column("model"),
        Column("condition"),
        Column("n", "count", "Labelled images"),
        Column("accuracy", "percent", "Top-1", "high"),
        Column("confidence", "percent", "Mean of the largest softmax probabilities"),
        Column(
            "ECE", "percent", f"Expected calibration error: {metrics.get('ece').convention}; {intervals['ece']}", "low"
        ),
        Column(
            "RMS",
            "percent",
            f"RMS calibration error: {metrics.get('rms-calibration').convention}; {intervals['rms-calibration']}",
            "low",
        ),
        Column("AURRA", "percent", f"{metrics.get('aurra').convention}; {intervals['aurra']}", "high"),
        Column(
            "smooth ECE",
            "percent",
            f"Smooth calibration error: {metrics.get('smooth-ece').convention}; {intervals['smooth-ece']}",
            "low",
        ),
        Column("AUGRC", "percent", f"{metrics.get('augrc').convention}; {intervals['augrc']}", "low"),
        Column("risk at 80 %", "percent", f"{metrics.get('risk@80%').convention}; {intervals['risk@80%']}", "low"),
        Column("classwise ECE", "percent", f"{CLASSWISE}; where all logits were kept", "low", digits=2),
    )
    rows = tuple(
        (one.model, _condition(one), one.accuracy.n, one.accuracy, one.confidence, *one.numbers.values(), one.classwise)
        for one in found.answers.values()
    )
    caption = (
        f"Calibration and selective prediction. ECE: {DEFAULT_BINS} bins of equal width, L1. RMS: bins of equal mass, "
        f"{IMAGES_PER_BIN} images each, L2; a calibration error is never quite 0 with few images. Intervals: of ECE "
        f"and RMS {intervals['ece']}, of AURRA {intervals['aurra']} over images ({found.how.draws} draws, seed "
        f"{found.how.seed}). Smooth ECE has no bins. AUGRC: how often, of two images, the surer is answered wrongly."
    )
    return Table("calibration", caption, columns, rows, filters="condition")


def _promises(promises: Sequence[Promise]) -> Table:
    """What sets that promise 90 % hold."""
    share = f"{100 * promised():g} %"
    columns = (
        Column("model"),
        Column("condition"),
        Column("calibrated on", "count", "Clean images from which the threshold is; they judge nowhere"),
        Column("n", "count", "Labelled images that judge"),
        Column("coverage", "percent", f"How often the set holds the true class; promised are {share}", "high"),
        Column("short by", "points", f"{share} minus the coverage", "low"),
        Column("set size", "number", "Mean number of classes in a set; where all logits were kept", "low"),
    )
    rows = tuple(
        (one.model, _condition(one), one.n_calibrating, one.coverage.n, one.coverage, short_by(one.coverage), one.size)
        for one in promises
    )
    caption = (
        f"Sets of classes, calibrated on half of the clean images so that {share} hold the true class (split "
        "conformal: all classes above one probability). Nobody promises it under a shift: "
        f"{_kept(promises)} Intervals of coverage: {promises[0].coverage.interval}, of this threshold; of sizes: "
        "Student's."
    )
    return Table("prediction-sets", caption, columns, rows, filters="condition")


def short_by(coverage: Estimate) -> Estimate:
    """What is lacking of the promise."""
    low, high = (None if end is None else promised() - end for end in (coverage.high, coverage.low))
    return Estimate(promised() - coverage.value, low, high, coverage.n, coverage.interval)


def _kept(promises: Sequence[Promise]) -> str:
    """What became of the promise, condition by condition."""
    by_condition: dict[str, list[Estimate]] = {}
    for one in promises:
        by_condition.setdefault(_condition(one), []).append(one.coverage)
    said = [f"on {name} it is {_range(found)}" for name, found in by_condition.items()]
    return "; ".join(said[:MOST_TOLD]) + "."


def _condition(one: Answers | Promise) -> str:
    return one.condition if one.data in (one.condition, "") else f"{one.condition} ({one.data})"


def _histograms(outside: Sequence[Outside]) -> Plot:
    return Plot(
        "ood-histograms",
        "Scores of images that belong to none of the classes, against images that do. The less the two overlap, the "
        "better the score tells them apart.",
        "ood_histogram",
        {
            "scores": [{"name": name, "words": WORDS[name][0], "outside": WORDS[name][1]} for name in SCORES],
            "found": [_drawn_histograms(one) for one in outside],
        },
        height=440,
    )


def _drawn_histograms(one: Outside) -> dict[str, Any]:
    return {
        "model": one.model,
        "condition": one.condition,
        "inside": one.inside,
        "histograms": {
            name: {
                "edges": [float(edge) for edge in histogram.edges],
                "inside": histogram.inside.tolist(),
                "outside": histogram.outside.tolist(),
            }
            for name, histogram in one.histograms.items()
        },
        "measures": {name: _plain(estimate) for name, estimate in one.measures.items()},
    }


def _detection(outside: Sequence[Outside]) -> Table:
    titles: Mapping[str, tuple[str, str, Any]] = {
        "auroc": ("AUROC", "How often an image of no class scores as more outside than one of the classes", "high"),
        "aupr": ("AUPR", "Average precision, images of no class positive; chance is their share", "high"),
        "fpr@95%": ("FPR@95 %", "Images of the classes taken for outside where 95 % of the others are caught", "low"),
    }
    columns = (
        Column("model"),
        Column("outside"),
        Column("inside"),
        Column("score", about="By which images are told apart"),
        *(Column(titles[name][0], "percent", titles[name][1], titles[name][2]) for name in MEASURES),
    )
    rows = tuple(
        (one.model, one.condition, one.inside, score, *(one.measures.get(f"{name}[{score}]") for name in MEASURES))
        for one in outside
        for score in SCORES
    )
    said = "; ".join(dict.fromkeys(one.convention for one in outside))
    return Table("ood", f"Images of no class told from others: {said}.", columns, rows, filters="score")


def _plain(estimate: Estimate) -> list[float | None]:
    return [estimate.value, estimate.low, estimate.high]
