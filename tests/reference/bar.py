"""ImageNet-C-bar pixel by pixel, slowly and plainly, for the same draws.

Written from the definitions of the published generator (facebookresearch/augmentation-corruption, folder
imagenet_c_bar, at commit c7d90e34), which isn't a package that a test could install: its formulas and constants, for
square images of side S, in our own code. Each function gives the (3,) float value of one pixel before it is cut to a
byte, or, where pixels depend on each other, a field from which that value is made.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence

import numpy as np


def single_frequency_greyscale(pixel, y, x, frequencies, phase, constant):
    return pixel + constant * 196 / 10 * math.sin(x * frequencies[0] + y * frequencies[1] + phase)


def cocentric_sine_waves(pixel, y, x, centre, waves, amplitude, ring, constant):
    x0, y0 = centre
    wobble = math.sin(math.atan2(x - x0, y - y0) * waves) * amplitude
    distance = ((math.sqrt((x - x0) ** 2 + (y - y0) ** 2) + wobble) % ring) / ring
    return pixel + constant * 128 / 10 * (distance - 1 / 2)


def plasma_noise(pixel, y, x, time, iterations, sharpness, scale, constant):
    x, y = x / scale, y / scale
    frequency, slowness, divisor, drift = 1.0, 1.0, 1.0, 0.0
    for _ in range(iterations):
        a = math.cos(y * frequency - drift + time / slowness) / divisor
        b = math.sin(x * frequency - drift + time / slowness) / divisor
        x, y = x + a - b * 0.3, y + b + a * 0.3
        drift *= time * slowness
        frequency, slowness, divisor = frequency * 1.93, slowness * 1.15, divisor * (2.25 - sharpness)
    noise = [math.sin(x - time), math.sin((x + y + math.sin(time)) * 0.5), math.sin(y + time)]
    intensity = constant * 64 / 10
    return (1 - intensity / 255) * pixel + intensity * np.array(noise)


def _sparkle_light(y, x, centre, lengths, amount):
    dy, dx = y - centre[0], x - centre[1]
    place = (math.atan2(dx, dy) + math.pi) / (2 * math.pi) * len(lengths)
    ray = int(place)
    part = place - ray
    before, after = lengths[ray % len(lengths)], lengths[(ray + 1) % len(lengths)]
    bright = ((before + part * (after - before)) ** 2 / (dy**2 + dx**2 + 1e-4)) ** ((100 - amount) / 50)
    return min(max((1 - (part - 0.5) ** 2) * bright, 0), 1)


def sparkles(pixel, y, x, centres, rays):
    for centre, lengths in zip(centres, rays, strict=True):
        pixel = pixel + _sparkle_light(y, x, centre, lengths, amount=50) * (255 - pixel)
    return pixel


def inverse_sparkles(pixel, y, x, centre, lengths, constant):
    return 255 + _sparkle_light(y, x, centre, lengths, amount=100 - constant * 65 / 10) * (pixel - 255)


def checkerboard_cutout(pixel, y, x, angle, scale, grid):
    first = (math.cos(angle) * y + math.sin(angle) * x) / scale
    second = (-math.sin(angle) * y + math.cos(angle) * x) / scale
    if int(first % 2) != int(second % 2) or not grid[int(first), int(second)]:
        return pixel
    return np.full(3, 128.0)


def _perlin(a, b, gradients, order):
    """Perlin's noise with the doubled tables of his program of 1985."""
    p = list(order) * 2 + list(order[:2])
    g = np.concatenate([gradients, gradients, gradients[:2]])
    a, b = a + 4096, b + 4096
    i0, j0 = int(a) % 256, int(b) % 256
    i1, j1 = (i0 + 1) % 256, (j0 + 1) % 256
    ra, rb = a % 1, b % 1
    sa, sb = ra * ra * (3 - 2 * ra), rb * rb * (3 - 2 * rb)
    g00, g10, g01, g11 = (g[p[p[i] + j]] for i, j in ((i0, j0), (i1, j0), (i0, j1), (i1, j1)))
    low = (1 - sa) * (ra * g00[0] + rb * g00[1]) + sa * ((ra - 1) * g10[0] + rb * g10[1])
    high = (1 - sa) * (ra * g01[0] + (rb - 1) * g01[1]) + sa * ((ra - 1) * g11[0] + (rb - 1) * g11[1])
    return 1.5 * ((1 - sb) * low + sb * high)


