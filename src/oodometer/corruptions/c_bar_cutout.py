"""Grey squares of a turned checkerboard (ImageNet-C-bar)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from oodometer.corruptions.kernels import c_bar as kernels
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength

GREY = 128


class Board(NamedTuple):
    """A checkerboard turned by an angle, with squares of so many pixels; grid says which squares are cut out."""

    angle: float
    scale: float
    grid: np.ndarray


def draw_board(rng: np.random.Generator, height: int, width: int, strength: Strength) -> Board:
    """Any angle, squares of 10 to 25 per cent of the shorter side, and constant / 10 of the black squares."""
    angle = rng.uniform(0, 2 * math.pi)
    scale = max(rng.uniform(0.1, 0.25) * min(height, width), 1.0)
    n_squares = int(4 * max(height, width) // scale)
    return Board(angle, scale, rng.random((n_squares, n_squares)) < strength[0] * 0.1)


def apply_board(image: np.ndarray, board: Board, strength: Strength) -> np.ndarray:  # noqa: ARG001
    """Make the chosen squares grey.

    Squares are looked up with coordinates that are cut towards zero, and from the far end where they are negative:
    so the published code does.
    """
    y, x = np.ogrid[: image.shape[0], : image.shape[1]]
    cosine, sine = math.cos(board.angle), math.sin(board.angle)
    first = (cosine * y + sine * x) / board.scale
    second = (-sine * y + cosine * x) / board.scale
    same_parity = (first % 2).astype(int) == (second % 2).astype(int)
    cut = same_parity & board.grid[first.astype(int), second.astype(int)]
    return np.where(cut[..., None], np.uint8(GREY), image)


def fast_board(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    """The same, compiled."""
    height, width = image.shape[:2]
    board = draw_board(rng, height, width, strength)
    turn = np.array([math.cos(board.angle), math.sin(board.angle)])
    return kernels.cut_out(image, turn, board.scale, board.grid)


checkerboard_cutout = Corruption("checkerboard_cutout", "bar", draw_board, apply_board, fast_board)
