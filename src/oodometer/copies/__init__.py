"""Augmented images as files, and a sheet of them to look at."""
