"""An ONNX network that takes minutes: it is given up with one line, and an interrupt need not wait for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest


def slow_network(path: Path, *, folded: bool) -> Path:
    """Products of matrices one after the other, ten minutes of work: of the image, or of constants alone."""
    from onnx import TensorProto, helper, numpy_helper

    small = helper.make_tensor("small", TensorProto.FLOAT, [1], [1e-4])
    constants = helper.make_node("ConstantOfShape", ["many"], ["a0"], value=small)
    nodes = [
        helper.make_node("Flatten", ["x"], ["flat"]),
        helper.make_node("ReduceMean", ["flat"], ["mean"]),
        constants if folded else helper.make_node("Expand", ["mean", "many"], ["a0"]),
        *(helper.make_node("MatMul", [f"a{n}", f"a{n}"], [f"a{n + 1}"]) for n in range(400)),
        helper.make_node("ReduceMean", ["a400"], ["product"]),
        helper.make_node("Mul", ["flat", "product"], ["y"]),
    ]
    pixels = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 8, 8])
    logits = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 192])
    graph = helper.make_graph(nodes, "g", [pixels], [logits], [numpy_helper.from_array(np.array([3000, 3000]), "many")])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path.write_bytes(proto.SerializeToString())
    return path


@pytest.mark.parametrize(("folded", "said"), [(False, "no answer about 1 image"), (True, "not ready")])
def test_a_network_that_takes_minutes(tmp_path: Path, folded: bool, said: str) -> None:
    """In a process of its own, since the work on constants can't be ended."""
    path = slow_network(tmp_path / "slow.onnx", folded=folded)
    program = (
        "import numpy as np, oodometer as odo\n"
        "from oodometer.models import session\n"
        "session.MAX_IMAGE_SECONDS = session.MAX_OPENING_SECONDS = 0.5\n"
        f"odo.load_model('onnx:{path}').logits(np.zeros((1, 8, 8, 3), np.uint8))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=paths())
    assert f"ModelError: model slow: {said} after 0.5 seconds" in done.stderr


@pytest.mark.parametrize("folded", [False, True])
def test_an_interrupt_ends_a_run(tmp_path: Path, folded: bool) -> None:
    slow_network(tmp_path / "slow.onnx", folded=folded)
    np.savez(tmp_path / "set.npz", images=np.zeros((4, 8, 8, 3), np.uint8), labels=np.zeros(4, np.int64))
    words = ["run", "--model", "onnx:slow.onnx", "--data", "set.npz", "--store", "runs"]
    run = subprocess.Popen(
        [sys.executable, "-m", "oodometer", *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=paths()
    )
    while not (tmp_path / "runs").exists():  # until the images are looked at
        assert run.poll() is None, run.communicate()[1]
        time.sleep(0.1)
    time.sleep(3)
    run.send_signal(signal.SIGINT)
    said = run.communicate(timeout=60)[1]
    assert (run.returncode, said.splitlines()[-1][:14]) == (130, "Error: stopped"), said


def paths() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
