"""Files that were made to hang, to swell or to end in a traceback: each gives one line that names it, at once."""

from __future__ import annotations

import io
import json
import os
import re
import resource
import signal
import struct
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from oodometer.core.limits import LARGE_BYTES, MAX_MESSAGE
from oodometer.metrics.multi_label import read_label_sets
from oodometer.store.tables import read_sizes
from oodometer.train.checkpoint import read_checkpoint

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is bounded as Linux does it")

SECONDS, HEADROOM = 30, 2 << 30


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """Within a test, little memory and little time: a regression fails instead of filling the machine."""
    import onnxruntime  # noqa: F401 - what it maps is not to count
    import torch  # noqa: F401

    def end(*_: object) -> None:
        raise TimeoutError(f"still busy after {SECONDS} seconds")

    before = resource.getrlimit(resource.RLIMIT_AS)
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    old = signal.signal(signal.SIGALRM, end)
    resource.setrlimit(resource.RLIMIT_AS, (mapped + HEADROOM, before[1]))
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)
        resource.setrlimit(resource.RLIMIT_AS, before)


def refusal(call: Callable[[], object]) -> str:
    """The one line of an error."""
    with pytest.raises(odo.OodometerError) as caught:
        call()
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) <= MAX_MESSAGE
    return message


def npy(shape: str, descr: str = "'|u1'", content: bytes = b"") -> bytes:
    """A .npy file that claims a shape, by the published format (NEP 1, version 1.0)."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"
    padded = text + " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode() + content


def put(path: Path, content: bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def picture() -> bytes:
    file = io.BytesIO()
    Image.fromarray(np.zeros((4, 4, 3), dtype=np.uint8)).save(file, "PNG")
    return file.getvalue()


def views_of(dataset: odo.Dataset) -> list[np.ndarray]:
    return dataset.views(0, [odo.Geometry(8, 8)])


# Arrays


def test_an_array_that_claims_a_hundred_million_images(tmp_path: Path) -> None:
    path = put(tmp_path / "many.npy", npy("(100000000, 32, 32, 3)", content=bytes(500)))
    assert "many.npy: it claims the shape (100000000, 32, 32, 3), 307,200,000,000 bytes, but holds 500" in refusal(
        lambda: odo.load_data(path)
    )


@pytest.mark.parametrize("shape", ["(4, 0, 0, 3)", "(((((", "(" + "9" * 400 + ", 2, 2, 3)", "(-1, 2, 2, 3)"])
def test_an_array_of_an_impossible_shape(tmp_path: Path, shape: str) -> None:
    path = put(tmp_path / "odd.npy", npy(shape, content=bytes(50)))
    assert "odd.npy" in refusal(lambda: odo.load_data(path))
    assert "odd.npy" in refusal(lambda: odo.read_predictions(str(path), ids=("a",)))


def zeros(path: Path, member: str, header: bytes, n: int) -> Path:
    """An archive of zeros, compressed a thousand times."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(member, "w") as inside,
    ):
        inside.write(header)
        for _ in range(n >> 20):
            inside.write(bytes(1 << 20))
    return path


def test_an_archive_that_swells(tmp_path: Path) -> None:
    n = LARGE_BYTES + (8 << 20)
    path = zeros(tmp_path / "bomb.npz", "images.npy", npy(f"({n >> 20}, 512, 2048, 1)"), n)
    assert "that unpack to" in refusal(lambda: odo.load_data(path))
    path = zeros(tmp_path / "logits.npz", "logits.npy", npy(f"({n >> 20}, {1 << 18})", "'<f4'"), n)
    assert "that unpack to" in refusal(lambda: odo.read_predictions(str(path), ids=("a",)))


def test_ids_that_are_no_text(tmp_path: Path) -> None:
    np.savez(tmp_path / "net.npz", ids=np.array([b"\xff\xfe"]), logits=np.zeros((1, 3)))
    assert "net.npz: an id is not a text" in refusal(lambda: odo.read_predictions(str(tmp_path / "net.npz")))
    put(tmp_path / "net.csv", b"id,first\n\xff\xfe,1\n")
    assert "net.csv: not a text file" in refusal(lambda: odo.read_predictions(str(tmp_path / "net.csv")))


