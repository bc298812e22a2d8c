import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oodometer.data.load import load_data


def test_csv(root, encode, put, pixels):
    for seed in range(3):
        put(f"{root}/pictures/{seed}.png", encode(seed))
    text = "path,label,video,frame,note\n" + "".join(
        f"pictures/{seed}.png,{seed},v{seed},{seed * 10},{'' if seed else 'first'}\n" for seed in range(3)
    )
    data = load_data(put(f"{root}/list.csv", text.encode("utf-8-sig")))
    assert data.ids == ("pictures/0", "pictures/1", "pictures/2")
    assert data.labels.tolist() == [0, 1, 2]
    assert data.columns["video"].tolist() == ["v0", "v1", "v2"]
    assert data.columns["frame"].tolist() == [0, 10, 20]
    assert data.columns["note"].tolist() == ["first", "", ""]
    np.testing.assert_array_equal(data.image(2), pixels(2))
    assert data.name == "list"


def test_parquet(root, encode, put, pixels):
    put(f"{root}/a.png", encode(1))
    target = io.BytesIO()
    columns = {"path": ["a.png"], "label": ["n02099601"], "id": ["one"], "score": [0.5]}
    pq.write_table(pa.table(columns), target)
    data = load_data(put(f"{root}/list.parquet", target.getvalue()))
    assert (data.ids, data.labels.tolist(), data.space.name) == (("one",), [207], "imagenet-1k")
    assert data.columns["score"].tolist() == [0.5]
    np.testing.assert_array_equal(data.image(0), pixels(1))


def test_absolute_paths_ids_and_no_labels(tmp_path, encode, put, pixels):
    image = put(str(tmp_path / "far" / "a.png"), encode(3))
    data = load_data(put(str(tmp_path / "near" / "list.csv"), f"path,id\n{image},x\n\n".encode()))
    assert data.ids == ("x",)
    assert data.labels.tolist() == [-1]
    np.testing.assert_array_equal(data.image(0), pixels(3))


def test_names(tmp_path, put):
    data = load_data(put(str(tmp_path / "pets.csv"), b"path,label\na.png,dog\nb.png,cat\n"))
    assert (data.space.name, data.space.classes, data.labels.tolist()) == ("pets", ("cat", "dog"), [1, 0])


def test_opening_reads_no_image_and_the_scan_finds_what_is_missing(root, encode, put, reads):
    put(f"{root}/a.png", encode())
    path = put(f"{root}/list.csv", b"path,label\na.png,0\ngone.png,1\n")
    data = load_data(path)
    assert len(reads) == 1  # the list itself
    assert list(data.scan().broken) == [1]
    assert "gone.png: no such file" in data.scan().broken[1]


def test_the_digest_is_that_of_a_folder(tmp_path, encode, put):
    lines = ["path,label"]
    for seed in (0, 2, 1, 3):
        put(str(tmp_path / "f" / f"{seed % 2}" / f"{seed}.png"), encode(seed))
        lines.append(f"{seed % 2}/{seed}.png,{seed % 2}")
    path = put(str(tmp_path / "f" / "list.csv"), "\n".join(lines).encode())
    assert load_data(path).digest == load_data(str(tmp_path / "f")).digest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "an empty file; expected a header with a column 'path', and a row for each image"),
        (b"path;label\na.png;x,y\n", "its columns are separated by semicolons; save it with commas between them"),
        (b"path\tlabel\na.png\t0\n", "its columns are separated by tabs; save it with commas between them"),
        (b"file,label\na.png,0\n", "no column 'path'; its columns are file, label"),
        (b"path,label\n", "no images in it"),
        (b"path,label\na.png\n", "row 1 has 1 fields, the header has 2"),
        (b"path,label\na.png,0\nb.png,\n", "row 2 has no label"),
        (b"path,label\na.png,-1\n", "row 1 has the label -1"),
        (b"path,label\n,1\n", "row 1 has no path"),
        (b"path,label,label\na.png,1,2\n", "two columns are named 'label'"),
        (b"path,label\na.png,0\na.png,0\n", "two images have the id 'a.png'"),
        (b"path\n\xff\xfe\n", "not a readable CSV file in UTF-8"),
        ("path,label\ncafé.png,0\n".encode("cp1252"), "; save it as UTF-8"),
    ],
)
def test_bad_lists_are_one_line(tmp_path, put, error_of, text, message):
    assert message in error_of(lambda: load_data(put(str(tmp_path / "list.csv"), text)))


def test_several_labels(tmp_path, put):
    text = b"path,labels,country\na.png,skirt|vest,fr\nb.png,vest,us\nc.png,trousers|skirt|vest,us\n"
    data = load_data(put(str(tmp_path / "clothes.csv"), text))
    assert data.space.classes == ("skirt", "trousers", "vest")
    assert data.labels.tolist() == [0, 2, 1]
    assert data.other_labels == ((2,), (), (0, 2))
    assert list(data.columns) == ["country"]


def test_several_labels_in_parquet(tmp_path, put):
    target = io.BytesIO()
    pq.write_table(pa.table({"path": ["a.png", "b.png"], "labels": [[4, 1], [0]]}), target)
    data = load_data(put(str(tmp_path / "clothes.parquet"), target.getvalue()))
    assert (data.labels.tolist(), data.other_labels, len(data.space)) == ([4, 0], ((1,), ()), 5)


def test_label_or_labels(tmp_path, put, error_of):
    path = put(str(tmp_path / "list.csv"), b"path,label,labels\na.png,0,0|1\n")
    assert error_of(lambda: load_data(path)) == f"{path}: a column 'label' and a column 'labels'; keep one of them"
