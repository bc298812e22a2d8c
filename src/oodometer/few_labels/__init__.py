"""Accuracy on a shifted set from few labels: which images to label, and what the labels tell."""
