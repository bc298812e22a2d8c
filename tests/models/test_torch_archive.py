from __future__ import annotations

import io
import json
import pickle
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from oodometer.core.errors import ModelError
from oodometer.models.card import Declared
from oodometer.models.load import load_model

torch = pytest.importorskip("torch")

SMALL = Declared(size=(4, 4))


class Convolution(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, x):
        y = torch.nn.functional.gelu(self.norm(self.convolution(x)), approximate="tanh")
        return self.linear(y.mean((2, 3)).reshape(x.shape[0], -1)) + torch.tensor([1.0, 2.0])


@pytest.fixture(scope="module")
def program() -> bytes:
    shapes = ({0: torch.export.Dim("n", min=1, max=64)},)
    one = torch.export.export(Convolution().eval(), (torch.zeros(2, 3, 4, 4),), dynamic_shapes=shapes)
    target = io.BytesIO()
    torch.export.save(one, target)
    return target.getvalue()


def edit(
    path: Path, content: bytes, change: Callable[[str, bytes], bytes], extra: dict[str, bytes] | None = None
) -> str:
    """The archive with each entry changed, and with more entries."""
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(path, "w") as target:
        root = source.namelist()[0].partition("/")[0]
        for entry in source.infolist():
            target.writestr(entry.filename, change(entry.filename.partition("/")[2], source.read(entry)))
        for name, more in (extra or {}).items():
            target.writestr(f"{root}/{name}", more)
    return f"torch:{path}"


def same(name: str, content: bytes) -> bytes:
    return content


def pickled(value: object) -> bytes:
    target = io.BytesIO()
    torch.save(value, target)
    return target.getvalue()


def program_with(change: Callable[[dict], None]) -> Callable[[str, bytes], bytes]:
    def edit_json(name: str, content: bytes) -> bytes:
        if name != "models/model.json":
            return content
        value = json.loads(content)
        change(value)
        return json.dumps(value).encode()

    return edit_json


def refused(spec: str, marker: Path) -> str:
    with pytest.raises(ModelError) as caught:
        load_model(spec, card=SMALL)
    assert not marker.exists()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_honest_program_passes(tmp_path, program):
    assert len(load_model(edit(tmp_path / "m.pt2", program, same)).space) == 2


def test_a_pickle_in_the_sample_inputs(tmp_path, program, evil):
    bomb, marker = evil

    def change(name: str, content: bytes) -> bytes:
        return pickled(((bomb,), {})) if name.startswith("data/sample_inputs") else content

    assert "not an exported program" in refused(edit(tmp_path / "m.pt2", program, change), marker)
    # What would have happened: torch falls back to unpickling everything.
    with pytest.raises(ModelError):
        load_model(f"torch:{tmp_path / 'm.pt2'}", card=SMALL, allow_pickle=True)
    assert marker.exists()


@pytest.mark.parametrize("folder", ["weights", "constants"])
@pytest.mark.parametrize("prefix", ["tensor_", "weight_", "opaque_obj_", "custom_obj_"])
def test_a_pickle_among_the_tensors(tmp_path, program, evil, folder, prefix):
    bomb, marker = evil

    def change(name: str, content: bytes) -> bytes:
        if name != f"data/{folder}/model_{folder}_config.json":
            return content
        value = json.loads(content)
        for one in value["config"].values():
            one |= {"path_name": f"{prefix}99", "use_pickle": True}
        return json.dumps(value).encode()

    for payload in (pickled(bomb), pickle.dumps(bomb)):
        spec = edit(tmp_path / "m.pt2", program, change, {f"data/{folder}/{prefix}99": payload})
        assert "refused, since it could run code of its own" in refused(spec, marker)


@pytest.mark.parametrize(
    "target",
    [
        "torch.os.system",
        "torch.ops.load_library",
        "torch.ops.aten.save.default",
        "torch.ops.aten.from_file.default",
        "torch.ops.aten.__class__.__init__",
        "torch.hub.load",
        "_operator.methodcaller",
        "_operator.attrgetter",
        "#extension",
        "exec",
    ],
)
def test_calls_of_anything_but_tensor_operators(tmp_path, program, evil, target):
    marker = evil[1]

    def change(value: dict) -> None:
        node = value["graph_module"]["graph"]["nodes"][0]
        node["target"] = target
        node["inputs"] = [{"name": "command", "arg": {"as_string": f"touch {marker}"}, "kind": 1}]

    message = refused(edit(tmp_path / "m.pt2", program, program_with(change)), marker)
    assert f"it contains {target!r} as target" in message
    assert "if you trust it, add --allow-pickle" in message


