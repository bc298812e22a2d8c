"""Stores whose numbers are known beforehand."""

from known_stores import *  # noqa: F403
