"""Small whole files of every kind, from which damaged ones are made."""

from __future__ import annotations

import io
import json
import tarfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PIL import Image

STEM = "fuzzed"
"""What every damaged file is called, so that a message can be asked whether it names the file."""


@dataclass(frozen=True)
class Seed:
    """A whole file.

    Args:
        ending: Of its name.
        content: Its bytes, which are damaged.
        beside: Files that lie beside it and stay whole, by name.
    """

    ending: str
    content: bytes
    beside: dict[str, bytes] = field(default_factory=dict)


def _pixels() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (4, 8, 8, 3), dtype=np.uint8)


def _npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _npz(save: Callable[..., None], **arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def _image(kind: str, pixels: np.ndarray | None = None) -> bytes:
    file = io.BytesIO()
    Image.fromarray(_pixels()[0] if pixels is None else pixels).save(file, kind)
    return file.getvalue()


def predictions() -> Iterator[Seed]:
    logits = np.random.default_rng(1).normal(size=(4, 3)).astype(np.float32)
    classes, ids = np.array([[0, 1], [1, 2], [2, 0], [0, 2]]), np.array(["a", "b", "c", "d"])
    beside = {f"{STEM}.ids.txt": b"a\nb\nc\nd\n"}
    yield Seed(".npy", _npy(logits), beside)
    yield Seed(".npy", _npy(classes), beside)
    yield Seed(".npz", _npz(np.savez, ids=ids, logits=logits))
    yield Seed(".npz", _npz(np.savez_compressed, ids=ids.astype("S"), classes=classes))
    yield Seed(".csv", b"id,first,second\na,0,1\nb,1,2\nc,2,0\nd,0,2\n")


def labels() -> Iterator[Seed]:
    yield Seed(".npy", _npy(np.array([0, 1, 2, 0])))
    yield Seed(".csv", b"id,label\na,0\nb,1\nc,2\nd,0\n")
    yield Seed(".txt", b"0\n1\n2\n0\n")


def arrays() -> Iterator[Seed]:
    images, truth = _pixels(), np.array([0, 1, 2, 0])
    yield Seed(".npy", _npy(images), {"labels.npy": _npy(truth)})
    yield Seed(".npz", _npz(np.savez, images=images, labels=truth))
    yield Seed(".npz", _npz(np.savez_compressed, x=images, y=truth))
    yield Seed(".npz", _npz(np.savez, images=np.asfortranarray(images), labels=np.array(["b", "a", "a", "b"])))


def shards() -> Iterator[Seed]:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for number, pixels in enumerate(_pixels()):
            about = json.dumps({"label": number % 2, "size": 8.5, "who": "somebody"}).encode()
            for ending, content in (("png", _image("PNG", pixels)), ("json", about)):
                member = tarfile.TarInfo(f"{number:03}.{ending}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    yield Seed(".tar", file.getvalue())


def parquet() -> Iterator[Seed]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    def written(table: dict[str, list[object]], **options: object) -> bytes:
        file = io.BytesIO()
        pq.write_table(pa.table(table), file, **options)
        return file.getvalue()

    pictures = [_image("PNG", pixels) for pixels in _pixels()]
    yield Seed(".parquet", written({"image": pictures, "label": [0, 1, 0, 1], "id": list("abcd")}))
    yield Seed(
        ".parquet", written({"path": ["a.png", "b.png"], "label": ["x", "y"]}, compression="none"), _two_images()
    )


def manifests() -> Iterator[Seed]:
    yield Seed(".csv", b"path,label,id,size\na.png,0,first,1.5\nb.png,1,second,2\n", _two_images())
    yield Seed(".csv", b"path,labels\na.png,cat|dog\nb.png,dog\n", _two_images())


def _two_images() -> dict[str, bytes]:
    return {"a.png": _image("PNG"), "b.png": _image("PNG")}


def images() -> Iterator[Seed]:
    for kind, ending in (("PNG", ".png"), ("JPEG", ".jpg"), ("GIF", ".gif"), ("BMP", ".bmp"), ("TIFF", ".tif")):
        yield Seed(ending, _image(kind))
    yield Seed(".webp", _image("WEBP"))
    yield Seed(".ppm", _image("PPM"))


def tables() -> Iterator[Seed]:
    yield Seed(".csv", b"model,condition,accuracy,n\nnet,clean,0.761,50000\nnet,fog,0.301,50000\n")
    yield Seed(".csv", b"model,clean,fog\nnet,76.1,30.1\nother,71.5,\n")


def cards() -> Iterator[Seed]:
    yield Seed(
        ".toml",
        b'name = "net"\ncategory = "standard"\ninterventions = []\nclasses = ["a", "b", "c"]\n'
        b'[input]\nsize = [8, 8]\nresize = "squash"\nmean = [0.5, 0.5, 0.5]\nstd = [0.2, 0.2, 0.2]\n'
        b"[notes]\nepochs = 3\n",
        {"whole.onnx": _network().SerializeToString()},
    )


def onnx() -> Iterator[Seed]:
    import onnx as library

    proto = _network()
    yield Seed(".onnx", proto.SerializeToString())
    for output in proto.graph.output:
        output.type.tensor_type.ClearField("shape")
    yield Seed(".onnx", proto.SerializeToString())
    content = proto.graph.initializer[0].raw_data
    library.external_data_helper.set_external_data(proto.graph.initializer[0], f"{STEM}.weights", 0, len(content))
    proto.graph.initializer[0].ClearField("raw_data")
    yield Seed(".onnx", proto.SerializeToString(), {f"{STEM}.weights": content})


def _network() -> Any:
    """Convolution, pooling, and sizes that are constants of the graph: padding, reshape, tile."""
    from onnx import TensorProto, checker, helper, numpy_helper

    rng = np.random.default_rng(2)
    weights = {
        "kernel": rng.normal(size=(4, 3, 3, 3)).astype(np.float32),
        "frame": np.array([0, 0, 1, 1, 0, 0, 1, 1]),
        "rows": np.array([-1, 4]),
        "times": np.array([1, 2]),
        "matrix": rng.normal(size=(8, 3)).astype(np.float32),
    }
    nodes = [
        helper.make_node("Pad", ["x", "frame"], ["framed"]),
        helper.make_node("Conv", ["framed", "kernel"], ["maps"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["maps"], ["positive"]),
        helper.make_node("GlobalAveragePool", ["positive"], ["pooled"]),
        helper.make_node("Reshape", ["pooled", "rows"], ["flat"]),
        helper.make_node("Tile", ["flat", "times"], ["twice"]),
        helper.make_node("MatMul", ["twice", "matrix"], ["y"]),
    ]
    pixels = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 8, 8])
    logits = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 3])
    tensors = [numpy_helper.from_array(values, name) for name, values in weights.items()]
    graph = helper.make_graph(nodes, "g", [pixels], [logits], tensors)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    checker.check_model(proto)
    return proto


