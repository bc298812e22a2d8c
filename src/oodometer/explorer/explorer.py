"""What the pages are drawn from: the index of a store, its study, and the images where they are on disk."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from oodometer.analysis.cell_accuracies import accuracies_of
from oodometer.analysis.compare import Comparison, comparison_of
from oodometer.analysis.compare_family import FamilyComparison, FamilyPairs, family_comparison_of
from oodometer.analysis.origins import Origin
from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.core.records import ShiftRecord
from oodometer.explorer import queries
from oodometer.explorer.answer_tables import AnswerTables
from oodometer.explorer.catalogue import Catalogue, Held, UnknownName
from oodometer.explorer.cell_answers import Agreed, CellAnswers, pairs_of, read_answers
from oodometer.explorer.progress import Progress
from oodometer.store.queries import Pairs, literal
from oodometer.store.store import Store
from oodometer.study import Picture, Study, study_of

KEPT_CELLS = 16
"""Cells whose rows stay in memory: those that are looked at just now."""

LEAST_PAUSE = 10.0
PAUSES = 5.0
"""Between two studies of a store that a run is going on in: so many seconds, and so many times what one takes."""


class EndedError(OodometerError):
    """Nobody looks any more."""


class Explorer:
    """A store that is looked at; all methods may be called from several threads.

    Args:
        origins: Category and parent of models whose cards do not say.
        picture: The images behind the predictions, those that may be shown; None: none.
    """

    def __init__(
        self, store: Store, *, origins: Mapping[str, Origin] | None = None, picture: Picture | None = None
    ) -> None:
        self.store = store
        self.index = AnswerTables(store)
        self.picture = picture
        self._origins = dict(origins or {})
        self._study: Study | None = None
        self._why_no_study = ""
        self._studied = 0
        self._progress = Progress("shifts", 0, 0, 0.0)
        self._pause_until = 0.0
        self._working = threading.Lock()
        self._beginning = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._ended = False
        self.accuracies = lru_cache(2)(self._accuracies)
        self.pairs_run = lru_cache(2)(self._pairs_run)
        self.cells_of_data = lru_cache(64)(self._cells_of_data)
        self._class_names = lru_cache(4096)(self._read_class_names)
        self._compared = lru_cache(4096)(self._compare)
        self.family_comparison = lru_cache(1024)(self._compare_family)
        self.drawn = lru_cache(1024)(self._draw)
        self.answers = lru_cache(KEPT_CELLS)(self._answers)
        self._agreed = lru_cache(KEPT_CELLS)(self._agree)

    def close(self) -> None:
        """Forget the index, once what goes on in the background has stopped."""
        with self._beginning:
            self._ended = True
        for thread in self._threads:
            thread.join()
        self.index.close()

    def behind(self, work: Callable[[], None]) -> bool:
        """Begin some work in the background, unless the explorer has ended; whether it was begun.

        It is waited for at the end: a thread that Python leaves behind inside DuckDB or Arrow aborts the process.
        """
        with self._beginning:
            if self._ended:
                return False
            thread = threading.Thread(target=work)
            self._threads = [*(one for one in self._threads if one.is_alive()), thread]
            thread.start()
            return True

    def catalogue(self) -> Catalogue:
        """What is in the store now."""
        return self.index.catalogue()

    def state(self) -> tuple[int, int, bool]:
        """What pages depend on: while it is the same, so are they."""
        study = self.study()
        return self.catalogue().version, id(study), self.progress() is not None

    def progress(self) -> Progress | None:
        """How far what is computed in the background is; None where all is computed."""
        return (self._progress if self.studying else None) or self.index.progress()

    # The study

    def study(self) -> Study | None:
        """All shifts with their lines: the newest that is finished; None where none is yet, or none can be made.

        Whenever the store has changed, another is begun in the background.
        """
        version = self.catalogue().version
        due = version != self._studied and time.monotonic() >= self._pause_until
        if due and self._working.acquire(blocking=False) and not self.behind(lambda: self._make_study(version)):
            self._working.release()
        return self._study

    @property
    def studying(self) -> bool:
        """Whether a study is being made, so that looking again is worth it."""
        return self._working.locked()

    @property
    def why_no_study(self) -> str:
        """Why none can be made; empty where one can."""
        return self._why_no_study

    def wait_for_study(self) -> Study | None:
        """The study of what is in the store now."""
        self._pause_until = 0.0
        self.study()
        self.index.wait()
        with self._working:
            return self._study

    def _make_study(self, version: int) -> None:
        begun = time.monotonic()
        self._progress = Progress("shifts", 0, 0, begun)
        try:
            found = study_of(self.catalogue().index, origins=self._origins, progress=self._told)
            self._study = replace(found, picture=self.picture)
            self._why_no_study = ""
        except OodometerError as why:
            self._why_no_study = str(why)
        finally:
            self._studied = version
            spent = time.monotonic() - begun
            self._pause_until = time.monotonic() + max(LEAST_PAUSE, PAUSES * spent)
            self._working.release()

    def _told(self, done: int, total: int) -> None:
        if self._ended:
            raise EndedError("the explorer has ended")
        self._progress = replace(self._progress, done=done, total=total)

    # Numbers

    def _pairs_run(self, catalogue: Catalogue) -> list[ShiftRecord]:
        """Which conditions were run as the two sides of a shift."""
        return list(catalogue.index.shifts)

    def _cells_of_data(self, catalogue: Catalogue, digests: tuple[str, ...]) -> list[Held]:
        """The cells about these images: on clean sets first, those of families of corruptions last."""
        from oodometer.explorer.pages.answers import in_order

        return in_order(self, [one for digest in digests for one in catalogue.of_data(digest)])

    def _accuracies(self, catalogue: Catalogue) -> dict[int, Estimate]:
        """Top-1 of every cell that has labelled rows, by its number: the same as of ``score``."""
        held = [one for one in catalogue.held if one.n]
        cells, right, n = ([getattr(one, name) for one in held] for name in ("cell", "top1", "n"))
        estimates = accuracies_of(catalogue.index, cells, right, n, 0.95)
        return {one.number: estimate for one, estimate in zip(held, estimates, strict=True)}

    def origin(self, held: Held) -> Origin:
        """Where the model comes from: what the user says, else its card."""
        from oodometer.analysis.origins import origin_of

        return origin_of(held.cell, held.model, self._origins)

    def comparison(self, a: Held, b: Held) -> Comparison:
        """Model B against model A on one condition: the same as of ``compare``."""
        return self._compared(a, b)

    def _compare(self, a: Held, b: Held) -> Comparison:
        pairs = self._pairs(a, b)
        if not pairs.n:
            raise UnknownName(f"{a.model} and {b.model} on {a.condition}: no labelled image in common")
        return comparison_of(self.catalogue().index, a.cell, b.cell, pairs)

    def _compare_family(self, name: str, pairs: tuple[tuple[Held, Held], ...]) -> FamilyComparison:
        """Model B against model A over conditions of a family: the same as of ``compare``."""
        cells = tuple((a.cell, b.cell) for a, b in pairs)
        return family_comparison_of(self.catalogue().index, FamilyPairs(name, cells, ()))

    def _pairs(self, a: Held, b: Held) -> Pairs:
        """The images that both saw: of one condition and so of one data set, where positions say which they are."""
        several = a.cell.answers is not None or b.cell.answers is not None
        return pairs_of(
            self.answers(a),
            self.answers(b),
            grouped=a.cell.n_units is not None or b.cell.n_units is not None,
            same_numbers=several and a.cell.answers == b.cell.answers,
        )

    def _answers(self, held: Held) -> CellAnswers:
        """The rows of a cell."""
        return read_answers(self.catalogue().index, held)

    def agreement(self, held: Held) -> Agreed:
        """How many models are right on each image of a condition; kept where all answers are read."""
        catalogue = self.catalogue()
        data = catalogue.data[held.data]
        known = self._agreed if self.index.progress() is None else self._agree
        return known(catalogue.version, held.asked, data.first, data.n)

    def _agree(self, _: int, condition: int, first: int, n: int) -> Agreed:
        columns = self.index.ask_columns(queries.AGREED, condition=condition, first=first, last=first + n - 1)
        return Agreed(columns["place"].astype(np.int64) - first, columns["n"], columns["n_right"])

    def _draw(self, key: str, id_: str, longest: int) -> bytes:
        from oodometer.explorer.pages.picture import draw

        return draw(self, self.catalogue().cell_of_key(key).cell, id_, longest)

    # Classes

    def classes(self, catalogue: Catalogue, held: Held) -> Mapping[int, str]:
        """What the answers of a cell are called; those that are not known are not there."""
        return self._class_names(catalogue, _numbering(held), held.data)

    def _read_class_names(self, catalogue: Catalogue, numbering: tuple[str, str], digest: str) -> dict[int, str]:
        """Of all cells that number their classes alike, one tells it; of these data if it can."""
        alike = [one for one in catalogue.held if one.n and _numbering(one) == numbering]
        held = next((one for one in alike if one.data == digest), alike[0] if alike else None)
        if held is None:  # without labels nothing tells how a model numbers its classes
            return {}
        data = catalogue.data[held.data]
        pairs = self.index.ask(queries.LABEL_PAIRS, files=literal(list(held.files)), first=data.first)
        if all(answer == label for answer, label in pairs):
            return dict(enumerate(data.classes))
        found: dict[int, list[int]] = {}
        for answer, label in pairs:
            found.setdefault(answer, []).append(label)
        # A class that stands for several of the data's has no name here.
        return {answer: data.classes[labels[0]] for answer, labels in found.items() if len(labels) == 1}


def _numbering(held: Held) -> tuple[str, str]:
    """Cells that have this in common number their classes alike."""
    of_model = held.cell.model.classes or f"{held.model}@{held.cell.model.weights}"
    return str(of_model), str(held.cell.condition.label_map)
