"""The search by faiss against plain loops over all pairs."""

from __future__ import annotations

import sys

import faiss  # noqa: F401  # loaded, so that its threads can be counted
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from oodometer.build.testset import neighbours
from oodometer.build.testset.features import Features
from oodometer.build.testset.neighbours import nearest_between, nearest_within, pairs_between, pairs_within
from oodometer.core.errors import DataError, MissingExtraError, UsageError

quick = settings(deadline=None, derandomize=True, max_examples=60)
Found = dict[tuple[int, int], tuple[float, bool]]


@pytest.fixture(autouse=True)
def _many_blocks(monkeypatch):
    """So that a few vectors go through several blocks, and through shorter vectors if they are long."""
    monkeypatch.setattr(neighbours, "BASE_AT_ONCE", 7)
    monkeypatch.setattr(neighbours, "QUERIES_AT_ONCE", 5)
    monkeypatch.setattr(neighbours, "WORTH_SHORTENING", 1)
    with threadpool_limits(1):  # on a busy machine threads that wait for each other take most of the time
        yield


def whole_numbers(n: int, d: int, *, seed: int, mirror: str = "order") -> Features:
    """Vectors of small whole numbers, whose squared distances are exact in any arithmetic; many are tied, or equal."""
    rng = np.random.default_rng(seed)
    vectors = rng.integers(0, 4, (n, d)).astype(np.float32)
    if mirror == "order":
        places = rng.permutation(d)
        order = np.empty(d, int)
        order[places] = places[::-1]  # exchanges two and two
        return Features(vectors, mirror_order=order)
    return Features(vectors, mirrored=rng.integers(0, 4, (n, d)).astype(np.float32))


def plain(queries: Features, base: Features, *, mirror: bool) -> Found:
    """The distance of each query to each of the base, and whether it is smaller in the mirror: two loops."""
    turned = queries.in_mirror(slice(None)).astype(np.float64) if mirror else None
    found = {}
    for i, x in enumerate(queries.vectors.astype(np.float64)):
        for j, y in enumerate(base.vectors.astype(np.float64)):
            as_it_is = float(np.sqrt(((x - y) ** 2).sum()))
            in_mirror = float(np.sqrt(((turned[i] - y) ** 2).sum())) if turned is not None else np.inf
            found[i, j] = min((as_it_is, False), (in_mirror, True))
    return found


def plain_inside(features: Features, *, mirror: bool) -> Found:
    both_ways = plain(features, features, mirror=mirror)
    return {(i, j): min(far, both_ways[j, i]) for (i, j), far in both_ways.items() if i < j}


def as_dict(pairs) -> Found:
    found = dict(zip(pairs.positions(), zip(pairs.distance, pairs.mirrored, strict=True), strict=True))
    assert len(found) == len(pairs), "each pair once"
    assert list(pairs.distance) == sorted(pairs.distance)
    return found


sizes = st.tuples(st.integers(0, 25), st.sampled_from([1, 3, 70]), st.integers(0, 10**6))


@quick
@given(sizes, st.integers(0, 12), st.booleans(), st.sampled_from(["order", "vectors"]))
def test_all_pairs_inside_a_set(size, square, mirror, kind):
    n, d, seed = size
    features, radius = whole_numbers(n, d, seed=seed, mirror=kind), float(np.sqrt(square * d))
    expected = {pair: far for pair, far in plain_inside(features, mirror=mirror).items() if far[0] <= radius}
    assert as_dict(pairs_within(features, radius, mirror=mirror)) == expected  # reference: two loops


@quick
@given(sizes, st.integers(0, 25), st.integers(0, 12), st.booleans(), st.sampled_from(["order", "vectors"]))
def test_all_pairs_between_two_sets(size, n_base, square, mirror, kind):
    n, d, seed = size
    queries = whole_numbers(n, d, seed=seed, mirror=kind)
    base, radius = whole_numbers(n_base, d, seed=seed + 1), float(np.sqrt(square * d))
    expected = {pair: far for pair, far in plain(queries, base, mirror=mirror).items() if far[0] <= radius}
    assert as_dict(pairs_between(queries, base, radius, mirror=mirror)) == expected  # reference: two loops


