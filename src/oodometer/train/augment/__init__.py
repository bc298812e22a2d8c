"""Augmentations of training images, one file each, by name."""
