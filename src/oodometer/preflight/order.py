"""Whether the outputs are the classes that they are taken for: off by one, in another order, or permuted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from oodometer.core.labels import NUMBERS, LabelSpace
from oodometer.preflight.finding import Finding
from oodometer.preflight.outputs import BY_CHANCE, LEAST_ASKED
from oodometer.stats.paired import PairedCounts, mcnemar_exact

LEAST_BETTER = 0.1
"""Another order of the classes is believed where it makes a tenth of the images right that were wrong."""

ORDERS: dict[str, Callable[[Sequence[str]], list[str]]] = {
    "in alphabetical order, upper case first": lambda names: sorted(names),
    "in alphabetical order, whatever the case": lambda names: sorted(names, key=lambda name: (name.lower(), name)),
    "as numbers": lambda names: sorted(names, key=lambda name: (len(name), name)),
    "in the opposite order": lambda names: list(reversed(names)),
}
"""In which people sort classes: a program may have sorted them otherwise than the training did."""

ONE_TO_ONE = 0.9
"""So many of the classes must have an answer of their own for the answers to be the classes in another order."""

EXAMPLES = 3


def about_order(answers: np.ndarray, labels: np.ndarray, space: LabelSpace, data: LabelSpace) -> Iterator[Finding]:
    """What is wrong with the order of the classes, if anything; the first that explains the answers.

    Args:
        answers, labels: Of each image, (N,).
        space: The model's classes.
        data: The classes of the data, whose names tell other orders where the model's are only numbers.
    """
    if len(answers) < LEAST_ASKED:
        return
    right = answers == labels
    finding = _off_by_one(answers, labels, right, len(space))
    names = space if space.name != NUMBERS else data
    if finding is None and names.name != NUMBERS and len(names) == len(space):
        finding = _sorted_otherwise(answers, labels, right, names)
    if finding is None:
        finding = _permuted(answers, labels, right, names)
    if finding is not None:
        yield finding


def order_in_words(space: LabelSpace, data: LabelSpace) -> str:
    """Which class each output is taken for.

    >>> order_in_words(LabelSpace("animals", ("ant", "bee", "cat", "dog")), LabelSpace("animals", ("ant", "bee")))
    '4, by name (animals): ant, bee, cat, ...'
    """
    if NUMBERS in (space.name, data.name):
        names = data if space.name == NUMBERS else space
        shown = ", ".join(f"{place} = {name}" for place, name in enumerate(names.classes[:EXAMPLES]))
        return f"{len(space)}, by number: {shown}, ..."
    return f"{len(space)}, by name ({space.name}): {', '.join(space.classes[:EXAMPLES])}, ..."


def is_better(instead: np.ndarray, right: np.ndarray, *, least: float, n_tried: int) -> bool:
    """Whether being right otherwise (N,) is clearly more than being right as declared, of so many things tried."""
    counts = PairedCounts(
        int((instead & right).sum()),
        int((right & ~instead).sum()),
        int((instead & ~right).sum()),
        int((~instead & ~right).sum()),
    )
    gained = float(instead.mean() - right.mean())
    return gained >= least and mcnemar_exact(counts) < BY_CHANCE / n_tried


def _off_by_one(answers: np.ndarray, labels: np.ndarray, right: np.ndarray, n_classes: int) -> Finding | None:
    for step in (1, -1):
        instead = answers == labels + step
        if is_better(instead, right, least=LEAST_BETTER, n_tried=2):
            return Finding(
                "labels",
                f"{_percent(right)} right, and {_percent(instead)} if every output is taken for the class "
                f"{'before' if step > 0 else 'after'} it: the order is off by one"
                + (" (1,001 outputs begin with a background class)" if n_classes == 1001 and step > 0 else ""),
                'name the outputs in order in the card (classes = "classes.txt"), or shift the labels',
            )
    return None


def _sorted_otherwise(answers: np.ndarray, labels: np.ndarray, right: np.ndarray, names: LabelSpace) -> Finding | None:
    """An order by which people sort names, where it explains the answers."""
    for said, sort in ORDERS.items():
        place = {name: index for index, name in enumerate(sort(names.classes))}
        output_of = np.array([place[name] for name in names.classes])
        if (output_of == np.arange(len(names))).all():
            continue
        instead = answers == output_of[labels]
        if is_better(instead, right, least=LEAST_BETTER, n_tried=len(ORDERS)):
            return Finding(
                "labels",
                f"{_percent(right)} right, and {_percent(instead)} if the outputs are the classes {said}",
                'give the names in the order of the outputs in the card (classes = "classes.txt")',
            )
    return None


def _permuted(answers: np.ndarray, labels: np.ndarray, right: np.ndarray, names: LabelSpace) -> Finding | None:
    """Whether each class has one answer, but another's: what half of its images tell holds for the other half."""
    meant, instead = usual_answers(answers, labels)
    known = instead >= 0
    if known.sum() < LEAST_ASKED:
        return None
    holds = answers[known] == instead[known]
    swapped = {label: answer for label, answer in meant.items() if label != answer}
    # A model that takes some classes for others is wrong, not permuted: then many share an answer.
    is_permutation = len(set(meant.values())) >= ONE_TO_ONE * len(meant) and len(swapped) > len(meant) / 2
    if is_permutation and is_better(holds, right[known], least=LEAST_BETTER, n_tried=1):
        some = ", ".join(
            f"{names.classes[label]!r} is answered by output {answer}"
            for label, answer in list(swapped.items())[:EXAMPLES]
        )
        return Finding(
            "labels",
            f"{_percent(right)} right, but the images of a class get one answer in {_percent(holds)}: the outputs "
            f"are in another order ({some}, ...)",
            'give the names in the order of the outputs in the card (classes = "classes.txt")',
        )
    return None


def usual_answers(answers: np.ndarray, labels: np.ndarray) -> tuple[dict[int, int], np.ndarray]:
    """The commonest answer to each class of four images or more; and to each image that of the class's other half.

    >>> usual_answers(np.array([5, 5, 5, 6, 1]), np.array([0, 0, 0, 0, 1]))
    ({0: 5}, array([ 5,  5,  5,  5, -1]))
    """
    expected = np.full(len(answers), -1)
    meant: dict[int, int] = {}
    for label in np.unique(labels).tolist():
        places = np.flatnonzero(labels == label)
        if len(places) < 4:
            continue
        meant[label] = Counter(answers[places].tolist()).most_common(1)[0][0]
        for own, other in ((places[::2], places[1::2]), (places[1::2], places[::2])):
            expected[own] = Counter(answers[other].tolist()).most_common(1)[0][0]
    return meant, expected


def _percent(right: np.ndarray) -> str:
    return f"{100 * float(right.mean()):.1f} %"
