from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from oodometer.core.errors import ModelError, UsageError
from oodometer.core.model import Compute
from oodometer.models.card import Declared
from oodometer.models.load import load_model

NET = """
import numpy as np
def brightness(images):
    mean = images.mean(axis=(1, 2, 3))
    return np.stack([mean, -mean], axis=1)
class Net:
    def __call__(self, images):
        return brightness(images)
net = Net()
number = 3
"""


def brightness(images: np.ndarray) -> np.ndarray:
    mean = images.mean(axis=(1, 2, 3))
    return np.stack([mean, -mean], axis=1)


def test_a_function_is_shown_pixels_as_they_are(rng):
    model = load_model(brightness, card=Declared(size=(5, 4)))
    images = rng.integers(0, 256, (3, 5, 4, 3), dtype=np.uint8)
    np.testing.assert_allclose(model.logits(images)[:, 0], images.reshape(3, -1).mean(axis=1), rtol=1e-6)
    assert (model.name, model.kind, len(model.space), model.logits(images).dtype) == (
        "brightness",
        "callable",
        2,
        np.float32,
    )


@pytest.mark.parametrize("rest", ["mynets:brightness", "mynets:net"])
def test_an_importable_function(module, rest):
    module(NET)
    assert len(load_model(f"callable:{rest}", name="m").space) == 2


def test_the_digest_follows_the_source_or_the_version(here):
    def load(text: str, name: str) -> str:
        (here / f"{name}.py").write_text(text)
        return load_model(f"callable:{name}:brightness").digest

    assert load(NET, "one") == load(NET, "two")
    assert load(NET, "one") != load(NET.replace("-mean", "1 - mean"), "three")
    versions = [load_model(brightness, card=Declared(version=version)).digest for version in ("1", "1", "2")]
    assert versions[0] == versions[1] != versions[2]


def test_no_source_needs_a_version():
    made: dict = {}
    exec("def f(images): return images.reshape(len(images), -1)[:, :2]", made)
    with pytest.raises(ModelError, match="has no source text to tell it by; give a version"):
        load_model(made["f"])
    assert len(load_model(made["f"], card=Declared(version="1")).space) == 2


@pytest.mark.parametrize(("thread_safe", "most"), [(None, 1), (True, 2)])
def test_one_thread_at_a_time_unless_declared(thread_safe, most):
    inside, peak, count = threading.Semaphore(0), [0], [0]
    guard = threading.Lock()

    def slow(images: np.ndarray) -> np.ndarray:
        with guard:
            count[0] += 1
            peak[0] = max(peak[0], count[0])
        inside.release()
        time.sleep(0.1)
        with guard:
            count[0] -= 1
        return np.zeros((len(images), 2))

    forward = load_model(slow, card=Declared(size=(2, 2), thread_safe=thread_safe)).open(Compute())
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(forward, [np.zeros((1, 2, 2, 3), np.uint8)] * 2))
    assert peak[0] == most


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("absent_module:f", "absent_module:f: no module named 'absent_module' can be imported from here"),
        ("mynets", "'mynets': expected package.module:function"),
        ("mynets:brightnes", "mynets:brightnes: mynets has no function 'brightnes'"),
        ("mynets:number", "mynets:number: number is not a function"),
        ("broken:f", "broken:f: importing broken failed (ZeroDivisionError: division by zero)"),
        ("needy:f", "needy:f: importing needy failed (ModuleNotFoundError: No module named 'absent_module')"),
    ],
)
def test_functions_that_are_not_there(module, rest, message):
    module(NET)
    module("1 / 0", "broken")
    module("import absent_module", "needy")
    with pytest.raises(ModelError) as caught:
        load_model(f"callable:{rest}")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda images: 1 / 0, "the function failed (ZeroDivisionError: division by zero)"),
        (lambda images: np.zeros(3), "the function answers with shape (3,) for 1 images; expected (1, K)"),
        (lambda images: np.zeros((2, 3)), "the function answers with shape (2, 3) for 1 images; expected (1, K)"),
        (lambda images: "no", "the function failed (ValueError: could not convert string to float: 'no')"),
    ],
)
def test_functions_that_answer_wrongly(function, message):
    with pytest.raises(ModelError) as caught:
        load_model(function, name="m")
    assert str(caught.value) == f"model m: {message}"


def test_normalisation_and_devices_are_the_functions_own():
    with pytest.raises(UsageError, match="leave mean and std out"):
        load_model(brightness, card=Declared(mean=(0.5, 0.5, 0.5)))
    with pytest.raises(ModelError, match="chooses its device itself"):
        load_model(brightness).open(Compute(device="cuda"))
