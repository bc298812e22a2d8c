"""Which of the 50 classes an emoji belongs to, by the table ``classes.toml``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from importlib.resources import files

from oodometer.build.icons.tables import read_toml
from oodometer.build.icons.unicode_emoji import Emoji
from oodometer.core.errors import DataError

Rules = Mapping[str, Mapping[str, list[str]]]


def class_rules() -> Rules:
    """The rules of each class: ``subgroups``, ``names`` and ``except``.

    >>> class_rules()["boat"]
    {'subgroups': ['transport-water'], 'except': ['anchor', 'ring buoy']}
    """
    return read_toml(files("oodometer.build.icons") / "classes.toml")


def classes_of(emoji: Iterable[Emoji], rules: Rules) -> dict[str, str]:
    """The class of each emoji that has one, by code; skin tones don't change it."""
    found: dict[str, str] = {}
    for one in emoji:
        names = [name for name, rule in rules.items() if _is_in(one, rule)]
        if len(names) > 1:
            raise DataError(f"{one.name!r} is in two classes, {' and '.join(names)}; mend the table of classes")
        if names:
            found[one.code] = names[0]
    return found


def _is_in(one: Emoji, rule: Mapping[str, list[str]]) -> bool:
    def named(patterns: list[str]) -> bool:
        return any(fnmatchcase(one.broad_name, pattern) for pattern in patterns)

    if named(rule.get("except", [])):
        return False
    return one.subgroup in rule.get("subgroups", []) or named(rule.get("names", []))
