from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnx import TensorProto, helper, numpy_helper

from oodometer.cli.main import main
from oodometer.core.errors import ModelError, UsageError
from oodometer.core.model import Compute
from oodometer.data.layouts.class_lists import class_list
from oodometer.models import shipped_zoo
from oodometer.models.load import expand, load_model
from oodometer.models.zoo import zoo_names

CARD = """\
category = "more data"
parent = "small"
classes = ["red", "green", "blue"]

[input]
size = [32, 32]
resize = "squash"
mean = [0.0, 0.0, 0.0]
std = [1.0, 1.0, 1.0]
"""


def write_model(folder: Path, name: str, *, sign: float = 1.0) -> None:
    """A network whose three logits are the means of the three channels, times a sign."""
    nodes = [
        helper.make_node("ReduceMean", ["pixels"], ["means"], axes=[2, 3], keepdims=0),
        helper.make_node("Mul", ["means", "sign"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes,
        name,
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 3, 32, 32])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 3])],
        [numpy_helper.from_array(np.array(sign, dtype=np.float32), "sign")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(model, str(folder / f"{name}.onnx"))
    (folder / f"{name}.toml").write_text(f'name = "{name}"\n{CARD}')


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "zoo" / "icons"
    folder.mkdir(parents=True)
    write_model(folder, "large")
    write_model(folder, "small", sign=-1)
    (folder / ".half.onnx").write_bytes(b"being copied")
    monkeypatch.setattr(shipped_zoo, "INSTALLED", folder.parent)
    monkeypatch.setattr(shipped_zoo, "IN_THE_REPOSITORY", tmp_path / "nowhere")
    return folder


def test_its_names_are_listed_and_expanded(zoo):
    assert [name for name in zoo_names() if "/" in name] == ["icons/large", "icons/small"]
    assert expand("zoo:icons/*") == ["zoo:icons/large", "zoo:icons/small"]
    assert expand("zoo:icons/s*") == ["zoo:icons/small"]
    listed = CliRunner().invoke(main, ["ls", "models"])
    assert listed.exit_code == 0
    assert listed.stdout.splitlines()[-2:] == ["zoo:icons/large", "zoo:icons/small"]


def test_a_star_alone_is_about_photographs(zoo):
    assert expand("zoo:*") == [f"zoo:efficientnet-lite{number}" for number in range(3)]


def test_a_model_has_its_card_and_answers(zoo):
    model = load_model("zoo:icons/large")
    assert (model.name, model.kind, model.space.classes) == ("large", "zoo", ("red", "green", "blue"))
    assert model.notes["zoo"] == "icons/large"
    assert (model.card.category, model.card.parent) == ("more data", "small")
    assert model.input.view.height == 32
    assert load_model("zoo:icons/large", name="mine").name == "mine"
    images = np.zeros((1, 32, 32, 3), dtype=np.uint8)
    images[..., 1] = 51
    np.testing.assert_allclose(model.logits(images), [[0, 0.2, 0]], atol=1e-6)  # 51 / 255


def test_it_has_gradients(zoo):
    torch = pytest.importorskip("torch")
    model = load_model("zoo:icons/small")
    network = model.differentiable(Compute())
    pixels = torch.zeros((1, 3, 32, 32), requires_grad=True)
    network(pixels)[0, 2].backward()
    assert pixels.grad is not None
    # the logit is minus the mean of the channel's 1024 pixels
    np.testing.assert_allclose(pixels.grad[0, 2].numpy(), -1 / 1024, rtol=1e-6)


@pytest.mark.parametrize("name", ["icons/larg", "icons/../secret"])
def test_unknown_names(zoo, name):
    with pytest.raises(UsageError, match=f"no model named '{name}' in the zoo"):
        load_model(f"zoo:{name}")
    with pytest.raises(UsageError, match=r"no model of the zoo matches 'icons/x\*'"):
        expand("zoo:icons/x*")


@pytest.mark.parametrize(("zoo", "what"), [("icons", "icons"), ("cifar10", "CIFAR-10")])
@pytest.mark.parametrize("is_empty", [False, True])
def test_a_zoo_that_is_not_there_is_one_line(tmp_path, monkeypatch, zoo, what, is_empty):
    monkeypatch.setattr(shipped_zoo, "INSTALLED", tmp_path / "nowhere")
    monkeypatch.setattr(shipped_zoo, "IN_THE_REPOSITORY", tmp_path / "neither")
    if is_empty:
        (tmp_path / "neither" / zoo).mkdir(parents=True)
    assert shipped_zoo.shipped_names(zoo) == []
    for ask in (lambda: expand(f"zoo:{zoo}/*"), lambda: load_model(f"zoo:{zoo}/resnet20")):
        with pytest.raises(ModelError, match=f"neither/{zoo}: the models of {what} are not there; install oodometer"):
            ask()


def test_two_zoos_are_kept_apart(zoo):
    other = zoo.with_name("cifar10")
    other.mkdir()
    write_model(other, "large", sign=-1)
    assert expand("zoo:icons/*") == ["zoo:icons/large", "zoo:icons/small"]
    assert expand("zoo:cifar10/*") == ["zoo:cifar10/large"]
    model = load_model("zoo:cifar10/large")
    assert (model.name, model.notes["zoo"]) == ("large", "cifar10/large")
    assert model.digest != load_model("zoo:icons/large").digest
    assert [name for name in zoo_names() if "/" in name] == ["cifar10/large", "icons/large", "icons/small"]


def test_a_clone_has_them_in_its_folder_zoo():
    root = Path(shipped_zoo.__file__).parents[3]
    assert (root / "pyproject.toml").is_file()
    assert root / "zoo" == shipped_zoo.IN_THE_REPOSITORY


def test_the_zoo_that_is_shipped():
    names = shipped_zoo.shipped_names("icons")
    if not names:
        pytest.skip("the zoo is not here")
    assert len(names) >= 12
    assert sum(path.stat().st_size for path in shipped_zoo.folder_of("icons").glob("*.onnx")) <= 20 * 10**6
    models = {name: load_model(f"zoo:{name}") for name in names}
    assert {f"icons/{model.name}" for model in models.values()} == set(names)
    for name, model in models.items():
        assert sorted(model.space.classes) == sorted(class_list("icons_50")), name
        assert (model.input.view.height, model.input.view.width) == (32, 32), name
        assert model.card.training_data, name
        assert model.card.parent is None or f"icons/{model.card.parent}" in names, name
    categories = {"standard", "more data", "robust intervention", "adversarially trained"}
    assert {model.card.category for model in models.values()} == categories