# Numbers


@pytest.mark.parametrize("number", ["2000000000", "9" * 20, "9" * 400, "9" * 5000])
def test_a_class_of_a_large_number(tmp_path: Path, number: str) -> None:
    answers = put(tmp_path / "net.csv", f"id,first\na,{number}\n")
    assert "net.csv" in refusal(lambda: odo.read_predictions(str(answers)))
    truth = put(tmp_path / "truth.csv", f"id,label\na,{number}\n")
    assert "truth.csv" in refusal(lambda: odo.read_labels(str(truth)))
    put(tmp_path / "a.png", picture())
    listed = put(tmp_path / "list.csv", f"path,label\na.png,{number}\n")
    if len(number) <= 400:  # what is longer is a name
        assert "list: class number" in refusal(lambda: odo.load_data(listed))


@pytest.mark.parametrize("number", ["9" * 20, "9" * 400, "9" * 5000, "1e999"])
def test_a_large_number_beside_an_image_is_kept(tmp_path: Path, number: str) -> None:
    put(tmp_path / "a.png", picture())
    listed = put(tmp_path / "list.csv", f"path,label,size\na.png,0,{number}\na.png,0,\n".replace("a.png,0,\n", ""))
    assert len(odo.load_data(listed).columns["size"]) == 1


@pytest.mark.parametrize("number", ["9" * 20, "9" * 400, "9" * 5000])
def test_tables_of_large_numbers(tmp_path: Path, number: str) -> None:
    path = put(tmp_path / "t.csv", f"model,condition,accuracy,n\nnet,clean,0.5,{number}\n")
    assert "t.csv, line 2: n '9" in refusal(lambda: odo.import_table(str(path), store=str(tmp_path / "runs")))
    path = put(tmp_path / "t.csv", f"model,clean\nnet,{number}\n")
    assert "t.csv" in refusal(lambda: odo.import_table(str(path), store=str(tmp_path / "runs")))


def test_sizes_of_too_many_digits(tmp_path: Path) -> None:
    path = put(tmp_path / "sizes.csv", f"condition,n\nclean,{'9' * 5000}\n")
    assert "sizes.csv: not a readable table of sizes" in refusal(lambda: read_sizes(str(path)))


# Nesting


def test_deep_json_in_a_shard(tmp_path: Path) -> None:
    path = tmp_path / "deep.tar"
    with tarfile.open(path, "w") as tar:
        for name, content in (("0.png", picture()), ("0.json", b"[" * 200_000)):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    message = refusal(lambda: odo.load_data(path))
    assert "deep.tar: member 0.json: not a readable JSON file (nested too deep)" in message


def test_a_deep_card(tmp_path: Path) -> None:
    path = put(tmp_path / "deep.toml", "name = " + "[" * 100_000)
    message = refusal(lambda: odo.load_model(lambda pixels: pixels, card=path))
    assert message.endswith("deep.toml: not a TOML file (nested too deep)")


# Pipes and devices


@pytest.fixture(params=["pipe", "device", "folder"])
def no_file(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Path]:
    """What is not a file, under a name."""

    def make(name: str) -> Path:
        path = tmp_path / name
        if request.param == "pipe":
            os.mkfifo(path)
        elif request.param == "folder":
            path.mkdir()
        else:
            path.symlink_to("/dev/zero")
        return path

    return make


READERS = {
    "net.npy": lambda path: odo.read_predictions(str(path), ids=("a",)),
    "net.csv": lambda path: odo.read_predictions(str(path)),
    "truth.csv": lambda path: odo.read_labels(str(path)),
    "truth.npy": lambda path: odo.read_labels(str(path)),
    "net.onnx": lambda path: odo.load_model(f"onnx:{path}"),
    "net.pth": lambda path: odo.load_model(f"torch:fuzzing.factory:network@{path}"),
    "net.toml": lambda path: odo.load_model(lambda pixels: pixels, card=path),
    "table.csv": lambda path: odo.import_table(str(path), store=str(path.parent / "runs")),
    "sizes.csv": lambda path: read_sizes(str(path)),
    "categories.csv": lambda path: odo.read_origins(str(path)),
    "sets.json": lambda path: read_label_sets(path),
    "init.pt": lambda path: read_checkpoint(path),
    "net.pt2": lambda path: odo.load_model(f"torch:{path}", allow_pickle=True),
}


