"""The section "What the shifts look like": of every shift some images, clean beside shifted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from oodometer.document.section import Part, Pictures, Section, Words
from oodometer.report.html.thumbnails import thumbnail
from oodometer.study import Picture, Study, StudyShift
from oodometer.study.pictures import as_shown
from oodometer.study.shift_pairs import ShiftPair, shift_pairs

PAIRS = 3
MOST_SHIFTS = 12
MOST_CHARACTERS = 600_000
"""Of all pictures together."""

Image = tuple[str, str, tuple[str, ...]]


def section(study: Study) -> Section | None:
    """Clean beside shifted images of each shift; None where no images are at hand."""
    if study.picture is None:
        return None
    parts: list[Part] = []
    left, unseen = MOST_CHARACTERS, []
    for shift in study.shifts[:MOST_SHIFTS]:
        # Beside the same photograph changed, a clean one is cut in the same way.
        shown = partial(as_shown, study.picture) if shift.points.same_images else study.picture
        images = _images(shown, shift_pairs(study, shift, PAIRS), left)
        left -= sum(len(address) for address, _, _ in images)
        if images:
            parts.append(Pictures(f"shift-pictures-{len(parts)}", _caption(shift, images), images))
        else:
            unseen.append(shift.name)
    if not parts:
        return None
    unseen += [shift.name for shift in study.shifts[MOST_SHIFTS:]]
    if unseen:
        parts.append(
            Words((f"Not shown, since their images are not at hand or there is no room: {_few(unseen)}.",), "note")
        )
    return Section("shift-pictures", "What the shifts look like", (LEAD,), tuple(parts), short="Pictures")


LEAD = (
    "Of each shift a few images, each clean one beside a shifted one of the same class. Classes and images are drawn "
    "by their names, not chosen."
)


def _few(names: Sequence[str]) -> str:
    more = len(names) - 5
    return ", ".join(names[:5]) + (f" and {more} more" if more > 0 else "")


def _caption(shift: StudyShift, images: Sequence[Image]) -> str:
    same = "The same images on both sides." if shift.points.same_images else "Other images of the same classes."
    of = f", the mean of {len(shift.shifted)} conditions" if len(shift.shifted) > 1 else ""
    return f"{shift.name} ({shift.kind}{of}) against {shift.standard}. {same} Pairs shown: {len(images) // 2}."


def _images(picture: Picture, pairs: Sequence[ShiftPair], left: int) -> tuple[Image, ...]:
    """Both sides of each pair, as long as there is room; no side without the other."""
    shown: list[Image] = []
    for pair in pairs:
        sides = [picture(*pair.clean), picture(*pair.shifted)]
        addresses = [thumbnail(pixels) for pixels in sides if pixels is not None]
        left -= sum(map(len, addresses))
        if len(addresses) == 2 and left >= 0:
            words = (pair.clean[0].condition_name, pair.condition)
            shown += [
                (address, f"{pair.name}, {where}", (pair.name, where))
                for address, where in zip(addresses, words, strict=True)
            ]
    return tuple(shown)
