"""pm-k from a store: a plain loop over anchors is the reference."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from few_groups import stretched
from oodometer.analysis.metric_request import ScoreOptions
from oodometer.analysis.score import score
from oodometer.core.errors import OodometerError

ANCHORS, K = 12, 2
ANCHOR = np.repeat([f"v{number:02d}" for number in range(ANCHORS)], 2 * K + 1)
OFFSET = np.tile(np.arange(-K, K + 1), ANCHORS)


@pytest.fixture
def videos(make_dataset):
    """Twelve anchors of five frames each, in no order."""
    order = np.random.default_rng(0).permutation(len(ANCHOR))
    columns = {"anchor": ANCHOR[order], "offset": OFFSET[order], "shot": np.array([one[:2] for one in ANCHOR[order]])}
    return make_dataset(len(order), columns=columns)


def plain(ranks: np.ndarray, data, k: int, anchors=None) -> list[bool]:
    right = []
    for anchor in sorted(set(data.columns["anchor"])) if anchors is None else anchors:
        near = [
            ranks[at] == 0
            for at in range(len(ranks))
            if data.columns["anchor"][at] == anchor and abs(data.columns["offset"][at]) <= k
        ]
        right.append(all(near))
    return right


def by_name(scores) -> dict:
    return {row.metric: row for row in scores.rows}


@pytest.mark.parametrize(("interval", "method"), [("clopper-pearson", "exact"), ("wilson", "wilson")])
def test_counts_of_a_plain_loop_with_intervals_of_scipy(filled, videos, interval, method):
    ranks = (np.random.default_rng(1).random(len(videos)) < 0.15).astype(int)
    filled.add(videos, ranks)
    found = by_name(score(filled.store, metrics=["pm-k"], interval=interval))
    assert set(found) == {"pm-0", "pm-2"}
    for k in (0, 2):
        right = plain(ranks, videos, k)
        bounds = binomtest(sum(right), ANCHORS).proportion_ci(method=method)
        estimate = found[f"pm-{k}"].estimate
        assert (estimate.value, estimate.n) == (sum(right) / ANCHORS, ANCHORS)
        assert (estimate.low, estimate.high) == pytest.approx((bounds.low, bounds.high), abs=1e-9)
    assert found["pm-2"].convention == "share of anchors of which every frame within 2 is right; n counts anchors"


def test_pm_k_is_defined_where_its_rows_have_other_names(filled, videos, make_dataset):
    filled.add(videos, [0] * len(videos))
    filled.add(make_dataset(4, name="photos"), [0] * 4, model="other")
    found = score(filled.store, metrics=["pm-k"])
    assert {row.metric for row in found.rows} == {"pm-0", "pm-2"}
    assert len(found.left_out) == 1


def test_anchors_with_a_frame_that_is_missing_or_unlabelled_are_left_out(filled, make_dataset):
    labels = np.zeros(60, dtype=int)
    labels[7] = -1  # of anchor 1
    data = make_dataset(60, labels=labels, columns={"anchor": np.repeat(np.arange(12), 5), "offset": OFFSET})
    ranks = (np.random.default_rng(2).random(60) < 0.1).astype(int)
    kept = np.delete(np.arange(60), [22, 40])  # the frame 0 of anchor 4, and frame -2 of anchor 8
    filled.add(data, ranks[kept], positions=kept)
    found = by_name(score(filled.store, metrics=["pm-k"]))
    anchors = [one for one in range(12) if one not in (1, 4, 8)]
    for k in (0, 2):
        estimate = found[f"pm-{k}"].estimate
        assert (estimate.value, estimate.n) == (pytest.approx(np.mean(plain(ranks, data, k, anchors))), 9)
        assert found[f"pm-{k}"].missing == 2


def test_an_unfinished_run_is_judged_by_whole_anchors(filled, make_dataset):
    data = make_dataset(60, columns={"anchor": np.repeat(np.arange(12), 5), "offset": OFFSET})
    filled.add(data, [0] * 13, positions=range(13), finished=False)
    row = by_name(score(filled.store, metrics=["pm-k"]))["pm-2"]
    assert (row.estimate.n, row.state, row.missing) == (2, "unfinished", 47)
    assert str(score(filled.store, metrics=["pm-k"])).splitlines()[0].endswith("(unfinished: 47 images to go)")


def test_anchors_of_a_group_are_drawn_together(filled, videos):
    ranks = (np.random.default_rng(1).random(len(videos)) < 0.15).astype(int)
    filled.add(videos, ranks)
    estimate = by_name(score(filled.store, metrics=["pm-k"], options=ScoreOptions(by="shot")))["pm-2"].estimate
    # two shots, of ten anchors (v00 to v09) and of two: a quarter of the resamples is one of them twice
    right = np.array(plain(ranks, videos, 2))
    ends = sorted([right[:10].mean(), right[10:].mean()])
    assert ends[0] < ends[1]
    wide = np.clip(stretched(np.array(ends), float(right.mean()), 2), 0.0, 1.0)
    assert (estimate.low, estimate.high) == pytest.approx(tuple(wide))
    assert estimate.interval == "cluster bootstrap 95%"


def test_only_anchors_give_pm_0(filled, make_dataset):
    filled.add(make_dataset(4, columns={"anchor": np.arange(4), "offset": np.zeros(4, int)}), [0, 0, 0, 1])
    (row,) = score(filled.store, metrics=["pm-k"]).rows
    assert (row.metric, row.estimate.value) == ("pm-0", 0.75)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({}, "pm-k: no data with the columns anchor and offset, which say which frames belong together"),
        (
            {"anchor": np.arange(4), "offset": np.array([0.0, np.nan, 1, 0])},
            "pm-k: clean of val: the column offset has to hold whole numbers: frames after the anchor",
        ),
        (
            {"anchor": np.array([0, 0, 1, 1]), "offset": np.array([0, 1, 1, 2])},
            "pm-k: clean of val: 1 anchors have no frame of offset 0; the first is 1",
        ),
    ],
)
def test_data_that_do_not_say_what_is_needed(filled, make_dataset, columns, message):
    filled.add(make_dataset(4, columns=columns), [0] * 4)
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["pm-k"])
    assert str(caught.value) == message


def test_no_whole_anchor(filled, make_dataset):
    data = make_dataset(4, columns={"anchor": np.zeros(4, int), "offset": np.arange(4)})
    filled.add(data, [0] * 3, positions=[0, 1, 2])
    with pytest.raises(OodometerError, match="every anchor has a frame without an answer or a label"):
        score(filled.store, metrics=["pm-k"])
