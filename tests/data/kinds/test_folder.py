import shutil

import numpy as np
import pytest

from oodometer.core.labels import numbered
from oodometer.data.imagenet import imagenet
from oodometer.data.load import load_data


def test_numeric_folders_sort_as_numbers(root, encode, put):
    for number in range(12):
        put(f"{root}/{number}/a.png", encode(number))
    data = load_data(root)
    assert data.labels.tolist() == list(range(12))
    assert data.ids == tuple(f"{number}/a" for number in range(12))
    assert data.space == numbered(12)


def test_a_number_is_its_label_even_with_gaps(tmp_path, encode, put, pixels):
    for name in ("007", "3", "100"):
        put(str(tmp_path / "v" / name / "a.png"), encode(int(name)))
    data = load_data(str(tmp_path / "v"))
    assert data.labels.tolist() == [3, 7, 100]
    assert len(data.space) == 101
    np.testing.assert_array_equal(data.image(1), pixels(7))


def test_some_wordnet_ids_keep_their_imagenet_indices(root, encode, put):
    for wnid in ("n15075141", "n02099601"):
        put(f"{root}/{wnid}/a.png", encode())
    data = load_data(root)
    assert data.labels.tolist() == [207, 999]
    assert data.space == imagenet()


def test_names_are_sorted_and_empty_classes_count(tmp_path, encode, put):
    for name in ("dog", "cat"):
        put(str(tmp_path / "pets" / name / "a.png"), encode())
    (tmp_path / "pets" / "bird").mkdir()
    data = load_data(str(tmp_path / "pets"))
    assert (data.space.name, data.space.classes) == ("pets", ("bird", "cat", "dog"))
    assert data.labels.tolist() == [1, 2]
    assert data.name == "pets"


@pytest.mark.parametrize("names", [("0", "10"), ("n01440764", "n02099601")])
def test_a_folder_without_images_does_not_turn_numbers_into_names(tmp_path, encode, put, names):
    for name in names:
        put(str(tmp_path / "v" / name / "a.png"), encode())
    before = load_data(str(tmp_path / "v"))
    put(str(tmp_path / "v" / "docs" / "readme.txt"), b"text")
    after = load_data(str(tmp_path / "v"))
    assert after.space == before.space
    assert after.labels.tolist() == before.labels.tolist()


def test_images_lie_at_any_depth_and_other_files_are_left_alone(root, encode, put):
    put(f"{root}/a/x/y/1.png", encode())
    put(f"{root}/a/2.JPEG", encode(0, "JPEG"))
    for path in ("a/notes.txt", "a/.DS_Store", "a/.hidden.png", ".cache/b/1.png", "README.md", "a/labels.csv"):
        put(f"{root}/{path}", b"no image")
    assert load_data(root).ids == ("a/2", "a/x/y/1")


def test_ids_keep_the_extension_only_where_needed(tmp_path, encode, put):
    for path in ("a/1.png", "a/1.bmp", "a/2.png"):
        put(str(tmp_path / "v" / path), encode())
    assert load_data(str(tmp_path / "v")).ids == ("a/1.bmp", "a/1.png", "a/2")


def test_an_image_and_its_copy_are_two_images(tmp_path, encode, put):
    for path in ("a/1.png", "b/1.png"):
        put(str(tmp_path / "v" / path), encode())
    data = load_data(str(tmp_path / "v"))
    assert len(data) == 2
    assert len(set(data.scan().contents)) == 1


def test_the_digest_does_not_depend_on_the_place(tmp_path, encode, put):
    for seed in range(4):
        put(str(tmp_path / "here" / str(seed % 2) / f"{seed}.png"), encode(seed))
    shutil.copytree(tmp_path / "here", tmp_path / "there" / "deep")
    here, there = load_data(str(tmp_path / "here")), load_data(str(tmp_path / "there" / "deep"))
    assert here.digest == there.digest
    put(str(tmp_path / "here" / "1" / "1.png"), encode(99))
    assert load_data(str(tmp_path / "here")).digest != there.digest


def test_opening_reads_no_image(root, encode, put, reads):
    for seed in range(3):
        put(f"{root}/a/{seed}.png", encode(seed))
    data = load_data(root)
    assert reads == []
    data.image(1)
    assert len(reads) == 1


def test_images_outside_of_class_folders_are_an_error(root, encode, put, error_of):
    put(f"{root}/1.png", encode())
    message = error_of(lambda: load_data(root))
    assert "1 images, such as 1.png, are in no class folder" in message
    assert "manifest" in message


def test_no_images_is_an_error(tmp_path, put, error_of):
    put(str(tmp_path / "v" / "a" / "notes.txt"), b"text")
    assert "no images in it" in error_of(lambda: load_data(str(tmp_path / "v")))


def test_the_imagenet_sample(imagenet_sample):
    data = load_data(str(imagenet_sample))
    assert len(data) == len(data.space) == 1000
    assert data.labels.tolist() == list(range(1000))
    assert data.ids[0] == "000/ILSVRC2012_val_00000293"
