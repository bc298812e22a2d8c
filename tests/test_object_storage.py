"""Data and store on object storage: a real S3 server on loopback, spoken to through s3fs."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import oodometer as odo

pytestmark = pytest.mark.slow


def brightness(images: np.ndarray) -> np.ndarray:
    means = images.reshape(len(images), -1, 3).mean(axis=1)
    return np.concatenate([means, means.mean(axis=1, keepdims=True)], axis=1)


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a bucket on a server that lives as long as the test."""
    for module in ("moto", "s3fs"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"needs {module}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    try:
        wait_for(port)
        import s3fs

        s3fs.S3FileSystem.clear_instance_cache()
        s3fs.S3FileSystem().mkdir("bucket")
        yield "s3://bucket"
    finally:
        server.kill()
        server.wait()


def wait_for(port: int) -> None:
    until = time.monotonic() + 60
    while True:
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert time.monotonic() < until, "the server did not start"
        time.sleep(0.1)


def test_a_run_from_and_to_object_storage_is_the_same_as_on_disk(bucket: str, photos: Path, tmp_path: Path) -> None:
    import s3fs

    remote = s3fs.S3FileSystem()
    remote.put(str(photos), "bucket/val", recursive=True)
    here, there = odo.load_data(str(photos)), odo.load_data(f"{bucket}/val")
    assert there.digest == here.digest
    model = odo.load_model(brightness, input=odo.Input(view=odo.Geometry(32, 32), mean=(0, 0, 0), std=(1 / 255,) * 3))
    local = odo.run([model], [odo.clean(here)], store=str(tmp_path / "runs"))
    store = odo.run([model], [odo.clean(there)], store=f"{bucket}/runs", options=odo.RunOptions(threads=4, chunk=7))
    assert str(odo.score(store)) == str(odo.score(local))
    rows, same = store.store.read(store.cells[0]), local.store.read(local.cells[0])
    np.testing.assert_array_equal(rows.confidence, same.confidence)
    names = [name.split("/", 2)[2] for name in remote.find("bucket/runs")]
    assert not [name for name in names if "parts" in name], "a finished cell has no parts left"
    told: list[tuple[int, int]] = []
    watcher = odo.Watcher(running=lambda done, total: told.append((done, total)))
    odo.run([model], [odo.clean(there)], store=f"{bucket}/runs", watcher=watcher)
    assert told == [(0, 0)]


def test_a_run_that_stopped_goes_on(bucket: str, photos: Path) -> None:
    data = odo.load_data(str(photos))
    asked: list[int] = []

    def crashing(images: np.ndarray) -> np.ndarray:
        if len(asked) == 4:
            raise RuntimeError("enough")
        asked.append(len(images))
        return brightness(images)

    plain = odo.Input(view=odo.Geometry(32, 32), mean=(0, 0, 0), std=(1 / 255,) * 3)
    steady = odo.load_model(brightness, name="net", input=plain)
    broken = odo.Model("net", "callable", steady.digest, plain, steady.space, open=lambda compute: crashing)
    options = odo.RunOptions(threads=1, chunk=5)
    with pytest.raises(RuntimeError, match="enough"):
        odo.run([broken], [odo.clean(data)], store=f"{bucket}/runs", options=options)
    assert odo.score(f"{bucket}/runs").rows[0].estimate.n == 20
    store = odo.run([steady], [odo.clean(data)], store=f"{bucket}/runs", options=options)
    assert odo.score(store).rows[0].estimate.n == 40
