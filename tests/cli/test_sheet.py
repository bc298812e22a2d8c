"""``oodometer sheet`` as it is typed."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from as_typed import oodometer


def test_a_sheet_is_one_line_on_stdout(photos: Path, tmp_path: Path) -> None:
    words = ("sheet", photos, "--on", "greyscale", "--classes", "red,blue", "--per", "1", "-o", tmp_path / "sheet.png")
    done = oodometer(*words)
    assert (done.exit_code, done.stderr) == (0, "")
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert done.stdout == f"{tmp_path / 'sheet.png'}  {sheet.width}x{sheet.height} px\n"
    assert "is there already; choose another name, or --force" in oodometer(*words).stderr
    assert oodometer(*words, "--force").exit_code == 0


def test_one_image_is_drawn_under_imagenet_c_without_being_asked(photos: Path, tmp_path: Path) -> None:
    assert oodometer("sheet", photos / "red/0.jpg", "-o", tmp_path / "s.png", "--side", "32").exit_code == 0
    with Image.open(tmp_path / "s.png") as sheet:
        assert sheet.height > 10 * 32  # 19 corruptions in two blocks


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("photo.png", "-o", "sheet.xyz"), 1, "no kind of picture"),
        (("photo.png", "-o", "nowhere/sheet.png"), 1, "there is no folder"),
        (("photo.png", "-o", "photo.png"), 1, "is there already"),
        (("photo.png", "--on", "greyscale", "-o", "sheet.psd"), 1, "use for example .png"),
        (("none.jpg",), 1, "no such image"),
        (("photo.png", "--by", "style"), 2, "is one image; leave out --by"),
        (("photo.png", "--on", "fgo"), 2, "no condition named 'fgo'"),
        ((), 2, "say what to draw"),
    ],
)
def test_mistakes_are_one_line(tmp_path, monkeypatch, words, code, said):
    monkeypatch.chdir(tmp_path)
    Image.new("RGB", (64, 64)).save("photo.png")
    result = oodometer("sheet", *words)
    assert (result.exit_code, said in result.stderr, len(result.stderr.splitlines())) == (code, True, 1), result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["photo.png"]


def test_stored_answers_can_not_be_asked(photos: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,0,1\nred/0,1,2\n")
    result = oodometer("sheet", photos, "--model", f"predictions:{tmp_path / 'a.csv'}", "-o", tmp_path / "s.png")
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1), result.stderr
