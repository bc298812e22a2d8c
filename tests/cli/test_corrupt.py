"""``oodometer corrupt``: the published layouts, written once."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from PIL import Image

import oodometer as odo
from oodometer.cli.main import main


def oodometer(*words: str | Path) -> Result:
    result = CliRunner().invoke(main, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


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
    image = data.views(0, [odo.View(64, 64, resize=73)])[0]
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
    assert "holds corruptions of other data, size or seed" in other.stderr
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


def test_a_preview_is_a_sheet_of_one_image(photos: Path, tmp_path: Path) -> None:
    words = ("corrupt", photos / "red/0.jpg", tmp_path / "sheet.png", "--preview", "--corruptions", "contrast,pixelate")
    assert oodometer(*words).exit_code == 0
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.width > 5 * 112
    assert "is there already" in oodometer(*words).stderr


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
    assert "can't be read as an image" in oodometer("corrupt", "none.jpg", tmp_path / "s.png", "--preview").stderr
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