@quick
@given(sizes, st.integers(0, 25), st.integers(1, 30), st.booleans(), st.sampled_from(["order", "vectors"]))
def test_the_nearest_of_another_set(size, n_base, k, mirror, kind):
    n, d, seed = size
    queries, base = whole_numbers(n, d, seed=seed, mirror=kind), whole_numbers(n_base, d, seed=seed + 1)
    every = plain(queries, base, mirror=mirror)
    found = as_dict(nearest_between(queries, base, k, mirror=mirror))
    assert all(every[pair] == far for pair, far in found.items())
    for query in range(n):
        # reference: sorted distances; which of several as far are the k nearest is nobody's business
        expected = sorted(far for (i, _), (far, _) in every.items() if i == query)[:k]
        assert sorted(far for (i, _), (far, _) in found.items() if i == query) == expected


@quick
@given(st.integers(0, 25), st.sampled_from([2, 70]), st.integers(1, 30), st.booleans(), st.integers(0, 10**6))
def test_the_nearest_inside_a_set(n, d, k, mirror, seed):
    rng = np.random.default_rng(seed)
    drawn = rng.normal(size=(2, n, d)).astype(np.float32)  # real numbers: no two distances are the same
    features = Features(drawn[0], mirrored=drawn[1])
    every = plain(features, features, mirror=mirror)
    expected = set()  # reference: for each image a sorted list
    for query in range(n):
        others = sorted((every[query, other], other) for other in range(n) if other != query)
        expected |= {tuple(sorted((query, other))) for _, other in others[:k]}
    found = nearest_within(features, k, mirror=mirror)
    assert set(found.positions()) == expected
    assert (found.first < found.second).all()


@quick
@given(st.integers(0, 40), st.sampled_from([2, 70]), st.integers(1, 8), st.integers(0, 10**6))
def test_among_the_later_ones_no_neighbour_of_the_earlier_is_missed(n, d, k, seed):
    rng = np.random.default_rng(seed)
    drawn = rng.normal(size=(2, n, d)).astype(np.float32)
    features = Features(drawn[0], mirrored=drawn[1])
    every = plain(features, features, mirror=True)
    needed = set()  # reference: for each image a sorted list, of which the later ones
    for query in range(n):
        others = sorted((every[query, other], other) for other in range(n) if other != query)
        needed |= {(query, other) for _, other in others[:k] if other > query}
    found = as_dict(nearest_within(features, k, mirror=True, later=True))
    assert needed <= set(found)
    for (first, second), (distance, _) in found.items():
        either_way = (every[first, second][0], every[second, first][0])  # these mirrored vectors are not symmetric
        assert any(distance == pytest.approx(far, rel=1e-6) for far in either_way)


@pytest.mark.parametrize("d", [8, 3072])
def test_rounding_loses_no_duplicate(d):
    """In 32 bits the squares of these numbers are off by more than the distances of the near ones."""
    rng = np.random.default_rng(0)
    vectors = (1000 + rng.normal(size=(40, d))).astype(np.float32)
    vectors[20:30] = vectors[:10]
    vectors[30:] = vectors[:10] + np.float32(1e-3)
    features = Features(vectors)
    # by construction
    assert set(pairs_within(features, 0.0).positions()) == {(i, i + 20) for i in range(10)}
    trios = {pair for i in range(10) for pair in ((i, i + 20), (i, i + 30), (i + 20, i + 30))}
    assert set(pairs_within(features, 2e-3 * np.sqrt(d)).positions()) == trios
    assert {(i, i + 20) for i in range(10)} <= set(nearest_within(features, 1).positions())