@pytest.mark.parametrize("name", list(READERS))
def test_what_is_no_file_is_not_opened(no_file, name: str) -> None:
    assert name in refusal(lambda: READERS[name](no_file(name)))


@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.csv", "a.tar", "a.parquet"])
@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "device"])
def test_data_that_are_no_file_are_not_opened(tmp_path: Path, name: str, make: Callable[[Path], None]) -> None:
    make(tmp_path / name)
    assert f"{name}: a " in refusal(lambda: odo.load_data(tmp_path / name))


def test_an_image_that_is_no_file(no_file, tmp_path: Path) -> None:
    no_file("endless.png")
    listed = put(tmp_path / "list.csv", "path,label\nendless.png,0\n")
    dataset = odo.load_data(listed)
    assert "endless.png" in dataset.scan().broken[0]
    assert "endless.png" in refusal(lambda: views_of(dataset))


@pytest.mark.parametrize("name", ["/dev/zero", "pipe"])
def test_classes_of_a_card_that_are_no_file(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    card = put(tmp_path / "net.toml", f"classes = {name!r}")
    assert f"{Path(name).name}: a " in refusal(lambda: odo.load_model(lambda pixels: pixels, card=card))


# Names


def test_a_file_name_that_is_no_text(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path / "set" / "class")
    os.makedirs(folder)
    Path(os.fsdecode(os.path.join(folder, b"\xff.png"))).write_bytes(picture())
    message = refusal(lambda: odo.load_data(tmp_path / "set"))
    assert message == "set: the image 'class/\\udcff' has a name that is not UTF-8; rename it"


def test_names_of_other_things_that_are_no_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"a\xff")
    put(tmp_path / name / "0" / "a.png", picture())
    assert "the data set 'a\\udcff' has a name" in refusal(lambda: odo.load_data(tmp_path / name))
    table = put(tmp_path / f"{name}.csv", "model,clean\nnet,0.5\n")
    assert "the table 'a\\udcff.csv'" in refusal(lambda: odo.import_table(str(table), store=str(tmp_path / "runs")))
    answers = put(tmp_path / f"{name}.csv", "id,first\na,0\n")
    assert "the model 'a\\udcff' has a name" in refusal(lambda: odo.read_predictions(str(answers)))


def test_a_path_with_a_zero_in_it(tmp_path: Path) -> None:
    listed = put(tmp_path / "list.csv", b"path,label\na\x00.png,0\n")
    dataset = odo.load_data(listed)
    assert "embedded null byte" in dataset.scan().broken[0]
    assert "embedded null byte" in refusal(lambda: views_of(dataset))


def test_halves_of_letters_in_a_shard(tmp_path: Path) -> None:
    path = tmp_path / "half.tar"
    with tarfile.open(path, "w") as tar:
        for name, content in (("0.png", picture()), ("0.json", json.dumps({"label": "\ud800"}).encode())):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    assert "half: the class '\\ud800' has a name that is not UTF-8" in refusal(lambda: odo.load_data(path))


def test_a_parquet_text_that_is_no_text(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    offsets, letters = np.array([0, 2], dtype=np.int32), b"\xff\xfe"
    broken = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(offsets), pa.py_buffer(letters)])
    pq.write_table(pa.table({"image": [picture()], "label": [0], "id": broken}), tmp_path / "a.parquet")
    assert "a.parquet: not a readable Parquet file" in refusal(lambda: odo.load_data(tmp_path / "a.parquet"))


# Images


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


@pytest.mark.parametrize(("width", "height"), [(100_000_000, 1), (1, 100_000_000), (1 << 30, 1 << 30)])
def test_an_image_of_one_row(tmp_path: Path, width: int, height: int) -> None:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    content = b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    put(tmp_path / "set" / "0" / "long.png", content)
    assert "long.png" in refusal(lambda: views_of(odo.load_data(tmp_path / "set")))


