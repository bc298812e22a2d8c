"""Which of several models another was made from."""

from __future__ import annotations

from collections.abc import Collection, Mapping


def parents_among(parents: Mapping[str, str | None], called: Mapping[str, Collection[str]]) -> dict[str, str]:
    """Every model whose parent is among these, and that parent.

    Args:
        parents: Model to the name of its parent, as its card has it; None where it says none.
        called: Model to all that it is called; a name that several models have is the parent of none.

    >>> parents_among({"a@1": None, "b": "a", "c": "d"}, {"a@1": {"a", "a@1"}, "b": {"b"}, "c": {"c"}})
    {'b': 'a@1'}
    """
    homes = {}
    for model, parent in parents.items():
        if parent is None:
            continue
        fit = [name for name in parents if parent in called[name] and name != model]
        exact = [name for name in fit if name == parent]
        if exact or len(fit) == 1:
            homes[model] = (exact or fit)[0]
    return homes
