"""Close pairs without a browser: verdicts, undo, filters and thresholds."""

from __future__ import annotations

import io
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

from oodometer.build.testset.project.close_pairs import judge_pair, thresholds_of, verdicts
from oodometer.build.testset.project.pair_list import PairFilter, listed_pairs, pair_files
from oodometer.build.testset.project.pair_thresholds import metric_thresholds
from oodometer.build.testset.project.pair_verdicts import last_judged
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import PAIR, sa
from sampled_testset import COPIED

Fields = Callable[[str], tuple[dict[str, str], list[str]]]


def shown(pages: TestClient, fields: Fields, address: str = "/pairs") -> int:
    return int(fields(pages.get(address).text)[0]["pair"])


def open_pairs(project: Project) -> list[int]:
    return [pair.id for pair in listed_pairs(project, PairFilter(state="open"))[0]]


def test_planted_copies_are_what_is_to_be_looked_at(project: Project, pages: TestClient, fields: Fields) -> None:
    ids = open_pairs(project)
    assert len(ids) >= COPIED
    assert shown(pages, fields) == ids[0]
    assert f"of {len(ids)}" in pages.get("/pairs").text


def test_a_verdict_leads_to_the_next_pair_and_is_undone(project: Project, pages: TestClient, fields: Fields) -> None:
    first, second, third, *_ = open_pairs(project)
    answer = pages.post("/pairs/judge", data={**fields(pages.get("/pairs").text)[0], "verdict": "duplicate"})
    assert answer.headers["location"] == f"/pairs?pair={second}"
    assert shown(pages, fields, answer.headers["location"]) == second
    pages.post("/pairs/judge", data={"pair": second, "verdict": "different"})
    assert sorted(said[3] for said in verdicts(project)) == ["different", "duplicate"]
    answer = pages.post("/pairs/undo")
    assert parse_qs(urlsplit(answer.headers["location"]).query)["pair"] == [str(second)]
    pages.post("/pairs/undo")
    assert (verdicts(project), open_pairs(project)[:3]) == ([], [first, second, third])
    assert pages.post("/pairs/undo").headers["location"] == "/pairs"


def test_the_last_of_a_list_leads_to_the_one_before(project: Project, pages: TestClient, fields: Fields) -> None:
    *_, before, last = open_pairs(project)
    sent = fields(pages.get(f"/pairs?pair={last}").text)[0]
    answer = pages.post("/pairs/judge", data={**sent, "verdict": "different"})
    assert answer.headers["location"] == f"/pairs?pair={before}"


def test_filters_stay_while_pairs_are_judged(project: Project, pages: TestClient, fields: Fields) -> None:
    page = pages.get("/pairs?metric=structure&within=all").text
    hidden, _ = fields(page)
    assert (hidden["metric"], hidden["within"]) == ("structure", "all")
    answer = pages.post("/pairs/judge", data={**hidden, "verdict": "different"})
    asked = parse_qs(urlsplit(answer.headers["location"]).query)
    assert (asked["metric"], asked["within"]) == (["structure"], ["all"])
    n = listed_pairs(project, PairFilter("structure", "different", float("inf")))[1]
    assert n == 1
    assert "of 1\n" in pages.get("/pairs?metric=structure&state=different&within=all").text


def test_when_all_is_looked_at_the_page_says_so(project: Project, pages: TestClient) -> None:
    for pair in open_pairs(project):
        judge_pair(project, pair, "different", by="tests")
    page = pages.get("/pairs").text
    assert "Every pair within the thresholds has been looked at." in page
    assert "Undo the last verdict" in page


@pytest.mark.parametrize(
    "address",
    ["/pairs?state=nonsense", "/pairs?within=far", "/pairs?within=-1", "/pairs?within=nan", "/pairs?pair=x"],
)
def test_addresses_that_mean_nothing_are_refused(pages: TestClient, address: str) -> None:
    answer = pages.get(address)
    assert answer.status_code in (400, 422)
    assert 'role="alert"' in answer.text


@pytest.mark.parametrize("sent", [{"pair": "0"}, {"pair": "x"}, {}, {"pair": "1", "verdict": "maybe"}])
def test_verdicts_that_mean_nothing_are_refused(project: Project, pages: TestClient, sent: dict[str, str]) -> None:
    assert pages.post("/pairs/judge", data={"verdict": "duplicate", **sent}).status_code == 400
    assert verdicts(project) == []


def test_both_pictures_are_the_kept_files_encoded_anew(project: Project, pages: TestClient) -> None:
    pair = open_pairs(project)[0]
    for which, file in zip(("first", "second"), pair_files(project, pair), strict=True):
        kept = (project.folder / "images" / file).read_bytes()
        (project.folder / "images" / file).write_bytes(kept + b"<script>alert(1)</script>")
        answer = pages.get(f"/pairs/{pair}/{which}/large")
        assert b"<script>" not in answer.content
        a, b = (np.asarray(Image.open(io.BytesIO(one)).convert("RGB"), dtype=float) for one in (kept, answer.content))
        assert a.shape == b.shape
        # The copy of a file with more than 256 pixels a side is a JPEG; on flat colours that costs less than 3 of 255.
        assert np.abs(a - b).mean() < 3
    for address in (f"/pairs/{pair}/third/large", f"/pairs/{pair}/first/huge", "/pairs/999999/first/large"):
        assert pages.get(address).status_code == 400


def test_thresholds_tell_both_sides(project: Project, pages: TestClient) -> None:
    page = pages.get("/pairs/thresholds").text
    rows = project.database.rows(sa.select(PAIR.c.metric, PAIR.c.distance).where(PAIR.c.verdict == ""))
    radii = thresholds_of(project)
    for one in metric_thresholds(project):
        distances = [distance for metric, distance in rows if metric == one.metric]
        below = sum(distance <= radii[one.metric] for distance in distances)
        assert (one.n_below, one.n_above) == (below, len(distances) - below)
        assert f"<b>{one.n_below:,}</b> one picture" in page
        # the pairs nearest to the threshold, by sorting all of them
        ranked = sorted(distances)
        kept = {row.id: row.distance for row in project.database.rows(sa.select(PAIR.c.id, PAIR.c.distance))}
        assert [kept[pair] for pair in one.below] == ranked[max(below - 4, 0) : below]
        assert [kept[pair] for pair in one.above] == ranked[below : below + 4]


def test_thresholds_are_changed(project: Project, pages: TestClient) -> None:
    n = len(open_pairs(project))
    answer = pages.post("/pairs/thresholds", data={"pixels": "0", "structure": "0", "soft-pixels": "0"})
    assert answer.headers["location"] == "/pairs/thresholds"
    assert thresholds_of(project)["pixels"] == 0
    assert len(open_pairs(project)) < n
    for wrong in ("-1", "nan", "inf", "far"):
        assert pages.post("/pairs/thresholds", data={"pixels": wrong}).status_code == 400
    pages.post("/pairs/thresholds", data={"<b>nonsense</b>": "1"})  # not a metric that pairs were found by
    assert "<b>nonsense</b>" not in thresholds_of(project)


def test_the_last_verdict_is_the_latest(project: Project) -> None:
    first, second, *_ = listed_pairs(project, PairFilter(state="open"))[0]
    assert last_judged(project) is None
    for pair in (second, first):
        judge_pair(project, pair.id, "different", by="tests")
    judged = last_judged(project)
    assert judged is not None
    assert (judged.key, judged.against, judged.other) == (first.key, first.against, first.other)
