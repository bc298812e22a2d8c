"""The images of a project that people called near-duplicates of images of another set."""

from __future__ import annotations

from oodometer.build.testset.project.close_pairs import DUPLICATE, ORIGINALS, POOL, verdicts
from oodometer.build.testset.project.project import Project
from oodometer.core.errors import DataError


def judged_duplicates(project: Project, against: str | None = None) -> list[str]:
    """The candidates of a project of which somebody said that they have a near-duplicate in another set.

    Args:
        against: The address of that set, as it was searched; by default any but the pool and the originals.
    """
    pairs = verdicts(project, verdict=DUPLICATE)
    others = sorted({other for _, other, _, _ in pairs} - {POOL, ORIGINALS})
    wanted = others if against is None else [against]
    keys = dict.fromkeys(key for key, other, _, _ in pairs if other in wanted)
    if not keys:
        known = f"; there are pairs with {', '.join(others)}" if others else ""
        raise DataError(
            f"{project.folder}: no pair with {against or 'another set'} was judged a near-duplicate{known}; search "
            f"with: oodometer testset duplicates {project.folder} --against TRAIN, and look at what it finds"
        )
    return list(keys)
