from __future__ import annotations

import numpy as np
import pytest

from oodometer.models.load import load_model
from oodometer.models.zoo import ZOO, weights_of


# reference: the package efficientnet_lite_pytorch, which made the weights' names, in torch
@pytest.mark.parametrize("name", ZOO)
def test_logits_agree_with_the_reference_network(name, rng, capsys):
    torch = pytest.importorskip("torch")
    reference = pytest.importorskip("efficientnet_lite_pytorch")
    entry = ZOO[name]
    network = reference.EfficientNet.from_pretrained(name, weights_path=str(weights_of(entry))).eval()
    capsys.readouterr()
    size = entry.scale.size
    smooth = rng.integers(0, 256, (1, 8, 8, 3), dtype=np.uint8).repeat(size // 8 + 1, 1).repeat(size // 8 + 1, 2)
    images = np.concatenate([rng.integers(0, 256, (2, size, size, 3), dtype=np.uint8), smooth[:, :size, :size]])
    with torch.inference_mode():
        pixels = torch.from_numpy(images).permute(0, 3, 1, 2).float()
        expected = network((pixels - 127) / 128).numpy()
    np.testing.assert_allclose(load_model(f"zoo:{name}").logits(images), expected, atol=1e-3)
