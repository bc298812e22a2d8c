"""Random orders of a data set, and the samples at their beginning."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

import oodometer as odo
from numbered_images import numbered_images
from oodometer.core.errors import UsageError
from oodometer.core.sample import Sample
from oodometer.data.random_order import first_of_order, random_order

SAMPLE = Sample(1000, "images", 0, "within", ((100, 0.1),))


def test_an_order_has_every_image_once_and_belongs_to_name_and_seed():
    data = numbered_images(1000)
    order = random_order(data, "images")
    assert sorted(order.tolist()) == list(range(1000))
    assert (random_order(data, "images") == order).all()
    assert (random_order(data, "images", seed=1) != order).any()
    assert (random_order(data, "fog") != order).any()


def test_an_order_is_about_ids_and_not_about_how_the_data_are_kept():
    data = numbered_images(500)
    turned = data.take(np.arange(500)[::-1])
    ids = [data.ids[at] for at in random_order(data, "images")]
    assert [turned.ids[at] for at in random_order(turned, "images")] == ids


def test_every_image_is_as_likely_to_be_among_the_first():
    # chi-square of how often each of 50 images is among the first 10, over 2,000 orders
    data = numbered_images(50)
    first = np.concatenate([random_order(data, "images", seed=seed)[:10] for seed in range(2000)])
    assert chisquare(np.bincount(first, minlength=50)).pvalue > 0.001


def test_two_orders_have_nothing_to_do_with_each_other():
    data = numbered_images(2000)
    one, other = random_order(data, "a")[:1000], random_order(data, "b")[:1000]
    assert 430 < len(np.intersect1d(one, other)) < 570  # hypergeometric: 500 ± 4.5 standard deviations of 15.8


def test_a_sample_says_how_it_was_drawn():
    data = numbered_images(1000)
    some = first_of_order(data, random_order(data, "images"), 100, SAMPLE)
    assert (len(some), some.sample) == (100, SAMPLE)
    assert some.title == "numbers[100 of 1000 at random, seed 0]"


def test_no_sample_is_drawn_from_a_sample():
    data = odo.stratified(numbered_images(1000), 500)
    with pytest.raises(UsageError, match="a sample is drawn from whole data sets; leave out --images"):
        first_of_order(data, np.arange(500), 100, SAMPLE)
