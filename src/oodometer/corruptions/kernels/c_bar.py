"""Compiled loops of ImageNet-C-bar, row by row; what they compute is defined in the modules bar_*.py."""

from __future__ import annotations

import math

import numpy as np

from oodometer.corruptions.jit import jit
from oodometer.corruptions.kernels.c_bar_math import arctangent2, cosine, sine


@jit
def blend(image: np.ndarray, gain: float, plane: np.ndarray, offset_gain: float) -> np.ndarray:
    """The sum gain image + offset_gain plane, cut to bytes; the plane is (H, W) float64."""
    height, width = plane.shape
    out = np.empty((height, width, 3), np.uint8)
    for y in range(height):
        for x in range(width):
            offset = offset_gain * plane[y, x]
            for c in range(3):
                out[y, x, c] = np.uint8(min(max(gain * image[y, x, c] + offset, 0.0), 255.0))
    return out


@jit
def blend_colour(image: np.ndarray, gain: float, planes: np.ndarray, offset_gains: np.ndarray) -> np.ndarray:
    """The same with one plane for each channel, (3, H, W) float64, each with its own gain."""
    height, width = planes.shape[1:]
    out = np.empty((height, width, 3), np.uint8)
    for y in range(height):
        for x in range(width):
            for c in range(3):
                value = gain * image[y, x, c] + offset_gains[c] * planes[c, y, x]
                out[y, x, c] = np.uint8(min(max(value, 0.0), 255.0))
    return out


@jit
def towards_white(image: np.ndarray, darkness: np.ndarray) -> np.ndarray:
    """255 - (255 - image) darkness, cut to bytes; the darkness is (H, W) float64 in [0, 1]."""
    height, width = darkness.shape
    out = np.empty((height, width, 3), np.uint8)
    for y in range(height):
        for x in range(width):
            keep = darkness[y, x]
            for c in range(3):
                out[y, x, c] = np.uint8(255.0 - (255.0 - image[y, x, c]) * keep)
    return out


@jit
def masked(image: np.ndarray, noise: np.ndarray, threshold: float) -> np.ndarray:
    """The image where the noise is above the threshold, and black elsewhere."""
    height, width = noise.shape
    out = np.empty((height, width, 3), np.uint8)
    for y in range(height):
        for x in range(width):
            kept = np.uint8(noise[y, x] > threshold)
            for c in range(3):
                out[y, x, c] = image[y, x, c] * kept
    return out


