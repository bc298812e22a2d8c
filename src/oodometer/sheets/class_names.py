"""What the classes of images are called by people."""

from __future__ import annotations

import numpy as np

from oodometer.catalogue.class_names import IMAGENET, spoken
from oodometer.core.condition import Condition
from oodometer.core.labels import NUMBERS, LabelSpace, align

NO_CLASS = "of no class"
N_IMAGENET = 1000


def human(name: str, space: LabelSpace) -> str:
    """A class as people call it.

    Args:
        space: The classes it is one of; a thousand numbers are those of ImageNet, as in ImageNetV2.

    >>> human("n02099601", LabelSpace("imagenet-1k", ())), human("fire_engine", LabelSpace("icons", ()))
    ('golden retriever', 'fire engine')
    """
    known_as = IMAGENET if space.name == NUMBERS and len(space) == N_IMAGENET else space.name
    called = spoken(name, known_as)
    return called.removesuffix(f" ({name})").replace("_", " ")


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
    called = np.array([*(human(name, space) for name in space.classes), NO_CLASS])
    return np.asarray(called[labels])  # -1 is the last one
