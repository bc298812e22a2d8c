"""Perturbations that depend on the model: one file per attack."""