# Networks


def save_network(path: Path, nodes: list, shape: list | None, tensors: dict[str, np.ndarray]) -> Path:
    from onnx import TensorProto, helper, numpy_helper

    pixels = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 8, 8])
    logits = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
    weights = [numpy_helper.from_array(values, name) for name, values in tensors.items()]
    graph = helper.make_graph(nodes, "g", [pixels], [logits], weights)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    return put(path, proto.SerializeToString())


def test_a_network_that_declares_two_thousand_million_outputs(tmp_path: Path) -> None:
    from onnx import helper

    path = save_network(tmp_path / "wide.onnx", [helper.make_node("Flatten", ["x"], ["y"])], ["N", 2**31], {})
    assert refusal(lambda: odo.load_model(f"onnx:{path}")).startswith("model wide: it declares 2,147,483,648 outputs")


@pytest.mark.parametrize("times", [2**20, 2**40])
def test_a_network_of_a_tensor_that_fills_the_memory(tmp_path: Path, times: int) -> None:
    from onnx import helper

    nodes = [
        helper.make_node("ConstantOfShape", ["many"], ["zeros"]),
        helper.make_node("ReduceSum", ["zeros"], ["sum"]),
        helper.make_node("Flatten", ["x"], ["flat"]),
        helper.make_node("Add", ["flat", "sum"], ["y"]),
    ]
    path = save_network(tmp_path / "large.onnx", nodes, None, {"many": np.array([1024, times])})
    assert f"model large: 'zeros' of shape (1024, {times})" in refusal(lambda: odo.load_model(f"onnx:{path}"))


def test_a_network_with_a_loop_that_ends_and_large_constants_is_read(tmp_path: Path) -> None:
    from onnx import helper, numpy_helper

    large = numpy_helper.from_array(np.ones((192, 50), np.float32))
    nodes = [
        helper.make_node("Constant", [], ["w"], value=large),
        helper.make_node("Constant", [], ["trips"], value=numpy_helper.from_array(np.array(3))),
        helper.make_node("Flatten", ["x"], ["flat"]),
        helper.make_node("MatMul", ["flat", "w"], ["fifty"]),
        helper.make_node("Loop", ["trips", "", "fifty"], ["y"], body=relu_body(50)),
    ]
    path = save_network(tmp_path / "good.onnx", nodes, ["N", 50], {})
    model = odo.load_model(f"onnx:{path}", input=odo.Input(odo.Geometry(8, 8), (0, 0, 0), (1, 1, 1)))
    # reference: 192 pixels of 51 / 255 times weights of 1
    np.testing.assert_allclose(model.logits(np.full((2, 8, 8, 3), 51, np.uint8)), 192 * 0.2, rtol=1e-5)


def relu_body(width: int):
    from onnx import TensorProto, helper

    carried = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", width]) for name in ("before", "after")]
    number, go_on, still = (
        helper.make_tensor_value_info(name, kind, [])
        for name, kind in (("number", TensorProto.INT64), ("go", TensorProto.BOOL), ("still", TensorProto.BOOL))
    )
    inner = [helper.make_node("Identity", ["go"], ["still"]), helper.make_node("Relu", ["before"], ["after"])]
    return helper.make_graph(inner, "body", [number, go_on, carried[0]], [still, carried[1]])


@pytest.mark.parametrize("trips", [None, 2**62])
def test_a_network_that_never_ends(tmp_path: Path, trips: int | None) -> None:
    from onnx import helper

    nodes = [
        helper.make_node("Flatten", ["x"], ["flat"]),
        helper.make_node("Loop", ["" if trips is None else "trips", "yes", "flat"], ["y"], body=relu_body(192)),
    ]
    tensors = {"yes": np.array(True), **({} if trips is None else {"trips": np.array(trips)})}
    path = save_network(tmp_path / "endless.onnx", nodes, ["N", 192], tensors)
    assert "model endless: it has loops without a constant number of passes" in refusal(
        lambda: odo.load_model(f"onnx:{path}")
    )


