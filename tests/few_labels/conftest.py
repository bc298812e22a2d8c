"""A store of which one set has no labels, and stores whose numbers are known beforehand."""

from known_stores import *  # noqa: F403
from street_store import *  # noqa: F403
