"""Annotation tasks go to other places where people work, and their answers come back."""
