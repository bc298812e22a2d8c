"""A store of which one set has no labels."""

from street_store import *  # noqa: F403
