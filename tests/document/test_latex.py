"""LaTeX that compiles, whatever models are called."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from oodometer.document.latex import escaped, latex_of
from oodometer.document.table import Column, Table

COMMANDS = """begin end centering caption label small footnotesize scriptsize tiny setlength tabcolsep toprule midrule
    bottomrule cmidrule multicolumn emph textbf addlinespace vspace parbox linewidth noindent endhead endfoot
    rho tau pm textbackslash textasciicircum textasciitilde textless textgreater textbar textendash char"""
SIGNS = set(r"\{}$&#%_")


def check(source: str, n_columns: int) -> list[str]:
    """The rows of the table; an error about whatever LaTeX would stumble over."""
    lines = [line for line in source.splitlines() if not line.startswith("%")]
    text = "\n".join(lines)
    # Only commands that LaTeX, booktabs and longtable know.
    assert set(re.findall(r"\\([a-zA-Z]+)", text)) <= set(COMMANDS.split())
    assert set(re.findall(r"\\([^a-zA-Z\s])", text)) <= SIGNS
    plain = re.sub(r"\\[\\{}$&#%_]", "", text)
    # What is left of the special signs has its meaning: groups, columns, mathematics.
    assert not set(plain) & set("#%~")
    depth = 0
    for sign in plain:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0
    assert depth == 0
    maths = plain.split("$")
    assert len(maths) % 2 == 1
    assert all(re.fullmatch(r"-|\^2|\\(rho|tau|pm)", one) for one in maths[1::2])
    assert not any(set(one) & set("_^") for one in maths[::2])
    assert plain.isprintable() or set(re.findall(r"[^\n -~À-ÿ]", plain)) == set()
    open_ones: list[str] = []
    for what, name in re.findall(r"\\(begin|end){([^}]*)}", text):
        if what == "begin":
            open_ones.append(name)
        else:
            assert open_ones.pop() == name
    assert not open_ones
    rows = [line for line in lines if line.endswith(r"\\") and not line.startswith(r"\label")]
    for row in rows:
        bare = row.replace(r"\&", "")
        spans = [int(one) - 1 for one in re.findall(r"\\multicolumn{(\d+)}", bare)]
        assert bare.count("&") + sum(spans) == n_columns, row
        assert not bare.lstrip().startswith(("[", "*"))
    return rows


@pytest.mark.parametrize("interval", ["none", "brackets", "pm", None])
def test_a_table_of_hostile_names_is_sound(hostile, names, interval):
    rows = check(latex_of(hostile, interval), 3)
    assert len(rows) == 2 + 2 + len(names)  # two lines of titles, two of categories


def test_longer_than_a_page(hostile):
    ten = replace(hostile, rows=hostile.rows * 10, groups=hostile.groups * 10)
    source = latex_of(ten)
    assert r"\begin{longtable}{lrrr}" in source
    assert r"\begin{table" not in source
    assert len(check(source, 3)) == 2 + 10 * (2 + 5)


def test_a_small_table_as_it_is_written(four):
    source = latex_of(four, "none")
    rows = check(source, 3)
    assert source.startswith("% \\usepackage{booktabs}\n\\begin{table}[t]\n")
    assert rows[0] == r"&  & \multicolumn{2}{c}{new} \\"
    assert rows[1] == r"Model & clean & acc. & $\rho$ \\"
    assert rows[2] == r"a & \textbf{95.0} & 60.0 & $-$35.0 \\"
    assert r"\cmidrule(lr){3-4}" in source
    assert "Intervals are not shown; half their width is at most" in source


def test_intervals_in_brackets_and_as_half_widths(four):
    estimate = four.rows[1][2]
    low, high = 100 * estimate.low, 100 * estimate.high
    assert rf"b & 80.0 {{\scriptsize [{low:.1f}, {high:.1f}]}} &" in latex_of(four, "brackets")
    assert rf"b & 80.0 {{\scriptsize $\pm$ {(high - low) / 2:.1f}}} &" in latex_of(four, "pm")


def test_what_is_below_the_least_and_what_is_not_known():
    columns = (Column("Model"), Column("p", "number", digits=3, least=0.001))
    rows = check(latex_of(Table("t", "Words.", columns, (("a", 0.0001), ("b", None)))), 1)
    assert rows[1:] == [r"a & \textless{} 0.001 \\", r"b & \textendash{} \\"]


def test_escaped_names_keep_every_letter(names):
    back = {
        r"\textbackslash{}": "\\", r"\textasciicircum{}": "^", r"\textasciitilde{}": "~", r"\textless{}": "<",
        r"\textgreater{}": ">", r"\textbar{}": "|", "{\\char34}": '"', "{\\char96}": "`", "{\\char39}": "'",
        "{[}": "[", "{]}": "]", "{*}": "*", "-{}": "-", r"\{": "{", r"\}": "}", r"\$": "$", r"\&": "&", r"\#": "#",
        r"\%": "%", r"\_": "_",
    }  # fmt: skip
    for name in names:
        shown = escaped(name)
        for code, letter in back.items():
            shown = shown.replace(code, letter)
        by_number = re.sub(r"\[U\+([0-9A-F]+)\]", lambda one: chr(int(one[1], 16)), shown)
        assert by_number == re.sub(r"\s+", " ", name).strip()


COMPILERS = [one for one in ("pdflatex", "tectonic", "lualatex", "xelatex") if shutil.which(one)]


@pytest.mark.slow
@pytest.mark.skipif(not COMPILERS, reason="no LaTeX on PATH")
def test_it_compiles(hostile, tmp_path):
    tables = [latex_of(hostile), latex_of(hostile, "pm")]
    document = "\\documentclass{article}\\usepackage{booktabs,longtable}\\begin{document}\n"
    (tmp_path / "t.tex").write_text(document + "\n\n".join(tables) + "\n\\end{document}\n")
    flags = [] if COMPILERS[0] == "tectonic" else ["-interaction=nonstopmode", "-halt-on-error"]
    subprocess.run([COMPILERS[0], *flags, "t.tex"], cwd=tmp_path, check=True, capture_output=True)
