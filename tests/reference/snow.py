"""Snow as published, slowly and plainly.

The pip package is another function (it blurs before it rounds to bytes, and cuts the enlarged layer at its first
corner), and the published generator needs ImageMagick. This is written from their definitions: the whole layer of
normal draws, its enlarged centre, bytes, ImageMagick's motion blur with a replicated border, bytes again.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.ndimage import zoom


def enlarged_centre(layer: np.ndarray, factor: float) -> np.ndarray:
    """The centre of a layer at the size of the layer."""
    height, width = layer.shape
    rows, columns = math.ceil(height / factor), math.ceil(width / factor)
    top, left = (height - rows) // 2, (width - columns) // 2
    centre = layer[top : top + rows, left : left + columns, np.newaxis]
    # At the published sizes the mode makes no difference. At some others (150 px by 3) the default one finds the last
    # row outside of the layer, by a rounding error, and blackens it.
    mode = "constant" if height == width in (32, 224) else "nearest"
    large = zoom(centre, (factor, factor, 1), order=1, mode=mode)[..., 0]
    top, left = (large.shape[0] - height) // 2, (large.shape[1] - width) // 2
    return large[top : top + height, left : left + width]


def motion_blur(plane: np.ndarray, radius: float, sigma: float, angle: float) -> np.ndarray:
    """Tap by tap, (H, W) bytes to (H, W) float, not rounded."""
    n = 2 * int(radius) + 1
    weights = [math.exp(-k * k / (2 * sigma * sigma)) for k in range(n)]
    across, down = n * math.cos(math.radians(angle)), n * math.sin(math.radians(angle))
    length = math.hypot(across, down)
    wide = np.pad(plane.astype(float), n, mode="edge")
    height, width = plane.shape
    blurred = np.zeros(plane.shape)
    for k in range(n):
        y = n + math.ceil(k * down / length - 0.5)
        x = n + math.ceil(k * across / length - 0.5)
        blurred += weights[k] / sum(weights) * wide[y : y + height, x : x + width]
    return blurred


def snow(image: np.ndarray, layer: np.ndarray, angle: float, strength: tuple[float, ...]) -> np.ndarray:
    """The image in the snow of a layer of normal draws that has the image's size, mean and spread included."""
    _, _, factor, threshold, radius, sigma, mix = strength
    flakes = enlarged_centre(layer, factor)
    flakes[flakes < threshold] = 0
    flakes = (np.clip(flakes, 0, 1) * 255).astype(np.uint8)
    flakes = np.floor(motion_blur(flakes, radius, sigma, angle) + 0.5)[..., np.newaxis] / 255
    x = image / 255
    grey = (0.299 * x[..., 0] + 0.587 * x[..., 1] + 0.114 * x[..., 2])[..., np.newaxis]
    x = mix * x + (1 - mix) * np.maximum(x, grey * 1.5 + 0.5)
    return (np.clip(x + flakes + np.rot90(flakes, k=2), 0, 1) * 255).astype(np.uint8)
