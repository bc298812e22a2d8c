"""Intervals and tests: from counts to statements that carry their uncertainty."""
