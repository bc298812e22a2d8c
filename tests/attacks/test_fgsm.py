from __future__ import annotations

import numpy as np
import pytest

from oodometer.attacks.spec import parse_attack
from oodometer.core.attack import Target

torch = pytest.importorskip("torch")


class Wide(torch.nn.Module):
    """Answers in float64, in which the gradients of sure answers are whole."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, pixels):
        return self.network(pixels).double()


# reference: foolbox.attacks.FGSM and FGM, which take the same step
@pytest.mark.parametrize(
    ("spec", "peer", "radius"),
    [("fgsm-linf-16", "LinfFastGradientAttack", 16 / 255), ("fgsm-l2-20", "L2FastGradientAttack", 20 * 16 / 224)],
)
def test_the_same_answers_as_foolbox(ordinary, digits, spec, peer, radius):
    foolbox = pytest.importorskip("foolbox")
    method = getattr(foolbox.attacks, peer)(random_start=False)
    model = foolbox.PyTorchModel(Wide(ordinary).eval(), bounds=(0, 1), device="cpu")
    _, shown, fooled = method(model, digits.pixels, digits.classes, epsilons=radius)
    found = parse_attack(spec).apply(Target(ordinary), digits.images, digits.labels, digits.ids)
    clean_wrong = ordinary(digits.pixels).argmax(dim=1) != digits.classes
    ours = torch.from_numpy(found.logits.argmax(axis=1)) != digits.classes
    assert torch.equal(ours | clean_wrong, fooled | clean_wrong)
    assert 20 < int(fooled.sum()) < 190
    expected = torch.where(clean_wrong[:, None], ordinary(digits.pixels), ordinary(shown))
    np.testing.assert_allclose(found.logits, expected.detach().numpy(), atol=1e-3)
    assert found.findings["attacked"] == int((~clean_wrong).sum())


def test_images_that_are_wrong_already_keep_their_answers(ordinary, digits):
    nonsense = (digits.labels + 1) % 10
    clean = ordinary(digits.pixels).detach().numpy()
    kept = clean.argmax(axis=1) != nonsense
    for spec in ("fgsm-linf-16", "noise-linf-16", "pgd-linf-16,steps=5"):
        found = parse_attack(spec).apply(Target(ordinary), digits.images, nonsense, digits.ids)
        np.testing.assert_allclose(found.logits[kept], clean[kept], atol=1e-4)
        assert found.findings["attacked"] == (~kept).sum()
