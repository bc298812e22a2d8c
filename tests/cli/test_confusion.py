"""The command that tells whose classes lead where: whole outputs, and the same as Python gives."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import oodometer as odo
from known_stores import Filled
from oodometer.cli.main import main
from oodometer.core.labels import LabelSpace

PETS = LabelSpace("pets", ("cat", "dog", "eel"))


@pytest.fixture
def store(tmp_path, make_dataset):
    filled = Filled(odo.open_store(str(tmp_path / "runs"), create=True))
    data = make_dataset(4, labels=[0, 0, 1, 2], space=PETS)
    filled.add(data, [0, 1, 0, 1])  # with rank 1 the answer is the first other class: dog for a cat, cat for an eel
    filled.add(data, [1, 1, 0, 0], condition="fog/3", transform={"name": "fog"})
    return str(filled.store)


def test_what_is_confused(store):
    result = CliRunner().invoke(main, ["confusion", store, "mine", "--on", "fog/3"])
    assert result.exit_code == 0
    assert result.stdout == (
        "mine on fog/3 (val): 2 of 4 answers right, 4 images\n"
        "class  called  count  share of the class\n"
        "cat    dog     2      1.0000 [0.1581, 1.0000]  n=2\n"  # scipy: binomtest(2, 2).proportion_ci()
    )
    assert "not corrected for their number" in result.stderr


def test_for_programs_the_same_as_in_python(store):
    result = CliRunner().invoke(main, ["confusion", store, "mine", "--json", "--top", "1"])
    assert json.loads(result.stdout) == json.loads(json.dumps(odo.confusion(store, "mine").as_json(1)))


def test_the_change_of_each_class(store):
    result = CliRunner().invoke(main, ["confusion", store, "mine", "--on", "fog/3", "--changes", "--top", "1"])
    assert result.exit_code == 0
    assert result.stdout == odo.class_changes(store, "mine", "fog/3").table(1) + "\n"
    assert "corrected for 3 classes" in result.stderr


def test_a_model_that_is_not_there(store):
    result = CliRunner().invoke(main, ["confusion", store, "nobody"])
    assert result.exit_code == 2
    assert "no predictions of a model named 'nobody'" in result.stderr
