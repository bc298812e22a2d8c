"""Small copies of all images that are shown, made before anybody waits for them."""

from __future__ import annotations

from oodometer.build.testset.project.image_files import SMALL, small_copy
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import IMAGE, SHOWN, sa
from oodometer.core.dataset import Progress, silent


def make_small_copies(project: Project, *, progress: Progress = silent) -> int:
    """Make those that are missing of images in tasks, and tell how many that were."""
    query = sa.select(IMAGE.c.file).join(SHOWN, SHOWN.c.image_id == IMAGE.c.id).distinct().order_by(IMAGE.c.file)
    folder = project.folder / SMALL
    there = {place.stem for place in folder.iterdir()} if folder.exists() else set()
    files = [row.file for row in project.database.rows(query)]
    missing = [file for file in files if file.rpartition("/")[2].rpartition(".")[0] not in there]
    for done, file in enumerate(missing, start=1):
        small_copy(project.folder, file)
        progress(done, len(missing))
    return len(missing)
