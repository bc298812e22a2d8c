"""The table of published sets: complete, consistent, and readable by a reader that exists."""

from __future__ import annotations

from collections import Counter

import pytest

from oodometer.catalogue.sets import find_set, set_entries
from oodometer.catalogue.tables import key_of
from oodometer.data.layouts.known_set import known_set_of

EVERY = list(set_entries().values())


def test_names_and_aliases_are_unique_however_they_are_spelled():
    keys = Counter(key_of(name) for entry in EVERY for name in {entry.name, *entry.aliases})
    assert [key for key, n in keys.items() if n > 1] == []


@pytest.mark.parametrize("entry", EVERY, ids=lambda entry: entry.name)
def test_every_set_has_its_reader_and_its_classes(entry):
    known = known_set_of(entry)
    assert callable(known.open)
    assert entry.page.startswith(("https://", "http://"))
    assert entry.places
    if known.classes is not None and entry.n_classes is not None:
        assert len(known.classes()) >= entry.n_classes
    if None not in (entry.n_images, entry.per_class, entry.n_classes):
        assert entry.n_images == entry.per_class * entry.n_classes


def test_what_a_set_is_compared_with_is_a_set():
    compared = {entry.clean for entry in EVERY if entry.clean}
    assert compared == {"imagenet", "cifar-10", "tiny-imagenet"}
    assert compared <= set(set_entries())
    assert not any(set_entries()[name].clean for name in compared)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ImageNet_A", "imagenet-a"),
        ("imagenetv2", "imagenetv2-matched-frequency"),
        ("cifar10-c", "cifar-10-c"),
        ("svsf", "streetview-storefronts"),
    ],
)
def test_a_set_is_found_by_its_aliases_in_any_spelling(text, name):
    entry = find_set(text)
    assert entry is not None
    assert entry.name == name
