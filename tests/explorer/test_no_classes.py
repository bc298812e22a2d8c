"""A store in which a set has no classes: images of ImageNet-O, on which no answer is right or wrong."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from oodometer.core.condition import Condition
from oodometer.core.labels import LabelSpace
from oodometer.core.model import Input, Model
from oodometer.core.preprocessing import Geometry
from oodometer.engine.run import run

SPACE = LabelSpace("letters", ("a", "b", "c"))


def model_of(name: str, seed: int) -> Model:
    logits = np.random.default_rng(seed).normal(size=(20, 3)).astype(np.float32)
    given = Input(Geometry(8, 8))
    return Model(name, "test", name * 32, given, SPACE, lambda _: lambda images: logits[images[:, 0, 0, 0]])


@pytest.fixture
def pages(tmp_path: Path, make_dataset, explore) -> TestClient:
    labelled = make_dataset(20, space=SPACE, labels=[n % 3 for n in range(20)], name="val")
    contents = [f"o{n}".encode() for n in range(12)]
    unlabelled = make_dataset(12, space=SPACE, labels=[-1] * 12, name="o", contents=contents)
    asked = [Condition("clean", labelled), Condition("imagenet-o", unlabelled)]
    store = run([model_of("p", 1), model_of("q", 2)], asked, store=str(tmp_path / "runs")).store
    explorer, client = explore(store)
    explorer.wait_for_study()
    return client


def test_every_page_that_is_linked_can_be_opened(pages: TestClient) -> None:
    to_open, opened = ["/", "/compare?a=p&b=q"], set()
    while to_open:
        address = to_open.pop()
        if address in opened:
            continue
        opened.add(address)
        answer = pages.get(address)
        assert answer.status_code == 200, (address, answer.text[:300])
        if "html" in answer.headers["content-type"]:
            to_open += [found.replace("&amp;", "&") for found in re.findall(r'href="(/[^"#]*)"', answer.text)]
    assert len(opened) > 5
