"""A leaderboard as one plain page of HTML: no script, no file besides it."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from oodometer.core.estimate import Estimate
from oodometer.report.leaderboard import Entry, Leaderboard
from oodometer.report.plain_charts import interval_bar, scatter

STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --soft: #667; --rule: #dcdfe4; --paper: #fff; --accent: #c2410c;
  --band: #c2410c22; --other: #1d4ed8; --rail: #e4e7eb; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --soft: #9aa3ad; --rule: #333a43; --paper: #14181d;
  --accent: #fb923c; --band: #fb923c2b; --other: #93b4ff; --rail: #2b323a; } }
body { font: 15px/1.55 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; color: var(--ink);
  background: var(--paper); max-width: 1180px; margin: 2.5rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; } h2 { font-size: 1.15rem; margin: 2.4rem 0 .5rem; }
p { max-width: 46rem; margin: .4rem 0; } .soft { color: var(--soft); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .38rem 1.1rem .38rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { font-weight: 600; white-space: nowrap; } th small, td small { font-weight: 400; color: var(--soft); }
td.value, td.model { white-space: nowrap; } td.value b { font-weight: 600; } td svg { display: block; }
td.place { color: var(--soft); text-align: right; padding-right: .7rem; }
pre { background: var(--rail); padding: .8rem 1rem; border-radius: 6px; overflow-x: auto; font-size: 13px; }
svg { max-width: 100%; } svg text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: var(--ink); }
svg .tick { fill: var(--soft); } svg .number { font-size: 11px; fill: var(--soft); }
svg .rail { stroke: var(--rail); stroke-width: 2; } svg .grid { stroke: var(--rail); }
svg .reach { stroke: var(--accent); stroke-width: 4; opacity: .4; stroke-linecap: round; }
svg .dot { fill: var(--accent); } svg .dot.other { fill: var(--other); }
svg .equal { stroke: var(--soft); stroke-dasharray: 2 4; } svg .whisker { stroke: var(--soft); opacity: .55; }
svg .band { fill: var(--band); } svg .line { fill: none; stroke: var(--accent); stroke-width: 2; }
"""


@dataclass(frozen=True)
class Told:
    """What a page says besides the numbers.

    Args:
        title: Above everything.
        lead: One or two sentences.
        commands: What to type to go on.
        facts: Name and value: the data, versions...
    """

    title: str
    lead: str
    commands: str
    facts: tuple[tuple[str, str], ...]


def page(board: Leaderboard, told: Told) -> str:
    """The page of a leaderboard; the same for the same numbers, whenever it is made."""
    sections = [
        f"<h1>{escape(told.title)}</h1><p>{escape(told.lead)}</p>",
        _table(board),
        _picture(board),
        _measured(board),
        f"<h2>Go on</h2><pre>{escape(told.commands)}</pre>",
        _facts(told),
    ]
    head = (
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(told.title)}</title>'
    )
    body = "\n".join(one for one in sections if one)
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n'
    )


def _table(board: Leaderboard) -> str:
    """A row for each model: numbers in per cent, their intervals, and these drawn."""
    titles = [
        f"<th>{escape(one.title)}<br/><small>n = {board.n(place)}</small></th>"
        for place, one in enumerate(board.columns)
    ]
    if board.robustness:
        name = escape(board.columns[board.robust_in].title)
        titles.append(f"<th>ρ {name}<br/><small>beyond the line, points</small></th>")
    reach = _reach(board)
    rows = [_row(number, entry, reach, board) for number, entry in enumerate(board.entries, start=1)]
    return (
        "<h2>Leaderboard</h2>"
        '<p class="soft">Top-1 accuracy in per cent with its 95 % interval, drawn from 0 to 100.</p>'
        f'<div class="wide"><table><tr><th></th><th>model</th>{"".join(titles)}</tr>{"".join(rows)}</table></div>'
    )


def _reach(board: Leaderboard) -> float:
    """How far the scale of ρ goes on both sides of 0."""
    ends = [abs(end) for one in board.entries if one.rho for end in (one.rho.value, one.rho.low, one.rho.high) if end]
    return max([*ends, 0.01])


def _row(number: int, entry: Entry, reach: float, board: Leaderboard) -> str:
    cells = [_cell(one) for one in entry.accuracies]
    if board.robustness:
        cells.append(_cell(entry.rho, reach=reach))
    remark = entry.category if entry.category != "standard" else ""
    remark += f", from {entry.parent}" if remark and entry.parent else ""
    name = escape(entry.model) + (f"<br/><small>{escape(remark)}</small>" if remark else "")
    return f'<tr><td class="place">{number}</td><td class="model">{name}</td>{"".join(cells)}</tr>'


def _cell(estimate: Estimate | None, *, reach: float | None = None) -> str:
    """A number with its interval; with ``reach`` it has a sign, and 0 is in the middle of the scale."""
    if estimate is None:
        return '<td class="value">–</td>'
    sign, low, high = ("", 0.0, 1.0) if reach is None else ("+", -reach, reach)
    value, *ends = (
        "?" if one is None else f"{100 * one:{sign}.1f}".replace("-", "−")
        for one in (estimate.value, estimate.low, estimate.high)
    )
    bar = interval_bar(estimate, low=low, high=high)
    return f'<td class="value"><b>{value}</b> <small>[{ends[0]}, {ends[1]}]</small>{bar}</td>'


def _picture(board: Leaderboard) -> str:
    found = board.robustness
    if found is None or found.fitted.slope is None:
        return ""
    clean, shifted = board.columns[0], board.columns[board.robust_in]
    numbers = {entry.model: number for number, entry in enumerate(board.entries, start=1)}
    drawn = scatter(found, numbers, (f"accuracy, {clean.title} (%)", f"accuracy, {shifted.title} (%)"))
    slope = found.fitted.slope
    others = "Blue points are not in the line. " if not all(one.in_baseline for one in found.models) else ""
    return (
        f"<h2>{escape(shifted.title.capitalize())} against {escape(clean.title)}</h2>"
        f"<p>What a model gets under the shift follows from what it gets without: the line, on logit axes, explains "
        f"R² = {found.fitted.r2:.2f} of it (slope {slope.value:.2f} [{slope.low:.2f}, {slope.high:.2f}], "
        f"{found.fitted.n} models of standard training). Effective robustness ρ is the way up from the line. {others}"
        f"Numbers are places in the leaderboard.</p>{drawn}"
    )


def _measured(board: Leaderboard) -> str:
    rows = [
        f"<tr><td>{escape(one.title)}</td><td>{escape(one.condition)}</td><td>{board.n(place)}</td>"
        f"<td>{escape(one.about)}</td></tr>"
        for place, one in enumerate(board.columns)
    ]
    notes = "".join(f'<p class="soft">{escape(note)}</p>' for note in board.notes)
    return (
        "<h2>What was measured</h2>"
        f"<table><tr><th>column</th><th>condition</th><th>icons</th><th>what it is</th></tr>{''.join(rows)}</table>"
        f"{notes}"
    )


def _facts(told: Told) -> str:
    rows = [f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in told.facts]
    return f"<h2>Made from</h2><table>{''.join(rows)}</table>"
