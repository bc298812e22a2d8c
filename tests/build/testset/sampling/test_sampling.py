"""Strategies against plain loops, and what holds of all: the same seed is the same set, one out moves no other."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from oodometer.build.testset.candidates import Candidates, enough_answers
from oodometer.build.testset.sampling.apportion import largest_remainder
from oodometer.build.testset.sampling.balance import CUT, balanced
from oodometer.build.testset.sampling.by_attribute import by_attribute
from oodometer.build.testset.sampling.by_frequency import BELOW, threshold, top_images, uniform
from oodometer.build.testset.sampling.draw import places_in_line
from oodometer.build.testset.sampling.keyword_quotas import ELSEWHERE, keyword_quotas
from oodometer.build.testset.sampling.matched_frequency import MOVED, histogram, matched_frequency
from oodometer.core.errors import DataError, UsageError


def pool(n: int = 400, n_classes: int = 4, seed: int = 0) -> Candidates:
    rng = np.random.default_rng(seed)
    frequency = rng.binomial(10, rng.beta(2, 1.5, n)) / 10
    columns = {"keyword": rng.choice(["crow", "duck", "owl"], n, p=[0.2, 0.3, 0.5])}
    ids = tuple(f"image-{number:04d}" for number in range(n))
    return Candidates(ids, np.arange(n) % n_classes, frequency, np.full(n, 10), columns=columns)


def original(n_classes: int = 4) -> dict[int, np.ndarray]:
    rng = np.random.default_rng(1)
    return {label: rng.binomial(10, rng.beta(3, 1, 50)) / 10 for label in range(n_classes)}


STRATEGIES = {
    "matched-frequency": lambda some, **more: matched_frequency(some, original(), **more),
    "threshold": threshold,
    "top-images": top_images,
    "uniform": uniform,
    "keyword-quotas": lambda some, per_class=10, **more: keyword_quotas(
        some, {label: {"owl": 6, "duck": 3, "crow": 1} for label in range(4)}, per_class=per_class, **more
    ),
}


# reference: the quota rule and the order of the remainders, in fractions
@given(st.lists(st.integers(0, 50), min_size=1, max_size=8).filter(any), st.integers(0, 200))
def test_largest_remainders(weights, total):
    found = largest_remainder(np.array(weights), total).tolist()
    shares = [Fraction(weight * total, sum(weights)) for weight in weights]
    assert sum(found) == total
    assert all(int(share) <= n <= int(share) + 1 for n, share in zip(found, shares, strict=True))
    rest = [share - int(share) for share in shares]
    up = [rest[at] for at, n in enumerate(found) if n > int(shares[at])]
    down = [rest[at] for at, n in enumerate(found) if n == int(shares[at])]
    assert not up or not down or min(up) >= max(down)


def test_what_can_not_be_parted():
    with pytest.raises(UsageError, match="nothing to part in proportion to"):
        largest_remainder(np.array([0, 0]), 3)
    with pytest.raises(UsageError, match="nothing to part in proportion to"):
        largest_remainder(np.array([2, -1]), 3)


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_same_seed_is_the_same_set_in_any_order_of_the_pool(name):
    some = pool()
    first = STRATEGIES[name](some, seed=3)
    order = np.random.default_rng(2).permutation(len(some))
    turned = Candidates(
        tuple(some.ids[row] for row in order),
        some.labels[order],
        some.frequency[order],
        some.n_answers[order],
        columns={key: values[order] for key, values in some.columns.items()},
    )
    assert STRATEGIES[name](turned, seed=3).ids == first.ids
    assert first.per_class == dict.fromkeys(range(4), 10)
    assert len(set(first.ids)) == 40
    assert not first.short


@pytest.mark.parametrize("name", STRATEGIES)
def test_one_that_is_excluded_is_replaced_and_no_other_moves(name):
    some = pool()
    before = STRATEGIES[name](some, seed=0)
    for gone in (before.ids[0], before.ids[25]):
        after = STRATEGIES[name](some.without_ids([gone], "blacklisted"), seed=0)
        assert set(before.ids) - set(after.ids) == {gone}
        assert len(after) == len(before)


@pytest.mark.parametrize("name", sorted(set(STRATEGIES) - {"top-images"}))
def test_what_was_chosen_before_is_kept_where_it_may_be(name):
    some = pool()
    other = STRATEGIES[name](some, seed=1)
    assert STRATEGIES[name](some, seed=0).ids != other.ids
    assert STRATEGIES[name](some, seed=0, keep=other.ids).ids == other.ids


# reference: a loop over bins in the words of the paper
def test_matched_frequency_by_hand():
    some, first = pool(120, 2), original(2)
    line = places_in_line(some.ids, 7)
    found = matched_frequency(some, first, per_class=10, seed=7)
    for label in (0, 1):
        wanted = largest_remainder(histogram(first[label]), 10).tolist()
        expected, left = [], {}
        for at in range(5):
            inside = [
                row
                for row in np.flatnonzero(some.labels == label)
                if at / 5 <= some.frequency[row] and (some.frequency[row] < (at + 1) / 5 or at == 4)
            ]
            inside.sort(key=lambda row: line[row])
            expected += inside[: wanted[at]]
            left[at] = inside[wanted[at] :]
            wanted[at] -= min(wanted[at], len(inside))
        for at in range(5):
            for higher in range(at + 1, 5):
                while wanted[at] and left[higher]:
                    expected.append(left[higher].pop(0))
                    wanted[at] -= 1
        assert {some.ids[row] for row in expected} == {one for one in found.ids if int(one[-4:]) % 2 == label}


def test_a_bin_that_is_empty_takes_from_the_next_higher_and_counts_it():
    some = Candidates(tuple("abcdef"), np.zeros(6, int), np.array([0.1, 0.5, 0.5, 0.9, 0.9, 0.9]), np.full(6, 10))
    # Four in five of the original images lie in [0, .2), where there is one candidate.
    found = matched_frequency(some, {0: np.array([0.1, 0.1, 0.1, 0.1, 0.9])}, per_class=5, seed=0)
    assert found.counts == {MOVED: 3}
    assert sorted(some.frequency[found.rows]) == [0.1, 0.5, 0.5, 0.9, 0.9]
    assert not found.short
    # Nothing is higher than the last bin.
    top = matched_frequency(some, {0: np.array([1.0])}, per_class=5, seed=0)
    assert (len(top), top.short, top.counts) == (3, {0: 2}, {MOVED: 0})


def test_matched_frequency_needs_something_to_match():
    with pytest.raises(DataError, match="class 1: no original image of it was annotated"):
        matched_frequency(pool(20, 2), {0: np.array([0.5])})


# reference: the definitions, by sorting
def test_threshold_and_top_images_by_hand():
    some = pool(200, 2)
    top, above = top_images(some, per_class=10), threshold(some, at_least=0.9, per_class=30)
    for label in (0, 1):
        mine = np.flatnonzero(some.labels == label)
        best = sorted(some.frequency[mine])[::-1]
        assert sorted(some.frequency[top.rows[some.labels[top.rows] == label]])[::-1] == best[:10]
        chosen = sorted(some.frequency[above.rows[some.labels[above.rows] == label]])[::-1]
        if (n_above := int((some.frequency[mine] >= 0.9).sum())) <= 30:
            assert chosen == best[:30], "all above the threshold, then the highest of the others"
        else:
            assert chosen[-1] >= 0.9
        assert n_above > 10
    assert above.counts[BELOW] == int((some.frequency[above.rows] < 0.9).sum())


# reference: each of the candidates of a class is drawn as often as any other, by a chi-square test at one in 10,000
@pytest.mark.parametrize("strategy", [uniform, lambda some, **more: threshold(some, at_least=0.0, **more)])
def test_draws_are_uniform(strategy):
    some = pool(20, 1)
    times = np.zeros(20)
    for seed in range(400):
        times[strategy(some, per_class=5, seed=seed).rows] += 1
    assert times.sum() == 2000
    assert chisquare(times).pvalue > 1e-4


# reference: Recht et al. (2019), section 3: frequencies of .73 matched, .85 above the threshold, .93 of the top images
def test_the_strategies_differ_as_in_the_paper():
    some = pool(4000, 4)
    means = [STRATEGIES[name](some).mean_frequency for name in ("matched-frequency", "threshold", "top-images")]
    assert means[0] < means[1] < means[2]
    assert means[0] == pytest.approx(np.mean(np.concatenate(list(original().values()))), abs=0.05)


def test_keyword_quotas_by_hand():
    some = pool(300, 1)
    found = keyword_quotas(some, {0: {"owl": 6, "duck": 3, "crow": 1, "jay": 1}}, per_class=10, most_keywords=3)
    names = some.columns["keyword"][found.rows].tolist()
    assert {name: names.count(name) for name in ("owl", "duck", "crow")} == {"owl": 6, "duck": 3, "crow": 1}
    assert found.counts == {ELSEWHERE: 0}
    few = some.without((some.columns["keyword"] == "owl") & (np.arange(300) > 5), "blacklisted")
    n_owls = int((few.may_be_chosen & (few.columns["keyword"] == "owl")).sum())
    assert 0 < n_owls < 6
    without = keyword_quotas(few, {0: {"owl": 6, "duck": 3, "crow": 1}}, per_class=10)
    names = some.columns["keyword"][without.rows].tolist()
    assert names.count("owl") == n_owls
    assert (len(without), without.counts) == (10, {ELSEWHERE: 6 - n_owls})


def test_one_attribute_at_a_time():
    years, cameras = np.array(["2017", "2018", "2017", "2018", "2019"] * 4), np.array((["new"] * 10) + ["old"] * 10)
    some = pool(20, 2)
    some = replace(some, columns={"year": years, "camera": cameras})
    found = by_attribute(some, {"year": "2017", "camera": "new"}, per_set=3)
    assert set(found) == {"iid", "year=2018", "year=2019", "camera=old"}
    assert {(years[row], cameras[row]) for row in found["year=2018"].rows} == {("2018", "new")}
    assert {(years[row], cameras[row]) for row in found["camera=old"].rows} == {("2017", "old")}
    assert (len(found["iid"]), found["iid"].counts) == (3, {})
    assert (len(found["year=2019"]), found["year=2019"].counts) == (2, {"fewer than wanted": 1})
    with pytest.raises(DataError, match="no candidate has year=2016, camera=new"):
        by_attribute(some, {"year": "2016", "camera": "new"}, per_set=3)
    with pytest.raises(UsageError, match=r"no column 'yaer'; did you mean year\?"):
        by_attribute(some, {"yaer": "2017"}, per_set=3)


def test_balance_cuts_to_the_smallest_class():
    some = pool(43, 4).without(np.arange(43) % 4 == 3, "blacklisted")
    some = replace(some, out=tuple("" if row in (3, 7, 11) else why for row, why in enumerate(some.out)))
    found = balanced(uniform(some, per_class=10))
    assert (found.per_class, found.counts[CUT]) == (dict.fromkeys(range(4), 3), 21)
    assert set(found.ids) <= set(uniform(some, per_class=10).ids)
    with pytest.raises(DataError, match="class 3: no image was chosen of it"):
        balanced(uniform(pool(43, 4).without(np.arange(43) % 4 == 3, "blacklisted"), per_class=10))


def test_exclusions_are_counted_by_their_first_reason():
    some = pool(100, 2)
    some = replace(some, n_answers=np.where(np.arange(100) < 30, 4, 10))
    out = enough_answers(some, 10).without(np.arange(100) < 50, "near-duplicate")
    assert out.n_out == {"few answers": 30, "near-duplicate": 20}
    assert not set(uniform(out, per_class=50).ids) & set(some.ids[:50])
    assert uniform(out, per_class=50).short == {0: 25, 1: 25}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"labels": np.zeros(3, int)}, "candidates of several lengths: 2, 3"),
        ({"ids": ("a", "a")}, "a: 1 candidates are there more than once"),
        ({"frequency": np.array([0.5, 1.5])}, r"a selection frequency is a share: it lies in \[0, 1\]"),
    ],
)
def test_candidates_that_can_not_be(changed, message):
    good = {"ids": ("a", "b"), "labels": np.zeros(2, int), "frequency": np.ones(2), "n_answers": np.ones(2)}
    with pytest.raises(DataError, match=message):
        Candidates(**{**good, **changed})


def test_who_is_not_there_can_not_be_excluded():
    with pytest.raises(UsageError, match=r"image-003: no candidate of that id; did you mean"):
        pool().without_ids(["image-003"], "blacklisted")
