"""The data card of a release: what it is, how it came to be, step by step, with every count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from oodometer.build.testset.release.chosen import Revision, Step
from oodometer.core.estimate import Estimate

LUCK = (
    "These images were chosen by the very answers that give the measured mean, and answers are few: some were chosen "
    "for luck, and new annotators would select them less often, while the original images were not chosen by theirs "
    "(Engstrom et al. 2020)."
)


def card(name: str, revision: Revision, original: str, corrected: Estimate | None = None) -> str:
    """The card, in Markdown; what files say is quoted such that it stays text.

    Args:
        original: What it was made anew after.
        corrected: The mean selection frequency without the luck that images were chosen for.
    """
    images, last = revision.images, revision.steps[-1]
    per_class = Counter(one.image.class_name for one in images)
    lines = [
        f"# {plain(name)}",
        "",
        f"A test set of {len(images):,} images in {len(per_class):,} classes"
        + (f", made anew after {plain(original)}." if original else "."),
        "",
        "## How the images were chosen",
        "",
        f"Sampled by {plain(last.sampler)} with {_arguments(last.arguments)}, seed {last.seed}: revision "
        f"{last.revision}{_earlier(revision.steps)}.",
        "",
        *_simulated(revision),
        *_frequencies(revision, corrected),
        "| | images |",
        "| --- | ---: |",
        *(f"| {plain(what)} | {n:,} |" for what, n in revision.funnel),
        "",
        *_reasons("Candidates that could not be chosen when this revision was sampled, by reason", revision.excluded),
        *_filters(revision),
        *_counts(last),
        "## Images of each class",
        "",
        *_spread(per_class),
        "",
        "## Whose they are",
        "",
        *_licences(revision),
        "",
        "Where each image is from, its author and its licence: `LICENCES.csv`. Checksums: `SHA256SUMS`. Every revision "
        "with sampler, arguments and seed: `recipe.json`. Nothing in this release says who annotated.",
        "",
    ]
    return "\n".join(lines)


def plain(text: str) -> str:
    r"""Text in which nothing is markup.

    >>> plain("<b>a|b</b>\n# c")
    '\\<b\\>a\\|b\\</b\\> # c'
    """
    flat = " ".join(str(text).split())
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>|" else letter for letter in flat)


def estimate_text(found: Estimate) -> str:
    """A frequency with its interval, or why it has none."""
    if found.low is None or found.high is None:
        return f"{found.value:.3f} ({found.interval}), n = {found.n:,}"
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}], n = {found.n:,}"


def _earlier(steps: tuple[Step, ...]) -> str:
    numbers = ", ".join(str(step.revision) for step in steps[:-1])
    return f", which carries over from {numbers}" if numbers else ""


def _simulated(revision: Revision) -> list[str]:
    if not revision.n_simulated:
        return []
    return [f"**{revision.n_simulated:,} of the answers behind this set are simulated, not people's.**", ""]


def _frequencies(revision: Revision, corrected: Estimate | None) -> list[str]:
    if revision.reached is None:
        return ["Nobody was asked about these images: they have no selection frequencies.", ""]
    lines = [f"Mean selection frequency reached: {estimate_text(revision.reached)}."]
    if corrected is not None:
        lines.append(f"Corrected for the selection: {estimate_text(corrected)}. {LUCK}")
    if revision.original is not None:
        lines.append(f"Of the annotated original images: {estimate_text(revision.original)}.")
    corrected_too = "" if corrected is None else "; of the corrected mean the posterior one, for these images"
    return [*lines, f"Intervals are Student's, 95 %, over images{corrected_too}.", ""]


def _arguments(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{plain(key)} = {plain(str(value))}" for key, value in sorted(arguments.items())) or "no options"


def _reasons(title: str, counts: Mapping[str, int]) -> list[str]:
    if not counts:
        return []
    return [f"{title}:", "", *(f"- {plain(reason)}: {n:,}" for reason, n in counts.items()), ""]


def _filters(revision: Revision) -> list[str]:
    lines = []
    for one in revision.filters:
        lines += [f"Filtered by the rule {plain(one['rule'])} ({_arguments(one['arguments'])}):", ""]
        lines += [f"- {plain(what)}: {n:,}" for what, n in one["funnel"]] + [""]
    return lines


def _counts(last: Step) -> list[str]:
    flat = {key: value for key, value in last.counts.items() if isinstance(value, int) and value}
    return _reasons("What the sampler counted", flat)


def _spread(per_class: Counter[str]) -> list[str]:
    sizes = Counter(per_class.values())
    return [
        f"- {n:,} {'class has' if n == 1 else 'classes have'} {size:,} {'image' if size == 1 else 'images'}"
        for size, n in sorted(sizes.items(), reverse=True)
    ]


def _licences(revision: Revision) -> list[str]:
    found = Counter(one.image.licence or "not said" for one in revision.images)
    return [f"- {plain(licence)}: {n:,}" for licence, n in sorted(found.items())]
