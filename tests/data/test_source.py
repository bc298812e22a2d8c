import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from oodometer.core.errors import DataError
from oodometer.core.preprocessing import Geometry
from oodometer.data import addresses
from oodometer.data.kinds.folder import list_images
from oodometer.data.load import load_data
from oodometer.data.source import EncodedSource, ImageFiles


@pytest.fixture
def files(tmp_path, encode, put):
    return tuple(put(str(tmp_path / "set" / "0" / f"{seed}.png"), encode(seed)) for seed in range(20))


def test_views_are_those_of_the_whole_image(files, pixels):
    source = EncodedSource(ImageFiles(files))
    whole, small, crop = source.views(3, [None, Geometry(4, 4), Geometry(8, 8, resize=12)])
    np.testing.assert_array_equal(whole, pixels(3))
    assert small.shape == (4, 4, 3)
    np.testing.assert_array_equal(crop, pixels(3)[2:10, 4:12])


def test_an_image_is_read_once_for_all_views(files, reads):
    EncodedSource(ImageFiles(files)).views(0, [None, Geometry(4, 4), Geometry(5, 5)])
    assert reads == [files[0]]


def test_an_error_names_the_image(tmp_path, put, error_of):
    bad = put(str(tmp_path / "bad.png"), b"not an image")
    source = EncodedSource(ImageFiles((bad, str(tmp_path / "missing.png"))))
    assert error_of(lambda: source.views(0, [None])) == f"{bad}: not an image that can be read"
    assert "missing.png: no such file" in error_of(lambda: source.views(1, [None]))


def test_threads_see_the_same_pixels(files):
    source = EncodedSource(ImageFiles(files))
    views = [None, Geometry(7, 9), Geometry(8, 8, resize=10, interpolation="lanczos")]
    serial = [source.views(index, views) for index in range(len(files))]
    with ThreadPoolExecutor(8) as pool:
        threaded = list(pool.map(lambda index: source.views(index, views), list(range(len(files))) * 3))
    for index, result in enumerate(threaded):
        for ours, theirs in zip(result, serial[index % len(files)], strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_a_pickled_copy_works(files):
    data = load_data(str(files[0]).rsplit("/", 2)[0])
    copy = pickle.loads(pickle.dumps(data))
    np.testing.assert_array_equal(copy.image(2), data.image(2))


def test_a_missing_file_has_no_version(tmp_path):
    assert ImageFiles((str(tmp_path / "none.png"),)).version(0) is None


def test_what_a_listing_told_is_not_asked_of_each_file(root, put, encode, monkeypatch):
    for name in ("0/a.png", "1/b.PNG", "notes.txt"):
        put(addresses.join(root, name), encode(0))
    listed = list_images(root)
    images = ImageFiles.below(root, listed)
    assert images.paths == tuple(addresses.join(root, name) for name in ("0/a.png", "1/b.PNG"))
    monkeypatch.setattr(addresses, "version_of", pytest.fail)
    assert [images.version(index) for index in range(2)] == [file.version for file in listed]


def test_broken_images_raise_only_when_asked_for(tmp_path, put, encode):
    put(str(tmp_path / "v" / "0" / "a.png"), encode(0))
    put(str(tmp_path / "v" / "0" / "b.png"), encode(1)[:60])
    data = load_data(str(tmp_path / "v"))
    assert data.image(0).shape == (12, 16, 3)
    with pytest.raises(DataError, match=r"b\.png: damaged"):
        data.image(1)
