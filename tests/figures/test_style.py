"""Files: fonts that travel along, no dates, the same bytes whatever the user's settings."""

from __future__ import annotations

import re
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from oodometer.core.errors import MissingExtraError, UsageError
from oodometer.figures import FigureOptions, draw, notes_of, save
from oodometer.figures.style import PNG_DPI, new_figure, note, paper_style, short, short_all

SCATTER = FigureOptions(("v2",), label=("model-1",))


@pytest.fixture(scope="module")
def files(tabled, tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("files")
    figure = draw(tabled, "scatter", SCATTER)
    found = {}
    for end in ("pdf", "svg", "png"):
        found[end] = folder / f"figure.{end}"
        save(figure, found[end])
    return found


def test_fonts_of_a_pdf_are_embedded_and_none_is_of_type_3(files):
    content = files["pdf"].read_bytes()
    assert content.startswith(b"%PDF-")
    # Type 42 in a PDF: a TrueType program under FontFile2, used by a composite font.
    assert b"/FontFile2" in content
    assert b"/CIDFontType2" in content
    assert b"/Type3" not in content
    fonts = re.findall(rb"/BaseFont /([\w+-]+)", content)
    assert fonts
    assert all(b"DejaVuSans" in font for font in fonts)


def test_a_pdf_has_no_date_and_its_text_is_text(files):
    content = files["pdf"].read_bytes()
    assert b"CreationDate" not in content
    streams = [
        zlib.decompress(part)
        for part in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
        if part[:1] == b"x"
    ]
    assert any(b" Tj" in stream or b" TJ" in stream for stream in streams)


def test_an_svg_needs_no_font_and_has_no_date(files):
    content = files["svg"].read_text()
    assert "<text" not in content
    assert "date>" not in content
    assert "DejaVuSans-" in content  # glyphs as paths, defined once


def test_pixels_of_a_png_are_those_of_its_inches(files, tabled):
    with Image.open(files["png"]) as image:
        assert image.size[0] == round(3.25 * PNG_DPI)
        assert "Software" not in image.info
        assert np.asarray(image.convert("L")).min() < 60  # something dark is drawn


@pytest.mark.parametrize("end", ["pdf", "svg", "png"])
def test_the_same_bytes_under_other_settings_of_the_user(files, tabled, tmp_path, end):
    import matplotlib

    with matplotlib.rc_context(
        {"font.size": 30, "lines.linewidth": 9, "svg.fonttype": "none", "text.parse_math": True}
    ):
        save(draw(tabled, "scatter", SCATTER), tmp_path / f"again.{end}")
        assert matplotlib.rcParams["font.size"] == 30  # and the user's are as they were
    assert (tmp_path / f"again.{end}").read_bytes() == files[end].read_bytes()


def test_no_global_state_of_matplotlib_is_touched():
    code = (
        "import sys; from oodometer.figures.style import *\n"
        "with paper_style(): new_figure(1, 2.0).subplots()\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_extra_is_named(monkeypatch, tabled):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"figures need more packages: pip install 'oodometer\[figures\]'"):
        draw(tabled, "scatter", SCATTER)


def test_where_it_can_not_be_written(tmp_path):
    with paper_style():
        figure = new_figure(1, 2.0)
    with pytest.raises(UsageError, match=r"a\.eps: a figure ends in \.pdf, \.svg or \.png"):
        save(figure, "a.eps")
    with pytest.raises(UsageError, match=r"nowhere.a\.pdf: can't be written \(No such file"):
        save(figure, tmp_path / "nowhere" / "a.pdf")


def test_a_figure_is_never_taller_than_a_page():
    with paper_style():
        assert new_figure(2, 40.0).get_size_inches().tolist() == [6.75, 9.0]


def test_names_in_scripts_that_the_font_lacks_are_drawn_without_warnings(tmp_path):
    with paper_style():
        figure = new_figure(1, 2.0)
        figure.subplots().set_title("模型 $x_1$ ρ")
    save(figure, tmp_path / "a.pdf")
    assert b"/FontFile2" in (tmp_path / "a.pdf").read_bytes()


def test_names_that_look_alike_when_short_are_told_apart():
    names = ["resnet50-noise_0.25-with-a-long-end-of-all", "resnet50-noise_0.50-with-a-long-end-of-all"]
    assert len({short(name, 20) for name in names}) == 1
    assert len(set(short_all(names, 36))) == 2
    assert all(len(name) <= 36 for name in short_all(names, 36))


def test_notes_belong_to_their_figure():
    with paper_style():
        first, second = new_figure(1, 1.0), new_figure(1, 1.0)
    note(first, "one")
    note(first, "one")
    assert (notes_of(first), notes_of(second)) == (("one",), ())
