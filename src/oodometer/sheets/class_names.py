"""What the classes of images are called by people."""

from __future__ import annotations

from collections import Counter

import numpy as np

from oodometer.catalogue.class_names import IMAGENET, spoken
from oodometer.core.condition import Condition
from oodometer.core.labels import NUMBERS, LabelSpace, align

NO_CLASS = "of no class"
N_IMAGENET = 1000


def human_names(space: LabelSpace) -> list[str]:
    """What people call each class; two that are called alike keep the id or number of the data.

    Args:
        space: The classes; a thousand numbers are those of ImageNet, as in ImageNetV2.

    >>> human_names(LabelSpace("animals", ("n02099601", "sea_lion")))
    ['golden retriever', 'sea lion']
    >>> human_names(LabelSpace("cranes", ("n02012849", "n03126707")))
    ['crane (n02012849)', 'crane (n03126707)']
    """
    known_as = IMAGENET if space.name == NUMBERS and len(space) == N_IMAGENET else space.name
    whole = [spoken(name, known_as) for name in space.classes]
    short = [text.removesuffix(f" ({name})") for text, name in zip(whole, space.classes, strict=True)]
    times = Counter(short)
    return [(brief if times[brief] == 1 else text).replace("_", " ") for brief, text in zip(short, whole, strict=True)]


def class_of_images(condition: Condition, named: LabelSpace | None = None) -> np.ndarray:
    """What the class of each image is called, (N,); `NO_CLASS` where it has none.

    Args:
        named: Where the data have only numbers: the classes that they stand for.
    """
    dataset, space = condition.dataset, condition.space
    labels = dataset.labels
    if condition.label_map is not None:
        source = condition.label_map.source
        labels = condition.label_map.labels(align(labels, dataset.space, source, what=condition.name))
    elif space.name == NUMBERS and named is not None and len(named) > labels.max(initial=-1):
        space = named
    called = np.array([*human_names(space), NO_CLASS])
    return np.asarray(called[labels])  # -1 is the last one
