"""``oodometer testset splits``."""

from __future__ import annotations

from dataclasses import asdict

import click

from oodometer.cli.output import as_json, print_json, say


@click.command(
    "splits",
    help="Write tables to train on and to ask about: --half, half of a RELEASE besides the training images; or "
    "--folds, the training images in folds, each held out once while the original test set is trained on. Then "
    "'oodometer train', 'oodometer run', and 'oodometer testset study --splits'.",
)
@click.argument("release")
@click.option("--train", metavar="ADDRESS", help="The training images.  [default: none, or of --folds the original]")
@click.option("--original", metavar="ADDRESS", help="Of --folds: the original test set.")
@click.option("-o", "--output", required=True, metavar="DIR", help="A new folder.")
@click.option("--half", is_flag=True, help="Class-balanced halves of the release.")
@click.option("--draws", type=int, default=2, show_default=True, help="Of --half: how many, each another.")
@click.option("--folds", type=int, metavar="K", help="Class-balanced folds, such as 5.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of every draw.")
@as_json
def command(
    release: str, train: str | None, original: str | None, output: str, half: bool, draws: int, folds: int | None,
    seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Write them."""
    from oodometer.build.testset.study import splits
    from oodometer.core.errors import UsageError
    from oodometer.data.load import load_data

    if half == (folds is not None):
        raise UsageError("give --half or --folds K, one of the two")
    trained = None if train is None else load_data(train)
    if folds is None:
        written = splits.halves(load_data(release), output, train=trained, n=draws, seed=seed)
    elif original is None:
        raise UsageError("--folds needs the original test set: --original ADDRESS")
    else:
        written = splits.folds(load_data(original), output, train=trained, k=folds, seed=seed)
    if as_json:
        print_json([asdict(each) for each in written])
        return
    for each in written:
        click.echo(f"{each.name}: {each.n_train} images to train on, {each.n_test} held out")
    one, store = written[0], "--store STORE"
    say(f"for each: oodometer train {output}/{one.train} --net NET -o {one.name}.onnx")
    say(f"then:     oodometer run --model {one.name}.onnx --data {output}/{one.test} {store}")
    say(f"at last:  oodometer testset study {release} --splits {output} {store}")
