from __future__ import annotations

import pickle
from collections import OrderedDict

import numpy as np
import pytest

from oodometer.core.errors import ModelError
from oodometer.models.torch_weights import read_tensors

torch = pytest.importorskip("torch")


def save(path, value):
    torch.save(value, path, _use_new_zipfile_serialization=False)
    return path


def test_the_tensors_that_torch_wrote(tmp_path):
    base = torch.arange(24, dtype=torch.float32)
    state = OrderedDict(
        plain=torch.randn(3, 4),
        turned=torch.randn(3, 4).t(),
        part=base[4:10].view(2, 3),
        number=torch.tensor(7),
        strided=base[::5],
    )
    read = read_tensors(save(tmp_path / "w.pth", state))
    assert list(read) == list(state)
    for key, tensor in state.items():
        np.testing.assert_array_equal(read[key], tensor.numpy())
        assert read[key].dtype == tensor.numpy().dtype


def test_module_state_with_metadata(tmp_path):
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4))
    assert set(read_tensors(save(tmp_path / "w.pth", net.state_dict()))) == set(net.state_dict())


@pytest.mark.parametrize("cut", [0, 10, 300, -1])
def test_truncated_files(tmp_path, cut):
    path = save(tmp_path / "w.pth", OrderedDict(a=torch.randn(100)))
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ModelError, match="not a plain checkpoint of tensors"):
        read_tensors(path)


def test_the_new_format_is_not_read_here(tmp_path):
    torch.save({"a": torch.ones(1)}, tmp_path / "w.pth")
    with pytest.raises(ModelError, match="not a plain checkpoint"):
        read_tensors(tmp_path / "w.pth")


def test_no_code_is_run(tmp_path, evil):
    bomb, marker = evil
    with pytest.raises(ModelError, match=r"it asks for (posix|nt)\.mkdir"):
        read_tensors(save(tmp_path / "w.pth", OrderedDict(a=bomb)))
    (tmp_path / "bare.pth").write_bytes(pickle.dumps(bomb))
    with pytest.raises(ModelError, match=r"it asks for (posix|nt)\.mkdir"):
        read_tensors(tmp_path / "bare.pth")
    assert not marker.exists()


def test_whole_modules_are_refused(tmp_path):
    with pytest.raises(ModelError, match=r"it asks for torch\.nn\.modules\.linear\.Linear"):
        read_tensors(save(tmp_path / "w.pth", torch.nn.Linear(2, 2)))


def test_a_tensor_may_not_reach_beyond_its_storage(tmp_path):
    path = save(tmp_path / "w.pth", OrderedDict(a=torch.zeros(7)))
    content = path.read_bytes()
    # The shape (7,) is pickled as BININT1 7; its storage keeps seven numbers.
    assert content.count(b"K\x07\x85") == 1
    path.write_bytes(content.replace(b"K\x07\x85", b"K\x09\x85"))
    with pytest.raises(ModelError, match="a tensor reaches beyond its storage"):
        read_tensors(path)
