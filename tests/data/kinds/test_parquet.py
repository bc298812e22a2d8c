import io
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from oodometer.data.kinds import parquet
from oodometer.data.load import load_data


@pytest.fixture
def table(put):
    """Write a Parquet file of these columns, two rows per row group."""

    def write(address, columns, rows=2):
        target = io.BytesIO()
        pq.write_table(pa.table(columns), target, row_group_size=rows)
        return put(address, target.getvalue())

    return write


@pytest.fixture
def groups_read(monkeypatch):
    seen = []
    real = parquet._read_group
    monkeypatch.setattr(parquet, "_read_group", lambda group, column: seen.append(group) or real(group, column))
    return seen


def test_binary_images_labels_ids_and_columns(root, encode, table, pixels):
    columns = {"image": [encode(seed) for seed in range(5)], "label": [0, 1, 2, 0, 1], "id": list("abcde")}
    path = table(f"{root}/val.parquet", columns | {"vendor": ["x", None, "y", "x", "y"], "score": [1.5, 2, None, 3, 4]})
    data = load_data(path)
    assert data.ids == tuple("abcde")
    assert data.labels.tolist() == [0, 1, 2, 0, 1]
    assert data.columns["vendor"].tolist() == ["x", "", "y", "x", "y"]
    np.testing.assert_array_equal(data.columns["score"], [1.5, 2, np.nan, 3, 4])
    for seed in range(5):
        np.testing.assert_array_equal(data.image(seed), pixels(seed))


def test_hugging_face_layout(tmp_path, encode, table, pixels):
    for part in range(2):
        images = [{"bytes": encode(3 * part + seed), "path": None} for seed in range(3)]
        table(str(tmp_path / "hf" / f"{part}.parquet"), {"img": images, "label": [part] * 3})
    for address in (tmp_path / "hf", tmp_path / "hf" / "*.parquet"):
        data = load_data(str(address))
        assert data.ids == ("0", "1", "2", "3", "4", "5")
        assert data.labels.tolist() == [0, 0, 0, 1, 1, 1]
        np.testing.assert_array_equal(data.image(4), pixels(4))


def test_images_are_read_when_asked_for_and_groups_once(tmp_path, encode, table, groups_read):
    data = load_data(table(str(tmp_path / "a.parquet"), {"image": [encode(seed) for seed in range(6)]}))
    assert groups_read == []
    data.image(2), data.image(3)
    assert [group.number for group in groups_read] == [1]
    assert data.labels.tolist() == [-1] * 6


def test_few_groups_are_kept(tmp_path, encode, table, groups_read):
    data = load_data(table(str(tmp_path / "a.parquet"), {"image": [encode(seed) for seed in range(6)]}, rows=1))
    for index in (0, 1, 2, 3, 4, 5, 5, 4, 0):
        data.image(index)
    assert [group.number for group in groups_read] == [0, 1, 2, 3, 4, 5, 0]


def test_threads_and_pickled_copies(tmp_path, encode, table, pixels, groups_read):
    data = load_data(table(str(tmp_path / "a.parquet"), {"image": [encode(seed) for seed in range(8)]}))
    data = pickle.loads(pickle.dumps(data))
    with ThreadPoolExecutor(8) as pool:
        for seed, image in enumerate(pool.map(data.image, range(8))):
            np.testing.assert_array_equal(image, pixels(seed))
    assert len(groups_read) == 4


def test_the_digest_is_that_of_a_folder(tmp_path, encode, put, table):
    for seed in range(4):
        put(str(tmp_path / "f" / str(seed % 2) / f"{seed}.png"), encode(seed))
    order = (0, 2, 1, 3)
    columns = {
        "image": [encode(seed) for seed in order],
        "label": [seed % 2 for seed in order],
        "id": [f"{seed % 2}/{seed}" for seed in order],
    }
    path = table(str(tmp_path / "a.parquet"), columns)
    assert load_data(path).digest == load_data(str(tmp_path / "f")).digest


def test_a_row_without_an_image_is_found_by_the_scan(tmp_path, encode, table):
    data = load_data(table(str(tmp_path / "a.parquet"), {"image": [encode(), None, b"nothing"]}))
    assert data.scan().broken == {
        1: f"{tmp_path}/a.parquet row 1: no image in this row",
        2: f"{tmp_path}/a.parquet row 2: not an image that can be read",
    }


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"label": [1, 2]}, "no column with encoded images"),
        ({"left": [b"x"], "right": [b"y"]}, "which column has the images, left or right?"),
        ({"image": [b"x", b"y"], "label": [0.5, 1.0]}, "row 1 has the label 0.5"),
        ({"image": [b"x", b"y"], "label": [0, None]}, "row 2 has no label"),
        ({"image": [b"x", b"y"], "label": [0, -2]}, "row 2 has the label -2"),
        ({"image": [b"x", b"y"], "id": ["a", "a"]}, "two images have the id 'a'"),
        ({"image": pa.array([], pa.binary())}, "no images in it"),
    ],
)
def test_bad_tables_are_one_line(tmp_path, table, error_of, columns, message):
    assert message in error_of(lambda: load_data(table(str(tmp_path / "a.parquet"), columns)))


def test_damaged_files(tmp_path, put, encode, table, error_of):
    path = tmp_path / "a.parquet"
    table(str(path), {"image": [encode()]})
    for content in (b"", b"nonsense", path.read_bytes()[:-20]):
        assert "not a readable Parquet file" in error_of(lambda content=content: load_data(put(str(path), content)))


def test_files_with_different_columns(tmp_path, encode, table, error_of):
    table(str(tmp_path / "p" / "0.parquet"), {"image": [encode()], "label": [0]})
    table(str(tmp_path / "p" / "1.parquet"), {"image": [encode()]})
    assert "1.parquet: no column 'label'" in error_of(lambda: load_data(str(tmp_path / "p")))
