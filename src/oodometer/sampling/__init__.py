"""Measuring some of the images: as many as a wished interval needs, planned before or stopped when sure."""
