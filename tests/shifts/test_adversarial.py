"""Adversarial shifts from the name to the rows of a store, with a network whose answers are known in closed form."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oodometer as odo
from oodometer.attacks.spec import is_attack_name, parse_attack
from oodometer.catalogue.shifts import declared_shifts
from oodometer.core.errors import UsageError
from oodometer.core.records import AttackRecord
from oodometer.models.card import Declared
from oodometer.models.torch import Net, to_model
from oodometer.shifts.adversarial import ATTACKS, attack_shift
from oodometer.shifts.sources import Sources
from oodometer.store.index import look
from oodometer.store.run import Run
from oodometer.store.store import open_store

torch = pytest.importorskip("torch")
COLOURS = torch.tensor([(40, 60, 200), (40, 180, 60), (128, 128, 128), (210, 50, 40)], dtype=torch.float32)


class ByColour(torch.nn.Module):
    """Tells blue, green, grey and red apart by the mean of all pixels, which an attack of ε levels moves by ε.

    Every colour is at least 44 levels per channel from being nearer to another, and at most 100.
    """

    def __init__(self, *, rounds: bool = False, fails_after: int | None = None) -> None:
        super().__init__()
        self.rounds, self.fails_after, self.calls = rounds, fails_after, 0

    def forward(self, pixels: Any) -> Any:
        self.calls += 1
        if self.fails_after is not None and self.calls > self.fails_after:
            raise ValueError("out of order")
        means = 255 * (pixels.mul(63).round().div(63) if self.rounds else pixels).mean(dim=(2, 3))
        return -((means[:, None] - COLOURS) ** 2).sum(dim=2) / 1000


def model_of(module: ByColour, *, name: str = "colours") -> odo.Model:
    declared = Declared(size=(32, 32), resize=36, mean=(0, 0, 0), std=(1, 1, 1))
    return to_model(Net(module.eval(), name=name, digest=f"digest of {name}"), declared)


def rows_of(made: Run, condition: str) -> odo.Predictions:
    (cell,) = [one for one in made.cells if one.condition_name == condition]
    return made.store.read(cell, logits=look(made.store).entry(cell).has_logits)


def accuracies(store: Run | odo.Store) -> dict[str, tuple[float, int]]:
    return {row.condition: (row.estimate.value, row.estimate.n) for row in odo.score(store).rows}


@pytest.fixture
def sources(photos: Path) -> Sources:
    return Sources(dataset=odo.load_data(str(photos)), seed=7)


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_names_that_mean_attacks() -> None:
    for name in ATTACKS:
        assert is_attack_name(name)
        assert parse_attack(name).name == name
    assert set(ATTACKS[:4]) == {one.attack for one in declared_shifts().values() if one.attack}
    # what is meant for an attack is answered by its parser, whose errors say what is wrong
    assert all(is_attack_name(name) for name in ("pgd", "pgd-l3-1", "PGD-linf-2", "fgsm-linf-1,steps=3", "pgd,steps=3"))
    assert not any(is_attack_name(name) for name in ("imagenet-a", "clean", "imagenet-c/fog/3", "natural", "noisy", ""))


def test_a_pair_over_the_same_images(sources: Sources) -> None:
    shift = attack_shift("pgd-linf-2.0,start=random,steps=10", sources)
    assert (shift.name, shift.kind) == ("pgd-linf-2,steps=10,start=random", "adversarial")
    assert shift.standard is sources.clean()
    assert shift.shifted.dataset is shift.standard.dataset
    assert shift.shifted.name == shift.name
    assert shift.shifted.attack is not None
    assert shift.shifted.attack.parameters["seed"] == 7
    with pytest.raises(UsageError, match="no norm named 'l3'"):
        attack_shift("pgd-l3-2", sources)


# closed form: within 20 levels nobody's nearest colour changes; within 120 everybody's does
def test_accuracies_that_are_known(sources: Sources, tmp_path: Path) -> None:
    warned: list[str] = []
    shifts = [
        attack_shift(name, sources) for name in ("pgd-linf-20,steps=10", "pgd-linf-120,steps=10", "noise-linf-120")
    ]
    store = odo.run(
        [model_of(ByColour())], shifts, store=str(tmp_path / "runs"), watcher=odo.Watcher(warn=warned.append)
    )
    assert accuracies(store) == {
        "clean": (1.0, 40),
        "pgd-linf-20,steps=10": (1.0, 40),
        "pgd-linf-120,steps=10": (0.0, 40),
        "noise-linf-120": (1.0, 40),
    }
    assert warned == []
    pairs = {one.name: one for one in look(store.store).shifts}
    assert sorted(pairs) == sorted(one.name for one in shifts)
    assert {one.kind for one in pairs.values()} == {"adversarial"}
    assert {one.standard.name for one in pairs.values()} == {"clean"}
    assert pairs["pgd-linf-20,steps=10"].shifted.attack == AttackRecord(
        "pgd-linf-20,steps=10",
        {"attack": "pgd", "norm": "linf", "epsilon": 20.0, "steps": 10, "step": 0.3, "start": "zero"},
    )


def test_a_network_that_hides_its_gradients_is_warned_of(sources: Sources, tmp_path: Path) -> None:
    warned: list[str] = []
    shift = attack_shift("pgd-linf-120,steps=10", sources)
    models = [model_of(ByColour(rounds=True), name="rounded"), model_of(ByColour(), name="plain")]
    odo.run(models, [shift], store=str(tmp_path / "runs"), watcher=odo.Watcher(warn=warned.append))
    (line,) = warned
    assert line.startswith(
        "rounded on pgd-linf-120,steps=10: gradient masking is likely: of the 40 images that the attack could not "
        "fool, 40 have a gradient of exactly zero"
    )


def test_the_warning_stays_with_the_numbers(sources: Sources, tmp_path: Path) -> None:
    """A run that breaks off, the one that goes on, and whoever reads the store later: all 40 images count for all."""
    shift, options = attack_shift("pgd-linf-120,steps=10", sources), odo.RunOptions(threads=1, chunk=10)
    address = str(tmp_path / "runs")
    with pytest.raises(odo.ModelError):
        odo.run([model_of(ByColour(rounds=True, fails_after=30), name="rounded")], [shift.shifted], store=address,
                options=options)  # fmt: skip
    begun = open_store(address)
    (cell,) = look(begun).cells
    assert 0 < begun.findings(cell)["attacked"] < 40
    told: list[list[str]] = []
    for _ in range(2):  # the second does nothing new
        told.append([])
        store = odo.run([model_of(ByColour(rounds=True), name="rounded")], [shift], store=address, options=options,
                        watcher=odo.Watcher(warn=told[-1].append))  # fmt: skip
    assert told[0] == told[1]
    assert "of the 40 images that the attack could not fool, 40 have a gradient of exactly zero" in told[0][0]
    found = odo.gaps(store)
    assert [f"rounded on {shift.name}: {line}" for line in found.rows[0].warnings] == told[0]
    assert found.warnings() == told[0]
    assert found.table().splitlines()[-1].endswith("(doubtful: see the warning)")
    assert odo.score(store).warnings == tuple(told[0])


@pytest.mark.parametrize("spec", ["pgd-linf-60,steps=10,start=random", "pgd-l2-30,steps=10", "fgsm-linf-60"])
def test_threads_and_chunks_change_nothing(sources: Sources, tmp_path: Path, spec: str) -> None:
    shift = attack_shift(spec, sources)
    stores = [
        odo.run([model_of(ByColour())], [shift], store=str(tmp_path / f"{threads}"),
                options=odo.RunOptions(threads=threads, chunk=chunk))
        for threads, chunk in ((1, 40), (4, 7))
    ]  # fmt: skip
    one, other = (rows_of(store, shift.name) for store in stores)
    np.testing.assert_array_equal(one.prediction, other.prediction)
    np.testing.assert_allclose(one.label_log_probability, other.label_log_probability, atol=0.02)
    assert [cell.key for cell in stores[0].cells] == [cell.key for cell in stores[1].cells]


def test_a_run_that_broke_off_goes_on_where_it_was(sources: Sources, tmp_path: Path) -> None:
    shift, options = attack_shift("pgd-linf-60,steps=5,start=random", sources), odo.RunOptions(threads=1, chunk=10)
    whole = odo.run([model_of(ByColour())], [shift.shifted], store=str(tmp_path / "whole"), options=options)
    first = model_of(breaking := ByColour(fails_after=12))
    with pytest.raises(odo.ModelError, match=r"model colours: its forward pass under attack failed \(out of order\)"):
        odo.run([first], [shift.shifted], store=str(tmp_path / "broken"), options=options)
    assert breaking.calls == 13
    module = ByColour()
    again = odo.run([model_of(module)], [shift.shifted], store=str(tmp_path / "broken"), options=options)
    calls_for_all = ByColour()
    odo.run([model_of(calls_for_all)], [shift.shifted], store=str(tmp_path / "third"), options=options)
    assert 1 < module.calls < calls_for_all.calls
    left, right = rows_of(whole, shift.name), rows_of(again, shift.name)
    for one in fields(odo.Predictions):
        np.testing.assert_array_equal(getattr(left, one.name), getattr(right, one.name), err_msg=one.name)
    # and a third time there is nothing to do
    idle = ByColour()
    model = model_of(idle)
    asked = idle.calls
    odo.run([model], [shift.shifted], store=str(tmp_path / "broken"), options=options)
    assert idle.calls == asked


def test_all_logits_can_be_kept(sources: Sources, tmp_path: Path) -> None:
    shift = attack_shift("pgd-linf-120,steps=10", sources)
    store = odo.run(
        [model_of(ByColour())], [shift], store=str(tmp_path / "runs"), options=odo.RunOptions(keep="logits")
    )
    rows = rows_of(store, shift.name)
    assert rows.logits is not None
    assert rows.logits.shape == (40, 4)
    # the answers under attack, not those to the clean images
    assert (rows.prediction != rows.label).all()
    np.testing.assert_array_equal(rows.logits.argmax(axis=1), rows.prediction)


def test_over_mapped_classes(sources: Sources, tmp_path: Path) -> None:
    # closed form: from blue to green the mean must move 70 levels or more per channel that differs; a mask of the two
    # leaves nothing nearer
    data = sources.given()
    warm = odo.super_classes("warmth", data.space, {"cold": ["blue", "green"], "other": ["grey", "red"]})
    attack = parse_attack("pgd-linf-120,steps=10")
    condition = odo.Condition("attacked", data, warm, attack=attack)
    model = to_model(
        Net(ByColour().eval(), name="colours", digest="d"),
        Declared(size=(32, 32), resize=36, mean=(0, 0, 0), std=(1, 1, 1), classes=data.space),
    )
    store = odo.run([model], [condition, odo.clean(data, label_map=warm)], store=str(tmp_path / "runs"))
    assert accuracies(store) == {"clean": (1.0, 40), "attacked": (0.0, 40)}
    rows = rows_of(store, "attacked")
    assert set(rows.prediction.tolist()) == {0, 1}


def test_images_of_several_labels_are_not_attacked(sources: Sources, tmp_path: Path) -> None:
    # any label counts as right, and an attack that leads from one of them to another would be taken for robustness
    given = sources.given()
    for others, refused in ((((),) * 39 + ((0, 1),), True), (((),) * 40, False)):
        some = replace(given, other_labels=others)
        condition = odo.Condition("attacked", some, attack=parse_attack("fgsm-linf-2"))
        if refused:
            with pytest.raises(odo.DataError, match=": attacked needs one true class per image, and 1 have several"):
                odo.run([model_of(ByColour())], [condition], store=str(tmp_path / "runs"))
        else:
            store = odo.run([model_of(ByColour())], [condition], store=str(tmp_path / "runs"))
            assert accuracies(store) == {"attacked": (1.0, 40)}


def test_a_model_without_gradients_is_told_so(sources: Sources, tmp_path: Path) -> None:
    space = odo.LabelSpace("numbers", ("0", "1", "2", "3"))
    model = odo.Model("plain", "callable", "digest", odo.Input(), space, open=lambda compute: lambda images: images)
    with pytest.raises(odo.ModelError, match="model plain: pgd-linf-2 needs gradients, which callable models do not"):
        odo.run([model], [attack_shift("pgd-linf-2", sources)], store=str(tmp_path / "runs"))
