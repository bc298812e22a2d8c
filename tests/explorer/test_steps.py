"""From an image to the next of the list that it was found in."""

from __future__ import annotations

from html import unescape

import pytest

from oodometer.explorer.links import query_link

LISTS = [
    {"on": "sketch"},
    {"on": "clean", "order": "data"},
    {"on": "sketch", "class": "gnu"},
    {"on": "sketch", "model": "<img src=x onerror=alert(1)>", "answer": "wrong", "order": "sure"},
    {"on": "clean", "find": "crane", "right_to": 5},
]


def ids_of(pages, asked):
    """Of a whole list, page by page."""
    found, page = [], 1
    while True:
        answer = pages.get("/images.json", params={**asked, "page": page}).json()
        found += [image["id"] for image in answer["images"]]
        if page == answer["n_pages"]:
            return found, answer["data"]
        page += 1


def link_of(page: str, rel: str) -> str | None:
    """Where the first link of that kind leads, as a browser without scripts follows it."""
    _, mark, after = page.partition(f'rel="{rel}" href="')
    return unescape(after.partition('"')[0]) if mark else None


@pytest.mark.parametrize("asked", LISTS, ids=str)
def test_stepping_goes_through_the_whole_list_and_back(pages, asked):
    ids, data = ids_of(pages, asked)
    address = query_link("/image", data=data, id=ids[0], at=0, **asked)
    seen, back = [], []
    while address:
        page = pages.get(address)
        assert page.status_code == 200
        seen.append(address)
        address = link_of(page.text, "next")
    assert [pages.get(one.replace("/image?", "/image.json?")).json()["id"] for one in seen] == ids
    address = seen[-1]
    while address:
        back.append(address)
        address = link_of(pages.get(address).text, "prev")
    assert len(back) == len(ids)
    up = link_of(pages.get(seen[-1]).text, "up")
    assert up
    assert ids[-1] in [one["id"] for one in pages.get(up.replace("/images?", "/images.json?")).json()["images"]]


def test_an_image_that_is_no_longer_in_its_place_has_no_steps(pages, shop):
    found = pages.get("/image.json", params={"data": "val", "id": shop.data.ids[3], "on": "clean", "at": 30000}).json()
    assert found["steps"] is None
    found = pages.get("/image.json", params={"data": "val", "id": shop.data.ids[3], "on": "clean"}).json()
    assert found["steps"] is None


def test_an_answer_needs_a_model(pages):
    answer = pages.get("/images.json", params={"on": "clean", "predicted": "gnu"})
    assert (answer.status_code, "choose a model too" in answer.json()["error"]) == (404, True)
    answer = pages.get("/images.json", params={"on": "clean", "model": "plain", "predicted": "gnuu"})
    assert (answer.status_code, "gnu" in answer.json()["error"]) == (404, True)
