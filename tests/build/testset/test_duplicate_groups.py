"""Groups of duplicates against a walk along the pairs, and which image of each stays."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oodometer.build.testset.duplicate_groups import groups_of, one_of_each
from oodometer.core.errors import DataError, UsageError

quick = settings(deadline=None, derandomize=True, max_examples=200)
some_pairs = st.lists(
    st.tuples(st.integers(0, 25), st.integers(0, 25)).filter(lambda pair: pair[0] != pair[1]), max_size=30
)


def walked(pairs):
    """From each image along pairs to all that can be reached."""
    images = {image for pair in pairs for image in pair}
    groups = set()
    for start in images:
        reached, new = {start}, {start}
        while new:
            new = {b for a, b in [*pairs, *((b, a) for a, b in pairs)] if a in new} - reached
            reached |= new
        groups.add(tuple(sorted(reached)))
    return tuple(sorted(groups))


@quick
@given(some_pairs)
def test_groups_are_what_a_walk_reaches(pairs):
    assert groups_of(pairs) == walked(pairs)  # reference: the walk above


@quick
@given(some_pairs, st.randoms(use_true_random=False))
def test_the_order_of_the_pairs_does_not_matter(pairs, random):
    before = groups_of(pairs)
    turned = [pair if random.random() < 0.5 else pair[::-1] for pair in pairs]
    random.shuffle(turned)
    assert groups_of(turned) == before


def test_ids_do_as_well_and_long_chains_hold():
    assert groups_of([("b", "a"), ("c", "d"), ("d", "a")]) == (("a", "b", "c", "d"),)
    assert groups_of((one, one + 1) for one in range(100_000)) == (tuple(range(100_001)),)


@quick
@given(some_pairs, st.sets(st.integers(0, 25), max_size=4))
def test_every_image_of_a_group_is_kept_or_dropped_and_one_is_kept(pairs, outside):
    groups = groups_of(pairs)
    scores = {image: (image * 7) % 5 / 5 for image in range(26)}
    chosen = one_of_each(groups, scores=scores, outside=outside)
    assert {*chosen.kept, *chosen.dropped} == {image for group in groups for image in group} | outside
    assert not {*chosen.kept} & {*chosen.dropped}
    for group in groups:
        kept = {*group} & {*chosen.kept}
        if {*group} & outside:
            assert not kept
            assert {chosen.dropped[image] for image in group} == {None}
        else:
            (best,) = kept
            assert scores[best] == max(scores[image] for image in group)
            assert {chosen.dropped[image] for image in group if image != best} == {best}


def test_without_scores_the_first_stays_and_of_equals_too():
    assert one_of_each([(4, 2, 9)]).kept == (2,)
    assert one_of_each([("b", "a")], scores={"a": 0.5, "b": 0.5}).kept == ("a",)
    assert one_of_each([("b", "a")], scores={"a": 0.5, "b": 0.6}).dropped == {"a": "b"}


@pytest.mark.parametrize("scores", [{1: 0.5}, {1: 0.5, 2: float("nan")}])
def test_a_missing_score_is_an_error(scores):
    with pytest.raises(DataError, match=r"^image 2 has no score, or NaN"):
        one_of_each([(1, 2)], scores=scores)


def test_an_image_beside_itself_or_in_two_groups_is_an_error():
    with pytest.raises(UsageError, match=r"^image 3 is paired with itself"):
        groups_of([(1, 2), (3, 3)])
    with pytest.raises(UsageError, match=r"^image 2 is in the groups twice"):
        one_of_each([(1, 2), (2, 3)])
