from __future__ import annotations

import io
import pickle
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import oodometer as odo
from oodometer.catalogue.shifts import declared_shifts
from oodometer.core.condition import Family
from oodometer.core.records import record_of_condition
from oodometer.corruptions.registry import BAR, COMMON, EXTRA
from oodometer.shifts.resolve import asked_for
from oodometer.shifts.sources import Sources


@pytest.fixture
def data(photos: Path) -> odo.Dataset:
    return odo.load_data(str(photos)).take(np.arange(2))


def shifts_of(name: str, dataset: odo.Dataset, *, seed: int = 0) -> list[odo.Shift]:
    """What is made of these images under a name, which must all be pairs."""
    found = asked_for([name], Sources(dataset, seed=seed)).found
    pairs = [one for one in found if isinstance(one, odo.Shift)]
    assert len(pairs) == len(found)
    return pairs


def one_condition(name: str, dataset: odo.Dataset, *, seed: int = 0) -> odo.Condition:
    (pair,) = shifts_of(name, dataset, seed=seed)
    return pair.shifted


@pytest.mark.parametrize(
    ("name", "names", "quality", "side"),
    [
        ("imagenet-c", COMMON, 85, 224),
        ("imagenet-c:raw", COMMON, None, 224),
        ("imagenet-c-extra", EXTRA, 85, 224),
        ("imagenet-c-extra:raw", EXTRA, None, 224),
        ("imagenet-c-bar", BAR, 85, 224),
        ("cifar-10-c", COMMON, None, 32),
    ],
)
def test_a_family_is_every_corruption_at_every_severity_against_the_clean_images(
    data: odo.Dataset, name: str, names: dict[str, str], quality: int | None, side: int
) -> None:
    found = shifts_of(name, data)
    assert [one.name for one in found] == [f"{name}/{one}/{s}" for one in names for s in range(1, 6)]
    assert [str(one.family) for one in found] == [one.name for one in found]
    assert {(one.kind, one.measure, one.standard.name) for one in found} == {("corruption", "top-1", "clean")}
    assert all(one.standard is found[0].standard for one in found)
    for pair in found:
        transform = pair.shifted.transform
        assert transform is not None
        assert transform.parameters["quality"] == quality
        assert (transform.view.height, transform.view.width) == (side, side)


def test_a_family_may_be_spelled_otherwise(data: odo.Dataset) -> None:
    """cifar10-c and cifar-10-c are one thing."""
    (one,), (other,) = (shifts_of(name, data) for name in ("cifar10-c/fog/3", "CIFAR-10-C/Fog/3"))
    assert record_of_condition(one.shifted) == record_of_condition(other.shifted)
    assert one.family == Family("cifar-10-c", "fog", 3)


def test_a_transform_is_the_corruption_and_the_round_trip_of_the_published_files(data: odo.Dataset) -> None:
    image, key = odo.sample_image(), data.ids[0]
    plain = odo.corrupt(image, "contrast", 3, key=key, seed=7)
    raw, published = (one_condition(f"{name}/contrast/3", data, seed=7) for name in ("imagenet-c:raw", "imagenet-c"))
    assert raw.transform is not None
    assert published.transform is not None
    np.testing.assert_array_equal(raw.transform.apply(image, key), plain)
    buffer = io.BytesIO()
    Image.fromarray(plain).save(buffer, "JPEG", quality=85)  # Pillow alone
    np.testing.assert_array_equal(published.transform.apply(image, key), np.asarray(Image.open(buffer)))
    assert record_of_condition(raw).key != record_of_condition(published).key


def test_a_part_of_a_family_by_name(data: odo.Dataset) -> None:
    assert [one.name for one in shifts_of("imagenet-c/fog", data)] == [f"imagenet-c/fog/{s}" for s in range(1, 6)]
    assert [one.name for one in shifts_of("imagenet-c/fog/3", data)] == ["imagenet-c/fog/3"]
    with pytest.raises(odo.UsageError, match="no condition named 'imagenet-c/fgo'; did you mean imagenet-c/fog"):
        shifts_of("imagenet-c/fgo", data)


def test_the_seed_and_the_textures_are_in_the_key(data: odo.Dataset) -> None:
    conditions = [one_condition("imagenet-c/frost/1", data, seed=seed) for seed in (0, 1)]
    first, second = (record_of_condition(one) for one in conditions)
    assert first.key != second.key
    assert first.transform is not None
    assert first.transform.parameters["textures"]


MADE = [
    name for name, one in declared_shifts().items() if one.make.startswith(("imagenet_c:", "imagenet_p:", "cifar:c"))
]


@pytest.mark.parametrize("name", [name for name in MADE if name not in ("own", "cifar-100-subtypes")])
def test_transforms_can_be_sent_to_other_processes(data: odo.Dataset, name: str) -> None:
    pickle.loads(pickle.dumps([one.shifted.transform for one in shifts_of(name, data)]))


