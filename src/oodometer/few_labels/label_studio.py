"""Images to label as tasks of Label Studio, and the labels from its export.

A task offers the classes that models answered to its image, or all of them where they are few, in alphabetical order:
who labels does not see how many models say what. Whether a model is right needs no more than that. Another class can be
written down, and an image may show none.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from oodometer.core.errors import DataError, UsageError
from oodometer.core.reading import check_regular, reading
from oodometer.few_labels.choose import ChosenImages
from oodometer.few_labels.label_table import COLUMNS, NONE, FewLabels, design_in, probabilities_in, write_text

TASKS, CONFIG = "tasks.json", "labelling.xml"
ALL_CLASSES = 20
"""As many classes are all offered with every image."""

CHOICE, WRITTEN = "label", "another"
"""What the configuration calls the choice and the field for another class."""

LABELLING = f"""<View>
  <Header value='Which of these does the image show?'/>
  <Image name='image' value='$image'/>
  <Choices name='{CHOICE}' toName='image' choice='single' value='$choices'/>
  <Header value='Or another class, by its name:'/>
  <TextArea name='{WRITTEN}' toName='image' maxSubmissions='1'/>
</View>
"""


def write_for_label_studio(
    chosen: ChosenImages, folder: str | Path, *, images_at: str, paths: Mapping[str, str] | None = None
) -> tuple[Path, Path]:
    """Write the configuration and the tasks; where they are.

    Args:
        folder: Made where it is not there.
        images_at: The address below which the images are served.
        paths: Of each image below that address; None: its id is its path.
    """
    if "://" not in images_at:
        raise UsageError(f"--images-at {images_at}: expected an address such as https://example.org/street")
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{place}: can't be made ({error.strerror})") from error
    tasks = [
        {"data": _data(chosen, at, f"{images_at.rstrip('/')}/{_below((paths or {}).get(one, one))}")}
        for at, one in enumerate(chosen.ids)
    ]
    write_text(place / TASKS, json.dumps(tasks, indent=1, ensure_ascii=False) + "\n")
    write_text(place / CONFIG, LABELLING)
    return place / TASKS, place / CONFIG


def _below(path: str) -> str:
    """A path as the end of an address; refused where it would lead out of the address below which images are served."""
    if ".." in path.replace("\\", "/").split("/"):
        raise UsageError(
            f"{path!r}: leads out of the folder of the images, where Label Studio could show any other file of the "
            "server; put the images below one folder, or label with --for csv"
        )
    return quote(path)


def _data(chosen: ChosenImages, at: int, address: str) -> dict[str, Any]:
    offered = chosen.classes if len(chosen.classes) <= ALL_CLASSES else chosen.answered[at]
    classes = [{"value": name} for name in sorted(offered)]
    values = (chosen.ids[at], chosen.labels[at], chosen.probabilities[at])
    about = (chosen.design.name, chosen.design.pool_size, chosen.design.pool)
    return {"image": address, "choices": [*classes, {"value": NONE}], **dict(zip(COLUMNS, values + about, strict=True))}


def read_export(path: str | Path) -> FewLabels:
    """The labels in an export of Label Studio as JSON: of each image what most who labelled it say."""
    with reading(str(path), "export of Label Studio", todo="export as JSON"):
        check_regular(path)
        tasks = json.loads(Path(path).read_text("utf-8-sig"))
    rows = [_row(path, number, task) for number, task in enumerate(_items(tasks), start=1)]
    if not rows:
        raise DataError(f"{path}: no tasks in it; export from Label Studio as JSON")
    labelled = [row for row in rows if row["label"]]
    return FewLabels(
        source=str(path),
        ids=tuple(row["id"] for row in labelled),
        labels=tuple(row["label"] for row in labelled),
        probabilities=probabilities_in(path, labelled),
        design=design_in(path, rows),
        n_chosen=len(rows),
    )


def _row(path: str | Path, number: int, task: object) -> dict[str, str]:
    data = _fields(_fields(task).get("data"))
    if "id" not in data:
        raise DataError(f"{path}: task {number} is none that 'oodometer label' wrote")
    said = [_said(_fields(one)) for one in _items(_fields(task).get("annotations"))]
    votes = Counter(one for one in said if one).most_common(2)
    tied = len(votes) == 2 and votes[0][1] == votes[1][1]
    row = {name: str(data.get(name, "")) for name in COLUMNS}
    return {**row, "label": votes[0][0] if votes and not tied else ""}


def _said(annotation: Mapping[str, Any]) -> str:
    """The label that somebody gave; empty where they gave none. What is written down counts before what is chosen."""
    if annotation.get("was_cancelled"):
        return ""
    found: dict[str, str] = {}
    for one in _items(annotation.get("result")):
        value = _fields(_fields(one).get("value"))
        texts = value.get("choices") or value.get("text")
        first = texts if isinstance(texts, str) else next(iter(_items(texts)), "")
        found[str(_fields(one).get("from_name"))] = str(first).strip()
    return found.get(WRITTEN) or found.get(CHOICE, "")


def _fields(value: object) -> Mapping[str, Any]:
    """An object of a file that may hold anything; none where it is something else."""
    return value if isinstance(value, dict) else {}


def _items(value: object) -> list[Any]:
    """A list of a file that may hold anything; none where it is something else."""
    return value if isinstance(value, list) else []
