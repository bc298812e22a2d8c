"""Review without a browser: what is decided on a page is in the project afterwards, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from oodometer.build.testset.project.class_review import chosen_in_class, originals_beside, review_states
from oodometer.build.testset.project.close_pairs import mark_duplicates, verdicts
from oodometer.build.testset.project.exclusions import exclude, exclusions
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.revisions import chosen_of, reviewed_classes, revisions
from sampled_testset import HOSTILE, PER_CLASS

Fields = Callable[[str], tuple[dict[str, str], list[str]]]


def keys(project: Project, name: str = "owl", revision: int = 1) -> list[str]:
    return [image.key for image in chosen_of(project, revision) if image.class_name == name]


def test_the_chosen_are_shown_beside_ten_originals(project: Project, pages: TestClient, fields: Fields) -> None:
    hidden, boxes = fields(pages.get("/review/owl").text)
    assert hidden["class"] == "owl"
    assert boxes[:PER_CLASS] == keys(project)
    originals = boxes[PER_CLASS:]
    assert len(set(originals)) == 10
    assert all(key.startswith("o") for key in originals)


def test_others_show_the_originals_that_were_not_shown(project: Project, pages: TestClient, fields: Fields) -> None:
    first, second = (set(fields(pages.get(f"/review/owl?turn={turn}").text)[1][PER_CLASS:]) for turn in (0, 1))
    assert len(first | second) == 12
    assert not first & second
    assert {image.key for image in originals_beside(project, 1, 10, turn=2)} == first


def test_images_are_excluded_with_a_reason_and_taken_back(project: Project, pages: TestClient) -> None:
    first, second, *_ = keys(project)
    sent = {"class": "owl", "key": [first, second], "reason": "blurry"}
    answer = pages.post("/review/exclude", data=sent)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/review/owl#image-{first}")
    assert [(one.key, one.reason) for one in exclusions(project)] == [(first, "blurry"), (second, "blurry")]
    assert all(one.by for one in exclusions(project))
    page = pages.get("/review/owl").text
    assert page.count("out: blurry") == 2
    pages.post("/review/take-back", data={"class": "owl", "only": first})
    assert [one.key for one in exclusions(project)] == [second]


def test_own_words_are_a_reason_and_are_escaped(project: Project, pages: TestClient) -> None:
    words = "<script>alert(1)</script>"
    pages.post("/review/exclude", data={"class": "owl", "key": keys(project)[0], "reason": "own", "words": words})
    assert [one.reason for one in exclusions(project)] == [words]
    page = pages.get("/review/owl").text
    assert words not in page
    assert "out: &lt;script&gt;" in page


@pytest.mark.parametrize(
    ("path", "sent", "said"),
    [
        ("exclude", {"reason": "blurry"}, "Select images first."),
        ("exclude", {"reason": "own", "key": "CHOSEN"}, "Say why, in your own words"),
        ("exclude", {"reason": "blurry", "key": "ORIGINAL"}, "Originals are never chosen"),
        ("duplicates", {"key": "CHOSEN"}, "two or more"),
        ("take-back", {}, "Select images first."),
    ],
)
def test_what_can_not_be_done_is_said(
    project: Project, pages: TestClient, path: str, sent: dict[str, str], said: str
) -> None:
    meant = {"CHOSEN": keys(project)[0], "ORIGINAL": originals_beside(project, 1, 1)[0].key}
    data = {name: meant.get(value, value) for name, value in sent.items()}
    answer = pages.post(f"/review/{path}", data={"class": "owl", **data})
    assert said in pages.get(answer.headers["location"]).text
    assert exclusions(project) == []


def test_images_of_another_class_are_not_taken_out_by_a_form_about_this_one(
    project: Project, pages: TestClient
) -> None:
    answer = pages.post("/review/exclude", data={"class": "owl", "key": keys(project, "duck")[0], "reason": "blurry"})
    assert "said=original" in answer.headers["location"]
    assert exclusions(project) == []


def test_several_are_said_to_be_one_picture_and_one_of_them_stays(project: Project, pages: TestClient) -> None:
    three = keys(project)[:3]
    pages.post("/review/duplicates", data={"class": "owl", "key": three})
    assert len(verdicts(project, verdict="duplicate")) == 2
    assert pages.get("/review/owl").text.count("same picture as") == 3
    pages.post("/review/again")
    assert len(set(three) & set(keys(project, revision=2))) == 1
    assert len(keys(project, revision=2)) == PER_CLASS


def test_that_they_are_one_picture_is_taken_back(project: Project, pages: TestClient) -> None:
    first, second, *_ = keys(project)
    pages.post("/review/duplicates", data={"class": "owl", "key": [first, second]})
    pages.post("/review/take-back", data={"class": "owl", "key": second})  # the other one of the pair
    assert verdicts(project, verdict="duplicate") == []
    assert "same picture as" not in pages.get("/review/owl").text


def test_sampling_again_fills_the_gaps_until_nothing_changes(project: Project, pages: TestClient) -> None:
    gone = keys(project)[:2]
    pages.post("/review/exclude", data={"class": "owl", "key": gone, "reason": "drawing"})
    assert pages.post("/review/again").headers["location"] == "/review"
    first, second = revisions(project)
    assert (second.parent, second.n_new, second.n_gone) == (first.number, 2, 2)
    assert not set(gone) & set(keys(project, revision=2))
    answer = pages.post("/review/again")
    assert "Nothing changed" in pages.get(answer.headers["location"]).text
    assert len(revisions(project)) == 2


def test_a_reviewed_class_leads_to_the_next_one(project: Project, pages: TestClient) -> None:
    answer = pages.post("/review/reviewed", data={"class": "owl", "reviewed": "yes"})
    assert answer.headers["location"] == "/review/duck"
    assert reviewed_classes(project, 1) == {"owl"}
    for name in ("cat", HOSTILE):
        pages.post("/review/reviewed", data={"class": name, "reviewed": "yes"})
    answer = pages.post("/review/reviewed", data={"class": "duck", "reviewed": "yes"})
    assert answer.headers["location"] == "/review"
    assert "Every class is reviewed" in pages.get("/review").text
    pages.post("/review/reviewed", data={"class": "owl", "reviewed": "no"})
    assert "owl" not in reviewed_classes(project, 1)


def test_only_classes_that_changed_are_to_be_reviewed_again(project: Project, pages: TestClient) -> None:
    for state in review_states(project, 1):
        pages.post("/review/reviewed", data={"class": state.name, "reviewed": "yes"})
    pages.post("/review/exclude", data={"class": "owl", "key": keys(project)[0], "reason": "blurry"})
    pages.post("/review/again")
    assert {one.name for one in review_states(project, 2) if not one.is_reviewed} == {"owl"}


def test_a_class_of_any_name_has_its_page(project: Project, pages: TestClient, fields: Fields) -> None:
    for address in (f"/review/{quote(HOSTILE, safe='')}", f"/review/{quote(HOSTILE)}"):
        answer = pages.get(address)
        assert answer.status_code == 200
        assert fields(answer.text)[0]["class"] == HOSTILE
        assert "<b>o" not in answer.text
        assert "<script>alert" not in answer.text
    answer = pages.get("/review", params={"name": HOSTILE})
    assert pages.get(answer.headers["location"]).status_code == 200
    assert "<b>o" not in pages.get("/review").text


def test_frequencies_are_shown_on_demand(pages: TestClient) -> None:
    assert 'class="frequency"' not in pages.get("/review/owl").text
    assert pages.get("/review/owl?frequencies=1").text.count('class="frequency"') == PER_CLASS + 10


def test_what_is_not_there_is_said_in_a_sentence(pages: TestClient) -> None:
    for address in ("/review/nonsense", "/review/..%2F..%2Fetc%2Fpasswd"):
        answer = pages.get(address)
        assert answer.status_code == 404
        assert "Nothing is chosen of a class named" in answer.text
    for address in ("/review?revision=99", "/review/owl?revision=99"):
        answer = pages.get(address)
        assert answer.status_code == 404
        assert "There is no revision 99." in answer.text
    for address in ("/picture/large/nonsense", "/picture/huge/x", "/picture/large/..%2F..%2Ftestset.db"):
        assert pages.get(address).status_code in (400, 404)


def test_pictures_are_encoded_anew(project: Project, pages: TestClient) -> None:
    image = chosen_in_class(project, 1, 1)[0]
    file = project.folder / "images" / image.file
    file.write_bytes(file.read_bytes() + b"<script>alert(1)</script>")  # an image still, and more
    answer = pages.get(f"/picture/large/{image.key}")
    assert answer.headers["content-type"] in ("image/png", "image/jpeg")
    assert b"<script>" not in answer.content
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path", ["review/exclude", "review/duplicates", "review/take-back", "review/reviewed", "review/again"]
)
def test_another_site_changes_nothing(project: Project, pages: TestClient, path: str) -> None:
    sent = {"class": "owl", "key": keys(project)[:2], "reason": "blurry"}
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert pages.post(f"/{path}", data=sent, headers=headers).status_code == 403
    assert (exclusions(project), reviewed_classes(project, 1), len(revisions(project))) == ([], set(), 1)


@pytest.mark.parametrize("path", ["/", "/pairs", "/review", "/review/owl", "/revisions", "/results/quiz"])
def test_pages_are_for_the_owner_alone(guarded: TestClient, path: str) -> None:
    assert guarded.get(path).status_code == 401
    guarded.cookies.set("oodometer_owner", "secret")
    assert guarded.get(path).status_code == 200


def test_a_form_that_is_none_is_refused(pages: TestClient) -> None:
    assert pages.post("/review/exclude", json={"class": "owl"}).status_code == 415
    too_many = "&".join(["key=a"] * 3000)
    head = {"content-type": "application/x-www-form-urlencoded"}
    assert pages.post("/review/exclude", content=too_many, headers=head).status_code == 400
    assert pages.post("/review/exclude", content="é".encode(), headers=head).status_code == 400


def test_after_a_sample_that_changes_nothing_no_gap_is_told(project: Project, pages: TestClient) -> None:
    first, second, *_ = keys(project)
    mark_duplicates(project, [first, second], by="tests")
    exclude(project, [keys(project, "duck")[0]], "blurry", by="tests")
    page = pages.get("/review").text
    assert "1 blurry" in page
    assert "1 the same picture as another" in page  # of the two only one goes
    pages.post("/review/again")
    page = pages.get("/review").text
    assert "Out since: " not in page
    again = pages.post("/review/again")
    assert "said=same" in again.headers["location"]
    page = pages.get(again.headers["location"]).text
    assert "Nothing changed" in page
    assert "Out since: " not in page


def test_both_images_of_a_pair_are_counted(project: Project) -> None:
    chosen = keys(project)
    mark_duplicates(project, chosen[:2], by="tests")
    assert {state.name: state.n_duplicates for state in review_states(project, 1)}["owl"] == 2  # both are shown as such
    mark_duplicates(project, [chosen[0], chosen[2]], by="tests")
    assert {state.name: state.n_duplicates for state in review_states(project, 1)}["owl"] == 3
