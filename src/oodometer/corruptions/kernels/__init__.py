"""Compiled inner loops of the corruptions."""
