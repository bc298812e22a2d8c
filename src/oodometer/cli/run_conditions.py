"""What ``oodometer run`` is asked to look at, from its flags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oodometer.cli.output import say, say_if_compiling
from oodometer.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from oodometer.core.condition import Condition, Shift
    from oodometer.core.model import Model
    from oodometer.core.stored_answers import StoredAnswers


def conditions_by(flags: dict[str, Any]) -> list[Condition | Shift]:
    """What the flags ask the models to look at."""
    from oodometer.core.condition import Shift
    from oodometer.data.load import load_data
    from oodometer.data.root import root_at
    from oodometer.shifts.resolve import asked_for, check_names, missing_sets
    from oodometer.shifts.sources import IMAGENET, Sources

    names = flags["conditions"] or (() if flags["base"] else ("clean",))
    check_names(names)
    style = {name: flags[name] for name in ("style_weights", "style_images") if flags[name]}
    if style and not any(name.partition("/")[0] == "adain" for name in names):
        raise UsageError("--style-weights and --style-images are for --on adain; give that too")
    sources = Sources(
        dataset=load_data(flags["data"], kind=flags["data_kind"]) if flags["data"] else None,
        root=root_at(flags["data_root"], partial=flags["partial"]),
        images=flags["images"],
        seed=flags["seed"],
        settings=style,
    )
    asked = asked_for(names, sources)
    root = sources.root.address if sources.root else "the data"
    unclean = [name for name in asked.missing if IMAGENET in missing_sets(name, sources)]
    for why, names in (
        (f"without clean images (no imagenet in {root}, no --data)", unclean),
        (f"not in {root}", [name for name in asked.missing if name not in unclean]),
    ):
        if names:
            say(f"left out, {why}: {some_of(names)}; 'oodometer ls shifts' says what is missing and where to get it")
    if asked.unmatched:
        say(f"left out, no images of their classes to compare with: {some_of(asked.unmatched)}")
    found = list(asked.found)
    if flags["base"] or flags["shifts"]:
        from oodometer.shifts.attribute import TEST_SHARE, shifts_of_flags

        share = TEST_SHARE if flags["test_share"] is None else flags["test_share"]
        found += shifts_of_flags(sources, flags["base"], flags["shifts"], test_share=share, tell=say)
    elif flags["test_share"] is not None:
        raise UsageError("--test-share is that of an attribute shift; give --base and --shift too")
    sides = [one.shifted if isinstance(one, Shift) else one for one in found]
    if any(one.transform is not None for one in sides):
        say_if_compiling()
    return found


def without_attacks_of_groups(
    asked: Sequence[Condition | Shift], models: Sequence[Model | StoredAnswers], names: Sequence[str]
) -> list[Condition | Shift]:
    """What is asked, less the attacks that only a group names where a model has no gradients; that is told."""
    from oodometer.core.condition import Shift
    from oodometer.core.model import Model

    attacks = [
        one.name for one in asked if isinstance(one, Shift) and one.shifted.attack is not None and one.name not in names
    ]
    blind = [model.name for model in models if not (isinstance(model, Model) and model.differentiable)]
    if not attacks or not blind:
        return list(asked)
    say(f"left out, no gradients in {some_of(blind)}: {some_of(attacks)}; run these with the models that have them")
    return [one for one in asked if one.name not in attacks]


def tell_what_was_trained_on(asked: Sequence[Condition | Shift], models: Sequence[Model | StoredAnswers]) -> None:
    """A line for each model whose card does not hold out what a shift of icons tests: its numbers are not fair."""
    from oodometer.core.model import Model
    from oodometer.shifts.seen_in_training import hold_outs_of, protocols_seen

    for model in models:
        hold_outs = hold_outs_of(model.notes) if isinstance(model, Model) else None
        seen = {} if hold_outs is None else protocols_seen(hold_outs, asked)
        if hold_outs is not None and seen:
            test = "tests" if len(seen) == 1 else "test"
            say(
                f"warning: {model.name} was trained on what {some_of(list(seen))} {test}: its card holds out "
                f"{', '.join(hold_outs) or 'nothing'}, not {', '.join(dict.fromkeys(seen.values()))}"
            )


def some_of(names: Sequence[str], *, most: int = 20) -> str:
    """The names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
