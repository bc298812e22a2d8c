"""Small CIFAR-10 and CIFAR-100 in the published layout, python and binary, whose images tell their broad class."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np

from oodometer.data.layouts.cifar_100 import broad_classes, subtypes

FINE_BELOW_COARSE = {
    # https://www.cs.toronto.edu/~kriz/cifar.html; the numbers are those of the published labels.
    0: [4, 30, 55, 72, 95], 1: [1, 32, 67, 73, 91], 2: [54, 62, 70, 82, 92], 3: [9, 10, 16, 28, 61],
    4: [0, 51, 53, 57, 83], 5: [22, 39, 40, 86, 87], 6: [5, 20, 25, 84, 94], 7: [6, 7, 14, 18, 24],
    8: [3, 42, 43, 88, 97], 9: [12, 17, 37, 68, 76], 10: [23, 33, 49, 60, 71], 11: [15, 19, 21, 31, 38],
    12: [34, 63, 64, 66, 75], 13: [26, 45, 77, 79, 99], 14: [2, 11, 35, 46, 98], 15: [27, 29, 44, 78, 93],
    16: [36, 50, 65, 74, 80], 17: [47, 52, 56, 59, 96], 18: [8, 13, 48, 58, 90], 19: [41, 69, 81, 85, 89],
}  # fmt: skip


def pixels(labels: np.ndarray, n_classes: int, seed: int) -> np.ndarray:
    """Images (N, 3072) uint8 as in the batches: all red values, all green ones, all blue ones."""
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 60, (len(labels), 3, 32, 32), dtype=np.uint8)
    images[:, 0] += (labels * (190 // n_classes)).astype(np.uint8)[:, None, None]
    return images.reshape(-1, 3072)


def put_cifar_100(folder: Path, *, per_subtype: int, binary: bool = False) -> None:
    """The batches train, test and meta with so many images of each of the 100 classes, in an order of chance."""
    folder.mkdir(parents=True)
    coarse_of = {fine: coarse for coarse, some in FINE_BELOW_COARSE.items() for fine in some}
    for seed, (part, n) in enumerate((("train", per_subtype), ("test", max(per_subtype // 2, 1)))):
        fine = np.random.default_rng(seed).permutation(np.repeat(np.arange(100), n))
        coarse = np.array([coarse_of[one] for one in fine.tolist()])
        data = pixels(coarse, 20, seed)
        if binary:
            records = np.hstack([coarse[:, None].astype(np.uint8), fine[:, None].astype(np.uint8), data])
            (folder / f"{part}.bin").write_bytes(records.tobytes())
            continue
        batch = {
            b"filenames": [b"x.png"] * len(fine),
            b"batch_label": b"training batch 1 of 1",
            b"fine_labels": fine.tolist(),
            b"coarse_labels": coarse.tolist(),
            b"data": data,
        }
        (folder / part).write_bytes(pickle.dumps(batch, protocol=2))
    names = {b"fine_label_names": subtypes().classes, b"coarse_label_names": broad_classes().classes}
    if not binary:
        encoded = {key: [name.encode() for name in some] for key, some in names.items()}
        (folder / "meta").write_bytes(pickle.dumps(encoded, protocol=2))


def put_cifar_10(folder: Path, *, per_batch: int, binary: bool = False) -> None:
    """The five training batches and the test batch, each with so many images."""
    folder.mkdir(parents=True)
    for number in range(6):
        labels = (np.arange(per_batch) * 3 + number) % 10
        data, name = pixels(labels, 10, number), f"data_batch_{number}" if number else "test_batch"
        if binary:
            records = np.hstack([labels[:, None].astype(np.uint8), data])
            (folder / f"{name}.bin").write_bytes(records.tobytes())
        else:
            batch = {b"batch_label": name.encode(), b"labels": labels.tolist(), b"data": data, b"filenames": []}
            (folder / name).write_bytes(pickle.dumps(batch, protocol=2))
