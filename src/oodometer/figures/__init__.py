"""Figures for papers: drawn from a study with matplotlib, written as PDF, SVG or PNG."""

from oodometer.figures.kinds import Kind, draw, figure_kinds
from oodometer.figures.options import FigureOptions
from oodometer.figures.style import notes_of, save

__all__ = ["FigureOptions", "Kind", "draw", "figure_kinds", "notes_of", "save"]
