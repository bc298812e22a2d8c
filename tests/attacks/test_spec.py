from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oodometer.attacks.ball import Ball
from oodometer.attacks.fgsm import FGSM
from oodometer.attacks.noise import Noise
from oodometer.attacks.pgd import PGD
from oodometer.attacks.spec import parse_attack
from oodometer.core.errors import UsageError

quick = settings(deadline=None, derandomize=True, max_examples=100)


# source: the 204-model testbed: 100 steps; L-infinity steps of 3 % of epsilon; L2 0.1 by 0.01 and 0.5 by 0.05
@pytest.mark.parametrize(
    ("name", "ball", "step"),
    [
        ("pgd-linf-0.5", Ball("linf", 0.5), 0.03),
        ("pgd-linf-2", Ball("linf", 2), 0.03),
        ("pgd-l2-0.1", Ball("l2", 0.1), 0.1),
        ("pgd-l2-0.5", Ball("l2", 0.5), 0.1),
    ],
)
def test_the_attacks_of_the_testbed(name, ball, step):
    found = parse_attack(name, seed=5)
    assert (found.name, found.apply) == (name, PGD(ball, 100, step, "zero", 5))
    # nothing that the answers depend on is drawn
    assert found.parameters == parse_attack(name, seed=6).parameters


def test_the_other_attacks():
    assert parse_attack("fgsm-l2-0.25").apply == FGSM(Ball("l2", 0.25))
    assert parse_attack("noise-linf-8", seed=2).apply == Noise(Ball("linf", 8), 2)
    assert parse_attack("noise-linf-8", seed=2).parameters != parse_attack("noise-linf-8", seed=3).parameters


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("pgd-linf-2.0", "pgd-linf-2"),
        ("pgd-linf-.50", "pgd-linf-0.5"),
        ("pgd-linf-2,steps=100,start=zero,step=0.03", "pgd-linf-2"),
        ("pgd-l2-0.5,step=0.10", "pgd-l2-0.5"),
        ("pgd-linf-2,step=.1,start=random,steps=020", "pgd-linf-2,steps=20,start=random,step=0.1"),
        ("pgd-linf-2,steps=20,start=random,step=0.1", "pgd-linf-2,steps=20,start=random,step=0.1"),
        ("pgd-linf-2,steps=20,step=0.15", "pgd-linf-2,steps=20"),
    ],
)
def test_equal_attacks_have_equal_names(given, name):
    one, other = parse_attack(given, seed=1), parse_attack(name, seed=1)
    assert one.name == other.name == name
    assert one.apply == other.apply
    assert one.parameters == other.parameters


@quick
@given(
    norm=st.sampled_from(["linf", "l2"]),
    epsilon=st.floats(1e-3, 255).map(lambda one: float(f"{one:.6g}")),
    steps=st.integers(1, 1000),
    step=st.none() | st.floats(1e-3, 2).map(lambda one: float(f"{one:.6g}")),
    start=st.sampled_from(["zero", "random"]),
)
def test_names_and_attacks_go_to_and_fro(norm, epsilon, steps, step, start):
    more = "" if step is None else f",step={step}"
    made = parse_attack(f"pgd-{norm}-{epsilon},steps={steps},start={start}{more}")
    again = parse_attack(made.name)
    assert (again.name, again.apply, again.parameters) == (made.name, made.apply, made.parameters)
    assert made.apply.ball == Ball(norm, epsilon)
    assert made.apply.steps == steps
    # all steps together span the ball
    assert step is not None or made.apply.step * steps >= 1


def test_what_the_answers_depend_on_is_in_the_parameters():
    specs = ["pgd-linf-2", "pgd-linf-3", "pgd-l2-2", "pgd-linf-2,steps=9", "pgd-linf-2,step=0.5", "fgsm-linf-2",
             "noise-linf-2", "pgd-linf-2,start=random"]  # fmt: skip
    found = {json.dumps(dict(parse_attack(spec).parameters), sort_keys=True) for spec in specs}
    assert len(found) == len(specs)
    random = "pgd-linf-2,start=random"
    assert parse_attack(random, seed=1).parameters != parse_attack(random, seed=2).parameters