def every(value: object, key: str, new: object) -> int:
    """Replace the value of every such key; how many there were."""
    n = 0
    if isinstance(value, dict):
        for name in value:
            if name == key:
                value[name] = new
                n += 1
            else:
                n += every(value[name], key, new)
    elif isinstance(value, list):
        n += sum(every(one, key, new) for one in value)
    return n


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('touch {}')",
        "open('{}', 'w')",
        "exec(chr(49))",
        "Symbol('s77', positive=open('{}', 'w'))",
        "Symbol('s77').__class__",
    ],
)
def test_sizes_that_are_programs(tmp_path, program, evil, text):
    marker = evil[1]

    def change(value: dict) -> None:
        assert every(value, "expr_str", text.format(marker)) > 0

    assert "as expr_str" in refused(edit(tmp_path / "m.pt2", program, program_with(change)), marker)


def test_guards_and_history_are_dropped(tmp_path, program, evil):
    marker = evil[1]
    attack = f"open({str(marker)!r}, 'w') and True"

    def change(value: dict) -> None:
        value["guards_code"] = [attack]
        assert every(value, "metadata", {"torch_fn": attack, "source_fn_stack": attack, "nn_module_stack": attack}) > 0

    assert len(load_model(edit(tmp_path / "m.pt2", program, program_with(change))).space) == 2
    assert not marker.exists()


@pytest.mark.parametrize("key", ["name", "forward_arg_names", "fqn", "in_spec", "out_spec"])
def test_names_that_are_programs(tmp_path, program, evil, key):
    marker = evil[1]
    attack = f"x=open({str(marker)!r}, 'w')"

    def change(value: dict) -> None:
        assert every(value, key, [attack] if key == "forward_arg_names" else attack) > 0

    refused(edit(tmp_path / "m.pt2", program, program_with(change)), marker)


def test_trees_of_other_types(tmp_path, program, evil):
    spec = json.dumps([1, {"type": "collections.defaultdict", "context": '{"x": "os"}', "children_spec": []}])

    def change(value: dict) -> None:
        assert every(value, "out_spec", spec) > 0

    assert "as out_spec" in refused(edit(tmp_path / "m.pt2", program, program_with(change)), evil[1])


@pytest.mark.parametrize(
    "name", ["data/aotinductor/model/x.so", "data/weights/model.pt", "models/other.json", "MODELS/model.json", "x"]
)
def test_entries_that_do_not_belong_there(tmp_path, program, evil, name):
    message = refused(edit(tmp_path / "m.pt2", program, same, {name: b"x"}), evil[1])
    assert f"{name}')" in message


def test_two_entries_of_one_name(tmp_path, program, evil):
    with pytest.warns(UserWarning, match="Duplicate name"):
        spec = edit(tmp_path / "m.pt2", program, same, {"models/model.json": b"{}"})
    assert "refused" in refused(spec, evil[1])


class Writes(torch.nn.Module):
    def __init__(self, path: str):
        super().__init__()
        self.path = path

    def forward(self, x):
        torch.save(x, self.path)
        return x.mean((2, 3))


class Reads(torch.nn.Module):
    def __init__(self, path: str):
        super().__init__()
        self.path = path

    def forward(self, x):
        return x.mean((2, 3)) + torch.from_file(self.path, True, 3)


@pytest.mark.parametrize("kind", [Writes, Reads])
def test_scripts_that_touch_files(tmp_path, evil, kind):
    marker = evil[1]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*torch.jit", category=DeprecationWarning)
        torch.jit.script(kind(str(marker))).save(tmp_path / "m.pt")
    assert "which can touch files" in refused(f"torch:{tmp_path / 'm.pt'}", marker)
    load_model(f"torch:{tmp_path / 'm.pt'}", card=SMALL, allow_pickle=True)
    assert marker.exists()


def test_a_pickle_in_a_script(tmp_path, evil):
    bomb, marker = evil
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*torch.jit", category=DeprecationWarning)
        torch.jit.script(Convolution().eval()).save(tmp_path / "m.pt")
    content = (tmp_path / "m.pt").read_bytes()
    for entry in ("data.pkl", "constants.pkl"):

        def change(name: str, old: bytes, entry: str = entry) -> bytes:
            return pickle.dumps(bomb, protocol=2) if name == entry else old

        refused(edit(tmp_path / "m.pt", content, change), marker)
    assert "contains" in refused(edit(tmp_path / "m.pt", content, same, {"model.json": b"{}"}), marker)
