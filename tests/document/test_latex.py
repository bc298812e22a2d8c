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
    bottomrule cmidrule multicolumn emph textbf addlinespace vspace parbox linewidth noindent endhead endfoot quad
    addtocounter rho tau pm textbackslash textasciicircum textasciitilde textless textgreater textbar textendash char"""
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
    rows = [
        line.removesuffix("*") for line in lines if line.endswith((r"\\", r"\\*")) and not line.startswith(r"\label")
    ]
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
    width = "% about 122 pt wide in Computer Modern at 10 pt; a page of an article has 345"
    assert source.startswith(f"% \\usepackage{{booktabs}}\n{width}\n\\begin{{table}}[t]\n")
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


# ---- as wide as a page ----


def wide(table_of, n_shifts: int, *, names: tuple[str, ...] = ("resnet50", "vgg16")) -> Table:
    """Two numbers with intervals for each shift, whose names are long."""
    few = table_of(dict.fromkeys(names, (900, 500)))
    columns, rows = list(few.columns), [list(row) for row in few.rows]
    for place in range(1, n_shifts):
        over = f"imagenetv2-matched-frequency-{place}"
        columns += [replace(column, over=over) for column in few.columns[3:]]
        rows = [[*row, *first[3:]] for row, first in zip(rows, few.rows, strict=True)]
    return replace(few, columns=tuple(columns), rows=tuple(map(tuple, rows)))


def points(source: str) -> int:
    return int(re.findall(r"about (\d+) pt wide", source)[0])


def test_letters_become_smaller_before_intervals_go_below_their_numbers(table_of):
    one, two, four = (latex_of(wide(table_of, n), "brackets") for n in (1, 2, 4))
    assert r"\textbf{90.0} {\scriptsize [" in one
    assert r"\textbf{90.0} {\tiny [" in two
    # The name and the numbers on one line, the intervals on the next, and no page between them.
    lines = four.splitlines()
    place = next(at for at, line in enumerate(lines) if line.startswith("resnet50"))
    assert lines[place].startswith(r"resnet50 & \textbf{90.0} & 50.0 & ")
    assert lines[place].endswith(r"\\*")
    assert lines[place + 1].startswith(r"& {\tiny [")
    assert all(points(source) <= 345 for source in (one, two, four))
    assert [len(check(source, 2 * n + 1)) for source, n in ((one, 1), (two, 2))] == [4, 4]


def test_what_is_wider_than_a_page_stands_in_blocks_with_all_names_in_each(table_of):
    source = latex_of(wide(table_of, 12), "brackets")
    blocks = re.findall(r"\\begin{tabular}.*?\\end{tabular}", source, re.DOTALL)
    assert len(blocks) > 1
    assert f"in {len(blocks)} blocks" in source.splitlines()[1]
    assert points(source) <= 345
    assert all(re.findall(r"^(resnet50|vgg16) ", block, re.MULTILINE) == ["resnet50", "vgg16"] for block in blocks)
    assert source.count("50.0") == 2 * 12
    assert source.count(r"\caption") == source.count(r"\label") == 1
    # The two numbers of a shift stay together.
    assert all(block.count("acc.") == block.count(r"$\rho$") for block in blocks)


def test_long_names_are_broken_where_there_is_no_room(table_of):
    name = "resnet50_imagenet_subsample_125_classes_batch64_original_images"
    source = latex_of(wide(table_of, 3, names=(name, "b")))
    assert r"\quad " in source
    assert points(source) <= 345
    assert name not in source.replace(r"\_", "_")
    assert name[:40] in latex_of(wide(table_of, 1, names=(name[:40], "b")), "none").replace(r"\_", "_")


def test_a_name_that_no_page_has_room_for_is_told(table_of):
    assert "more than the 345 of an article: shorten names" in latex_of(wide(table_of, 2, names=("x" * 90,)))


COMPILERS = [one for one in ("pdflatex", "tectonic", "lualatex", "xelatex") if shutil.which(one)]


@pytest.mark.slow
@pytest.mark.skipif(not COMPILERS, reason="no LaTeX on PATH")
def test_it_compiles_and_is_as_wide_as_it_says(hostile, table_of, tmp_path):
    tables = [
        latex_of(hostile),
        latex_of(hostile, "pm"),
        *(latex_of(wide(table_of, n), "brackets") for n in (2, 4, 12)),
    ]
    long = wide(table_of, 20)
    tables.append(latex_of(replace(long, rows=long.rows * 10), "brackets"))
    assert r"\begin{longtable}" in tables[-1]
    document = "\\documentclass{article}\\usepackage{booktabs,longtable}\\begin{document}\n"
    (tmp_path / "t.tex").write_text(document + "\n\n".join(tables) + "\n\\end{document}\n")
    flags = [] if COMPILERS[0] == "tectonic" else ["-interaction=nonstopmode", "-halt-on-error"]
    for _ in range(2):  # as longtable wants it
        done = subprocess.run([COMPILERS[0], *flags, "t.tex"], cwd=tmp_path, check=True, capture_output=True)
    assert b"Overfull" not in done.stdout + done.stderr
