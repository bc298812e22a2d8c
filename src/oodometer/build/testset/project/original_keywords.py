"""The keywords of a project's original images: found by their neighbours, and kept with them."""

from __future__ import annotations

from oodometer.build.testset.keywords import Keywords, counts_of, keywords_by_neighbour
from oodometer.build.testset.likeness import PIXELS
from oodometer.build.testset.project.kept_pictures import KeptPictures
from oodometer.build.testset.project.pool import ORIGINAL, pool_images
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import IMAGE, sa
from oodometer.core.dataset import Progress, silent
from oodometer.core.errors import DataError
from oodometer.data.load import load_data


def find_keywords(
    project: Project, source: str, *, metric: str = PIXELS, within: float = float("inf"), progress: Progress = silent
) -> Keywords:
    """Give each original image the keyword of its nearest neighbour in the data at an address.

    Args:
        source: With a column ``keyword``, or with keywords for classes.
        metric: By which it is near.
        within: Originals whose neighbour is further get none.
    """
    data = load_data(source)
    originals = pool_images(project, role=ORIGINAL)
    if not originals:
        raise DataError(f"{project.folder}: it has no original images; begin it with --original")
    pictures = KeptPictures(project.folder, tuple(one.file for one in originals))
    names = [one.class_name for one in originals]
    found = keywords_by_neighbour(pictures, names, data, metric=metric, within=within, progress=progress)
    with project.database.writing() as connection:
        for image, word in zip(originals, found.of, strict=True):
            connection.execute(sa.update(IMAGE).where(IMAGE.c.id == image.id).values(keyword=word))
    return found


def original_keywords(project: Project) -> dict[str, dict[str, int]]:
    """By class how many originals have each keyword, as it is kept."""
    originals = pool_images(project, role=ORIGINAL)
    return counts_of([one.class_name for one in originals], [one.keyword for one in originals])