def perlin_noise(pixel, y, x, gradients, order, side, constant):
    cell = 32 * side / 224
    turbulence, octave = 0.0, 1
    while octave <= 16:
        turbulence += abs(_perlin(octave * y / cell, octave * x / cell, gradients, order)) / octave
        octave *= 2
    grey = min(max(0.5 * turbulence + 0.5, 0), 1)
    alpha = constant * 0.5 / 10
    return (1 - alpha) * pixel + 255 * alpha * grey


def spectral_field(left, middle, *, blue):
    """Noise of a square spectrum, (S, S), with standard deviation 1; ``left`` is (S, S // 2), ``middle`` (S,)."""
    side = left.shape[0]
    spectrum = np.zeros((side, side), complex)
    for y in range(side):
        for x in range(side):
            distance = math.hypot(x - side / 2, y - side / 2)
            if x < side // 2:
                phase = left[y, x]
            elif side % 2 and x == side // 2:
                phase = middle[y]
            else:
                phase = left[side - 1 - y, side - 1 - x]
            power = distance if blue else 1 / (distance**2 + 1)
            spectrum[(y + side // 2) % side, (x + side // 2) % side] = power * cmath.exp(1j * phase)
    noise = np.fft.ifft2(spectrum).real
    return noise / noise.std()


def caustic_light(y, x, time, size):
    p = [(y / size % 1) * 6.28318530718 - 250, (x / size % 1) * 6.28318530718 - 250]
    i = list(p)
    light = 1.0
    for n in range(5):
        t = time * (1 - 3.5 / (n + 1))
        i = [
            p[0] + math.cos(t - i[0]) + math.sin(t + i[1]),
            p[1] + math.sin(t - i[1]) + math.cos(t + i[0]),
        ]
        light += 1 / math.hypot(p[0] / (math.sin(i[0] + t) / 0.005), p[1] / (math.cos(i[1] + t) / 0.005))
    return min(abs(1.17 - (light / 5) ** 1.4) ** 8, 1)


def smoothed(field):
    """A Gaussian of sigma 1 out to 4 pixels; the field goes on as in a mirror that repeats its edge."""
    taps = np.exp(-0.5 * np.arange(-4, 5) ** 2)
    taps /= taps.sum()
    padded = np.pad(field, 4, mode="symmetric")
    rows = sum(tap * padded[k : k + field.shape[0]] for k, tap in enumerate(taps))
    return sum(tap * rows[:, k : k + field.shape[1]] for k, tap in enumerate(taps))


def refract(normal, eta):
    """A vertical ray behind a surface, by the rotation into the frame of the surface and back."""
    down = np.array([0.0, 0.0, 1.0])
    if abs(down @ normal) >= 1 - 1e-3:
        return down
    out = math.asin(math.sin(math.acos(down @ normal)) / eta)
    aside = np.cross(down, normal)
    aside /= np.linalg.norm(aside)
    frame = np.stack([normal, np.cross(normal, aside), aside])
    return np.linalg.inv(frame) @ np.array([math.cos(out), math.sin(out), 0.0])


def caustic_refraction(image, y, x, surface, side, constant):
    def luma(yy: int, xx: int) -> float:
        return surface[yy, xx] if 0 <= yy < surface.shape[0] and 0 <= xx < surface.shape[1] else 0.0

    def value(yy: int, xx: int) -> Sequence[float]:
        inside = 0 <= yy < image.shape[0] and 0 <= xx < image.shape[1]
        return image[yy, xx] / 255 if inside else np.zeros(3)

    down, across = luma(y + 1, x) - luma(y - 1, x), luma(y, x + 1) - luma(y, x - 1)
    normal = np.array([down, across, 1.0])
    offset = np.round(refract(normal / np.linalg.norm(normal), 4.0) * constant * 0.5 * side / 10, 3)
    at_y, at_x = y + offset[0], x + offset[1]
    top, left = math.floor(at_y), math.floor(at_x)
    dy, dx = at_y - top, at_x - left
    above = value(top, left) * (1 - dx) + value(top, left + 1) * dx
    below = value(top + 1, left) * (1 - dx) + value(top + 1, left + 1) * dx
    lit = above * (1 - dy) + below * dy + (down - across) * constant * 2 / 10
    return np.clip(lit, 0, 1) * 255
