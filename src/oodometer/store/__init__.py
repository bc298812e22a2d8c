"""Predictions on disk: parts, keys and questions over many cells."""
