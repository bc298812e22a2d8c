"""The real icons, drawn once for all tests of a process."""

from __future__ import annotations

import shutil

import pytest

from oodometer.build.icons.build import Built, build_icons
from oodometer.build.icons.build import IconOptions as Options
from oodometer.core.errors import DataError


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return built_with(tmp_path_factory, Options())


@pytest.fixture(scope="session")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return built_with(tmp_path_factory, Options(outside=True))


def built_with(tmp_path_factory: pytest.TempPathFactory, options: Options) -> Built:
    pytest.importorskip("resvg_py")
    if shutil.which("npm") is None:
        pytest.skip("npm is not here")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OODOMETER_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        try:
            return build_icons(tmp_path_factory.mktemp("real") / "icons", options)
        except DataError as error:
            if "npm did not bring it" in str(error):
                pytest.skip(f"the registry is out of reach: {error}")
            raise
