"""``oodometer corrupt``: the published layouts, written once."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from as_typed import oodometer


def test_a_folder_becomes_the_layout_of_imagenet_c(photos: Path, tmp_path: Path) -> None:
    target = tmp_path / "c"
    words = ("corrupt", photos, target, "--corruptions", "contrast,pixelate", "--severities", "1,5", "--size", "64")
    result = oodometer(*words)
    assert result.exit_code == 0, result.stderr
    assert result.stderr.endswith(f"160 images written to {target}\n")
    files = sorted(str(path.relative_to(target)) for path in target.rglob("*.JPEG"))
    assert len(files) == 160
    assert files[0] == "contrast/1/blue/0.JPEG"
    data = odo.load_data(str(photos))
    image = data.views(0, [odo.Geometry(64, 64, resize=73)])[0]
    buffer = io.BytesIO()
    Image.fromarray(odo.corrupt(image, "contrast", 1, key=data.ids[0])).save(buffer, "JPEG", quality=85)  # Pillow alone
    assert (target / files[0]).read_bytes() == buffer.getvalue()


def test_a_second_run_does_what_is_missing_and_overwrites_nothing(photos: Path, tmp_path: Path) -> None:
    target = tmp_path / "c"
    words = ("corrupt", photos, target, "--corruptions", "contrast", "--severities", "1", "--size", "32")
    oodometer(*words)
    kept, lost = target / "contrast/1/red/1.JPEG", target / "contrast/1/red/2.JPEG"
    kept.write_bytes(b"mine")
    whole = lost.read_bytes()
    lost.unlink()
    assert oodometer(*words).stderr.endswith(f"1 images written to {target}\n")
    assert (kept.read_bytes(), lost.read_bytes()) == (b"mine", whole)
    assert oodometer(*words).stderr.endswith(f"nothing new to do: everything is in {target} already\n")
    oodometer(*words, "--force")
    assert kept.read_bytes() != b"mine"
    other = oodometer(*words, "--seed", "1")
    assert "holds corruptions of other data, size, severities, seed or frost textures" in other.stderr
    assert other.exit_code == 1


def test_arrays_become_the_layout_of_cifar10_c(tmp_path: Path) -> None:
    images = np.stack([odo.sample_image(32, 32, seed=seed) for seed in range(3)])
    np.savez(tmp_path / "small.npz", images=images, labels=np.array([2, 0, 1]))
    result = oodometer("corrupt", tmp_path / "small.npz", tmp_path / "c", "--corruptions", "contrast,gaussian_noise")
    assert result.exit_code == 0, result.stderr
    made = np.load(tmp_path / "c" / "gaussian_noise.npy")
    assert (made.shape, made.dtype) == ((15, 32, 32, 3), np.uint8)
    ids = odo.load_data(str(tmp_path / "small.npz")).ids
    np.testing.assert_array_equal(made[7], odo.corrupt(images[1], "gaussian_noise", 3, key=ids[1]))
    assert np.load(tmp_path / "c" / "labels.npy").tolist() == [2, 0, 1] * 5


def test_mistakes_get_one_clear_line(photos: Path, tmp_path: Path) -> None:
    Image.new("RGB", (40, 40)).save(photos / "red/1.jpg")
    cases = {
        ("--corruptions", "fgo"): "did you mean fog?",
        ("--severities", "0-5"): "must lie between 1 and 5",
        ("--severities", "2.5"): "expected for example 1-5",
        (): "2 images of val would be written as red/1.JPEG",
    }
    for words, message in cases.items():
        result = oodometer("corrupt", photos, tmp_path / "c", *words)
        assert message in result.stderr
        assert result.exit_code in (1, 2)
    inside = oodometer("corrupt", photos, photos / "c")
    assert "lies inside the source" in inside.stderr
    assert inside.exit_code == 2
    (tmp_path / "full").mkdir()
    (tmp_path / "full/x").write_text("mine")
    (photos / "red/1.jpg").unlink()
    assert "is not empty" in oodometer("corrupt", photos, tmp_path / "full").stderr


def test_a_target_that_can_not_be_written_is_told_and_leaves_nothing_half_done(photos: Path, tmp_path: Path) -> None:
    target = tmp_path / "c"
    target.mkdir()
    (target / ".oodometer.json").mkdir()  # where the mark should go
    result = oodometer("corrupt", photos, target, "--corruptions", "contrast", "--size", "32", "--force")
    assert result.exit_code == 1
    assert "can't be written" in result.stderr
    assert not list(target.rglob("*.tmp"))


PLUGIN = """
import oodometer as odo

