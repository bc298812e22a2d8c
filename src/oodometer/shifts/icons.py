"""The shifts of icons: a vendor, subtypes, and, as the control, drawings that were held out from training."""

from __future__ import annotations

from collections.abc import Sequence

from oodometer.core.condition import Condition, Shift, ShiftKind
from oodometer.data.icon_protocols import PROTOCOLS, sides_of
from oodometer.shifts.known_shift import KnownShift
from oodometer.shifts.sources import ICONS, Sources

IID = "icons-iid"
STYLES = "icons-styles"
PROTOCOL_OF = dict(zip(("icons-style", "icons-subtypes", "icons-versions"), PROTOCOLS, strict=True))


def protocol_of(name: str) -> str | None:
    """What a model must not have been trained on for the shift of this name; None where it is no shift of icons.

    >>> protocol_of("icons-style"), protocol_of("icons-styles/google"), protocol_of("imagenet-a")
    ('style=microsoft', 'style=google', None)
    """
    family, _, vendor = name.partition("/")
    return f"style={vendor}" if family == STYLES and vendor else PROTOCOL_OF.get(name)


def _known(name: str, kind: ShiftKind) -> KnownShift:
    """What a protocol alone holds out, against a tenth of what none does.

    It is about models that were trained on what `oodometer.data.icon_protocols.split` leaves for training.
    """

    def make(sources: Sources) -> list[Shift]:
        standard, shifted = sides_of(sources.whole(ICONS), PROTOCOL_OF[name])
        iid = sources.once(IID, lambda: Condition(IID, sources.fewer(standard)))
        return [Shift(name, kind, iid, Condition(name, sources.fewer(shifted)))]

    return KnownShift(name, kind, (ICONS,), make)


def _every_style(sources: Sources) -> Sequence[Shift]:
    """One shift for each vendor: the models that it is about never saw that one."""
    icons = sources.whole(ICONS)
    found = []
    for vendor in sorted(set(icons.columns["style"].tolist())):
        standard, shifted = sides_of(icons, f"style={vendor}", (f"style={vendor}", *PROTOCOLS[1:]))
        name = f"{STYLES}/{vendor}"
        iid = Condition(f"{IID}-without-{vendor}", sources.fewer(standard))
        found.append(Shift(name, "style", iid, Condition(name, sources.fewer(shifted))))
    return found


ICONS_STYLE = _known("icons-style", "style")
ICONS_SUBTYPES = _known("icons-subtypes", "attribute")
ICONS_VERSIONS = _known("icons-versions", "attribute")
ICONS_STYLES = KnownShift(STYLES, "style", (ICONS,), _every_style)
