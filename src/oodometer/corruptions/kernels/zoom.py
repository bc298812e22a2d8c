"""The layers of zoom blur, enlarged and added up.

A pixel is one word of 64 bits with its three channels in 16 bits each. The products of bytes with weights out of 256
stay below 65536, so that one multiplication serves all three.
"""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.jit import jit


@jit
def packed(image: np.ndarray, words: np.ndarray) -> None:
    """Each pixel as a word: 16 bits for each channel, the lowest for the first."""
    for y in range(image.shape[0]):
        source, target = image[y], words[y]
        for x in range(target.size):
            target[x] = (
                np.uint64(source[x, 0])
                | (np.uint64(source[x, 1]) << np.uint64(16))
                | (np.uint64(source[x, 2]) << np.uint64(32))
            )


@jit
def stretch_row(source: np.ndarray, at: np.ndarray, share: np.ndarray, target: np.ndarray) -> None:
    """A row enlarged, 256 times as bright: source[at] and the pixel after it, that with ``share`` out of 256."""
    for x in range(target.size):
        here, after = source[at[x]], source[at[x] + np.uint32(1)]
        # Modulo 2**64 this is here * (256 - share) + after * share, in which no channel flows over.
        target[x] = (here << np.uint64(8)) + (after - here) * share[x]


@jit
def add_rows(total: np.ndarray, a: np.ndarray, b: np.ndarray, wa: float, wb: float) -> None:
    """Total += wa * a + wb * b, float32 and uint16."""
    for i in range(total.size):
        total[i] += wa * np.float32(a[i]) + wb * np.float32(b[i])


@jit
def add_layer(
    words: np.ndarray,
    columns: tuple[np.ndarray, np.ndarray],
    rows: tuple[np.ndarray, np.ndarray, np.ndarray],
    wide: np.ndarray,
    total: np.ndarray,
) -> None:
    """Adds one enlarged layer to the total.

    Args:
        words: The packed image, (H, W + 1) uint64.
        columns: For each column of the layer, that of the image before it, and the share of the next, out of 256.
        rows: For each row the same, but with the weights of both rows, float32.
        wide: Room for the rows of the image at the width of the layer, (H + 1, W) uint64.
        total: (H, W * 4) float32.
    """
    at, share = columns
    row, before, after = rows
    for y in range(row[0], row[-1] + 2):
        if y < words.shape[0]:
            stretch_row(words[y], at, share, wide[y])
    lanes = wide.view(np.uint16)
    for y in range(row.size):
        add_rows(total[y], lanes[row[y]], lanes[row[y] + 1], before[y], after[y])


@jit
def unpacked(total: np.ndarray, offset: float, out: np.ndarray) -> None:
    """The total as bytes, floored, (H, W * 4) float32 -> (H, W, 3) uint8."""
    line = np.empty(total.shape[1], dtype=np.uint8)
    for y in range(out.shape[0]):
        source, target = total[y], out[y]
        for i in range(line.size):
            line[i] = np.uint8(min(max(source[i] + np.float32(offset), np.float32(0)), np.float32(255)))
        for x in range(target.shape[0]):
            target[x, 0] = line[4 * x]
            target[x, 1] = line[4 * x + 1]
            target[x, 2] = line[4 * x + 2]
