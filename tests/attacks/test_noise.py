from __future__ import annotations

import numpy as np
import pytest

from oodometer.attacks.spec import parse_attack
from oodometer.core.attack import Target
from oodometer.core.random import rng_for

torch = pytest.importorskip("torch")


# by hand: the draw of each image is keyed by its id and the seed
def test_noise_by_hand(ordinary, digits):
    some = digits[:20]
    found = parse_attack("noise-linf-40", seed=6).apply(Target(ordinary), some.images, some.labels, some.ids)
    draws = np.stack([2 * rng_for("noise", one, seed=6).random((3, 16, 16), dtype=np.float32) - 1 for one in some.ids])
    noisy = np.clip(some.pixels.numpy() + np.float32(40 / 255) * draws, 0, 1).astype(np.float32)
    clean = ordinary(some.pixels).detach().numpy()
    right = clean.argmax(axis=1) == some.labels
    expected = np.where(right[:, None], ordinary(torch.from_numpy(noisy)).detach().numpy(), clean)
    np.testing.assert_allclose(found.logits, expected, atol=1e-3)
    survived = right & (expected.argmax(axis=1) == some.labels)
    assert dict(found.findings) == {"attacked": right.sum(), "survived": survived.sum()}