@pytest.mark.parametrize("spec", ["pgd-linf-2,start=random", "fgsm-l2-0.5", "noise-linf-2"])
def test_attacks_can_be_sent_to_other_processes(spec):
    attack = parse_attack(spec, seed=4)
    assert pickle.loads(pickle.dumps(attack)) == attack


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("pgd", "attack 'pgd': expected NAME-NORM-EPSILON, for example pgd-linf-2 or pgd-l2-0.5"),
        ("pgd-linf", "attack 'pgd-linf': expected NAME-NORM-EPSILON, for example pgd-linf-2 or pgd-l2-0.5"),
        ("pgd-linf-", "attack 'pgd-linf-': expected NAME-NORM-EPSILON, for example pgd-linf-2 or pgd-l2-0.5"),
        ("PGD-linf-2", "no attack named 'PGD'; did you mean pgd?"),
        ("pgd-lnf-2", "attack 'pgd-lnf-2': no norm named 'lnf'; did you mean linf?"),
        ("pgd-l1-2", "attack 'pgd-l1-2': no norm named 'l1'; known: l2, linf"),
        (
            "pgd-linf-x",
            "attack 'pgd-linf-x': epsilon 'x' must be a number above 0, in levels of 255 (2 means 2/255)",
        ),
        ("pgd-l2--1", "attack 'pgd-l2--1': epsilon '-1' must be a number above 0, for pixels in [0, 1] at 224 x 224"),
        ("pgd-l2-0", "attack 'pgd-l2-0': epsilon '0' must be a number above 0, for pixels in [0, 1] at 224 x 224"),
        (
            "pgd-l2-inf",
            "attack 'pgd-l2-inf': epsilon 'inf' must be a number above 0, for pixels in [0, 1] at 224 x 224",
        ),
        ("pgd-linf-256", "attack 'pgd-linf-256': epsilon 256 is more than all 255 levels of a pixel"),
        ("pgd-l2-400", "attack 'pgd-l2-400': epsilon 400 is more than any two images are apart (388)"),
        ("pgd-linf-1e-9", "attack 'pgd-linf-1e-9': epsilon 1e-9 is lost when pixels are rounded to float32"),
        ("fgsm-l2-1e-6", "attack 'fgsm-l2-1e-6': epsilon 1e-6 is lost when pixels are rounded to float32"),
        ("pgd-linf-2,steps=0", "attack 'pgd-linf-2,steps=0': steps '0' must be a whole number above 0"),
        ("pgd-linf-2,steps=2.5", "attack 'pgd-linf-2,steps=2.5': steps '2.5' must be a whole number above 0"),
        ("pgd-linf-2,step=0",
         "attack 'pgd-linf-2,step=0': step '0' must be a number from 0.0001 to 2, as a part of epsilon"),
        ("pgd-l2-2,step=1e30",
         "attack 'pgd-l2-2,step=1e30': step '1e30' must be a number from 0.0001 to 2, as a part of epsilon"),
        ("pgd-l2-2,step=1e-9",
         "attack 'pgd-l2-2,step=1e-9': step '1e-9' must be a number from 0.0001 to 2, as a part of epsilon"),
        ("pgd-linf-2,start=here", "attack 'pgd-linf-2,start=here': start 'here' must be zero or random"),
        ("pgd-linf-2,stpes=3", "attack 'pgd-linf-2,stpes=3': no option named 'stpes'; did you mean steps?"),
        ("pgd-linf-2,steps", "attack 'pgd-linf-2,steps': option 'steps': expected NAME=VALUE, for example steps=20"),
        ("pgd-linf-2,steps=3,steps=4", "attack 'pgd-linf-2,steps=3,steps=4': steps is given twice"),
        ("fgsm-linf-2,steps=3", "attack 'fgsm-linf-2,steps=3': fgsm takes no options"),
        ("noise-l2-2,start=random", "attack 'noise-l2-2,start=random': noise takes no options"),
    ],
)  # fmt: skip
def test_names_that_mean_nothing(spec, message):
    with pytest.raises(UsageError) as error:
        parse_attack(spec)
    assert str(error.value) == message