@jit
def ring_plane(height: int, width: int, centre: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """The saw tooth of the wavy rings, (H, W); shape is (waves, amplitude, ring width)."""
    waves, amplitude, ring = shape
    plane = np.empty((height, width))
    for y in range(height):
        dy = y - centre[1]
        row = plane[y]
        for x in range(width):
            dx = x - centre[0]
            distance = math.sqrt(dx * dx + dy * dy) + sine(arctangent2(dx, dy) * waves) * amplitude
            turns = distance / ring
            row[x] = turns - np.floor(turns) - 0.5
    return plane


@jit
def plasma_planes(height: int, width: int, time: float, steps: np.ndarray, scale: float) -> np.ndarray:
    """The three colours of the plasma, (3, H, W); steps holds (frequency, phase, amplitude) of each iteration."""
    planes = np.empty((3, height, width))
    across, down = np.empty(width), np.empty(width)
    middle = math.sin(time)
    for y in range(height):
        for x in range(width):
            across[x] = x / scale
            down[x] = y / scale
        for step in range(steps.shape[0]):
            frequency, phase, amplitude = steps[step]
            for x in range(width):
                first = cosine(down[x] * frequency + phase) * amplitude
                second = sine(across[x] * frequency + phase) * amplitude
                across[x] += first - 0.3 * second
                down[x] += second + 0.3 * first
        red, green, blue = planes[0, y], planes[1, y], planes[2, y]
        for x in range(width):
            red[x] = sine(across[x] - time)
            green[x] = sine((across[x] + down[x] + middle) * 0.5)
            blue[x] = sine(down[x] + time)
    return planes


@jit
def ray_positions(row: np.ndarray, dy: float, centre_x: float, rays: int) -> None:
    """Fill a row with where each pixel lies among the rays, in [0, rays]."""
    scale = rays / (2.0 * math.pi)
    for x in range(row.shape[0]):
        row[x] = (arctangent2(x - centre_x, dy) + math.pi) * scale


@jit
def dim_by_sparkle(darkness: np.ndarray, centre: np.ndarray, lengths: np.ndarray) -> None:
    """Multiply the darkness by what one sparkle leaves, in place; lengths is (rays + 2,), closed to a circle."""
    height, width = darkness.shape
    rays = lengths.shape[0] - 2
    where = np.empty(width)
    for y in range(height):
        dy = y - centre[0]
        ray_positions(where, dy, centre[1], rays)
        row = darkness[y]
        for x in range(width):
            dx = x - centre[1]
            at = int(where[x])
            part = where[x] - at
            length = lengths[at] + part * (lengths[at + 1] - lengths[at])
            light = (1.0 - (part - 0.5) ** 2) * (length * length / (dx * dx + dy * dy + 1e-4))
            row[x] *= 1.0 - min(light, 1.0)


@jit
def whiteness_of_sparkle(plane: np.ndarray, centre: np.ndarray, lengths: np.ndarray, power: float) -> None:
    """Fill the plane with the share of the image that an inverse sparkle keeps."""
    height, width = plane.shape
    rays = lengths.shape[0] - 2
    where = np.empty(width)
    for y in range(height):
        dy = y - centre[0]
        ray_positions(where, dy, centre[1], rays)
        row = plane[y]
        for x in range(width):
            dx = x - centre[1]
            at = int(where[x])
            part = where[x] - at
            length = lengths[at] + part * (lengths[at + 1] - lengths[at])
            light = length * length / (dx * dx + dy * dy + 1e-4)
            row[x] = min((1.0 - (part - 0.5) ** 2) * light**power, 1.0)


@jit
def cut_out(image: np.ndarray, turn: np.ndarray, scale: float, grid: np.ndarray) -> np.ndarray:
    """The image with the chosen squares of a turned checkerboard grey; turn is (cosine, sine)."""
    height, width = image.shape[:2]
    side = grid.shape[0]
    out = np.empty((height, width, 3), np.uint8)
    for y in range(height):
        for x in range(width):
            first = (turn[0] * y + turn[1] * x) / scale
            second = (-turn[1] * y + turn[0] * x) / scale
            odd = (math.floor(first) + math.floor(second)) & 1
            i, j = int(first), int(second)
            i += side if i < 0 else 0
            j += side if j < 0 else 0
            grey = odd == 0 and grid[i, j]
            for c in range(3):
                out[y, x, c] = np.uint8(128) if grey else image[y, x, c]
    return out


@jit
def add_octave(plane: np.ndarray, step: float, amplitude: float, gradients: np.ndarray, order: np.ndarray) -> None:
    """Add amplitude |Perlin noise| to the plane; lattice cells are 1/step pixels wide.

    Along a row, and inside one lattice cell, both interpolants are linear in the place within the cell, so that four
    coefficients for each cell are enough.
    """
    height, width = plane.shape
    n_cells = int((width - 1) * step) + 1
    level, slope = np.empty((2, n_cells)), np.empty((2, n_cells))
    cell, part, weight = np.empty(width, np.int64), np.empty(width), np.empty(width)
    for x in range(width):
        at = x * step
        cell[x] = int(at)
        part[x] = at - cell[x]
        weight[x] = part[x] * part[x] * (3.0 - 2.0 * part[x])
    for y in range(height):
        at = y * step
        upper = int(at)
        inside = at - upper
        curve = inside * inside * (3.0 - 2.0 * inside)
        above, below = order[upper % 256], order[(upper + 1) % 256]
        for k in range(n_cells):
            for side in range(2):
                top = gradients[order[(above + (k + side) % 256) % 256]]
                bottom = gradients[order[(below + (k + side) % 256) % 256]]
                first = inside * top[0]
                level[side, k] = first + curve * ((inside - 1.0) * bottom[0] - first)
                slope[side, k] = top[1] + curve * (bottom[1] - top[1])
        row = plane[y]
        for x in range(width):
            k = cell[x]
            left = level[0, k] + part[x] * slope[0, k]
            right = level[1, k] + (part[x] - 1.0) * slope[1, k]
            row[x] += amplitude * abs(left + weight[x] * (right - left))


@jit
def half_spectrum(turns: np.ndarray, middle: np.ndarray, power: np.ndarray) -> np.ndarray:
    """The Hermitian part of a spectrum with mirrored random phases, (H, W // 2 + 1) complex.

    Args:
        turns: (H, W // 2), the phases of the left half; the right half is the left one turned by half a circle.
        middle: (H,), the phases of the middle column, used where the width is odd.
        power: (H, W), the amplitude; the zero frequency lies in the middle.
    """
    height, width = power.shape
    half = width // 2
    odd = width % 2 == 1
    real, imaginary = np.empty((height, width)), np.empty((height, width))
    for y in range(height):
        phases, left_real, left_imaginary = turns[y], real[y], imaginary[y]
        for x in range(half):
            left_real[x] = cosine(phases[x])
            left_imaginary[x] = sine(phases[x])
        if odd:
            left_real[half] = math.cos(middle[y])
            left_imaginary[half] = math.sin(middle[y])
    for y in range(height):
        right_real, right_imaginary = real[y, width - half :], imaginary[y, width - half :]
        left_real, left_imaginary = real[height - 1 - y], imaginary[height - 1 - y]
        for x in range(half):
            right_real[x] = left_real[half - 1 - x]
            right_imaginary[x] = left_imaginary[half - 1 - x]
    return _hermitian(real, imaginary, power)


@jit
def _hermitian(real: np.ndarray, imaginary: np.ndarray, power: np.ndarray) -> np.ndarray:
    """(F(k) + conjugate of F(-k)) / 2 for the columns up to the middle, F being power (real + i imaginary), rolled."""
    height, width = power.shape
    half = width // 2
    out = np.empty((height, half + 1), np.complex128)
    for ky in range(height):
        i, j = (ky - height // 2) % height, (-ky - height // 2) % height
        here_power, here_real, here_imaginary = power[i], real[i], imaginary[i]
        there_power, there_real, there_imaginary = power[j], real[j], imaginary[j]
        for kx in range(half + 1):
            k, m = kx - half, -kx - half
            k += width if k < 0 else 0
            m += width if m < 0 else 0
            first, second = here_power[k], there_power[m]
            out[ky, kx] = complex(
                0.5 * (first * here_real[k] + second * there_real[m]),
                0.5 * (first * here_imaginary[k] - second * there_imaginary[m]),
            )
    return out


@jit
def caustic_plane(height: int, width: int, time: float, size: float) -> np.ndarray:
    """The light on the floor of a pool, (H, W) in [0, 1]."""
    plane = np.empty((height, width))
    across, first, second, light = np.empty(width), np.empty(width), np.empty(width), np.empty(width)
    for x in range(width):
        place = x / size
        across[x] = (place - np.floor(place)) * 6.28318530718 - 250.0
    for y in range(height):
        place = y / size
        down = (place - np.floor(place)) * 6.28318530718 - 250.0
        for x in range(width):
            first[x] = down
            second[x] = across[x]
            light[x] = 1.0
        for n in range(5):
            t = time * (1.0 - 3.5 / (n + 1))
            cos_t, sin_t = math.cos(t), math.sin(t)
            # Two loops: in one, there are too many arrays for the compiler to prove them apart and use vectors.
            for x in range(width):
                cos_1, sin_1 = cosine(first[x]), sine(first[x])
                cos_2, sin_2 = cosine(second[x]), sine(second[x])
                # cos(t - a) + sin(t + b) and sin(t - b) + cos(t + a), by the addition theorems
                first[x] = down + cos_t * cos_1 + sin_t * sin_1 + sin_t * cos_2 + cos_t * sin_2
                second[x] = across[x] + sin_t * cos_2 - cos_t * sin_2 + cos_t * cos_1 - sin_t * sin_1
            for x in range(width):
                s, c = sine(first[x] + t), cosine(second[x] + t)
                p, q = down * c, across[x] * s
                # A divisor that can't be zero: numba's check for that would be a branch.
                light[x] += abs(s * c) / max(0.005 * math.sqrt(p * p + q * q), 1e-300)
        row = plane[y]
        for x in range(width):
            value = 1.17 - (light[x] / 5.0) ** 1.4
            value *= value
            value *= value
            row[x] = min(value * value, 1.0)
    return plane


@jit
def _luma(plane: np.ndarray, y: int, x: int) -> float:
    height, width = plane.shape
    if y < 0 or x < 0 or y >= height or x >= width:
        return 0.0
    return plane[y, x]  # type: ignore[no-any-return]


@jit
def refracted(image: np.ndarray, caustics: np.ndarray, lens: float, lighting: float) -> np.ndarray:
    """The image seen through the surface that the caustics describe."""
    height, width = caustics.shape
    out = np.empty((height, width, 3), np.uint8)
    for y in range(height):
        for x in range(width):
            down = _luma(caustics, y + 1, x) - _luma(caustics, y - 1, x)
            across = _luma(caustics, y, x + 1) - _luma(caustics, y, x - 1)
            tilt = down * down + across * across
            upright = 1.0 / math.sqrt(tilt + 1.0)
            shift = 0.0
            if upright < 1.0 - 1e-3:
                sine_out = math.sqrt(tilt) * upright / 4.0
                shift = lens * upright * (math.sqrt(1.0 - sine_out * sine_out) - upright / 4.0)
            light = 255.0 * lighting * (down - across)
            at_y = y + np.rint(down * shift * 1000.0) / 1000.0
            at_x = x + np.rint(across * shift * 1000.0) / 1000.0
            top, left = math.floor(at_y), math.floor(at_x)
            part_y, part_x = at_y - top, at_x - left
            # Black outside: the neighbours there get no weight, and any place inside.
            weight_top = 1.0 - part_y if 0 <= top < height else 0.0
            weight_bottom = part_y if -1 <= top < height - 1 else 0.0
            weight_left = 1.0 - part_x if 0 <= left < width else 0.0
            weight_right = part_x if -1 <= left < width - 1 else 0.0
            y0, y1 = min(max(top, 0), height - 1), min(max(top + 1, 0), height - 1)
            x0, x1 = min(max(left, 0), width - 1), min(max(left + 1, 0), width - 1)
            for c in range(3):
                above = weight_left * image[y0, x0, c] + weight_right * image[y0, x1, c]
                below = weight_left * image[y1, x0, c] + weight_right * image[y1, x1, c]
                value = weight_top * above + weight_bottom * below
                out[y, x, c] = np.uint8(min(max(value + light, 0.0), 255.0))
    return out
