"""Style transfer: features with another image's statistics, networks that are learned or brought."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from oodometer.core.errors import DataError, ModelError, UsageError
from oodometer.train.augment import StyleTransfer
from oodometer.train.augment.style.learn import learned_network
from oodometer.train.augment.style.network import (
    PUBLISHED,
    SMALL,
    encoded,
    features_by_stage,
    new_network,
    restyled,
    statistics,
)
from oodometer.train.style_sources import FolderImages, StyleSources, published_network

IMAGES = np.random.default_rng(0).integers(256, size=(6, 12, 12, 3), dtype=np.uint8)


# reference: means and unbiased deviations by numpy, channel by channel
def test_restyled_features_have_the_statistics_of_the_style():
    rng = np.random.default_rng(0)
    features, style = (rng.normal(size=(2, 4, 5, 6)) * scale + scale for scale in (1, 3))
    made = restyled(torch.from_numpy(features), statistics(torch.from_numpy(style))).numpy()
    for image in range(2):
        for channel in range(4):
            own, theirs = features[image, channel], style[image, channel]
            plain = (own - own.mean()) / np.sqrt(own.var(ddof=1) + 1e-5)
            expected = plain * np.sqrt(theirs.var(ddof=1) + 1e-5) + theirs.mean()
            np.testing.assert_allclose(made[image, channel], expected)


def test_layers_are_where_the_published_weights_have_them():
    """reference: the places of the convolutions in vgg_normalised.pth (up to relu4_1) and decoder.pth."""
    network = new_network(PUBLISHED)
    places = [{name.split(".")[0] for name in part.state_dict()} for part in (network.encoder, network.decoder)]
    assert places[0] == {str(one) for one in (0, 2, 5, 9, 12, 16, 19, 22, 25, 29)}
    assert places[1] == {str(one) for one in (1, 5, 8, 11, 14, 18, 21, 25, 28)}
    shown = torch.zeros(1, 3, 16, 24)
    assert encoded(network, shown).shape == (1, 512, 2, 3)
    assert network.decoder(encoded(network, shown)).shape == (1, 3, 16, 24)
    assert [one.shape[1] for one in features_by_stage(network, shown)] == [64, 128, 256, 512]


@pytest.mark.parametrize("size", [(1, 1), (5, 3), (33, 31), (70, 65)])
def test_every_size_keeps_its_shape(size):
    images = np.random.default_rng(0).integers(256, size=(2, *size, 3), dtype=np.uint8)
    transfer = StyleTransfer(new_network(SMALL), IMAGES, side=40)
    made = transfer(images)
    assert (made.shape, made.dtype) == (images.shape, np.uint8)
    assert transfer(images[0]).shape == images[0].shape


def test_draws_depend_on_key_and_seed_alone():
    transfer = StyleTransfer(new_network(SMALL), IMAGES)
    keys = [f"image {number}" for number in range(6)]
    first, again, other = (transfer(IMAGES, seed=seed, keys=keys) for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert np.array_equal(transfer(IMAGES[3:5], keys=keys[3:5]), first[3:5])
    with pytest.raises(UsageError, match="at least one image"):
        StyleTransfer(new_network(SMALL), [])


def test_a_learned_network_draws_pictures_again_and_takes_colours_over():
    rng = np.random.default_rng(0)
    contents = []
    for _ in range(12):
        image = np.full((32, 32, 3), rng.integers(256, size=3), dtype=np.uint8)
        image[8:24, 8:24] = rng.integers(256, size=3)
        contents.append(image)
    network = learned_network(contents, contents, seed=0, steps=(60, 20))
    again = learned_network(contents, contents, seed=0, steps=(60, 20))
    assert torch.equal(network.decoder[-1].weight, again.decoder[-1].weight)
    transfer = StyleTransfer(network, contents)
    own = np.mean([np.abs(transfer.styled(one, one).astype(float) - one).mean() for one in contents])
    spread = np.mean([np.abs(one - one.mean(axis=(0, 1))).mean() for one in contents])
    assert own < spread  # better than an image of one colour
    pairs = [(one, other) for one in contents for other in contents]
    made = [transfer.styled(one, other).mean(axis=(0, 1)) for one, other in pairs]
    to_style = np.mean([np.abs(m - o.mean(axis=(0, 1))).mean() for m, (_, o) in zip(made, pairs, strict=True)])
    to_content = np.mean([np.abs(m - c.mean(axis=(0, 1))).mean() for m, (c, _) in zip(made, pairs, strict=True)])
    assert to_style < to_content


def test_a_folder_of_styles_and_published_weights(tmp_path):
    with pytest.raises(DataError, match="no images in it"):
        FolderImages.of(str(tmp_path))
    for number, image in enumerate(IMAGES):
        Image.fromarray(image).save(tmp_path / f"{number}.png")
    found = FolderImages.of(str(tmp_path))
    assert len(found) == 6
    assert np.array_equal(found[2], IMAGES[2])
    assert StyleSources().describe() == {}
    assert StyleSources(images=str(tmp_path)).describe() == {"images": found.digest}
    network = new_network(PUBLISHED)
    torch.save({**network.encoder.state_dict(), "32.weight": torch.zeros(1)}, tmp_path / "vgg_normalised.pth")
    torch.save({"1.weight": torch.zeros(1)}, tmp_path / "decoder.pth")
    with pytest.raises(ModelError, match=r"decoder.pth: has no 1.weight of shape \(256, 512, 3, 3\)"):
        published_network(str(tmp_path))
    torch.save(network.decoder.state_dict(), tmp_path / "decoder.pth")
    made = published_network(str(tmp_path))
    assert torch.equal(made.encoder[29].weight, network.encoder[29].weight)
    (tmp_path / "decoder.pth").write_bytes(b"nothing")
    with pytest.raises(ModelError, match="not a file of tensors"):
        published_network(str(tmp_path))
