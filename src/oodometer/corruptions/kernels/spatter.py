"""Compiled spatter: the steps of `oodometer.corruptions.spatter`, each in one pass."""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.jit import jit

FAR = np.int32(1 << 29)
STRAIGHT, DIAGONAL, KNIGHT = np.int32(65536), np.int32(91750), np.int32(143976)
FARTHEST = np.int32(20 * 65536)


@jit
def smooth(plane: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """A Gaussian blur with a replicated border, down and then across, (H, W) float64.

    In float64, because a value that crosses the threshold by rounding would move the edge of a drop.
    """
    height, width = plane.shape
    reach = len(weights) - 1
    out = np.empty((height, width))
    line = np.empty(width + 2 * reach)
    total = np.empty(width)
    for i in range(height):
        centre = plane[i]
        for j in range(width):
            total[j] = weights[0] * centre[j]
        for k in range(1, reach + 1):
            above, below, weight = plane[max(i - k, 0)], plane[min(i + k, height - 1)], weights[k]
            for j in range(width):
                total[j] += weight * (above[j] + below[j])
        line[:reach] = total[0]
        line[reach : reach + width] = total
        line[reach + width :] = total[width - 1]
        target = out[i]
        for j in range(width):
            target[j] = weights[0] * total[j]
        for k in range(1, reach + 1):
            left, right, weight = line[reach - k : reach - k + width], line[reach + k : reach + k + width], weights[k]
            for j in range(width):
                target[j] += weight * (left[j] + right[j])
    return out


@jit
def liquid_layer(draws: np.ndarray, loc: float, scale: float, weights: np.ndarray) -> np.ndarray:
    """The smoothed noise, (H, W) float64."""
    layer = np.empty(draws.shape)
    for i in range(draws.shape[0]):
        source, target = draws[i], layer[i]
        for j in range(len(source)):
            target[j] = loc + scale * np.float64(source[j])
    return smooth(layer, weights)


@jit
def _gradients(drops: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Across, down, and the sum of their sizes with a border of zeros, int32."""
    height, width = drops.shape
    across = np.empty((height, width), np.int32)
    down = np.empty((height, width), np.int32)
    size = np.zeros((height + 2, width + 2), np.int32)
    for i in range(height):
        above, here, below = drops[max(i - 1, 0)], drops[i], drops[min(i + 1, height - 1)]
        for j in range(width):
            left, right = max(j - 1, 0), min(j + 1, width - 1)
            x = (
                (np.int32(above[right]) - np.int32(above[left]))
                + 2 * (np.int32(here[right]) - np.int32(here[left]))
                + (np.int32(below[right]) - np.int32(below[left]))
            )
            y = (
                (np.int32(below[left]) - np.int32(above[left]))
                + 2 * (np.int32(below[j]) - np.int32(above[j]))
                + (np.int32(below[right]) - np.int32(above[right]))
            )
            across[i, j] = x
            down[i, j] = y
            size[i + 1, j + 1] = abs(x) + abs(y)
    return across, down, size


@jit
def _is_ridge(size: np.ndarray, i: int, j: int, x: np.int64, y: np.int64) -> bool:
    """Whether the gradient is largest along its own direction at (i, j) of the bordered plane."""
    here = size[i, j]
    low = abs(x) * 13573
    steep = abs(y) << 15
    if steep < low:
        return bool(here > size[i, j - 1] and here >= size[i, j + 1])
    if steep > low + (abs(x) << 16):
        return bool(here > size[i - 1, j] and here >= size[i + 1, j])
    side = -1 if (x < 0) != (y < 0) else 1
    return bool(here > size[i - 1, j - side] and here > size[i + 1, j + side])


@jit
def edges(drops: np.ndarray) -> np.ndarray:
    """Canny's edges, (H + 2, W + 2) uint8: 2 on an edge."""
    height, width = drops.shape
    across, down, size = _gradients(drops)
    state = np.zeros((height + 2, width + 2), np.uint8)
    rows = np.empty(height * width, np.int32)
    columns = np.empty(height * width, np.int32)
    n = 0
    for i in range(height):
        for j in range(width):
            here = size[i + 1, j + 1]
            if here > 50 and _is_ridge(size, i + 1, j + 1, np.int64(across[i, j]), np.int64(down[i, j])):
                state[i + 1, j + 1] = 1
                if here > 150:
                    state[i + 1, j + 1] = 2
                    rows[n], columns[n] = i + 1, j + 1
                    n += 1
    while n > 0:
        n -= 1
        i, j = rows[n], columns[n]
        for di in range(-1, 2):
            for dj in range(-1, 2):
                if state[i + di, j + dj] == 1:
                    state[i + di, j + dj] = 2
                    rows[n], columns[n] = i + di, j + dj
                    n += 1
    return state


@jit
def _steps(two: np.ndarray, one: np.ndarray, best: np.ndarray) -> None:
    """The shortest ways over the two rows before, into `best`; rows have a border of two."""
    n = len(best)
    knight_left, knight_right, straight = two[1 : 1 + n], two[3 : 3 + n], one[2 : 2 + n]
    far_left, left, right, far_right = one[:n], one[1 : 1 + n], one[3 : 3 + n], one[4 : 4 + n]
    for j in range(n):
        knight = min(min(knight_left[j], knight_right[j]), min(far_left[j], far_right[j])) + KNIGHT
        best[j] = min(min(knight, min(left[j], right[j]) + DIAGONAL), straight[j] + STRAIGHT)


@jit
def distances(state: np.ndarray) -> np.ndarray:
    """The chamfer distance to an edge, at most 20, (H, W) int32 in 2 ** -16."""
    height, width = state.shape[0] - 2, state.shape[1] - 2
    far = np.full((height + 4, width + 4), FAR, np.int32)
    best = np.empty(width, np.int32)
    out = np.empty((height, width), np.int32)
    for i in range(height):
        _steps(far[i], far[i + 1], best)
        here, edge = far[i + 2, 2 : 2 + width], state[i + 1, 1 : 1 + width]
        for j in range(width):
            here[j] = np.int32(0) if edge[j] == 2 else best[j]
        last = FAR
        for j in range(width):
            last = min(here[j], last + STRAIGHT)
            here[j] = last
    for i in range(height - 1, -1, -1):
        _steps(far[i + 4], far[i + 3], best)
        here, target = far[i + 2, 2 : 2 + width], out[i]
        for j in range(width):
            here[j] = min(here[j], best[j])
        last = FAR
        for j in range(width - 1, -1, -1):
            last = min(here[j], last + STRAIGHT)
            here[j] = last
        for j in range(width):
            target[j] = min(here[j], FARTHEST)
    return out


@jit
def box_sum(plane: np.ndarray) -> np.ndarray:
    """The sum over each 3x3 neighbourhood, mirrored at the border pixel, int32."""
    height, width = plane.shape
    out = np.empty((height, width), np.int32)
    rows = np.empty(width + 2, np.int32)
    for i in range(height):
        above, here, below = plane[abs(i - 1)], plane[i], plane[i + 1 if i + 1 < height else height - 2]
        for j in range(width):
            rows[j + 1] = above[j] + here[j] + below[j]
        rows[0] = rows[2]
        rows[width + 1] = rows[width - 1]
        target = out[i]
        for j in range(width):
            target[j] = rows[j] + rows[j + 1] + rows[j + 2]
    return out


@jit
def _equalise(levels: np.ndarray) -> None:
    """Make the histogram flat, in place."""
    flat = levels.reshape(-1)
    counts = np.zeros(256, np.int64)
    for level in flat:
        counts[level] += 1
    least = 0
    while counts[least] == 0:
        least += 1
    if counts[least] == len(flat):
        return
    scale = np.float32(255) / np.float32(len(flat) - counts[least])
    table = np.zeros(256, np.int32)
    below = 0
    for level in range(least + 1, 256):
        below += counts[level]
        table[level] = np.int32(np.rint(np.float32(below) * scale))
    for k in range(len(flat)):
        flat[k] = table[flat[k]]


@jit
def _mirrored(row: np.ndarray, out: np.ndarray) -> None:
    """The row with its neighbours mirrored at both ends."""
    n = len(row)
    out[1 : 1 + n] = row
    out[0] = row[1]
    out[n + 1] = row[n - 2]


@jit
def _relief(levels: np.ndarray) -> np.ndarray:
    """Light from one corner, cut to 0 to 255."""
    height, n = levels.shape
    out = np.empty((height, n), np.int32)
    above, here, below = np.empty(n + 2, np.int32), np.empty(n + 2, np.int32), np.empty(n + 2, np.int32)
    for i in range(height):
        _mirrored(levels[abs(i - 1)], above)
        _mirrored(levels[i], here)
        _mirrored(levels[i + 1 if i + 1 < height else height - 2], below)
        target = out[i]
        for j in range(n):
            dark = 2 * above[j] + above[j + 1] + here[j]
            light = here[j + 1] + here[j + 2] + below[j + 1] + 2 * below[j + 2]
            target[j] = min(max(light - dark, 0), 255)
    return out


@jit
def glisten(drops: np.ndarray) -> np.ndarray:
    """How drops shine, nine times over and not rounded, (H, W) int32."""
    levels = box_sum(distances(edges(drops)))
    flat = levels.reshape(-1)
    for k in range(len(flat)):
        flat[k] = np.int32(np.float32(flat[k] / 65536.0 * (1 / 9)))
    _equalise(levels)
    return box_sum(_relief(levels))


@jit
def water_kernel(
    image: np.ndarray, draws: np.ndarray, constants: tuple[float, float, float, float], weights: np.ndarray
) -> np.ndarray:
    """The image behind drops of water; constants are loc, scale, threshold and amount."""
    loc, scale, threshold, amount = constants
    height, width = draws.shape
    liquid = liquid_layer(draws, loc, scale, weights)
    drops = np.empty((height, width), np.uint8)
    for i in range(height):
        for j in range(width):
            drops[i, j] = 0 if liquid[i, j] < threshold else np.int32(liquid[i, j] * 255) & 255
    shine = glisten(drops)
    largest = np.int32(1)
    for i in range(height):
        for j in range(width):
            shine[i, j] = np.int32(drops[i, j]) * ((2 * shine[i, j] + 9) // 18)
            largest = max(largest, shine[i, j])
    out = np.empty_like(image)
    red, rest = np.float32(175 * amount / largest), np.float32(238 * amount / largest)
    top = np.float32(255)
    for i in range(height):
        for j in range(width):
            light = np.float32(shine[i, j])
            out[i, j, 0] = np.uint8(np.int32(min(np.float32(image[i, j, 0]) + light * red, top)))
            out[i, j, 1] = np.uint8(np.int32(min(np.float32(image[i, j, 1]) + light * rest, top)))
            out[i, j, 2] = np.uint8(np.int32(min(np.float32(image[i, j, 2]) + light * rest, top)))
    return out


@jit
def mud_kernel(
    image: np.ndarray,
    draws: np.ndarray,
    constants: tuple[float, float, float],
    weights: np.ndarray,
    cover_weights: np.ndarray,
) -> np.ndarray:
    """The image flecked with mud; constants are loc, scale and threshold."""
    loc, scale, threshold = constants
    height, width = draws.shape
    liquid = liquid_layer(draws, loc, scale, weights)
    for i in range(height):
        row = liquid[i]
        for j in range(width):
            row[j] = 1.0 if row[j] > threshold else 0.0
    cover = smooth(liquid, cover_weights)
    out = np.empty_like(image)
    for i in range(height):
        for j in range(width):
            share = cover[i, j]
            if share < 0.8:
                out[i, j] = image[i, j]
            else:
                out[i, j, 0] = np.uint8(min(image[i, j, 0] * (1 - share) + 63 * share, 255.0))
                out[i, j, 1] = np.uint8(min(image[i, j, 1] * (1 - share) + 42 * share, 255.0))
                out[i, j, 2] = np.uint8(min(image[i, j, 2] * (1 - share) + 20 * share, 255.0))
    return out
