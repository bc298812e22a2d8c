"""CE, mCE and their like: sums in plain loops over images, conditions and draws are the reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from few_groups import stretched
from oodometer.analysis.metric_request import ScoreOptions
from oodometer.analysis.score import score
from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.model import Input
from oodometer.core.preprocessing import Geometry
from oodometer.corruptions import registry
from oodometer.metrics.corruption_error import COMMON, EXTRA, SEVERITIES, alexnet
from oodometer.stats.bootstrap import Resampling, resample_counts

CORRUPTION_METRICS = ["ce", "relative-ce", "mce", "relative-mce", "mean-corruption-error"]
ALEXNET = {name: alexnet([name]).errors[0].tolist() for name in (*COMMON, *EXTRA)}
CLEAN_ALEXNET = 0.4348  # Hendrycks and Dietterich 2019, table of AlexNet errors; clean top-1 error


def test_the_corruptions_are_those_that_are_made():
    assert tuple(registry.COMMON) == COMMON
    assert tuple(registry.EXTRA) == EXTRA


def add_family(filled, data, wrong, *, family="imagenet-c", names=COMMON, clean=True, **about) -> None:
    """A model with these errors: ``wrong[condition]`` is whether each image is wrong."""
    about.setdefault("n_classes", 1000)
    for name in names:
        for severity in SEVERITIES:
            filled.add(data, wrong[name, severity].astype(int), condition=f"{family}/{name}/{severity}", **about)
    if clean:
        filled.add(data, wrong["clean"].astype(int), condition="clean", **about)


def errors_of(n: int, seed: int, names=COMMON) -> dict:
    """Whether each of n images is wrong; more often at higher severities."""
    rng = np.random.default_rng(seed)
    found = {(name, severity): rng.random(n) < 0.2 + 0.1 * severity for name in names for severity in SEVERITIES}
    return {**found, "clean": rng.random(n) < 0.15}


def by_place(scores) -> dict:
    return {(row.metric, row.condition): row for row in scores.rows}


def plain_numbers(wrong: dict, times: list[int], by: dict | None = None, names=COMMON) -> dict:
    """Every number of one resample by the definitions of Hendrycks and Dietterich 2019, image by image."""

    def error(table: dict, place) -> float:
        total = 0
        for image, count in enumerate(times):
            total += count * int(table[place][image])
        return total / sum(times)

    def sums(table: dict, name: str) -> tuple[float, float]:
        of_name = [error(table, (name, severity)) for severity in SEVERITIES]
        clean = error(table, "clean")
        return sum(of_name), sum(one - clean for one in of_name)

    numbers = {}
    for name in names:
        mine, added = sums(wrong, name)
        if by is None:
            theirs, base = sum(ALEXNET[name]), sum(one - CLEAN_ALEXNET for one in ALEXNET[name])
        else:
            theirs, base = sums(by, name)
        numbers["ce", name] = mine / theirs
        numbers["relative-ce", name] = added / base
    numbers["mce"] = sum(numbers["ce", name] for name in names) / len(names)
    numbers["relative-mce"] = sum(numbers["relative-ce", name] for name in names) / len(names)
    numbers["mean"] = sum(sums(wrong, name)[0] for name in names) / (len(names) * len(SEVERITIES))
    return numbers


def check_numbers(found: dict, reference: list[dict], *, family="imagenet-c", names=COMMON, groups=None) -> None:
    """Values and intervals of all rows against the plain numbers: first those of all images, then of each draw."""
    places = {
        ("mce", family): "mce",
        ("relative-mce", family): "relative-mce",
        ("mean-corruption-error", family): "mean",
    }
    for name in names:
        places |= {(kind, f"{family}/{name}"): (kind, name) for kind in ("ce", "relative-ce")}
    assert set(found) == set(places)
    for place, key in places.items():
        estimate = found[place].estimate
        assert estimate.value == pytest.approx(reference[0][key], abs=1e-12)
        bounds = np.quantile([numbers[key] for numbers in reference[1:]], [0.025, 0.975])
        if groups:
            bounds = stretched(bounds, estimate.value, groups)
        assert (estimate.low, estimate.high) == pytest.approx(tuple(bounds), abs=1e-12)


def test_all_numbers_and_intervals_are_those_of_plain_loops(filled, make_dataset):
    wrong = errors_of(20, 0)
    add_family(filled, make_dataset(20), wrong)
    options = ScoreOptions(draws=100, seed=4)
    found = score(filled.store, metrics=CORRUPTION_METRICS, options=options)
    blocks = resample_counts(20, Resampling(draws=100, seed=4))  # the same counts
    resamples = [[1] * 20, *(times.tolist() for block in blocks for times in block)]
    check_numbers(by_place(found), [plain_numbers(wrong, times) for times in resamples])
    assert {row.estimate.interval for row in found.rows} == {"bootstrap 95%"}
    assert {(row.estimate.n, row.missing, row.state, row.cell, row.data) for row in found.rows} == {
        (20, 0, "complete", "", "val")
    }
    assert found.left_out == ()
    assert (
        by_place(found)["mce", "imagenet-c"].convention
        == "mean of CE over 15 corruptions x 5 severities, by AlexNet; frost as imported"
    )


def test_a_model_of_the_store_as_normaliser_is_resampled_along(filled, make_dataset):
    names = ("fog", "own_haze")
    mine, other = errors_of(30, 1, names), errors_of(30, 2, names)
    data = make_dataset(30)
    add_family(filled, data, mine, family="own", names=names, n_classes=10)
    add_family(filled, data, other, family="own", names=names, n_classes=10, model="other", digest="b" * 32)
    options = ScoreOptions(draws=100, normaliser="other")
    found = score(filled.store, metrics=CORRUPTION_METRICS, options=options)
    blocks = resample_counts(30, Resampling(draws=100))
    resamples = [[1] * 30, *(times.tolist() for block in blocks for times in block)]
    reference = [plain_numbers(mine, times, other, names) for times in resamples]
    check_numbers(by_place(found.only(lambda row: row.model == "mine")), reference, family="own", names=names)
    of_itself = by_place(found.only(lambda row: row.model == "other"))["mce", "own"]
    assert of_itself.estimate.value == pytest.approx(1.0)
    assert (of_itself.estimate.low, of_itself.estimate.interval) == (None, "none: all bootstrap draws are equal")
    assert of_itself.convention == "mean of CE over 2 corruptions x 5 severities, by other"


def test_styles_have_a_ce_as_corruptions_do(filled, make_dataset):
    """Hendrycks and Dietterich 2019, section 4.4: the CE of style transfer is divided by a network without it."""
    data, name = make_dataset(30), "style_transfer"
    tables = {"mine": errors_of(30, 1, [name]), "other": errors_of(30, 2, [name])}
    for (model, wrong), digest in zip(tables.items(), "ab", strict=True):
        about = {"model": model, "digest": digest * 32, "n_classes": 10}
        filled.add(data, wrong["clean"].astype(int), condition="clean", **about)
        for severity in SEVERITIES:
            filled.add(data, wrong[name, severity].astype(int), condition=f"adain/{severity}", **about)
    found = score(filled.store, metrics=["ce", "relative-ce"], options=ScoreOptions(draws=100, normaliser="other"))
    rows = by_place(found.only(lambda row: row.model == "mine"))
    reference = plain_numbers(tables["mine"], [1] * 30, tables["other"], [name])
    for metric in ("ce", "relative-ce"):
        assert rows[metric, "adain/style_transfer"].estimate.value == pytest.approx(reference[metric, name])


def test_files_on_disk_are_joined_by_their_ids(filled, make_dataset):
    """Every condition of imagenet-c:disk is a data set of its own, in its own order, and clean is another."""
    rng = np.random.default_rng(3)
    wrong = errors_of(20, 3)
    ids = [f"n{number % 4}/{number:02d}" for number in range(20)]
    for name in COMMON:
        for severity in SEVERITIES:
            order = rng.permutation(20)
            contents = [rng.bytes(16) for _ in order]
            data = make_dataset(20, ids=[ids[at] for at in order], labels=order % 4, contents=contents, name="c")
            data = replace(data, part=f"{name}/{severity}")
            condition = f"imagenet-c:disk/{name}/{severity}"
            ranks = wrong[name, severity][order].astype(int)
            filled.add(data, ranks, condition=condition, n_classes=1000)

    def numbers():
        return score(filled.store, metrics=CORRUPTION_METRICS, options=ScoreOptions(draws=100))

    # clean images of a few would leave the others out of everything
    filled.add(make_dataset(5, ids=ids[:5], labels=np.arange(5) % 4, name="few"), [0] * 5, n_classes=1000)
    with pytest.raises(OodometerError) as caught:
        numbers()
    assert str(caught.value) == (
        "relative-ce: imagenet-c:disk: no predictions of the same images as they are; run --on clean"
    )
    more = make_dataset(24, ids=["more/1", *ids, "more/2", "a", "b"], labels=[0, *(np.arange(20) % 4), 0, 1, 2])
    filled.add(more, [0, *wrong["clean"].astype(int), 0, 0, 0], n_classes=1000)
    found = numbers()
    reference = plain_numbers(wrong, [1] * 20)
    rows = by_place(found)
    for metric in ("mce", "relative-mce"):
        assert rows[metric, "imagenet-c:disk"].estimate.value == pytest.approx(reference[metric], abs=1e-12)
    for name in COMMON:
        assert rows["ce", f"imagenet-c:disk/{name}"].estimate.value == pytest.approx(reference["ce", name], abs=1e-12)
    assert {(row.data, row.estimate.n) for row in found.rows} == {("c", 20)}


def test_images_that_a_condition_lacks_are_left_out_of_all(filled, make_dataset):
    wrong = errors_of(20, 5)
    data = make_dataset(20)
    add_family(filled, data, wrong, names=COMMON[1:])
    kept = np.delete(np.arange(20), [2, 11])
    for severity in SEVERITIES:
        filled.add(
            data, wrong[COMMON[0], severity][kept].astype(int), positions=kept,
            condition=f"imagenet-c/{COMMON[0]}/{severity}", n_classes=1000,
        )  # fmt: skip
    (row,) = score(filled.store, metrics=["mce"]).rows
    times = [int(image in kept) for image in range(20)]
    assert row.estimate.value == pytest.approx(plain_numbers(wrong, times)["mce"], abs=1e-12)
    assert (row.estimate.n, row.missing, row.state) == (18, 2, "complete")
    assert str(score(filled.store, metrics=["mce"])).endswith("n=18  (2 images left out)")


def test_an_unfinished_condition_makes_the_mean_unfinished(filled, make_dataset):
    wrong, data = errors_of(20, 6), make_dataset(20)
    add_family(filled, data, wrong, names=COMMON[:-1])
    for severity in SEVERITIES:
        half = severity == 5
        filled.add(
            data, wrong[COMMON[-1], severity][: 10 if half else 20].astype(int), positions=range(10 if half else 20),
            finished=not half, condition=f"imagenet-c/{COMMON[-1]}/{severity}", n_classes=1000,
        )  # fmt: skip
    (row,) = score(filled.store, metrics=["mce"]).rows
    assert (row.state, row.missing, row.estimate.n) == ("unfinished", 10, 10)
    assert row.estimate.value == pytest.approx(plain_numbers(wrong, [1] * 10 + [0] * 10)["mce"], abs=1e-12)


def test_groups_of_images_are_drawn_together(filled, make_dataset):
    videos = np.repeat(np.arange(5), 4)
    wrong = errors_of(20, 7, COMMON)
    add_family(filled, make_dataset(20, columns={"video": videos}), wrong)
    options = ScoreOptions(draws=100, by="video")
    found = score(filled.store, metrics=CORRUPTION_METRICS, options=options)
    blocks = resample_counts(5, Resampling(draws=100))
    resamples = [[1] * 20, *(times[videos].tolist() for block in blocks for times in block)]
    check_numbers(by_place(found), [plain_numbers(wrong, times) for times in resamples], groups=5)
    assert {row.estimate.interval for row in found.rows} == {"cluster bootstrap 95%"}


def test_two_data_sets_of_one_model(filled, make_dataset):
    first, second = errors_of(10, 8), errors_of(14, 9)
    add_family(filled, make_dataset(10, name="a"), first)
    add_family(filled, make_dataset(14, name="b"), second)
    found = {row.data: row.estimate for row in score(filled.store, metrics=["mce"]).rows}
    assert found["a"].value == pytest.approx(plain_numbers(first, [1] * 10)["mce"])
    assert found["b"].value == pytest.approx(plain_numbers(second, [1] * 14)["mce"])
    assert (found["a"].n, found["b"].n) == (10, 14)


def test_extra_corruptions_have_ce_and_never_enter_a_mean_of_others(filled, make_dataset):
    names = (*COMMON, *EXTRA)
    wrong = errors_of(12, 10, names)
    data = make_dataset(12)
    add_family(filled, data, wrong, names=names)
    add_family(filled, data, wrong, family="imagenet-c-extra", names=EXTRA, clean=False)
    found = score(filled.store, metrics=["all"])
    rows = by_place(found)
    reference = plain_numbers(wrong, [1] * 12, names=names)
    fifteen = plain_numbers(wrong, [1] * 12)
    assert rows["mce", "imagenet-c"].estimate.value == pytest.approx(fifteen["mce"])
    assert rows["mean-corruption-error", "imagenet-c"].estimate.value == pytest.approx(fifteen["mean"])
    assert ("mce", "imagenet-c-extra") not in rows
    for name in EXTRA:
        assert rows["ce", f"imagenet-c-extra/{name}"].estimate.value == pytest.approx(reference["ce", name])
    assert [line for line in found.left_out if "imagenet-c-extra" in line] == [
        "mce, relative-mce: imagenet-c-extra: the extra corruptions never enter it"
    ]


@pytest.mark.parametrize("normaliser", [None, "other"])
def test_extra_corruptions_have_no_mce_by_any_normaliser(filled, make_dataset, normaliser):
    data = make_dataset(12)
    for model, digest, seed in (("mine", "a", 10), ("other", "b", 11)):
        wrong = errors_of(12, seed, EXTRA)
        about = {"model": model, "digest": digest * 32}
        add_family(filled, data, wrong, family="imagenet-c-extra", names=EXTRA, **about)
    found = score(filled.store, metrics=["all"], options=ScoreOptions(normaliser=normaliser))
    assert ("ce", "imagenet-c-extra/spatter") in by_place(found)
    assert not {"mce", "relative-mce"} & {row.metric for row in found.rows}
    assert any("the extra corruptions never enter it" in line for line in found.left_out)


@pytest.mark.parametrize(
    ("textures", "said"),
    [
        ("procedural-2", "frost from textures made by code, not from the published photographs"),
        ("published-0123456789ab", "frost from the published photographs"),
        ("folder-0123456789ab", "frost from textures of one's own"),
        (None, "frost as in the files"),
    ],
)
def test_every_mce_says_where_its_frost_is_from(filled, make_dataset, textures, said):
    data, wrong = make_dataset(12), errors_of(12, 1)
    add_family(filled, data, wrong, names=[name for name in COMMON if name != "frost"])
    transform = {"name": "as it is"} if textures is None else {"name": "frost", "textures": textures}
    for severity in SEVERITIES:
        ranks = wrong["frost", severity].astype(int)
        filled.add(data, ranks, condition=f"imagenet-c/frost/{severity}", n_classes=1000, transform=transform)
    found = score(filled.store, metrics=["mce", "relative-mce"])
    assert [row.convention.rpartition("; ")[2] for row in found.rows] == [said, said]


@pytest.mark.parametrize(
    ("mine", "theirs", "said"),
    [
        ("procedural-2", "procedural-2", ""),
        ("procedural-2", "published-01", "frost from the published photographs"),
        ("folder-01", "folder-02", "frost from other textures of that sort"),
        ("published-01", None, "frost as imported"),
    ],
)
def test_a_normaliser_with_other_frost_is_told_beside_the_number(filled, make_dataset, mine, theirs, said):
    data = make_dataset(12)
    for seed, (model, textures) in enumerate({"mine": mine, "other": theirs}.items()):
        wrong, weights = errors_of(12, seed), model[0] * 32
        others = [name for name in COMMON if name != "frost"]
        add_family(filled, data, wrong, names=others, model=model, digest=weights)
        about = {} if textures is None else {"transform": {"name": "frost", "textures": textures}}
        for severity in SEVERITIES:
            ranks, name = wrong["frost", severity].astype(int), f"imagenet-c/frost/{severity}"
            filled.add(data, ranks, model=model, digest=weights, condition=name, n_classes=1000, **about)
    options = ScoreOptions(draws=100, normaliser="other")
    found = score(filled.store, metrics=["mce", "ce"], options=options).only(lambda row: row.model == "mine")
    told = {(row.metric, row.condition): row.convention.partition("; not the same frost: ")[2] for row in found.rows}
    warned = {place: line for place, line in told.items() if line}
    line = f"other was run with {said}"
    assert warned == ({("mce", "imagenet-c"): line, ("ce", "imagenet-c/frost"): line} if said else {})


def test_some_corruptions_have_ce_and_no_mce(filled, make_dataset):
    wrong = errors_of(12, 11)
    add_family(filled, make_dataset(12), wrong, names=COMMON[:-2])
    found = score(filled.store, metrics=["ce", "mean-corruption-error"])
    assert len(found.rows) == 13 + 1
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["mce", "ce"])
    assert str(caught.value) == (
        "mce: imagenet-c: 2 of the 15 corruptions that it is the mean of are missing: pixelate, jpeg_compression"
    )


def test_a_corruption_without_all_severities_does_not_count(filled, make_dataset):
    data = make_dataset(6)
    for severity in (1, 2, 3, 4):
        filled.add(data, [0] * 6, condition=f"imagenet-c/fog/{severity}")
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["ce"])
    assert str(caught.value) == "ce: mine: no corruption at all five severities; run for instance --on imagenet-c"


@pytest.mark.parametrize(("family", "k"), [("imagenet-c", 10), ("imagenet-c-bar", 1000), ("cifar10-c", 10)])
def test_alexnet_is_for_imagenet_alone(filled, make_dataset, family, k):
    wrong = errors_of(8, 12, ("fog",))
    add_family(filled, make_dataset(8), wrong, family=family, names=("fog",), n_classes=k)
    (row,) = score(filled.store, metrics=["mean-corruption-error"]).rows
    assert row.estimate.value == pytest.approx(plain_numbers(wrong, [1] * 8, wrong, ("fog",))["mean"])
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["ce"])
    assert str(caught.value) == (
        f"ce: {family}: AlexNet's published errors are about ImageNet-C with its 1,000 classes; name a model with "
        "--normaliser"
    )


def test_a_normaliser_that_is_not_there(filled, make_dataset):
    wrong, data = errors_of(8, 13, ("fog", "snow")), make_dataset(8)
    add_family(filled, data, wrong, names=("fog",))
    filled.add(data, [0] * 8, model="other")
    for metrics in (["all"], ["ce"]):
        with pytest.raises(UsageError, match="no predictions of a model named 'othre'; did you mean other"):
            score(filled.store, metrics=metrics, options=ScoreOptions(normaliser="othre"))
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["ce"], options=ScoreOptions(normaliser="other"))
    assert str(caught.value) == (
        f"ce: imagenet-c: {filled.store}: the normaliser other was not run on imagenet-c of val"
    )
    (row,) = score(
        filled.store, metrics=["mean-corruption-error"], options=ScoreOptions(normaliser="other")
    ).rows  # needs no normaliser
    assert row.estimate.value == pytest.approx(np.mean([wrong["fog", severity] for severity in SEVERITIES]))


def test_a_normaliser_of_fewer_corruptions_is_used_where_it_has_them(filled, make_dataset):
    mine, data = errors_of(16, 14, ("fog", "snow")), make_dataset(16)
    other = errors_of(16, 15, ("fog",))
    add_family(filled, data, mine, names=("fog", "snow"))
    add_family(filled, data, other, names=("fog",), model="other", clean=False)
    found = score(filled.store, metrics=["all"], options=ScoreOptions(normaliser="other"))
    rows = by_place(found.only(lambda row: row.model == "mine"))
    fog = sum(mine["fog", severity].sum() for severity in SEVERITIES)
    assert rows["mce", "imagenet-c"].estimate.value == pytest.approx(
        fog / sum(other["fog", severity].sum() for severity in SEVERITIES)
    )
    assert ("ce", "imagenet-c/snow") not in rows
    assert any("no predictions of the same images as they are by other" in line for line in found.left_out)


def test_a_normaliser_without_errors_is_left_out_and_said(filled, make_dataset):
    names = ("snow", "fog")
    mine, other, data = errors_of(16, 16, names), errors_of(16, 17, names), make_dataset(16)
    for severity in SEVERITIES:
        other["fog", severity][:] = False
    add_family(filled, data, mine, names=names)
    add_family(filled, data, other, names=names, model="other")
    options = ScoreOptions(normaliser="other")
    found = score(filled.store, metrics=["all"], options=options)
    rows = by_place(found.only(lambda row: row.model == "mine"))
    assert ("mean-corruption-error", "imagenet-c") in rows
    assert ("ce", "imagenet-c/fog") not in rows
    # what does not need fog is there
    snow = [sum(int(table["snow", severity].sum()) for severity in SEVERITIES) for table in (mine, other)]
    assert rows["ce", "imagenet-c/snow"].estimate.value == pytest.approx(snow[0] / snow[1])
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["mce"], options=options)
    assert str(caught.value) == "mce: imagenet-c: other has no error under fog: CE is undefined"


def test_draws_without_errors_of_the_normaliser_are_counted(filled, make_dataset):
    mine, other, data = errors_of(16, 18, ("fog",)), errors_of(16, 19, ("fog",)), make_dataset(16)
    for severity in SEVERITIES:
        other["fog", severity][:] = np.arange(16) < 4
    add_family(filled, data, mine, names=("fog",))
    add_family(filled, data, other, names=("fog",), model="other")
    options = ScoreOptions(normaliser="other", draws=400)
    rows = by_place(score(filled.store, metrics=["ce"], options=options).only(lambda row: row.model == "mine"))
    draws = [
        sum(times[image] * mine["fog", severity][image] for severity in SEVERITIES for image in range(16))
        / (5 * times[:4].sum()) if times[:4].sum() else np.nan
        for block in resample_counts(16, Resampling(draws=400)) for times in block
    ]  # fmt: skip
    undefined = int(np.isnan(draws).sum())
    assert 0 < undefined <= 20  # (12 / 16)^16 = 1 % of the draws have none of the four images
    estimate = rows["ce", "imagenet-c/fog"].estimate
    assert (estimate.low, estimate.high) == pytest.approx(tuple(np.nanquantile(draws, [0.025, 0.975])))
    assert estimate.interval == f"bootstrap 95% ({undefined} of 400 draws undefined)"


@pytest.mark.parametrize(("value", "sign"), [(0, "right"), (1, "wrong")])
def test_all_right_and_all_wrong(filled, make_dataset, value, sign):
    wrong = {place: np.full(9, value, dtype=bool) for place in errors_of(9, 0)}
    add_family(filled, make_dataset(9), wrong)
    rows = by_place(score(filled.store, metrics=CORRUPTION_METRICS))
    reference = plain_numbers(wrong, [1] * 9)
    for metric in ("mce", "relative-mce"):
        estimate = rows[metric, "imagenet-c"].estimate
        assert estimate.value == pytest.approx(reference[metric], abs=1e-12)
        assert (estimate.low, estimate.high) == (None, None)
        assert estimate.interval == "none: all bootstrap draws are equal", sign


def test_the_same_conditions_with_another_seed_are_not_mixed(filled, make_dataset):
    wrong, data = errors_of(9, 17, ("fog",)), make_dataset(9)
    for seed in (0, 1):
        add_family(filled, data, wrong, names=("fog",), clean=False, transform={"name": "fog", "seed": seed})
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["ce"])
    assert str(caught.value) == (
        "ce: imagenet-c/fog/1 was run twice on val, with other seeds, textures or constants; keep each in a store of "
        "its own"
    )


def test_preprocessings_are_models_of_their_own(filled, make_dataset):
    first, second = errors_of(9, 18), errors_of(9, 19)
    data = make_dataset(9)
    add_family(filled, data, first, input=Input(Geometry(1, 1)))
    add_family(filled, data, second, input=Input(Geometry(2, 2)))
    values = [row.estimate.value for row in score(filled.store, metrics=["mce"]).rows]
    assert sorted(values) == pytest.approx(
        sorted(plain_numbers(wrong, [1] * 9)["mce"] for wrong in (first, second)), abs=1e-12
    )


def test_other_labels_under_the_same_id_are_refused(filled, make_dataset):
    for severity in SEVERITIES:
        labels = [0, 1, 2, 3 + (severity == 5)]
        contents = [bytes([severity, at]) * 8 for at in range(4)]
        data = make_dataset(4, labels=labels, contents=contents, name="c")
        data = replace(data, part=f"fog/{severity}")
        filled.add(data, [0, 1, 0, 1], condition=f"imagenet-c:disk/fog/{severity}", n_classes=1000)
    with pytest.raises(OodometerError) as caught:
        score(filled.store, metrics=["ce"])
    assert str(caught.value) == (
        "ce: mine on imagenet-c:disk: '0003' has another label in c/fog/5 than in c/fog/1: not the same images"
    )
