"""The icons outside the 50 classes: more to learn from, and nothing that the 50 classes are tested on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from oodometer.build.icons.classes import Rules, classes_of
from oodometer.build.icons.unicode_emoji import Emoji, slug_of

MIN_ICONS = 30
"""So many icons make a subgroup a class.

There is a gap at this number: what is left of a subgroup of Unicode has 36 icons or more, of at least four emoji in
nine of the ten drawings, or 21 or fewer. The small ones are mostly the rest of what the 50 classes took (skulls, keys,
an anchor): with a vendor and the test icons left out, fewer than 20 of each would be trained on.
"""


def subgroups_outside(emoji: Iterable[Emoji], rules: Rules) -> dict[str, str]:
    """The subgroup of each emoji that is in none of the classes, nor has the name of one that is, by code.

    >>> snail, owl = Emoji("1f40c", "snail", "animal-bug", "snail"), Emoji("1f989", "owl", "animal-bird", "owl")
    >>> subgroups_outside([snail, owl], {"bird": {"subgroups": ["animal-bird"]}})
    {'1f40c': 'animal_bug'}
    """
    every = list(emoji)
    inside = classes_of(every, rules)
    names = {one.slug for one in every if one.code in inside}
    return {one.code: slug_of(one.subgroup) for one in every if one.code not in inside and one.slug not in names}


def too_small(class_names: Iterable[str]) -> set[str]:
    """The classes with too few icons, from the class of each icon.

    >>> too_small(["keycap"] * 17 + ["zodiac"] * 129)
    {'keycap'}
    """
    return {name for name, n_icons in Counter(class_names).items() if n_icons < MIN_ICONS}
