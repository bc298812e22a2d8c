"""What is held out is never trained on."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.core.errors import DataError, UsageError
from oodometer.train.hold_out import split_for_training


@pytest.mark.parametrize("hold_outs", [(), ("style=round",), ("style=round", "year=2019|2020")])
def test_the_parts_have_no_image_in_common_and_lose_none(make_dataset, hold_outs):
    columns = {
        "style": np.where(np.arange(300) % 3 == 0, "round", "square"),
        "year": np.arange(300) % 7 + 2015,
    }
    dataset = make_dataset(300, columns=columns)
    parts = split_for_training(dataset, hold_outs)
    training, iid = set(parts.training.ids), set(parts.iid.ids)
    held_out = set(parts.held_out.ids) if parts.held_out else set()
    assert not training & iid
    assert not training & held_out
    assert not iid & held_out
    assert training | iid | held_out == set(dataset.ids)
    years = {2019, 2020} if len(hold_outs) > 1 else set()
    assert held_out == {
        one
        for one, style, year in zip(dataset.ids, columns["style"], columns["year"], strict=True)
        if hold_outs and (style == "round" or year in years)
    }


def test_the_tenth_depends_on_the_id_alone(make_dataset):
    columns = {"style": np.where(np.arange(2000) % 2 == 0, "round", "square")}
    dataset = make_dataset(2000, columns=columns)
    whole, less = split_for_training(dataset), split_for_training(dataset, ["style=round"])
    assert set(less.iid.ids) == set(whole.iid.ids) - set(less.held_out.ids)
    backwards = split_for_training(dataset.take(np.arange(2000)[::-1]))
    assert set(backwards.iid.ids) == set(whole.iid.ids)
    assert abs(len(whole.iid) / 2000 - 0.1) < 5 * np.sqrt(0.09 / 2000)  # five standard errors


@pytest.mark.parametrize(
    ("hold_out", "message"),
    [
        ("style", "--hold-out style: expected COLUMN=VALUE, of icons subtypes or versions, of CIFAR-100 subtypes/1"),
        ("style=", "--hold-out style=: expected COLUMN=VALUE, of icons subtypes or versions, of CIFAR-100 subtypes/1"),
        ("stile=round", "--hold-out stile=round: val has no column 'stile'; did you mean style?"),
        ("style=rund", "--hold-out style=rund: no image of val has style 'rund'; did you mean round?"),
        ("style=round|oval", "--hold-out style=round|oval: no image of val has style 'oval'; known: round, square"),
    ],
)
def test_hold_outs_that_mean_nothing(make_dataset, hold_out, message):
    dataset = make_dataset(40, columns={"style": np.array(["round", "square"] * 20)})
    with pytest.raises(UsageError) as caught:
        split_for_training(dataset, [hold_out])
    assert str(caught.value) == message


def test_too_much_held_out(make_dataset):
    dataset = make_dataset(40, columns={"style": np.array(["round"] * 40)})
    with pytest.raises(
        DataError, match=r"val: no images are left for the training part \(40 images, held out: style=round\)"
    ):
        split_for_training(dataset, ["style=round"])


def test_subtypes_and_versions_of_icons(make_dataset):
    from oodometer.data.icon_protocols import split

    columns = {
        "style": np.array(["microsoft", "google", "google", "mozilla"] * 50),
        "version": np.array(["1", "1", "2", "1"] * 50),
        "subtype": np.array(["duck" if n % 5 == 0 else f"sub{n // 4}" for n in range(200)]),
    }
    dataset = make_dataset(200, columns=columns, labels=np.zeros(200, dtype=int))
    ours = split_for_training(dataset, ["style=microsoft", "subtypes", "versions"])
    # reference: the protocols by which the shifts of icons are cut
    theirs = split(dataset, "style=microsoft,subtypes,versions")
    for part in ("training", "iid", "held_out"):
        assert getattr(ours, part).ids == getattr(theirs, part).ids
