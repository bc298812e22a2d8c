"""Sheets of images to look at: what a shift, a class or a vendor looks like, and what a model says to it."""
