"""What the classes of images are called by people."""

from __future__ import annotations

import numpy as np

from oodometer.catalogue.class_names import human_names
from oodometer.core.condition import Condition
from oodometer.core.labels import NUMBERS, LabelSpace, align

NO_CLASS = "of no class"


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
