"""Make the folder in which the examples of the documentation run: real photographs, real models.

    python docs/examples.py FOLDER

It needs the extras ``quickstart`` and ``torch``. The photographs are the twenty that the package foolbox carries.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
import sys
import tarfile
from pathlib import Path

import numpy as np
import onnx
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image, ImageFilter, ImageOps

import oodometer as odo
from oodometer.data.imagenet import imagenet
from oodometer.models.zoo import ZOO, network, weights_of
from oodometer.quickstart.photographs import write_manifest
from oodometer.shifts.natural import classes_of

CARD = """\
name = "mine"
category = "standard"
training_data = "ImageNet-1k"
classes = "imagenet-1k"

[input]
size = 240
resize = 272
interpolation = "bicubic"
mean = [0.498, 0.498, 0.498]
std = [0.502, 0.502, 0.502]
"""

FUNCTIONS = '''\
"""Models of one's own: a plain function, and a factory of a torch network."""

import numpy as np


def brightness(images):
    """Calls everything bright an Egyptian cat and everything dark a tench."""
    logits = np.zeros((len(images), 1000), dtype=np.float32)
    bright = images.mean(axis=(1, 2, 3)) > 110
    logits[np.arange(len(images)), np.where(bright, 285, 0)] = 1
    return logits


def network():
    """A small network that nobody trained."""
    import torch

    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, stride=4), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
        torch.nn.Linear(8, 1000),
    )
