from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from oodometer.attacks.answers import answers_of, import_torch, log_odds, wrong
from oodometer.core.attack import Target
from oodometer.core.errors import MissingExtraError, ModelError
from oodometer.core.labels import LabelMap, LabelSpace, numbered

torch = pytest.importorskip("torch")
quick = settings(deadline=None, derandomize=True, max_examples=60)


@st.composite
def label_maps(draw: st.DrawFn) -> LabelMap:
    """Maps of 12 classes to some of them, or to groups, in any order."""
    order = draw(st.permutations(range(12)))
    cuts = sorted(draw(st.sets(st.integers(1, 11), min_size=1)))
    groups = [tuple(int(one) for one in part) for part in np.split(np.array(order), cuts)]
    kept = groups[: draw(st.integers(1, len(groups)))]
    return LabelMap(
        "some", numbered(12), LabelSpace("kept", tuple(f"class {one}" for one in range(len(kept)))), tuple(kept)
    )


# reference: LabelMap.logits, in numpy; the gradient of a maximum is 1 at the member that attains it
@quick
@given(label_map=label_maps(), seed=st.integers(0, 999))
def test_mapped_as_the_engine_maps_the_answers_of_other_models(label_map, seed):
    given = torch.from_numpy(np.random.default_rng(seed).normal(size=(4, 12))).requires_grad_(True)
    found = answers_of(Target(torch.nn.Identity(), label_map=label_map))(given)
    np.testing.assert_array_equal(found.detach().numpy(), label_map.logits(given.detach().numpy()))
    found.sum().backward()
    expected = np.zeros((4, 12))
    for group in label_map.members:
        members = list(group)
        best = given.detach().numpy()[:, members].argmax(axis=1)
        expected[np.arange(4), np.array(members)[best]] = 1
    np.testing.assert_allclose(given.grad.numpy(), expected, atol=1e-12)


# closed form: the cross-entropy is log(1 + odds); reference: scipy's logsumexp in float64, torch's cross_entropy
@quick
@given(seed=st.integers(0, 999), scale=st.sampled_from([0.1, 3.0, 1e4]))
def test_log_odds_order_answers_as_the_cross_entropy(seed, scale):
    rng = np.random.default_rng(seed)
    logits, labels = rng.normal(0, scale, (5, 7)), rng.integers(0, 7, 5)
    found = log_odds(torch.from_numpy(logits), torch.from_numpy(labels)).numpy()
    others = np.array([np.delete(row, label) for row, label in zip(logits, labels, strict=True)])
    np.testing.assert_allclose(found, logsumexp(others, axis=1) - logits[np.arange(5), labels], rtol=1e-10)
    entropy = torch.nn.functional.cross_entropy(torch.from_numpy(logits), torch.from_numpy(labels), reduction="none")
    np.testing.assert_allclose(np.logaddexp(0, found), entropy.numpy(), rtol=1e-9, atol=1e-12)


def test_log_odds_tell_apart_what_the_cross_entropy_does_not():
    logits, labels = torch.tensor([[200.0, 0.0], [300.0, 0.0]]), torch.tensor([0, 0])
    assert torch.nn.functional.cross_entropy(logits, labels, reduction="none").tolist() == [0, 0]
    assert log_odds(logits, labels).tolist() == [-200, -300]


def test_of_equal_answers_the_first_counts_as_in_the_predictions():
    logits = torch.tensor([[1.0, 3.0, 3.0]]).repeat(3, 1)
    assert wrong(logits, torch.tensor([0, 1, 2])).tolist() == [True, False, True]


def test_a_network_that_fails_is_an_error_of_one_line():
    answers = answers_of(Target(torch.nn.Linear(5, 2)))
    with pytest.raises(ModelError, match=r"^its forward pass under attack failed \(mat1 and mat2 .*\)$"):
        answers(torch.zeros(2, 3, 4, 4))


def test_a_network_without_a_gradient_has_a_zero_one():
    images, labels = torch.rand(2, 3, 1, 1).requires_grad_(True), torch.tensor([0, 1])
    for network in (lambda x: x.detach()[:, :, 0, 0], lambda x: torch.zeros(2, 3, requires_grad=True) * 1.0):
        answers = answers_of(Target(network))
        found = answers.gradients(images, answers(images), labels, torch.tensor([True, True]))
        assert found.shape == images.shape
        assert not found.any()


def test_answers_of_a_network_in_inference_mode_can_be_written_to():
    answers = answers_of(Target(torch.inference_mode()(lambda x: x[:, :, 0, 0] * 2)))
    logits = answers(torch.ones(2, 3, 1, 1))
    logits[0] = 5
    assert logits.tolist() == [[5, 5, 5], [2, 2, 2]]


def test_gradients_that_are_no_numbers_lead_nowhere():
    images = torch.tensor([0.0, 0.25, 1.0]).view(1, 3, 1, 1).requires_grad_(True)
    answers = answers_of(Target(lambda x: (x - 0.25).relu().sqrt()[:, :, 0, 0]))  # 0/0 at a root of zero
    found = answers.gradients(images, answers(images), torch.tensor([0]), torch.tensor([True]))
    assert torch.isfinite(found).all()


def test_a_stop_goes_through():
    class StopError(Exception):
        pass

    def stop() -> None:
        raise StopError

    with pytest.raises(StopError):
        answers_of(Target(torch.nn.Identity(), check_stop=stop))(torch.zeros(1, 2))


def test_without_torch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"attacks need more packages: pip install 'oodometer\[torch\]'"):
        import_torch()
