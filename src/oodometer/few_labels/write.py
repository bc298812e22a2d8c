"""Chosen images in the form in which they are labelled."""

from __future__ import annotations

from shlex import quote

from oodometer.core.errors import UsageError
from oodometer.few_labels.annotation_page import write_for_testset
from oodometer.few_labels.choose import ChosenImages
from oodometer.few_labels.image_paths import image_paths
from oodometer.few_labels.label_studio import write_for_label_studio

FORMS = ("csv", "label-studio", "testset")


def write_chosen(
    chosen: ChosenImages, form: str, out: str | None, *, data: str | None = None, images_at: str | None = None
) -> list[str]:
    """Write them, and say what was written and what to do next; nothing where there is nowhere to write.

    Args:
        form: One of `FORMS`.
        out: A file, or a folder for forms of several files.
        data: Where the images are, for their paths.
        images_at: The address at which Label Studio finds them.
    """
    if form not in FORMS:
        raise UsageError(f"no form {form!r}; there are {', '.join(FORMS)}")
    if out is None and form != "csv":
        raise UsageError(f"--for {form} writes several files: say where with --out FOLDER")
    if out is None:
        return []
    if form == "csv":
        chosen.write_csv(out)
        return [f"{out}: fill in the column label, then: {_estimate(chosen, out)}"]
    if form == "label-studio":
        if images_at is None:
            raise UsageError("Label Studio needs the address of the images: --images-at URL")
        paths = image_paths(data) if data else None
        tasks, config = write_for_label_studio(chosen, out, images_at=images_at, paths=paths)
        said = f"{config}: the labelling interface; {tasks}: to import; then, with the export as JSON:"
        by_id = "addresses end in the ids of the images; with --data FOLDER they end in the names of its files"
        return [*([] if data else [by_id]), said, f"  {_estimate(chosen, 'export.json')}"]
    if data is None:
        raise UsageError("the page of 'oodometer testset' needs the files of the images: --data FOLDER")
    candidates, classes = write_for_testset(chosen, out, paths=image_paths(data))
    return [
        f"{candidates}, {classes}: now, with a new folder PROJECT:",
        f"  oodometer testset new PROJECT --classes {quote(str(classes))}",
        f"  oodometer testset add PROJECT {quote(data)} --from {quote(str(candidates))}",
        "  oodometer testset tasks PROJECT --controls 0+0 --workers 1, then: oodometer testset serve PROJECT",
        f"  and at last: {_estimate(chosen, 'PROJECT')}",
    ]


def _estimate(chosen: ChosenImages, labels: str) -> str:
    return f"oodometer estimate {quote(chosen.store)} --shifted {quote(chosen.shifted)} --labels {quote(labels)}"
