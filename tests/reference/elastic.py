"""The elastic transform of the ImageNet-C paper, slow and plain, written from its definition.

The pip package ``imagecorruptions`` has another function under this name, without the affine part, so it cannot serve
as the reference. The affine part is that of OpenCV before version 5, with which the set was made: it rounds places to
1/32 pixel. Newer versions do not, so it is written out here (`warp`).
"""

from __future__ import annotations

import math

import cv2
import numpy as np


def elastic(image: np.ndarray, shifts: np.ndarray, fields: np.ndarray, alpha: float, sigma: float) -> np.ndarray:
    """The corrupted image; shifts (3, 2) of points (x, y), fields (2, H, W) in [-1, 1] for x and y."""
    height, width = image.shape[:2]
    pixels = np.float32(image) / np.float32(255)
    centre = np.float32((height, width)) // 2
    square = min(height, width) // 3
    before = np.float32([centre + square, [centre[0] + square, centre[1] - square], centre - square])
    matrix = cv2.getAffineTransform(before, before + np.float32(shifts))
    pixels = warp(pixels, matrix)
    dx, dy = (alpha * smooth(np.float64(field), sigma) for field in fields)
    out = np.empty_like(image)
    for y in range(height):
        for x in range(width):
            value = at(pixels, y + float(dy[y, x]), x + float(dx[y, x]))
            out[y, x] = np.uint8(np.clip(value, 0, 1) * 255)
    return out


def warp(pixels: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """cv2.warpAffine for floats, bilinear, BORDER_REFLECT_101: places in 1/1024 pixel, then rounded to 1/32."""
    height, width = pixels.shape[:2]
    back = cv2.invertAffineTransform(matrix)
    out = np.empty_like(pixels)
    for y in range(height):
        for x in range(width):
            place = [round(b * y * 1024 + c * 1024) + 16 + round(a * x * 1024) for a, b, c in back]
            (left, right_share), (top, low_share) = (divmod(one >> 5, 32) for one in place)
            total = np.zeros(3)
            for row, by_row in ((top, 32 - low_share), (top + 1, low_share)):
                for column, by_column in ((left, 32 - right_share), (left + 1, right_share)):
                    total += by_row * by_column / 1024 * pixels[mirror(row, height), mirror(column, width)]
            out[y, x] = total
    return out


def mirror(i: int, n: int) -> int:
    """... 2 1 | 0 1 2 ... n-1 | n-2 n-3 ..."""
    i %= 2 * n - 2
    return i if i < n else 2 * n - 2 - i


def smooth(field: np.ndarray, sigma: float) -> np.ndarray:
    """A Gaussian cut off at 3 sigma, the field reflected at its edges, one axis after the other."""
    if sigma == 0:
        return field
    radius = int(3 * sigma + 0.5)
    weights = [math.exp(-0.5 * (k / sigma) ** 2) for k in range(-radius, radius + 1)]
    for _ in range(2):
        n = len(field)
        matrix = np.zeros((n, n))
        for i in range(n):
            for k, weight in zip(range(-radius, radius + 1), weights, strict=True):
                matrix[i, reflect(i + k, n)] += weight / sum(weights)
        field = (matrix @ field).T
    return field


def reflect(i: int, n: int) -> int:
    """... 1 0 | 0 1 2 ... n-1 | n-1 n-2 ..."""
    i %= 2 * n
    return i if i < n else 2 * n - 1 - i


def at(pixels: np.ndarray, y: float, x: float) -> np.ndarray:
    """The four pixels around a place, weighted by nearness, the image reflected at its edges."""
    height, width = pixels.shape[:2]
    top, left = math.floor(y), math.floor(x)
    total = np.zeros(3)
    for row, by_row in ((top, 1 - (y - top)), (top + 1, y - top)):
        for column, by_column in ((left, 1 - (x - left)), (left + 1, x - left)):
            total += by_row * by_column * pixels[reflect(row, height), reflect(column, width)]
    return total
