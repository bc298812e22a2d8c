"""Defences at test time, one file each: what is done to the pixels before a model sees them, or to its answers."""
