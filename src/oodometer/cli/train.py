"""``oodometer train``: a small network from labelled images to an ONNX file with its card."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from oodometer.cli.output import EpochLines, as_json, data_root, import_plugins, plugins, print_json, say


@click.command(
    "train",
    help="Train a small network on DATA (a folder, an array, a manifest, or the name of a published set below "
    "--data-root) and write it as ONNX with its card. A tenth of the images, and what is held out, is never trained "
    "on. The same command goes on after a kill.",
)
@click.argument("data")
@click.option(
    "--net",
    metavar="NAME",
    help="resnet20, resnet56, resnet20x2 (twice as wide), wrn16-2, densenet40, resnext29, se-resnet20, cbam-resnet20, "
    "shake-shake26-2x32d, msdnet5, multigrid14, alexnet, squeezenet, linear, random-features, nearest...",
)
@click.option("--like", metavar="CARD", help="As the card (.toml) of a trained model says; other options change that.")
@click.option(
    "--recipe",
    metavar="NAME",
    help="The numbers of a paper: icons-50, cifar-100-subtypes, imagenet-a, fine-tune; other options change them.",
)
@click.option("-o", "--out", metavar="FILE", help="The .onnx file; card and checkpoint lie beside it.  [default: NET]")
@click.option(
    "--hold-out",
    "hold_outs",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Never train on these; of icons also subtypes, versions, of CIFAR-100 subtypes/1 to subtypes/4; several "
    "times, or with commas.",
)
@click.option("--label", metavar="COLUMN", help="Tell apart the values of this column, rather than the labels.")
@click.option("--share", metavar="1/8", help="Train on this share of the images, every class in proportion; nested.")
@click.option(
    "--classes", type=click.IntRange(min=2), help="Train on so many of the classes, chosen by the seed; nested."
)
@click.option("--fold", metavar="1/5", help="The first of five folds is the IID test, the other four are trained on.")
@click.option("--epochs", type=click.IntRange(min=1), default=30, show_default=True, help="Passes over the images.")
@click.option("--lr", type=float, default=0.1, show_default=True, help="Learning rate at its highest.")
@click.option(
    "--schedule",
    default="cosine",
    show_default=True,
    metavar="NAME",
    help="cosine, or the epochs after which the rate drops to a tenth: steps:30,60,80.",
)
@click.option(
    "--warm-up",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="EPOCHS",
    help="The rate first grows to --lr in so many.",
)
@click.option("--weight-decay", type=float, default=0.0005, show_default=True, help="Of all weights.")
@click.option("--batch", type=click.IntRange(min=2), default=128, show_default=True, help="Images per step.")
@click.option("--width", type=click.FloatRange(min=0, min_open=True), help="Of a ResNet: so many times the channels.")
@click.option("--size", type=click.IntRange(min=4), default=32, show_default=True, help="Pixels in each direction.")
@click.option(
    "--augment",
    default="mirror,crop",
    show_default=True,
    metavar="NAME,...",
    help="mirror, crop, crop-black, erase, augmix, speckle-noise, gaussian-noise, uniform-noise, gaussian-blur, "
    "spatter, saturate, or none; deepaugment and style make copies of the images ahead of time.",
)
@click.option(
    "--objective",
    default="plain",
    show_default=True,
    metavar="NAME",
    help="What is learned: plain, consistency (augmented copies are answered alike: with augmix), stability.",
)
@click.option(
    "--objective-weight",
    "weight",
    type=float,
    help="Of its term beside the cross-entropy.  [default: 12, of stability 0.05]",
)
@click.option("--adversarial", metavar="NAME", help="Who perturbs the training images: zero-step, fgsm, pgd, fast.")
@click.option(
    "--eps",
    type=float,
    metavar="LEVELS",
    help="The largest change of a pixel, of 255.  [default: 8, of fast 4, of stability 12.75]",
)
@click.option(
    "--precision",
    type=click.Choice(["float32", "mixed"]),
    default="float32",
    show_default=True,
    help="mixed learns with bfloat16 in convolutions: faster on GPUs and on processors that have it.",
)
@click.option("--style-images", metavar="DIR", help="For --augment style: take the styles of these images.")
@click.option("--style-weights", metavar="DIR", help="For --augment style: vgg_normalised.pth and decoder.pth.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the first weights and every draw.")
@click.option("--init", metavar="FILE", help="Begin with the weights of this checkpoint (.pt), maybe of other classes.")
@click.option("--half", is_flag=True, help="Store the weights in float16; the model still computes in float32.")
@click.option("--category", help="For the card: standard, robust intervention, adversarially trained, more data.")
@click.option("--parent", metavar="NAME", help="For the card: the model that this one differs from in one thing.")
@click.option("--device", type=click.Choice(["cpu", "cuda", "mps"]), default="cpu", show_default=True)
@click.option(
    "--threads", type=click.IntRange(min=0), default=0, help="Of torch; 0: one per core. The result depends on it."
)
@click.option("--force", is_flag=True, help="Replace the model and the checkpoint of another training.")
@data_root
@click.option("--partial", is_flag=True, help="Use a published set that is not whole.")
@plugins
@as_json
def command(
    data: str,
    out: str | None,
    like: str | None,
    force: bool,
    data_root: str | None,
    partial: bool,
    as_json: bool,
    plugin_modules: tuple[str, ...],
    **said: Any,
) -> None:
    """Train one network."""
    from oodometer.data.training_set import published_test_set, training_set
    from oodometer.train.job import TrainingWatcher
    from oodometer.train.job_from_options import TrainingOptions, training_job
    from oodometer.train.training import train

    import_plugins(plugin_modules)
    options = TrainingOptions(**_given(said))
    dataset = training_set(data, data_root=data_root, partial=partial)
    test = published_test_set(data, data_root=data_root, partial=partial)
    job = training_job(dataset, options, like=like, out=out, force=force, test=test)
    trained = train(job, TrainingWatcher(EpochLines(), say))
    if not trained.is_new:
        say(f"nothing new to do: {job.out} is the result of this very training")
    print_json(trained.as_json()) if as_json else click.echo(trained)


def _given(said: dict[str, Any]) -> dict[str, Any]:
    """What was typed; the library knows the rest."""
    context = click.get_current_context()
    return {
        name: value for name, value in said.items() if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
