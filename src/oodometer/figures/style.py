"""How figures look: sizes, fonts, thin lines, and files that are the same bytes each time."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from oodometer.core.errors import UsageError
from oodometer.core.extras import import_extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTHS = {1: 3.25, 2: 6.75}
"""Inches of one and of two columns of a paper."""

TALLEST = 9.0
"""Inches of a page."""

TEXT = 8.0
SMALL = 7.0
"""Points: of what is read, and of names beside marks."""

LETTERS = 14.5
"""Of that size in an inch."""

INK = "#222222"
SOFT = "#6b6b6b"
GRID = "#e4e4e4"
LINE = "#c1272d"
"""The line through the baseline models, red as in the papers; dark enough for grey print."""

FORMATS = (".pdf", ".svg", ".png")
PNG_DPI = 300

SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same on every machine
    "font.size": TEXT,
    "axes.titlesize": TEXT,
    "axes.labelsize": TEXT,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "legend.fontsize": SMALL,
    "legend.frameon": False,
    "legend.handlelength": 1.4,
    "legend.columnspacing": 1.2,
    "legend.handletextpad": 0.5,
    "legend.labelspacing": 0.35,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "axes.titlelocation": "left",
    "axes.unicode_minus": True,
    "text.parse_math": False,  # a dollar in a model's name is a dollar
    "pdf.fonttype": 42,  # TrueType, embedded: publishers refuse type 3
    "pdf.compression": 6,
    "svg.fonttype": "path",  # looks the same where the font is not installed
    "svg.hashsalt": "oodometer",
    "savefig.dpi": PNG_DPI,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
}


@contextlib.contextmanager
def paper_style() -> Iterator[None]:
    """Matplotlib set up for a paper, whatever the user's own settings; they are back afterwards."""
    matplotlib = import_extra("matplotlib", extra="figures", what="figures")
    with matplotlib.rc_context(), warnings.catch_warnings():
        # A name in a script that the font lacks is drawn as boxes, which everyone sees.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(SETTINGS)
        yield


def new_figure(columns: int, height: float) -> Figure:
    """An empty figure of that many columns of a paper, and inches of height; of no window and no global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width_of(columns), min(height, TALLEST)), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def settle(figure: Figure) -> None:
    """Give everything its place, once: afterwards names may be set beside marks, and drawing is quick."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")


def width_of(columns: int) -> float:
    """Inches of that many columns."""
    if columns not in WIDTHS:
        raise UsageError(f"a figure is 1 or 2 columns wide, not {columns}")
    return WIDTHS[columns]


def save(figure: Figure, path: str | Path) -> None:
    """Write the figure as PDF, SVG or PNG, by the end of the name; the same bytes each time."""
    place = Path(path)
    end = check_end(path)
    metadata = {
        ".pdf": {"Creator": "oodometer", "Producer": None, "CreationDate": None},
        ".svg": {"Creator": "oodometer", "Date": None},
        ".png": {"Software": None},
    }[end]
    with paper_style():
        try:
            figure.savefig(place, metadata=metadata)
        except OSError as error:
            raise UsageError(f"{path}: can't be written ({error.strerror or error})") from error


_NOTES: WeakKeyDictionary[Any, list[str]] = WeakKeyDictionary()


def note(figure: Any, line: str) -> None:
    """Remember what a reader of the figure should know."""
    _NOTES.setdefault(figure, []).append(line)


def notes_of(figure: Figure) -> tuple[str, ...]:
    """What a reader of the figure should know: what was left out of it."""
    return tuple(dict.fromkeys(_NOTES.get(figure, [])))


def check_end(path: str | Path) -> str:
    """The end of the file's name, in small letters; an error where it is of no format."""
    end = Path(path).suffix.lower()
    if end not in FORMATS:
        raise UsageError(f"{path}: a figure ends in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
    return end


def short(name: str, most: int = 32) -> str:
    """A name that fits: without control characters, its middle left out where it is long.

    >>> short("efficientnet-l2-noisystudent"), short("a" * 20 + "b" * 20, 11)
    ('efficientnet-l2-noisystudent', 'aaaaa…bbbbb')
    """
    plain = "".join(one if one.isprintable() else " " for one in name)
    if len(plain) <= most:
        return plain
    tail = (most - 1) // 2
    return f"{plain[: most - 1 - tail]}…{plain[len(plain) - tail :]}"


def short_all(names: Sequence[str], most: int) -> list[str]:
    """The names as they fit; where two look alike then, their ends, which tell models apart more often.

    >>> short_all(["resnet50-1.00-a-b-c", "resnet50-0.50-a-b-c", "vgg"], 13)
    ['…0-1.00-a-b-c', '…0-0.50-a-b-c', 'vgg']
    """
    found = [short(name, most) for name in names]
    plain = [short(name, len(name)) for name in names]
    return [
        f"…{whole[len(whole) - most + 1 :]}" if found.count(one) > 1 and len(whole) > most else one
        for one, whole in zip(found, plain, strict=True)
    ]


def axis_text(name: str, what: str, inches: float) -> str:
    r"""The words of an axis so long: a name and what of it, on two lines where one is too short.

    >>> axis_text("val", "accuracy (%)", 3.0), axis_text("imagenetv2-matched-frequency", "accuracy (%)", 2.6)
    ('val accuracy (%)', 'imagenetv2-matched-frequency\naccuracy (%)')
    """
    most = int(inches * LETTERS)
    plain = short(name, most)
    return f"{plain} {what}" if len(plain) + len(what) < most else f"{plain}\n{what}"
