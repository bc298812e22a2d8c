"""Compiled fog: the plasma grows from 1 x 1 to its full side, each level written next to the one before."""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.jit import jit


@jit
def _add_noise(row: np.ndarray, draws: np.ndarray, step: np.float32, base: np.float32) -> None:
    for j in range(len(draws)):
        row[j] = np.float32(0.25) * row[j] + (np.float32(draws[j]) * step + base)


@jit
def _centres(grid: np.ndarray, n: int, draws: np.ndarray, step: np.float32, base: np.float32) -> np.ndarray:
    """The centres of the squares, (n, n + 1), the last column repeated before the first."""
    centres = np.empty((n, n + 1), np.float32)
    for i in range(n):
        here, below = grid[i], grid[(i + 1) % n]
        row = centres[i, 1:]
        for j in range(n):
            row[j] = (here[j] + here[j + 1]) + (below[j] + below[j + 1])
        _add_noise(row, draws[i * n : (i + 1) * n], step, base)
        centres[i, 0] = row[n - 1]
    return centres


@jit
def _finer(grid: np.ndarray, n: int, draws: np.ndarray, wibble: float) -> np.ndarray:
    """The next level, (2 n, 2 n + 1), the first column repeated after the last."""
    step = np.float32(2 * wibble * wibble / 65536)
    base = np.float32(wibble * wibble / 65536 - wibble * wibble)
    centres = _centres(grid, n, draws[: n * n], step, base)
    finer = np.empty((2 * n, 2 * n + 1), np.float32)
    across = np.empty(n, np.float32)
    down = np.empty(n, np.float32)
    for i in range(n):
        here, below = grid[i], grid[(i + 1) % n]
        middle, above = centres[i], centres[(i - 1) % n]
        for j in range(n):
            across[j] = (middle[j + 1] + above[j + 1]) + (here[j] + here[j + 1])
        for j in range(n):
            down[j] = (middle[j + 1] + middle[j]) + (here[j] + below[j])
        _add_noise(across, draws[(n + i) * n : (n + i + 1) * n], step, base)
        _add_noise(down, draws[(2 * n + i) * n : (2 * n + i + 1) * n], step, base)
        even, odd = finer[2 * i], finer[2 * i + 1]
        for j in range(n):
            even[2 * j] = here[j]
            even[2 * j + 1] = across[j]
        for j in range(n):
            odd[2 * j] = down[j]
            odd[2 * j + 1] = middle[j + 1]
        even[2 * n] = even[0]
        odd[2 * n] = odd[0]
    return finer


@jit
def plasma_float32(draws: np.ndarray, side: int, wibble: float, decay: float) -> np.ndarray:
    """The plasma before it is normalised, (side, side + 1)."""
    grid = np.zeros((1, 2), np.float32)
    n = 1
    used = 0
    while n < side:
        grid = _finer(grid, n, draws[used : used + 3 * n * n], wibble)
        used += 3 * n * n
        n *= 2
        wibble /= decay
    return grid


@jit
def _range(grid: np.ndarray) -> tuple[float, float]:
    """Smallest and largest value; column by column first, which vectorises."""
    low, high = grid[0].copy(), grid[0].copy()
    for i in range(1, grid.shape[0]):
        row = grid[i]
        for j in range(len(row)):
            low[j] = min(low[j], row[j])
            high[j] = max(high[j], row[j])
    return low.min(), high.max()


@jit
def _largest(image: np.ndarray) -> int:
    """The largest value; row by row first, which vectorises."""
    high = image[0].copy().reshape(-1)
    for i in range(1, image.shape[0]):
        row = image[i].reshape(-1)
        for j in range(len(row)):
            high[j] = max(high[j], row[j])
    return int(high.max())


@jit
def fog_kernel(
    image: np.ndarray, draws: np.ndarray, side: int, wibble: float, weight: float, decay: float
) -> np.ndarray:
    """The image in the fog of these draws, (H, W, 3) uint8."""
    height, width = image.shape[:2]
    grid = plasma_float32(draws, side, wibble, decay)
    low, high = _range(grid)
    brightest = _largest(image) / 255.0
    keep = np.float32(brightest / (brightest + weight))
    gain = np.float32(255 * weight * brightest / (brightest + weight) / (high - low))
    low32 = np.float32(low)
    out = np.empty_like(image)
    cloud = np.empty(3 * width, np.float32)
    for i in range(height):
        row = grid[i]
        for j in range(width):
            value = (row[j] - low32) * gain
            cloud[3 * j] = value
            cloud[3 * j + 1] = value
            cloud[3 * j + 2] = value
        source, target = image[i].reshape(-1), out[i].reshape(-1)
        for j in range(3 * width):
            # Truncated through int32, which vectorises; the sum never exceeds the largest value of the image.
            target[j] = np.uint8(np.int32(np.float32(source[j]) * keep + cloud[j]))
    return out
