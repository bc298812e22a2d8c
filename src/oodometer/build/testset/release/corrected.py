"""The mean selection frequency of a revision without the luck that its images were chosen for."""

from __future__ import annotations

import numpy as np

from oodometer.build.testset.project.annotated import candidates_with_frequencies
from oodometer.build.testset.project.exclusions import exclusions
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.sample_request import BY_FREQUENCY, request_from
from oodometer.build.testset.release.chosen import Revision
from oodometer.build.testset.selection_bias import PoolAnswers, mean_without_selection
from oodometer.core.estimate import Estimate


def corrected_frequency(project: Project, revision: Revision) -> Estimate | None:
    """The corrected mean; None for a revision that was not sampled by frequency.

    The pool that tells how luck and recognisability mix are the candidates of enough answers that nobody took out.
    """
    last = revision.steps[-1]
    request = request_from(last.sampler, last.seed, last.arguments)
    if request.strategy not in BY_FREQUENCY or revision.reached is None:
        return None
    candidates, _ = candidates_with_frequencies(project, without_spammers=request.without_spammers)
    chosen_keys = {one.image.key for one in revision.images}
    out = {one.key for one in exclusions(project)} - chosen_keys
    chosen = np.array([one in chosen_keys for one in candidates.ids], dtype=bool)
    n = candidates.n_answers
    enough = (n > 0) & (chosen | (n >= request.needed_answers)) & np.array([one not in out for one in candidates.ids])
    hits = np.rint(np.nan_to_num(candidates.frequency) * n).astype(np.int64)
    return mean_without_selection(PoolAnswers(candidates.labels[enough], hits[enough], n[enough]), chosen[enough])
