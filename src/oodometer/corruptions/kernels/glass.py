"""The local copies of glass blur."""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.jit import jit


@jit
def copy_near(image: np.ndarray, codes: np.ndarray, reach: int) -> None:
    """Copies to each pixel, from the last to the first, one near it; in place, (H, W, 3) uint8.

    Args:
        codes: 16 random bits for each step of each pass, (passes, H - 2 * reach, W - 2 * reach) uint16.
        reach: The largest offset.
    """
    height, width = image.shape[0], image.shape[1]
    pixels = image.reshape(height * width * 3)
    n = 4 * reach * reach
    shifts = np.empty(n, dtype=np.int64)
    for code in range(n):
        shifts[code] = ((code // (2 * reach) - reach) * width + code % (2 * reach) - reach) * 3
    for i in range(codes.shape[0]):
        for row in range(codes.shape[1]):
            start = ((height - reach - row) * width + width - reach) * 3
            line = codes[i, row]
            for column in range(line.size):
                to = start - column * 3
                source = np.uint64(to + shifts[(np.int64(line[column]) * n) >> 16])
                target = np.uint64(to)
                pixels[target] = pixels[source]
                pixels[target + np.uint64(1)] = pixels[source + np.uint64(1)]
                pixels[target + np.uint64(2)] = pixels[source + np.uint64(2)]