@odo.corruption("rows_of_the_plugin_test", strengths=(1, 2, 4, 8, 16))
def dead_rows(image, count, rng):
    image[: int(count)] = 0
    return image
"""


def test_a_corruption_of_ones_own_has_a_name_on_the_command_line(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plugin_of_this_test.py").write_text(PLUGIN)
    (tmp_path / "answers_of_this_test.py").write_text(
        "import numpy as np\n\ndef top(images):\n    return np.tile(images[:, 0, 0, :1], 4) * [1.0, 0, 0, 0]\n"
    )
    monkeypatch.chdir(tmp_path)
    plugin = ("--plugin", "plugin_of_this_test")
    words = ("--corruptions", "rows_of_the_plugin_test", "--severities", "5", "--size", "64")
    assert oodometer("corrupt", photos, "c", *words, *plugin).exit_code == 0
    with Image.open(tmp_path / "c/rows_of_the_plugin_test/5/red/0.JPEG") as made:
        assert np.asarray(made)[:8].max() < 30
    asked = ("--model", "callable:answers_of_this_test:top", "--on", "own/rows_of_the_plugin_test/1")
    result = oodometer("run", *asked, "--data", photos, "--store", "runs", *plugin)
    assert result.exit_code == 0, result.stderr
    assert "own/rows_of_the_plugin_test/1" in result.stdout
    missing = oodometer("corrupt", photos, "d", "--plugin", "no_such_module_anywhere")
    assert "--plugin no_such_module_anywhere: can't be imported" in missing.stderr
    assert missing.exit_code == 2


@pytest.mark.parametrize("words", [("ls", "conditions")])
def test_the_families_are_listed(words: tuple[str, ...]) -> None:
    assert "imagenet-c:raw" in oodometer(*words).stdout.splitlines()


@pytest.fixture
def arrays(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    np.savez(tmp_path / "small.npz", images=images, labels=np.array([2, 0, 1]))
    return tmp_path / "small.npz"


def test_an_array_of_other_severities_is_refused_and_its_labels_are_left_alone(arrays, tmp_path):
    made = oodometer("corrupt", str(arrays), str(tmp_path / "c"), "--corruptions", "contrast", "--severities", "1,5")
    assert made.exit_code == 0, made.stderr
    again = oodometer("corrupt", str(arrays), str(tmp_path / "c"), "--corruptions", "contrast")
    assert again.exit_code == 1
    assert "other data, size, severities, seed or frost textures" in again.stderr
    assert len(np.load(tmp_path / "c" / "labels.npy")) == len(np.load(tmp_path / "c" / "contrast.npy")) == 6


def test_other_frost_textures_are_other_files(arrays, tmp_path):
    Image.fromarray(np.full((64, 64, 3), 200, np.uint8)).save(tmp_path / "ice.png")
    (tmp_path / "ice").mkdir()
    (tmp_path / "ice.png").rename(tmp_path / "ice" / "ice.png")
    arguments = ["corrupt", str(arrays), str(tmp_path / "c"), "--severities", "1"]
    try:
        assert oodometer(*arguments, "--corruptions", "contrast").exit_code == 0
        assert oodometer(*arguments, "--corruptions", "frost").exit_code == 0  # a folder may grow by corruptions
        other = oodometer(*arguments, "--corruptions", "frost", "--frost-textures", str(tmp_path / "ice"))
        assert (other.exit_code, "frost textures" in other.stderr) == (1, True)
    finally:
        from oodometer.corruptions.frost import set_frost_textures

        set_frost_textures("procedural")


def test_after_one_job_was_forced_over_another_only_force_goes_on(arrays, tmp_path):
    arguments = ["corrupt", str(arrays), str(tmp_path / "c"), "--severities", "1", "--corruptions"]
    assert oodometer(*arguments, "contrast,fog").exit_code == 0
    assert oodometer(*arguments, "contrast", "--seed", "1", "--force").exit_code == 0
    assert oodometer(*arguments, "contrast,fog", "--seed", "1").exit_code == 1  # fog is still that of seed 0


def test_a_target_that_is_a_file_and_a_source_that_is_not_there(arrays, tmp_path):
    taken = oodometer("corrupt", str(arrays), str(arrays))
    assert (taken.exit_code, "is a file; give a folder" in taken.stderr) == (1, True)
    lost = oodometer("corrupt", str(tmp_path / "nothere"), str(tmp_path / "c"))
    assert (lost.exit_code, "no such file or folder" in lost.stderr) == (1, True)


def test_an_id_that_leads_upwards_is_refused(tmp_path):
    (tmp_path / "data").mkdir()
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save(tmp_path / "a.png")
    (tmp_path / "data" / "list.csv").write_text("path,label\n../a.png,0\n")
    result = oodometer("corrupt", str(tmp_path / "data" / "list.csv"), str(tmp_path / "c"), "--corruptions", "contrast")
    assert result.exit_code == 1
    assert "outside the layout" in result.stderr


ONE = ("--corruptions", "contrast", "--severities", "1", "--size", "32")


def test_a_broken_image_is_an_error_before_anything_is_written_or_left_out(photos, tmp_path):
    whole = (photos / "red/1.png").read_bytes()
    (photos / "red/1.png").write_bytes(whole[:80])
    said = f"val: 1 of 40 images can't be read, first {photos}/red/1.png: damaged image"
    refused = oodometer("corrupt", photos, tmp_path / "c", *ONE)
    assert (refused.exit_code, said in refused.stderr, "--skip-broken" in refused.stderr) == (1, True, True)
    assert not (tmp_path / "c").exists()
    left_out = oodometer("corrupt", photos, tmp_path / "c", *ONE, "--skip-broken")
    assert left_out.exit_code == 0, left_out.stderr
    assert f"warning: {said}" in left_out.stderr
    assert left_out.stderr.endswith(f"39 images written to {tmp_path / 'c'}\n")
    assert not (tmp_path / "c/contrast/1/red/1.JPEG").exists()


def test_an_image_that_was_left_out_is_written_when_it_is_mended(photos, tmp_path):
    oodometer("corrupt", photos, tmp_path / "undisturbed", *ONE)
    whole = (photos / "red/1.png").read_bytes()
    (photos / "red/1.png").write_bytes(whole[:80])
    for words in (ONE, ONE):
        assert oodometer("corrupt", photos, tmp_path / "c", *words, "--skip-broken").exit_code == 0
    (photos / "red/1.png").write_bytes(whole)
    mended = oodometer("corrupt", photos, tmp_path / "c", *ONE)
    assert mended.stderr.endswith(f"1 images written to {tmp_path / 'c'}\n")
    files = {path.relative_to(tmp_path / "c") for path in (tmp_path / "c").rglob("*.JPEG")}
    assert len(files) == 40
    for file in files:
        assert (tmp_path / "c" / file).read_bytes() == (tmp_path / "undisturbed" / file).read_bytes()
    (photos / "red/3.png").write_bytes((photos / "blue/3.png").read_bytes())  # other data than before
    other = oodometer("corrupt", photos, tmp_path / "c", *ONE)
    assert (other.exit_code, "holds corruptions of other data" in other.stderr) == (1, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("small.npz", "c", "--size", "32"), "small.npz: images of an array keep their size; leave out --size"),
    ],
)
def test_a_flag_that_would_do_nothing_is_an_error(arrays, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save("photo.png")
    result = oodometer("corrupt", *words)
    assert (result.exit_code, said in result.stderr, len(result.stderr.splitlines())) == (2, True, 1)
    assert not Path(words[1]).exists()