def test_a_run_on_corruptions_keeps_each_condition_apart(photos: Path, tmp_path: Path) -> None:
    def dark(images: np.ndarray) -> np.ndarray:
        means = images.reshape(len(images), -1).mean(axis=1, dtype=np.float64)
        return np.stack([means, means * 0, means * 0, means * 0], axis=1)

    data = odo.load_data(str(photos))
    model = odo.load_model(
        dark, input=odo.Input(view=odo.Geometry(224, 224, resize=256), mean=(0, 0, 0), std=(1 / 255,) * 3)
    )
    conditions = asked_for(["imagenet-c/brightness", "imagenet-c:raw/brightness"], Sources(data)).found
    store = odo.run([model], conditions, store=str(tmp_path / "runs"))
    energies = {cell.condition_name: store.store.read(cell).max_logit.mean() for cell in store.cells}
    assert len(energies) == 11
    levels = [energies[f"imagenet-c:raw/brightness/{severity}"] for severity in range(1, 6)]
    assert levels == sorted(levels)
    assert levels[0] > energies["clean"]


def test_imagenet_p_is_one_shift_per_frame(data: odo.Dataset) -> None:
    found = shifts_of("imagenet-p", data)
    # ten sequences of 31 frames, translate of 41 (Hendrycks and Dietterich 2019)
    assert len(found) == 9 * 31 + 41
    pair = shifts_of("imagenet-p/rotate", data)[-1]
    assert (pair.name, pair.family) == ("imagenet-p/rotate/30", Family("imagenet-p", "rotate", 30))
    last = pair.shifted
    assert last.transform is not None
    from oodometer.corruptions.sequences import sequence

    image = odo.sample_image(256, 256)
    whole = sequence(image, "rotate", key="a")
    np.testing.assert_array_equal(last.transform.apply(image, "a"), whole[30])


def test_frames_of_224_reach_a_model_of_any_size(photos: Path, tmp_path: Path) -> None:
    shapes: set[tuple[int, ...]] = set()

    def look(images: np.ndarray) -> np.ndarray:
        shapes.add(images.shape[1:])
        return np.zeros((len(images), 4))

    data = odo.load_data(str(photos)).take(np.arange(2))
    plain = {"mean": (0, 0, 0), "std": (1 / 255,) * 3}
    sizes = {
        "same": odo.Geometry(224, 224, resize=256),
        "source": odo.Geometry(256, 256, resize=256),
        "small": odo.Geometry(32, 32),
    }
    models = [odo.load_model(look, name=name, input=odo.Input(view=view, **plain)) for name, view in sizes.items()]
    shapes.clear()
    odo.run(models, [one_condition("imagenet-p/translate/20", data)], store=str(tmp_path / "runs"))
    assert shapes == {(224, 224, 3), (256, 256, 3), (32, 32, 3)}


@pytest.mark.parametrize("group", ["", "weather/"])
def test_files_on_disk_and_corruptions_on_the_fly_show_a_model_the_same(
    photos: Path, tmp_path: Path, group: str
) -> None:
    """Two conditions of the same shift: what ``oodometer corrupt`` wrote is what ``imagenet-c`` makes, to the bit."""
    from click.testing import CliRunner

    from oodometer.cli.main import main

    root = tmp_path / "c"
    words = ["corrupt", str(photos), str(root / group), "--corruptions", "fog,frost", "--severities", "2"]
    assert CliRunner().invoke(main, words).exit_code == 0
    seen: dict[str, list[bytes]] = {"fly": [], "disk": []}

    def watching(which: str) -> odo.Model:
        def look(images: np.ndarray) -> np.ndarray:
            seen[which].extend(image.tobytes() for image in images)
            return np.zeros((len(images), 4))

        view = odo.Geometry(224, 224, resize=256, interpolation="bicubic")
        return odo.load_model(look, name=which, input=odo.Input(view=view, mean=(0, 0, 0), std=(1 / 255,) * 3))

    models = {which: watching(which) for which in seen}
    for images in seen.values():
        images.clear()  # the probe of the number of classes
    photographs = odo.load_data(str(photos))
    fly = [one_condition(name, photographs) for name in ("imagenet-c/fog/2", "imagenet-c/frost/2")]
    # There are no clean images to pair them with.
    disk = asked_for(["imagenet-c:disk"], Sources(odo.load_data(str(root), kind="imagenet-c"))).found
    assert isinstance(disk[0], odo.Condition)
    assert [one.name for one in disk] == ["imagenet-c:disk/fog/2", "imagenet-c:disk/frost/2"]
    assert disk[0].dataset.ids == fly[0].dataset.ids
    one_thread = odo.RunOptions(threads=1)
    odo.run([models["fly"]], fly, store=str(tmp_path / "fly"), options=one_thread)
    odo.run([models["disk"]], disk, store=str(tmp_path / "disk"), options=one_thread)
    assert sorted(seen["fly"]) == sorted(seen["disk"])
    assert len(set(seen["fly"])) == 80


def test_another_folder_is_not_imagenet_c(photos: Path) -> None:
    with pytest.raises(odo.UsageError, match="add --data-kind imagenet-c"):
        asked_for(["imagenet-c:disk"], Sources(odo.load_data(str(photos))))
    with pytest.raises(odo.DataError, match="is not at CORRUPTION/SEVERITY/CLASS/FILE"):
        odo.load_data(str(photos), kind="imagenet-c")