'''


def make(folder: Path) -> None:
    """Fill the folder."""
    photographs = read_photographs(folder)
    as_class_folders(folder / "val", photographs)
    as_manifest(folder / "val.csv", photographs)
    as_shards(folder / "shards", photographs)
    as_parquet(folder / "val.parquet", photographs)
    as_arrays(folder / "small.npz", photographs)
    zoo = ZOO["efficientnet-lite1"]
    onnx.save(network(weights_of(zoo), zoo.scale).proto, str(folder / "mine.onnx"))
    (folder / "mine.toml").write_text(CARD)
    (folder / "my_models.py").write_text(FUNCTIONS)
    as_answers(folder / "theirs", folder / "val")
    as_many_answers(folder, folder / "val")
    as_root(folder / "data", photographs)
    as_attributes(folder / "shops.csv", photographs)
    as_textures(folder / "textures")
    as_clips(folder / "clips", photographs[:4])
    (folder / "table.csv").write_text("model,val,imagenetv2\nresnet50,76.13,63.3\nalexnet,56.5,44.0\n")
    (folder / "sizes.csv").write_text("condition,n\nval,50000\nimagenetv2,10000\n")


def read_photographs(folder: Path) -> list[tuple[str, int, bytes]]:
    """Name, label and JPEG of each photograph."""
    manifest = write_manifest(folder)
    with manifest.open(newline="") as lines:
        rows = [(Path(row["path"]), int(row["label"])) for row in csv.DictReader(lines)]
    manifest.unlink()
    return [(path.stem, label, path.read_bytes()) for path, label in rows]


def as_class_folders(root: Path, photographs: list[tuple[str, int, bytes]]) -> None:
    """One folder per class, named by its number."""
    for name, label, content in photographs:
        (root / str(label)).mkdir(parents=True, exist_ok=True)
        (root / str(label) / f"{name}.jpg").write_bytes(content)


def as_manifest(path: Path, photographs: list[tuple[str, int, bytes]]) -> None:
    """A table of paths and labels, with a column of its own."""
    lines = ["path,label,kilobytes", *(f"val/{label}/{name}.jpg,{label},{len(content) // 1000}"
                                       for name, label, content in photographs)]  # fmt: skip
    path.write_text("\n".join(lines) + "\n")


def as_shards(folder: Path, photographs: list[tuple[str, int, bytes]]) -> None:
    """Two WebDataset shards."""
    folder.mkdir()
    for number in range(2):
        with tarfile.open(folder / f"val-{number:06d}.tar", "w") as tar:
            for name, label, content in photographs[number::2]:
                for ending, data in (("jpg", content), ("cls", str(label).encode())):
                    info = tarfile.TarInfo(f"{name}.{ending}")
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))


def as_parquet(path: Path, photographs: list[tuple[str, int, bytes]]) -> None:
    """Encoded images in a Parquet file."""
    columns = {"id": [one[0] for one in photographs], "label": [one[1] for one in photographs]}
    pq.write_table(pa.table({**columns, "image": pa.array([one[2] for one in photographs], pa.binary())}), path)


def as_arrays(path: Path, photographs: list[tuple[str, int, bytes]]) -> None:
    """Small pictures as one array, the way CIFAR-10 is kept."""
    images = [Image.open(io.BytesIO(content)).convert("RGB").resize((32, 32)) for _, _, content in photographs]
    labels = np.array([label for _, label, _ in photographs])
    np.savez(path, images=np.stack([np.asarray(image) for image in images]), labels=labels)


def as_root(root: Path, photographs: list[tuple[str, int, bytes]]) -> None:
    """Published sets in their layouts, made of the same photographs: mirrored as ImageNetV2, as drawings ImageNet-R."""
    drawn = classes_of("imagenet-r")
    for name, label, content in photographs:
        wnid = imagenet().classes[label]
        image = Image.open(io.BytesIO(content)).convert("RGB")
        save(image, root / "imagenet" / "val" / wnid / f"{name}.JPEG")
        mirrored = ImageOps.mirror(image)
        save(mirrored, root / "imagenetv2-matched-frequency-format-val" / str(label) / f"{name}.jpeg")
        if wnid in drawn.target.classes:
            edges = ImageOps.invert(ImageOps.grayscale(image).filter(ImageFilter.FIND_EDGES))
            save(edges, root / "imagenet-r" / wnid / "sketch_0.jpg")


def as_textures(folder: Path) -> None:
    """Eight pictures of no class: stripes of several widths."""
    folder.mkdir()
    for width in range(1, 9):
        stripes = (np.indices((64, 64)).sum(axis=0) // width % 2 * 255).astype(np.uint8)
        Image.fromarray(np.stack([stripes] * 3, axis=2)).save(folder / f"{width}.png")


def as_attributes(path: Path, photographs: list[tuple[str, int, bytes]]) -> None:
    """A manifest with attributes: where and when each photograph was taken, made up."""
    lines = ["path,label,country,year"]
    for number, (name, label, _) in enumerate(photographs):
        lines.append(f"val/{label}/{name}.jpg,{label},{('us', 'fr')[number % 2]},{2018 + number // 5 % 2}")
    path.write_text("\n".join(lines) + "\n")


def as_clips(folder: Path, photographs: list[tuple[str, int, bytes]]) -> None:
    """Clips of five frames that pan over a photograph, and their manifest beside them."""
    lines = ["path,label,sequence,frame"]
    for name, label, content in photographs:
        image = Image.open(io.BytesIO(content)).convert("RGB")
        for frame in range(5):
            shifted = image.crop((12 * frame, 0, image.width - 48 + 12 * frame, image.height))
            save(shifted, folder / name / f"{frame}.jpg")
            lines.append(f"clips/{name}/{frame}.jpg,{label},{name},{frame}")
    folder.with_suffix(".csv").write_text("\n".join(lines) + "\n")


def save(image: Image.Image, path: Path) -> None:
    """Write the image, with the folders that it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path, quality=95)


def logits_of(name: str, data: odo.Dataset) -> np.ndarray:
    """What a model of the zoo answers."""
    model = odo.load_model(f"zoo:{name}")
    assert isinstance(model, odo.Model)
    return model.logits(np.stack([data.views(index, [model.input.view])[0] for index in range(len(data))]))


def as_answers(stem: Path, val: Path) -> None:
    """Logits that were computed elsewhere, with the ids of the images and the labels."""
    data = odo.load_data(str(val))
    np.save(stem.with_suffix(".npy"), logits_of("efficientnet-lite2", data))
    stem.with_suffix(".ids.txt").write_text("\n".join(data.ids) + "\n")
    stem.with_suffix(".labels.txt").write_text("\n".join(str(label) for label in data.labels) + "\n")


def as_many_answers(folder: Path, val: Path) -> None:
    """The five best classes of two models, the true ones, and the models' categories."""
    data = odo.load_data(str(val))
    (folder / "answers").mkdir()
    for name in ("efficientnet-lite0", "efficientnet-lite2"):
        np.save(folder / "answers" / f"{name}.npy", np.argsort(-logits_of(name, data), axis=1)[:, :5])
    rows = [f"{image},{label}" for image, label in zip(data.ids, data.labels, strict=True)]
    (folder / "truth.csv").write_text("\n".join(["id,label", *rows]) + "\n")
    (folder / "categories.csv").write_text("model,category,parent\nefficientnet-lite2,standard,efficientnet-lite0\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/examples.py FOLDER")
    target = Path(sys.argv[1])
    if target.exists() and any(target.iterdir()):
        sys.exit(f"{target}: is not empty; give a new folder")
    try:
        target.mkdir(parents=True, exist_ok=True)
        make(target)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    print(json.dumps(sorted(path.name for path in target.iterdir())))
