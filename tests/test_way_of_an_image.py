"""The way of one image through the code, as docs/design.md tells it, is the way that a real run takes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import oodometer

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

SOURCE = Path(oodometer.__file__).parent
STOPS = re.compile(r"^\| `([\w/]+\.py)` \| `([\w.]+)` \|", re.MULTILINE)
FOLLOW = """
import json, sys, threading
source, out, *words = sys.argv[1:]
calls = []

def note(frame, event, _):
    name = frame.f_code.co_filename
    if event == "call" and name.startswith(source):
        calls.append((name[len(source) + 1 :], frame.f_code.co_qualname))

from oodometer.cli.main import main

threading.setprofile(note)
sys.setprofile(note)
try:
    main(words, standalone_mode=False)
finally:
    sys.setprofile(None)
    json.dump(calls, open(out, "w"))
"""


def told_stops() -> list[tuple[str, str]]:
    return STOPS.findall((SOURCE.parents[1] / "docs/design.md").read_text("utf-8"))


def write_network(place: Path) -> None:
    """Two classes by the mean of red and of green."""
    of = onnx.helper
    value = of.make_tensor_value_info
    image = value("image", onnx.TensorProto.FLOAT, ["n", 3, 224, 224])
    logits = value("logits", onnx.TensorProto.FLOAT, ["n", 2])
    nodes = [
        of.make_node("GlobalAveragePool", ["image"], ["pooled"]),
        of.make_node("Flatten", ["pooled"], ["flat"]),
        of.make_node("MatMul", ["flat", "weights"], ["logits"]),
    ]
    weights = onnx.numpy_helper.from_array(np.eye(3, 2, dtype=np.float32), "weights")
    graph = of.make_graph(nodes, "means", [image], [logits], [weights])
    onnx.save(of.make_model(graph, opset_imports=[of.make_opsetid("", 17)], ir_version=8), str(place))


def test_an_image_takes_the_way_that_the_design_tells(tmp_path: Path) -> None:
    for name in ("green", "red"):
        (tmp_path / "val" / name).mkdir(parents=True)
        Image.fromarray(np.full((240, 260, 3), 90, dtype=np.uint8)).save(tmp_path / "val" / name / "a.png")
    write_network(tmp_path / "mine.onnx")
    words = ["run", "--model", "onnx:mine.onnx", "--data", "val", "--on", "imagenet-c/fog/3", "--store", "runs"]
    subprocess.run(
        [sys.executable, "-c", FOLLOW, str(SOURCE), "calls.json", *words, "--threads", "1"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    calls = [tuple(call) for call in json.loads((tmp_path / "calls.json").read_text())]
    stops = told_stops()
    assert len(stops) >= 15
    at = 0
    for stop in stops:
        assert stop in calls[at:], f"{stop} is not passed after {calls[at - 1] if at else 'the start'}"
        at += calls[at:].index(stop) + 1