@pytest.mark.parametrize("place", ["a\0b", "/dev/zero", "../../etc/passwd", "pipe", "", "x" * 5000])
def test_weights_of_a_network_at_a_hostile_place(tmp_path: Path, place: str) -> None:
    from onnx import helper, load_model_from_string
    from onnx.external_data_helper import set_external_data

    os.mkfifo(tmp_path / "pipe")
    nodes = [helper.make_node("Flatten", ["x"], ["flat"]), helper.make_node("MatMul", ["flat", "w"], ["y"])]
    path = save_network(tmp_path / "net.onnx", nodes, ["N", 3], {"w": np.zeros((192, 3), np.float32)})
    proto = load_model_from_string(path.read_bytes())
    set_external_data(proto.graph.initializer[0], place)
    proto.graph.initializer[0].ClearField("raw_data")
    put(path, proto.SerializeToString())
    assert "net.onnx" in refusal(lambda: odo.load_model(f"onnx:{path}"))


# Weights of torch


@pytest.fixture(scope="module")
def program() -> bytes:
    """An exported program for any number of images, made before the time of a test begins."""
    import torch

    from fuzzing.factory import network

    file, sizes = io.BytesIO(), ({0: torch.export.Dim("images", min=1, max=64)},)
    torch.export.save(torch.export.export(network(), (torch.zeros(2, 3, 8, 8),), dynamic_shapes=sizes), file)
    return file.getvalue()


@pytest.mark.parametrize("size", ["9**9**9**9", "Pow(Integer(9), Pow(Integer(9), Integer(99)))", "exit()", "[9]*9"])
def test_a_torch_program_of_a_size_without_end(tmp_path: Path, program: bytes, size: str) -> None:
    path = put(tmp_path / "net.pt2", program)
    assert odo.load_model(f"torch:{path}", allow_pickle=True).name == "net"
    with zipfile.ZipFile(io.BytesIO(program)) as plain, zipfile.ZipFile(path, "w") as changed:
        for member in plain.infolist():
            content = re.sub(rb"Symbol\([^)]*\)", size.encode(), plain.read(member))
            changed.writestr(member.filename, content)
    message = refusal(lambda: odo.load_model(f"torch:{path}", allow_pickle=True))
    assert message.endswith(f"net.pt2: not an exported program, or a damaged one (a size of {size!r})")


def weights() -> bytes:
    import torch

    from fuzzing.factory import network

    file = io.BytesIO()
    torch.save(network().state_dict(), file)
    return file.getvalue()


@pytest.mark.parametrize("ending", [".pth", ".pt", ".pt2"])
def test_a_torch_archive_with_a_bad_name(tmp_path: Path, ending: str) -> None:
    """The names of the members are said to be UTF-8 (bit 11 of the flags, by PKWARE's APPNOTE 4.4.4), and are not."""
    content = bytearray(weights())
    entry = content.find(b"PK\x01\x02")
    content[entry + 9] |= 8
    content[entry + 46] = 0xFF
    path = put(tmp_path / f"net{ending}", bytes(content))
    spec = f"torch:fuzzing.factory:network@{path}" if ending == ".pth" else f"torch:{path}"
    assert f"net{ending}" in refusal(lambda: odo.load_model(spec, allow_pickle=ending != ".pth"))


def test_a_torch_archive_that_swells(tmp_path: Path) -> None:
    path = tmp_path / "net.pth"
    with zipfile.ZipFile(io.BytesIO(weights())) as plain, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for member in plain.infolist():
            packed.writestr(member.filename, plain.read(member) + bytes(1 << 20))
    assert "net.pth: not a file of torch, which are never compressed" in refusal(
        lambda: odo.load_model(f"torch:fuzzing.factory:network@{path}")
    )


def test_a_name_without_end_in_a_torch_file(tmp_path: Path) -> None:
    path = put(tmp_path / "net.pth", b"\x80\x02c" + b"a" * 300_000 + b"\nb\n.")
    assert "a name of 300,002 letters" in refusal(lambda: odo.load_model(f"torch:fuzzing.factory:network@{path}"))
