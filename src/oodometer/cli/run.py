"""``oodometer run``: ask models about conditions and keep every prediction."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from oodometer.cli.model_options import declared_by, what_they_are_shown, which_models
from oodometer.cli.output import (
    as_json,
    data_root,
    frost_textures,
    import_plugins,
    plugins,
    print_json,
    say,
    talk_on_stderr,
    use_frost,
    watching,
)

if TYPE_CHECKING:
    from oodometer.core.condition import Condition, Shift
    from oodometer.core.model import Model
    from oodometer.core.sample import Rule
    from oodometer.core.stored_answers import StoredAnswers
    from oodometer.sampling.aim import Aim
    from oodometer.store.run import Run


@click.command("run", help="Ask models about conditions and keep every prediction; a second run does what is missing.")
@which_models
@click.option(
    "--data",
    metavar="ADDRESS",
    help="Folder of class folders, array, tar shards, Parquet, or manifest; a path or fsspec address.",
)
@click.option("--data-kind", metavar="KIND", help="Say what the data are instead of letting the address tell.")
@data_root
@click.option("--partial", is_flag=True, help="Use published sets that are not whole.")
@click.option(
    "--on",
    "conditions",
    multiple=True,
    metavar="NAME",
    help="What the models are asked to look at: a shift, a suite or a group of them ('oodometer ls shifts'); may be "
    "given several times.  [default: clean]",
)
@click.option(
    "--as",
    "way",
    type=click.Choice(["oodometer", "testbed"]),
    default="oodometer",
    show_default=True,
    help="testbed: show ImageNet-C, stylized images and attacks as the 204 models of Taori et al. saw them, under "
    "names with @testbed.",
)
@click.option("--base", metavar="COLUMN=VALUE,...", help="Attribute shifts: what the images of the base have.")
@click.option("--shift", "shifts", multiple=True, metavar="COLUMN=VALUE", help="Attribute shifts: what changes.")
@click.option(
    "--test-share",
    type=float,
    metavar="SHARE",
    help="Attribute shifts: of the base, for the IID test, where no column split says; 1: all of it.  [default: "
    "0.1, and at least 100 images or half of the base]",
)
@click.option(
    "--ood",
    multiple=True,
    metavar="DIR",
    help="Images of no class, for 'score --ood': a folder or table of any; noise:gaussian, bernoulli, blobs, uniform.",
)
@click.option("--style-weights", metavar="DIR", help="For adain: the folder of vgg_normalised.pth and decoder.pth.")
@click.option("--style-images", metavar="DIR", help="For adain: the folder of paintings.")
@click.option("--store", default="runs", show_default=True, metavar="ADDRESS", help="Where predictions are kept.")
@click.option("--images", type=click.IntRange(min=1), metavar="N", help="Only N images, shared out among the classes.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the choice of images and of every draw.")
@click.option(
    "--within",
    type=float,
    metavar="WIDTH",
    help="Ask about as many images as an interval of ± WIDTH needs, whatever the accuracy is (0.01: one point). Of a "
    "family of corruptions each condition gets images of its own, so that its mCE is known from few.",
)
@click.option(
    "--until",
    type=float,
    metavar="WIDTH",
    help="Ask about one image after the other, and stop when a confidence sequence is within ± WIDTH. A later run with "
    "a smaller WIDTH goes on from there.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Of these intervals.")
@click.option(
    "--control",
    metavar="MODEL",
    help="With --within: a model that the store has on all images; fewer are needed then. 'score --control' counts it.",
)
@click.option("--plan", is_flag=True, help="With --within or --until: say what would be asked and known, and end.")
@click.option(
    "--keep",
    type=click.Choice(["summary", "logits"]),
    default="summary",
    show_default=True,
    help="logits: store all of them too, as float16.",
)
@click.option("--skip-broken", is_flag=True, help="Leave out images that can't be read; n says so.")
@click.option("--accept-preflight", is_flag=True, help="Go on as it is, though the preflight found something.")
@click.option("--rehash", is_flag=True, help="Read every image again, also those that seem unchanged.")
@click.option("--threads", type=click.IntRange(min=0), default=0, help="Chunks worked on at once; 0: one per core.")
@click.option("--chunk", type=click.IntRange(min=0), default=0, help="Images per chunk; 0: chosen by the data's size.")
@click.option("--device", type=click.Choice(["cpu", "cuda", "mps"]), default="cpu", show_default=True)
@click.option("--precision", type=click.Choice(["float32", "mixed"]), default="float32", show_default=True)
@frost_textures
@click.option("--category", help="Card: standard, robust intervention, adversarially trained, or more data.")
@click.option("--parent", help="Card: the model that this one was made from.")
@click.option("--intervention", "interventions", multiple=True, help="Card: what was done to it; several times.")
@click.option("--training-data", help="Card: what it was trained on.")
@click.option(
    "--defence",
    "defences",
    multiple=True,
    metavar="NAME",
    help="Ask every model behind a defence at test time: clahe, nlm or ten-crop; each-crop: about each of the ten "
    "crops by itself; none is the bare model. Repeat it for several.",
)
@what_they_are_shown
@plugins
@as_json
def command(**flags: Any) -> None:
    """Run the cells of models x conditions."""
    from oodometer.analysis.run_results import results_of
    from oodometer.shifts.asked import tell_what_was_trained_on, without_attacks_of_groups

    import_plugins(flags["plugin_modules"])
    use_frost(flags["frost"])
    models = _models_by(flags)
    conditions = without_attacks_of_groups(conditions_by(flags), models, flags["conditions"], tell=say)
    tell_what_was_trained_on(conditions, models, say)
    aim = _aim_by(flags)
    if aim is not None and flags["plan"]:
        _tell_plan(models, conditions, aim, flags)
        return
    models = _cleared(models, conditions, aim, flags)
    done = _measured(models, conditions, aim, flags)
    _tell_of_models(done)
    results = results_of(done)
    for line in results.notes:
        say(line)
    for line in results.left_out:
        say(f"left out: {line}")
    if flags["as_json"]:
        print_json(results.as_json())
    elif text := results.table(plot=sys.stdout.isatty()):
        click.echo(text)


def _measured(
    models: list[Model | StoredAnswers], conditions: list[Condition | Shift], aim: Aim | None, flags: dict[str, Any]
) -> Run:
    """The answers of the models, to all images or to as many as the aim needs."""
    from oodometer.core.model import Compute
    from oodometer.engine.run import RunOptions, run
    from oodometer.sampling.run import run_sampled
    from oodometer.shifts.asked import named_by_groups_alone

    names = ("threads", "chunk", "keep", "skip_broken", "rehash")
    compute = Compute(device=flags["device"], precision=flags["precision"])
    only_of_groups = named_by_groups_alone(conditions, flags["conditions"])
    options = RunOptions(**{name: flags[name] for name in names}, compute=compute, may_leave_out=only_of_groups)
    with watching() as watcher, talk_on_stderr():
        if aim is None:
            return run(models, conditions, store=flags["store"], options=options, watcher=watcher)
        return run_sampled(models, conditions, aim, store=flags["store"], options=options, watcher=watcher)


def _aim_by(flags: dict[str, Any]) -> Aim | None:
    """How sure the run is to be, where it asks about some of the images."""
    from oodometer.core.errors import UsageError
    from oodometer.sampling.aim import Aim

    rules: tuple[Rule, ...] = ("within", "until")
    widths = {rule: float(flags[rule]) for rule in rules if flags[rule] is not None}
    if not widths:
        if flags["plan"] or flags["control"]:
            raise UsageError(f"--{'plan' if flags['plan'] else 'control'} goes with --within WIDTH or --until WIDTH")
        return None
    if len(widths) > 1:
        raise UsageError("--within and --until: give one of them")
    if flags["images"]:
        raise UsageError("--images: how many there are is what --within and --until decide; leave it out")
    ((rule, width),) = widths.items()
    return Aim(width, rule, flags["level"], flags["seed"], flags["control"])


def _tell_plan(
    models: list[Model | StoredAnswers], conditions: list[Condition | Shift], aim: Aim, flags: dict[str, Any]
) -> None:
    from oodometer.sampling.plan import plan_sampling

    with talk_on_stderr():
        plan = plan_sampling(models, conditions, aim, store=flags["store"] if aim.control else None)
    print_json(plan.as_json()) if flags["as_json"] else click.echo(plan)


def _models_by(flags: dict[str, Any]) -> list[Model | StoredAnswers]:
    """The models that the flags name, each behind the defences that they name."""
    from oodometer.models.defended import with_defences
    from oodometer.models.load import load_models

    with talk_on_stderr():
        bare = load_models(flags["models"], declared_by(flags), allow_pickle=flags["allow_pickle"], tell=say)
    return with_defences(bare, flags["defences"])


def _tell_of_models(done: Run) -> None:
    """What the answers say against models, and whose category nobody says, where a line could go through them."""
    from oodometer.models.read_many import unknown_category
    from oodometer.preflight.after_run import suspicious

    for line in suspicious(done):
        say(line)
    cards = {cell.model_name: cell.model.card for cell in done.cells}
    names = [name for name, card in cards.items() if not card.category]
    unknown = unknown_category(names, several="--category standard (or another), or a card beside each,")
    if done.shifts and unknown:
        say(unknown)


def _cleared(
    models: list[Model | StoredAnswers], conditions: list[Condition | Shift], aim: Aim | None, flags: dict[str, Any]
) -> list[Model | StoredAnswers]:
    """The models, once nothing speaks against their answers."""
    from oodometer.preflight.before_run import cleared_models
    from oodometer.sampling.plan import plan_sampling

    with talk_on_stderr():
        plan = None if aim is None else plan_sampling(models, conditions, aim, timed=False)
        return cleared_models(
            models,
            conditions,
            store=flags["store"],
            address=flags["data"],
            predictions=None if plan is None else plan.passes // plan.models,
            accept=flags["accept_preflight"],
            skip_broken=flags["skip_broken"],
            tell=say,
        )


def conditions_by(flags: dict[str, Any]) -> list[Condition | Shift]:
    """What the flags ask the models to look at."""
    from oodometer.data.load import load_data
    from oodometer.data.root import root_at
    from oodometer.shifts.asked import Attributes, conditions_asked
    from oodometer.shifts.ood_sets import ood_conditions
    from oodometer.shifts.released import release_asked_for
    from oodometer.shifts.resolve import check_names, is_testbed
    from oodometer.shifts.sources import Sources

    release = release_asked_for(flags["data"], flags["conditions"])
    check_names(flags["conditions"], release)  # before data are looked at, which may take a while
    sources = Sources(
        dataset=load_data(flags["data"], kind=flags["data_kind"]) if flags["data"] else None,
        root=root_at(flags["data_root"], partial=flags["partial"]),
        images=flags["images"],
        seed=flags["seed"],
        settings={name: flags[name] for name in ("style_weights", "style_images") if flags[name]},
        as_testbed=is_testbed(flags["way"]),
        release=release,
    )
    attributes = Attributes(flags["base"], flags["shifts"], flags["test_share"])
    outside = ood_conditions(flags["ood"], images=flags["images"], seed=flags["seed"])
    return [*conditions_asked(flags["conditions"], sources, attributes, tell=say), *outside]