def torch() -> Iterator[Seed]:
    import torch as library

    from fuzzing.factory import network

    state = network().state_dict()
    for options in ({}, {"_use_new_zipfile_serialization": False}):
        file = io.BytesIO()
        library.save(state, file, **options)
        yield Seed(".pth", file.getvalue())
    from safetensors.torch import save

    yield Seed(".safetensors", save(state))


def trusted() -> Iterator[Seed]:
    """Whole networks: an exported program, TorchScript, a pickle."""
    import torch as library

    from fuzzing.factory import network

    module, pixels, file = network(), library.zeros(2, 3, 8, 8), io.BytesIO()
    sizes = ({0: library.export.Dim("images", min=1, max=64)},)
    library.export.save(library.export.export(module, (pixels,), dynamic_shapes=sizes), file)
    yield Seed(".pt2", file.getvalue())
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        library.jit.save(library.jit.trace(module, pixels), file)
    yield Seed(".pt", file.getvalue())
    file = io.BytesIO()
    library.save(module, file)
    yield Seed(".pth", file.getvalue())


def checkpoints() -> Iterator[Seed]:
    import torch as library

    from fuzzing.factory import network

    state = {"network": network().state_dict(), "optimizer": {"state": {}, "param_groups": [{"lr": 0.1}]}}
    about = {"format": 1, "key": "abc", "net": "linear", "classes": ["a", "b", "c"], "epochs_done": 3, "threads": 1}
    file = io.BytesIO()
    library.save({**about, **state}, file)
    yield Seed(".pt", file.getvalue())


def sizes() -> Iterator[Seed]:
    yield Seed(".csv", b"condition,n\nclean,50000\nfog,10000\n")


def categories() -> Iterator[Seed]:
    yield Seed(".csv", b"model,category,parent\nnet,standard,\nother,more data,net\n")


def people() -> Iterator[Seed]:
    yield Seed(".csv", b"image,person,answer\na.png,Ann,cat\nb.png,Ann,-\na.png,Ben,3\n")
    yield Seed(".csv", b"image,Ann,Ben\na.png,cat,dog\nb.png,,cat\n")


def label_sets() -> Iterator[Seed]:
    yield Seed(".json", b'{"a.png": [0, 1], "b.png": [2], "c.png": []}')
    yield Seed(".json", b"[[0, 1], [2], []]")


def few_labels() -> Iterator[Seed]:
    design = b"neyman,2000,0f3a"
    rows = [b"%s,%s,0.05,%s\n" % (image, label, design) for image, label in ((b"a", b"cat"), (b"b", b"3"), (b"c", b""))]
    yield Seed(".csv", b"id,label,inclusion_probability,design,pool_size,pool\n" + b"".join(rows))
    about = {"inclusion_probability": 0.05, "design": "neyman", "pool_size": 2000, "pool": "0f3a"}
    said = [{"from_name": "label", "value": {"choices": ["cat"]}}]
    tasks = [
        {"data": {"id": name, **about}, "annotations": [{"result": said, "was_cancelled": False}]} for name in "ab"
    ]
    yield Seed(".json", json.dumps(tasks).encode())


KINDS: dict[str, Callable[[], Iterator[Seed]]] = {
    "predictions": predictions,
    "labels": labels,
    "arrays": arrays,
    "shards": shards,
    "parquet": parquet,
    "manifests": manifests,
    "images": images,
    "tables": tables,
    "cards": cards,
    "onnx": onnx,
    "torch": torch,
    "trusted": trusted,
    "trusted weights": torch,
    "checkpoints": checkpoints,
    "sizes": sizes,
    "categories": categories,
    "label sets": label_sets,
    "people": people,
    "few labels": few_labels,
}
