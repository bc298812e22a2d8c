"""How restless a model is along perturbation sequences: flip probability, flip rate, top-5 distance."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from oodometer.core.errors import OodometerError, StoreError
from oodometer.metrics.flips import flip_scores as flips
from oodometer.metrics.flips import is_noise, mean_over_sequences, mean_rate, top5_distances
from oodometer.report.asked import Asked
from oodometer.report.estimates import shared_draws
from oodometer.report.joined import clusters_by, joined
from oodometer.report.named import cells_of
from oodometer.report.scores import Score, score_of
from oodometer.store.cells import Cell
from oodometer.store.store import Store

FRAME = re.compile(r"imagenet-p/(?P<name>[^/]+)/(?P<frame>\d+)")
COMPARED = "noise against frame 0, others against the frame before"


def flip_scores(store: Store, cells: Sequence[Cell], asked: Asked) -> Iterator[Score]:
    """The flips of one model on every sequence that it saw, and their mean."""
    for data in sorted({str(cell.condition["data"]) for cell in cells}):
        sequences = sequences_of([cell for cell in cells if cell.condition["data"] == data])
        if sequences:
            yield from _of_sequences(store, sequences, asked)
            return
    raise OodometerError(f"{cells[0].model_name}: no perturbation sequence; run --on imagenet-p")


def sequences_of(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    """Sequence to its frames in order; of sequences that have more than one."""
    found: dict[str, dict[int, Cell]] = {}
    for cell in cells:
        if match := FRAME.fullmatch(cell.condition_name):
            found.setdefault(match["name"], {})[int(match["frame"])] = cell
    for name, frames in found.items():
        if sorted(frames) != list(range(len(frames))):
            missing = min(set(range(max(frames) + 1)) - set(frames))
            raise OodometerError(f"imagenet-p/{name}: frame {missing} is missing; run --on imagenet-p to the end")
    return {name: [frames[at] for at in sorted(frames)] for name, frames in found.items() if len(frames) > 1}


def _of_sequences(store: Store, sequences: dict[str, list[Cell]], asked: Asked) -> Iterator[Score]:
    by = asked.options.normaliser
    other = _other(store, by, sequences) if by else {}
    every = [cell for frames in sequences.values() for cell in frames]
    more = [cell for frames in other.values() for cell in frames]
    # The best class of the top five is the prediction: one column serves all.
    common = joined(store, [*every, *more], lambda rows: rows.top5, labelled=False)
    clusters = clusters_by(store, every[0], common, asked.how.by)
    best = iter(common.values)
    top5 = [
        (name, np.stack([next(best) for _ in frames], axis=1)) for name, frames in (*sequences.items(), *other.items())
    ]
    kinds: list[tuple[str, str, list[np.ndarray]]] = []
    if asked.wants("flip-probability", "mean-flip-rate"):
        scores = [flips(frames[:, :, 0], noise=is_noise(name)) for name, frames in top5]
        kinds.append(("flip-probability", "share of frames with another prediction", scores))
    if asked.wants("top-5-distance"):
        scores = [top5_distances(frames, noise=is_noise(name)) for name, frames in top5]
        kinds.append(("top-5-distance", "how far the five best classes move", scores))
    for metric, what, scores in kinds:
        draws = shared_draws(np.stack(scores, axis=1), asked.how, clusters)
        of_model, of_other = draws.means[:, : len(sequences)], draws.means[:, len(sequences) :]
        numbers = [(metric, f"imagenet-p/{name}", of_model[:, place]) for place, name in enumerate(sequences)]
        numbers.append((metric, "imagenet-p", mean_over_sequences(of_model)))
        if by and metric == "flip-probability":
            numbers.append(("mean-flip-rate", "imagenet-p", mean_rate(of_model, of_other)))
        for name, condition, values in numbers:
            if asked.wants(name):
                convention = (
                    f"{what}, {COMPARED}"
                    if name == metric
                    else f"mean over sequences of the flip probability by that of {by}"
                )
                estimate = draws.estimate(values)
                yield score_of(
                    store, every, name, estimate, condition=condition, missing=common.left_out, convention=convention
                )
    if asked.wants("mean-flip-rate") and not by:
        raise OodometerError("mean-flip-rate: needs a model to divide by; name one of the store with --normaliser")


def _other(store: Store, name: str, sequences: dict[str, list[Cell]]) -> dict[str, list[Cell]]:
    """The same sequences of the normaliser."""
    data = next(iter(sequences.values()))[0].condition["data"]
    found = sequences_of([cell for cell in cells_of(name, store.cells(), store) if cell.condition["data"] == data])
    missing = [one for one in sequences if one not in found]
    if missing:
        raise StoreError(f"{store}: the normaliser {name} was not run on imagenet-p/{missing[0]} of the same data")
    return {one: found[one] for one in sequences}
