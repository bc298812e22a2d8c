"""The subtype experiment on CIFAR-100: what is held out, by name, while the broad classes are learned."""

from __future__ import annotations

import pytest

from made_cifar import put_cifar_100
from oodometer.core.errors import UsageError
from oodometer.data.layouts.cifar_100 import held_out_subtypes
from oodometer.data.training_set import labelled_by, training_set
from oodometer.train.hold_out import held_out_rows, split_for_training


@pytest.fixture
def cifar_100(tmp_path):
    put_cifar_100(tmp_path / "cifar-100-python", per_subtype=4)
    return training_set(str(tmp_path / "cifar-100-python"))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_so_many_subtypes_of_each_of_the_20_broad_classes(cifar_100, n):
    parts = split_for_training(labelled_by(cifar_100, "superclass"), [f"subtypes/{n}"])
    assert set(parts.held_out.columns["subtype"]) == held_out_subtypes(n)
    assert len(parts.held_out) == n * 20 * 4
    seen = {*parts.training.columns["subtype"], *parts.iid.columns["subtype"]}
    assert (len(seen), seen & held_out_subtypes(n)) == (100 - 20 * n, set())
    assert len(set(parts.training.labels.tolist())) == 20


@pytest.mark.parametrize(
    ("hold_out", "label", "message"),
    [
        ("subtypes/2", None, "whole classes would be left out; add --label superclass"),
        ("subtypes/5", "superclass", "expected 1 to 4 of the 5"),
    ],
)
def test_what_can_not_be_held_out(cifar_100, hold_out, label, message):
    data = cifar_100 if label is None else labelled_by(cifar_100, label)
    with pytest.raises(UsageError, match=message):
        held_out_rows(data, hold_out)


def test_of_other_data(make_quarters):
    with pytest.raises(UsageError, match="does not have the subtypes of CIFAR-100"):
        held_out_rows(make_quarters(), "subtypes/1")
