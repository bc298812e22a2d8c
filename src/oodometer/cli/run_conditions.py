"""What ``oodometer run`` is asked to look at, from its flags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oodometer.cli.output import say

if TYPE_CHECKING:
    from oodometer.core.condition import Condition, Shift


def conditions_by(flags: dict[str, Any]) -> list[Condition | Shift]:
    """What the flags ask the models to look at."""
    from oodometer.data.load import load_data
    from oodometer.data.root import root_at
    from oodometer.shifts.asked import Attributes, conditions_asked
    from oodometer.shifts.resolve import check_names
    from oodometer.shifts.sources import Sources

    check_names(flags["conditions"])  # before data are looked at, which may take a while
    sources = Sources(
        dataset=load_data(flags["data"], kind=flags["data_kind"]) if flags["data"] else None,
        root=root_at(flags["data_root"], partial=flags["partial"]),
        images=flags["images"],
        seed=flags["seed"],
        settings={name: flags[name] for name in ("style_weights", "style_images") if flags[name]},
    )
    attributes = Attributes(flags["base"], flags["shifts"], flags["test_share"])
    return conditions_asked(flags["conditions"], sources, attributes, tell=say)
