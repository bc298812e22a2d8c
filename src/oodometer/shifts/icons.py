"""The shifts of icons: a vendor, subtypes, and, as the control, drawings that were held out from training."""

from __future__ import annotations

from oodometer.catalogue.names import ShiftEntry
from oodometer.core.condition import Condition, Shift
from oodometer.data.icon_protocols import PROTOCOLS, RELEASED_VERSIONS, sides_of, sides_of_paper
from oodometer.shifts.make import pair_of
from oodometer.shifts.sources import ICONS, Sources

STYLES = "icons-styles"
PROTOCOL_OF = dict(zip(("icons-style", "icons-subtypes", "icons-versions"), PROTOCOLS, strict=True))
PAPERS_OF = {
    "icons-style:paper": PROTOCOLS[0],
    "icons-subtypes:paper": PROTOCOLS[1],
    "icons-versions:paper": RELEASED_VERSIONS,
}
"""The same by the paper's own rules."""


def protocol_of(name: str) -> str | None:
    """What a model must not have been trained on for the shift of this name; None where it is no shift of icons.

    >>> protocol_of("icons-style"), protocol_of("icons-styles/google"), protocol_of("imagenet-a")
    ('style=microsoft', 'style=google', None)
    """
    family, _, vendor = name.partition("/")
    return f"style={vendor}" if family == STYLES and vendor else {**PROTOCOL_OF, **PAPERS_OF}.get(name)


def held_out(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """What a protocol alone holds out, against a tenth of what none does.

    It is about models that were trained on what `oodometer.data.icon_protocols.split` leaves for training.
    """
    standard, shifted = sides_of(sources.whole(ICONS), PROTOCOL_OF[entry.name])
    iid = sources.once(entry.clean, lambda: Condition(entry.clean, sources.fewer(standard)))
    return [pair_of(entry, iid, Condition(entry.name, sources.fewer(shifted)))]


def held_out_as_in_paper(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """All that a protocol holds out: of Microsoft's icons those of held-out subtypes too."""
    standard, shifted = sides_of_paper(sources.whole(ICONS), PAPERS_OF[entry.name])
    iid = sources.once(entry.clean, lambda: Condition(entry.clean, sources.fewer(standard)))
    return [pair_of(entry, iid, Condition(entry.name, sources.fewer(shifted)))]


def every_style(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """One shift for each vendor: the models that it is about never saw that one."""
    icons = sources.whole(ICONS)
    found = []
    for vendor in sorted(set(icons.columns["style"].tolist())):
        standard, shifted = sides_of(icons, f"style={vendor}", (f"style={vendor}", *PROTOCOLS[1:]))
        iid = Condition(entry.declared.clean.format(part=vendor), sources.fewer(standard))
        one = Condition(entry.declared.member.format(part=vendor), sources.fewer(shifted))
        found.append(pair_of(entry, iid, one))
    return found
