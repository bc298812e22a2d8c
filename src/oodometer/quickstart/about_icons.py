"""What the report of the quickstart says about the icons: what they are, whose, and what to type next."""

from __future__ import annotations

from collections.abc import Sequence

from oodometer import __version__
from oodometer.build.icons.build import Built
from oodometer.document.section import Section, Words
from oodometer.quickstart.icon_board import IconSet


def about_icons(out: str, built: Built, sets: Sequence[IconSet]) -> Section:
    """What the icons are, whose, and what to type next."""
    packages = sorted({row.package for row in built.rows})
    vendors = sorted({row.style for row in built.rows})
    licences = sorted({row.licence for row in built.rows})
    classes = {row.class_name for row in built.rows}
    return Section(
        id="icons",
        title="The icons",
        short="Icons",
        lead=(
            f"{len(built.rows):,} icons of {len(vendors)} vendors ({', '.join(vendors)}) in {len(classes)} classes. "
            "The networks were trained without one vendor, without 50 objects and without single drawings, so that "
            "each can be tested on all of these.",
        ),
        parts=(
            Words(tuple(f"{one.title} ({one.condition}): {one.about}." for one in sets), "list"),
            Words(
                (
                    f"The art is from {', '.join(packages)}, under {', '.join(licences)}.",
                    f"Whose it is: {out}/icons/CARD.md.",
                    f"Digest of the manifest: {built.digest}. Made with oodometer {__version__}.",
                )
            ),
            Words(tuple(ways_on(out)), "commands"),
        ),
    )


def ways_on(out: str) -> list[str]:
    """What to type next."""
    hold_outs = "--hold-out style=microsoft --hold-out subtypes --hold-out versions"
    return [
        "# both sides of every shift, and the gap between them",
        f"oodometer gaps {out}/runs",
        "# what each network has beyond its clean accuracy",
        f"oodometer robustness {out}/runs --shift icons-style",
        "# a network of your own, in the same table",
        f"oodometer train {out}/icons --net resnet20 {hold_outs} --out mine.onnx",
        f"oodometer quickstart --out {out} --model onnx:mine.onnx",
    ]
