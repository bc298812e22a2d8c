import io
import pickle

import numpy as np
import pytest

from oodometer.core.preprocessing import Geometry
from oodometer.data.load import load_data


@pytest.fixture
def images():
    return np.random.default_rng(0).integers(0, 256, (11, 8, 6, 3), dtype=np.uint8)


@pytest.fixture
def save(put):
    def write(address, array=None, compress=False, **arrays):
        target = io.BytesIO()
        if array is not None:
            np.save(target, array)
        else:
            (np.savez_compressed if compress else np.savez)(target, **arrays)
        return put(address, target.getvalue())

    return write


def assert_images(data, images):
    for index, image in enumerate(images):
        np.testing.assert_array_equal(data.image(index), image)


def test_npy_with_labels_beside_it(root, images, save):
    save(f"{root}/labels.npy", np.arange(11) % 10)
    data = load_data(save(f"{root}/fog.npy", images))
    assert_images(data, images)
    assert data.labels.tolist() == [*range(10), 0]
    assert data.ids[:2] == ("00", "01")
    assert data.name == "fog"
    assert len(data.space) == 10


def test_labels_of_its_own_come_first(tmp_path, images, save):
    save(str(tmp_path / "labels.npy"), np.zeros(11, int))
    save(str(tmp_path / "fog_labels.npy"), np.ones((11, 1), np.uint8))
    assert load_data(save(str(tmp_path / "fog.npy"), images)).labels.tolist() == [1] * 11


def test_without_labels(tmp_path, images, save):
    assert load_data(save(str(tmp_path / "fog.npy"), images)).labels.tolist() == [-1] * 11


@pytest.mark.parametrize("names", [("images", "labels"), ("x", "y"), ("x_test", "y_test"), ("data", "labels")])
@pytest.mark.parametrize("compress", [False, True])
def test_npz(root, images, save, names, compress):
    arrays = dict(zip(names, (images, np.arange(11)), strict=True))
    data = load_data(save(f"{root}/cifar.npz", compress=compress, other=np.arange(3), **arrays))
    assert_images(data, images)
    assert data.labels.tolist() == list(range(11))


def test_every_layout_has_the_same_pixels_and_digest(tmp_path, images, save):
    grey = images[..., 0]
    spread = np.repeat(grey[..., None], 3, axis=3)
    layouts = {
        "plain": spread,
        "grey": grey,
        "one channel": grey[..., None],
        "channels first": spread.transpose(0, 3, 1, 2),
        "columns first": np.asfortranarray(spread),
    }
    opened = [load_data(save(str(tmp_path / name / "a.npy"), array)) for name, array in layouts.items()]
    opened.append(load_data(save(str(tmp_path / "z.npz"), images=spread, compress=True)))
    for data in opened:
        assert_images(data, spread)
        assert data.digest == opened[0].digest


def test_the_shape_is_part_of_the_digest(tmp_path, images, save):
    wide, high = images.reshape(11, 6, 8, 3), images
    assert (
        load_data(save(str(tmp_path / "w.npy"), wide)).digest != load_data(save(str(tmp_path / "h.npy"), high)).digest
    )


def test_class_names(tmp_path, images, save):
    data = load_data(save(str(tmp_path / "a.npz"), images=images, labels=np.array(["dog", "cat"] * 5 + ["ant"])))
    assert data.space.classes == ("ant", "cat", "dog")
    assert data.labels[:3].tolist() == [2, 1, 2]


def test_only_the_wanted_rows_are_read(root, images, save, reads):
    for name, options in (("a.npy", {"array": images}), ("b.npz", {"images": images})):
        data = load_data(save(f"{root}/{name}", **options))
        assert reads == []
        np.testing.assert_array_equal(data.views(7, [Geometry(8, 6)])[0], images[7])
        assert len(reads) == 1
        reads.clear()


def test_a_pickled_copy_does_not_carry_the_pixels(tmp_path, save):
    images = np.zeros((100, 32, 32, 3), np.uint8)
    data = load_data(save(str(tmp_path / "a.npy"), images))
    packed = pickle.dumps(data.source)
    assert len(packed) < 1000
    assert_images(data, images[:3])


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_pickles_are_refused(tmp_path, images, save, error_of, name):
    bombs = np.array([Bomb()], dtype=object)
    options = {"array": bombs} if name == "a.npy" else {"images": bombs}
    assert "Python objects" in error_of(lambda: load_data(save(str(tmp_path / name), **options)))


def test_pickled_labels_are_refused(tmp_path, images, save, error_of):
    path = save(str(tmp_path / "a.npz"), images=images, labels=np.array([Bomb()] * 11, dtype=object))
    assert "Python objects" in error_of(lambda: load_data(path))


def test_a_bare_pickle_is_refused(tmp_path, put, error_of):
    path = put(str(tmp_path / "a.npy"), pickle.dumps(Bomb()))
    assert "not a readable array" in error_of(lambda: load_data(path))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"images": np.zeros((2, 4, 4, 3), np.float32)}, "its pixels are float32; expected uint8"),
        ({"images": np.zeros((2, 48), np.uint8)}, "its shape is (2, 48)"),
        ({"images": np.zeros((2, 4, 4, 5), np.uint8)}, "its shape is (2, 4, 4, 5)"),
        ({"images": np.zeros((2, 4, 4), np.uint8), "labels": np.zeros(3, int)}, "2 images but labels of shape (3,)"),
        ({"images": np.zeros((2, 4, 4), np.uint8), "labels": np.zeros(2)}, "its labels are float64"),
        ({"images": np.zeros((2, 4, 4), np.uint8), "labels": np.array([0, -1])}, "row 2 has the label -1"),
        ({"pictures": np.zeros((2, 4, 4), np.uint8)}, "no array of images in it"),
        ({"images": np.zeros((0, 4, 4), np.uint8)}, "no images in it"),
    ],
)
def test_a_bad_array_is_one_line(tmp_path, save, error_of, arrays, message):
    assert message in error_of(lambda: load_data(save(str(tmp_path / "a.npz"), **arrays)))


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_damaged_files(tmp_path, put, error_of, name):
    for content in (b"", b"nonsense", b"\x93NUMPY", b"PK\x03\x04"):
        assert "not a readable" in error_of(lambda content=content: load_data(put(str(tmp_path / name), content)))


def test_an_array_cut_short_is_refused(tmp_path, images, save, error_of):
    path = tmp_path / "a.npy"
    save(str(path), images)
    path.write_bytes(path.read_bytes()[:-10])
    assert "is it whole?" in error_of(lambda: load_data(str(path)))