def test_many_equal_images_are_neighbours_of_each_other_and_never_of_themselves():
    features = Features(np.ones((12, 2), np.float32))
    assert len(pairs_within(features, 0.0)) == 12 * 11 // 2
    found = nearest_within(features, 3)
    assert (found.first != found.second).all()
    assert set(range(12)) == {*found.first.tolist(), *found.second.tolist()}


def test_a_symmetric_image_is_no_mirrored_copy_of_itself_and_copies_of_it_are_plain():
    features = Features(np.array([[1, 1], [1, 1], [1, 2], [2, 1]], np.float32), mirror_order=np.array([1, 0]))
    found = pairs_within(features, 0.0, mirror=True)
    assert found.positions() == [(0, 1), (2, 3)]
    assert found.mirrored.tolist() == [False, True]


def test_the_order_of_the_images_does_not_matter():
    features = whole_numbers(30, 5, seed=1, mirror="vectors")
    order = np.random.default_rng(2).permutation(30)
    shuffled = Features(features.vectors[order], mirrored=features.mirrored[order])
    for search in (lambda of: pairs_within(of, 2.0, mirror=True), lambda of: pairs_within(of, 2.0)):
        found = as_dict(search(features))
        again = {tuple(sorted(order[list(pair)].tolist())): far for pair, far in as_dict(search(shuffled)).items()}
        assert again == found


def test_vectors_may_lie_in_a_file(tmp_path):
    features = whole_numbers(30, 70, seed=3)
    features.vectors.tofile(tmp_path / "vectors")
    mapped = Features(
        np.memmap(tmp_path / "vectors", np.float32, "r", shape=(30, 70)), mirror_order=features.mirror_order
    )
    assert as_dict(pairs_within(mapped, 9.0, mirror=True)) == as_dict(pairs_within(features, 9.0, mirror=True))
    assert as_dict(nearest_within(mapped, 3)) == as_dict(nearest_within(features, 3))


def test_too_large_a_radius_is_an_error(monkeypatch):
    monkeypatch.setattr(neighbours, "MOST_PAIRS", 100)
    with pytest.raises(UsageError, match=r"^more than 100 pairs within 9: choose a smaller radius, or take out"):
        pairs_within(whole_numbers(30, 2, seed=0), 9.0)


@pytest.mark.parametrize("radius", [-1.0, np.nan, np.inf])
def test_no_radius_is_an_error(radius):
    with pytest.raises(UsageError, match="at least 0"):
        pairs_within(whole_numbers(3, 2, seed=0), radius)


def test_no_neighbours_is_an_error():
    with pytest.raises(UsageError, match=r"^0 nearest neighbours: at least 1$"):
        nearest_within(whole_numbers(3, 2, seed=0), 0)


@pytest.mark.parametrize("search", [pairs_between, nearest_between])
def test_features_of_two_kinds_are_an_error(search):
    with pytest.raises(UsageError, match=r"^features of 2 and of 3 numbers: both sets need the same kind$"):
        search(whole_numbers(3, 2, seed=0), whole_numbers(3, 3, seed=0), 1)


@pytest.mark.parametrize("search", [pairs_within, nearest_within])
def test_what_is_unknown_in_a_mirror_is_an_error(search):
    with pytest.raises(UsageError, match=r"search without it$"):
        search(Features(np.ones((3, 2), np.float32)), 1, mirror=True)


@pytest.mark.parametrize("search", [pairs_within, nearest_within])
@pytest.mark.parametrize("d", [2, 70])
def test_nan_is_an_error(search, d):
    vectors = np.ones((9, d), np.float32)
    vectors[8, 1] = np.nan
    with pytest.raises(DataError, match="are NaN or infinite"):
        search(Features(vectors), 1)


@pytest.mark.parametrize("search", [pairs_within, nearest_within])
def test_without_faiss_the_extra_is_named(monkeypatch, search):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtraError) as error:
        search(whole_numbers(3, 2, seed=0), 1)
    assert str(error.value) == "near-duplicates need more packages: pip install 'oodometer[testset]'"
