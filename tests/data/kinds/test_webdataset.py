import io
import json
import pickle
import tarfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import webdataset

from oodometer.data.load import load_data


@pytest.fixture
def tar(put):
    """Write a tar file of these members."""

    def write(address, members):
        target = io.BytesIO()
        with tarfile.open(fileobj=target, mode="w") as archive:
            for name, content in members.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        return put(address, target.getvalue())

    return write


def test_one_tar(root, encode, tar, pixels):
    members = {}
    for seed in range(5):
        members |= {f"{seed:03d}.png": encode(seed), f"{seed:03d}.cls": str(seed % 3).encode()}
    data = load_data(tar(f"{root}/val.tar", members))
    assert data.ids == ("000", "001", "002", "003", "004")
    assert data.labels.tolist() == [0, 1, 2, 0, 1]
    np.testing.assert_array_equal(data.image(3), pixels(3))


def test_shards_written_by_webdataset(tmp_path, pixels):
    with webdataset.ShardWriter(str(tmp_path / "val-%06d.tar"), maxcount=4, verbose=0) as sink:
        for seed in range(10):
            sink.write({"__key__": f"{seed:06d}", "png": pixels(seed), "cls": seed, "json": {"video": f"v{seed}"}})
    for address in (tmp_path, tmp_path / "val-{000000..000002}.tar", tmp_path / "val-*.tar"):
        data = load_data(str(address))
        assert data.labels.tolist() == list(range(10))
        assert data.columns["video"].tolist() == [f"v{seed}" for seed in range(10)]
        for seed in range(10):
            np.testing.assert_array_equal(data.image(seed), pixels(seed))
    assert data.name == "val"


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # webdataset leaves its file open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_webdataset_reads_the_same_samples(tmp_path, pixels):
    path = str(tmp_path / "a.tar")
    with webdataset.TarWriter(path) as sink:
        for seed in range(4):
            sink.write({"__key__": f"dir.d/{seed}", "png": pixels(seed), "cls": seed})
    theirs = list(webdataset.WebDataset(path, shardshuffle=False).decode("rgb8").to_tuple("__key__", "png", "cls"))
    ours = load_data(path)
    assert list(ours.ids) == [key for key, _, _ in theirs]
    assert ours.labels.tolist() == [label for _, _, label in theirs]
    for index, (_, image, _) in enumerate(theirs):
        np.testing.assert_array_equal(ours.image(index), image)


def test_the_same_images_in_a_folder_have_the_same_digest(tmp_path, encode, put, tar):
    members = {}
    for seed in range(6):
        name = f"{seed % 2}/{seed}"
        put(str(tmp_path / "folder" / f"{name}.png"), encode(seed))
        members |= {f"{name}.png": encode(seed), f"{name}.cls": str(seed % 2).encode()}
    ordered = dict(sorted(members.items()))
    assert load_data(str(tmp_path / "folder")).digest == load_data(tar(str(tmp_path / "a.tar"), ordered)).digest


def test_labels_as_names_and_in_json(tmp_path, encode, tar):
    named = load_data(tar(str(tmp_path / "pets.tar"), {"1.jpg": encode(0, "JPEG"), "1.cls": b"dog\n"}))
    assert (named.space.name, named.space.classes) == ("pets", ("dog",))
    values = {"label": 2, "frame": 7, "box": [1, 2]}
    data = load_data(tar(str(tmp_path / "j.tar"), {"1.webp": encode(0, "WEBP"), "1.json": json.dumps(values).encode()}))
    assert data.labels.tolist() == [2]
    assert {name: column.tolist() for name, column in data.columns.items()} == {"frame": [7]}


def test_without_labels(tmp_path, encode, tar):
    assert load_data(tar(str(tmp_path / "a.tar"), {"1.png": encode(), "2.png": encode()})).labels.tolist() == [-1, -1]


def test_keys_used_by_two_shards(tmp_path, encode, tar):
    for shard in "ab":
        tar(str(tmp_path / "s" / f"{shard}.tar"), {"1.png": encode()})
    assert load_data(str(tmp_path / "s")).ids == ("a/1", "b/1")


def test_pickles_are_never_loaded(tmp_path, encode, tar):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was loaded",))

    bomb = pickle.dumps(Bomb())
    members = {"1.png": encode(), "1.cls": b"0", "1.pkl": bomb, "1.pyd": bomb, "1.pickle": bomb, "1.pth": bomb}
    data = load_data(tar(str(tmp_path / "a.tar"), members))
    data.image(0)
    assert data.columns == {}


def test_members_that_are_no_samples_are_left_alone(tmp_path, encode, tar):
    members = {"readme.txt": b"text", "1.png": encode(), "1.seg.png": encode(1), "1.cls": b"0"}
    assert load_data(tar(str(tmp_path / "a.tar"), members)).ids == ("1",)


def test_opening_reads_no_image_and_reading_only_its_range(root, encode, tar, reads):
    path = tar(f"{root}/a.tar", {f"{seed}.png": encode(seed) for seed in range(3)})
    data = load_data(path)
    assert reads == []
    data.image(2)
    assert len(reads) == 1


def test_threads_and_pickled_copies(tmp_path, encode, tar, pixels):
    data = load_data(tar(str(tmp_path / "a.tar"), {f"{seed:02d}.png": encode(seed) for seed in range(20)}))
    data = pickle.loads(pickle.dumps(data))
    with ThreadPoolExecutor(8) as pool:
        for seed, image in enumerate(pool.map(data.image, range(20))):
            np.testing.assert_array_equal(image, pixels(seed))


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"1.txt": b"x"}, "no images in it"),
        ({"1.png": b"x", "1.jpg": b"x"}, "sample '1' has two images"),
        ({"1.png": b"x", "1.cls": b"0", "2.png": b"x"}, "image 2 has no label"),
        ({"1.png": b"x", "1.cls": b"-5"}, "image 1 has the label -5"),
        ({"1.png": b"x", "1.json": b"{"}, "member 1.json: not a readable JSON file"),
    ],
)
def test_bad_shards_are_one_line(tmp_path, tar, error_of, members, message):
    assert message in error_of(lambda: load_data(tar(str(tmp_path / "a.tar"), members)))


def test_damaged_tar_files(tmp_path, encode, tar, put, error_of):
    path = tmp_path / "a.tar"
    tar(str(path), {f"{seed}.png": encode(seed) for seed in range(5)})
    whole = path.read_bytes()
    damages = {
        "no tar": b"not a tar file" * 100,
        "empty": b"",
        "cut in data": whole[: 512 + 100],
        "cut in a header": whole[: whole.index(b"1.png\0") + 40],
        "header": whole[:512] + whole[512:].replace(b"3.png\0", b"3.pnq\0", 1),
    }
    for name, content in damages.items():
        message = error_of(lambda content=content: load_data(put(str(path), content)))
        assert "not a readable tar file" in message or "damaged at byte" in message, name


def test_a_missing_shard(tmp_path, encode, tar, error_of):
    tar(str(tmp_path / "a-0.tar"), {"1.png": encode()})
    assert "a-1.tar: no such file" in error_of(lambda: load_data(str(tmp_path / "a-{0..1}.tar")))
    assert "no tar files there" in error_of(lambda: load_data(str(tmp_path / "b-*.tar")))
