"""The networks once more, written down from their papers over plain tables of weights: no modules, no classes.

A network is asked as it is when nothing is learned. Each function takes the weights by their names in the state dict,
hands them out in the order in which the paper's layers come, and says so when some are left over.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch.nn import functional


class Weights:
    """The tensors of a state dict, one layer after the other."""

    def __init__(self, state: Mapping[str, torch.Tensor]) -> None:
        self.state = {name: value for name, value in state.items() if not name.endswith("num_batches_tracked")}

    def take(self, name: str) -> torch.Tensor:
        return self.state.pop(name)

    def conv(self, x, name, stride=1, groups=1, padding=1):
        bias = self.take(f"{name}.bias") if f"{name}.bias" in self.state else None
        return functional.conv2d(x, self.take(f"{name}.weight"), bias, stride, padding, 1, groups)

    def norm(self, x, name):
        mean, var = self.take(f"{name}.running_mean"), self.take(f"{name}.running_var")
        weight, bias = self.take(f"{name}.weight"), self.take(f"{name}.bias")
        scale = weight / torch.sqrt(var + 1e-5)
        return x * scale[None, :, None, None] + (bias - mean * scale)[None, :, None, None]

    def linear(self, x, name):
        y = x @ self.take(f"{name}.weight").T
        return y + self.take(f"{name}.bias") if f"{name}.bias" in self.state else y

    def check(self) -> None:
        assert not self.state, f"never used: {sorted(self.state)[:4]}"


def se(w, x, name):
    """Hu et al. 2018, equations 2 to 4."""
    z = w.linear(x.mean((2, 3)), f"{name}.squeeze").clamp(min=0)
    s = 1 / (1 + torch.exp(-w.linear(z, f"{name}.excite")))
    return torch.einsum("nchw,nc->nchw", x, s)


def cbam(w, x, name):
    """Woo et al. 2018, equations 1 to 3."""
    down, up = w.take(f"{name}.squeeze.weight"), w.take(f"{name}.excite.weight")
    mean, top = x.flatten(2).mean(2), x.flatten(2).max(2).values
    channels = torch.sigmoid((mean @ down.T).clamp(min=0) @ up.T + (top @ down.T).clamp(min=0) @ up.T)
    x = torch.einsum("nchw,nc->nchw", x, channels)
    seen = torch.stack([x.mean(1), x.max(1).values], dim=1)
    return x * torch.sigmoid(w.conv(seen, f"{name}.places", padding=3))


def resnet(state, x, n, attention):
    """He et al. 2016, section 4.2, shortcuts of option A."""
    w = Weights(state)
    x = w.norm(w.conv(x, "0"), "1").clamp(min=0)
    for block in range(3 * n):
        name, stride = f"{3 + block}", 2 if block and block % n == 0 else 1
        y = w.norm(w.conv(x, f"{name}.conv1", stride), f"{name}.norm1").clamp(min=0)
        y = w.norm(w.conv(y, f"{name}.conv2"), f"{name}.norm2")
        y = attention(w, y, f"{name}.attention")
        x = x[:, :, ::stride, ::stride]
        padded = torch.zeros_like(y)
        padded[:, : x.shape[1]] = x
        x = (y + padded).clamp(min=0)
    x = w.linear(x.mean((2, 3)), f"{3 + 3 * n}.2")
    w.check()
    return x


def resnext(state, x, n, groups, attention):
    """Xie et al. 2017, form (c) of figure 3."""
    w = Weights(state)
    x = w.norm(w.conv(x, "0"), "1").clamp(min=0)
    for block in range(3 * n):
        name, stride = f"{3 + block}", 2 if block and block % n == 0 else 1
        y = w.norm(w.conv(x, f"{name}.conv1", padding=0), f"{name}.norm1").clamp(min=0)
        y = w.norm(w.conv(y, f"{name}.conv2", stride, groups), f"{name}.norm2").clamp(min=0)
        y = attention(w, w.norm(w.conv(y, f"{name}.conv3", padding=0), f"{name}.norm3"), f"{name}.attention")
        if f"{name}.shortcut.0.weight" in w.state:
            x = w.norm(w.conv(x[:, :, ::stride, ::stride], f"{name}.shortcut.0", padding=0), f"{name}.shortcut.1")
        x = (y + x).clamp(min=0)
    x = w.linear(x.mean((2, 3)), f"{3 + 3 * n}.2")
    w.check()
    return x


def shake_shake(state, x, n, groups=None):
    """Gastaldi 2017, section 2: at test time each branch with weight a half."""
    w = Weights(state)

    def branch(x, name, stride):
        if groups is None:
            y = w.norm(w.conv(x.clamp(min=0), f"{name}.1", stride), f"{name}.2")
            return w.norm(w.conv(y.clamp(min=0), f"{name}.4"), f"{name}.5")
        y = w.norm(w.conv(x.clamp(min=0), f"{name}.1", padding=0), f"{name}.2")
        y = w.norm(w.conv(y.clamp(min=0), f"{name}.4", stride, groups), f"{name}.5")
        return w.norm(w.conv(y.clamp(min=0), f"{name}.7", padding=0), f"{name}.8")

    x = w.norm(w.conv(x, "0"), "1")
    for block in range(3 * n):
        name, stride = f"{2 + block}", 2 if block and block % n == 0 else 1
        y = (branch(x, f"{name}.first", stride) + branch(x, f"{name}.second", stride)) / 2
        if f"{name}.shortcut.norm.weight" in w.state:
            r = x.clamp(min=0)
            moved = torch.zeros_like(r)
            moved[:, :, :-1, :-1] = r[:, :, 1:, 1:]
            here = w.conv(r[:, :, ::stride, ::stride], f"{name}.shortcut.here", padding=0)
            beside = w.conv(moved[:, :, ::stride, ::stride], f"{name}.shortcut.beside", padding=0)
            x = w.norm(torch.cat([here, beside], 1), f"{name}.shortcut.norm")
        x = x + y
    x = w.linear(x.clamp(min=0).mean((2, 3)), f"{2 + 3 * n + 1}.2")
    w.check()
    return x


def msdnet(state, x, n_layers):
    """Huang et al. 2018, section 4 and appendix A: all classifiers' logits, computing every scale in every layer.

    What the network leaves out because no classifier can see it is left out here by asking whether its weights exist.
    """
    w = Weights(state)

    def twice(x, name, stride):
        y = w.norm(w.conv(x, f"{name}.0", padding=0), f"{name}.1").clamp(min=0)
        return w.norm(w.conv(y, f"{name}.3", stride), f"{name}.4").clamp(min=0)

    scales = []
    for scale in range(3):
        x = w.norm(w.conv(x, f"first.scales.{scale}.0", 2 if scale else 1), f"first.scales.{scale}.1").clamp(min=0)
        scales.append(x)
    answers = []
    for layer in range(n_layers):
        names = sorted({name.split(".")[3] for name in w.state if name.startswith(f"layers.{layer}.same.")})
        new = list(scales)
        for place in range(len(names)):
            scale = 3 - len(names) + place
            parts = [scales[scale], twice(scales[scale], f"layers.{layer}.same.{place}", 1)]
            if scale:
                place_down = place - (1 if len(names) == 3 else 0)
                parts.append(twice(scales[scale - 1], f"layers.{layer}.down.{place_down}", 2))
            new[scale] = torch.cat(parts, 1)
        scales = new
        if layer + 1 >= 4 and layer % 2:
            name, y = f"heads.{len(answers)}", scales[2]
            for place in (0, 3):
                y = w.norm(w.conv(y, f"{name}.{place}", 2), f"{name}.{place + 1}").clamp(min=0)
            answers.append(w.linear(y.mean((2, 3)), f"{name}.6.2"))
    w.check()
    return answers


def multigrid(state, x, n):
    """Ke et al. 2017, section 3: residual blocks on pyramids of three grids."""
    w = Weights(state)

    def halved(x):
        h, v = x.shape[2] // 2 * 2, x.shape[3] // 2 * 2
        return x[:, :, :h, :v].reshape(*x.shape[:2], h // 2, 2, v // 2, 2)

    def layer(grids, name, neighbours=True):
        result = []
        for place, grid in enumerate(grids):
            seen = [grid]
            if neighbours and place > 0:
                seen = [halved(grids[place - 1]).amax((3, 5)), *seen]
            if neighbours and place < 2:
                seen = [*seen, grids[place + 1].repeat_interleave(2, 2).repeat_interleave(2, 3)]
            result.append(w.norm(w.conv(torch.cat(seen, 1), f"{name}.convs.{place}"), f"{name}.norms.{place}"))
        return result

    grids = [x, halved(x).mean((3, 5))]
    grids.append(halved(grids[1]).mean((3, 5)))
    grids = [one.clamp(min=0) for one in layer(grids, "first", neighbours=False)]
    for block in range(3 * n):
        if block in (n, 2 * n):
            grids = [halved(one).amax((3, 5)) for one in grids]
        inner = layer([one.clamp(min=0) for one in layer(grids, f"blocks.{block}.one")], f"blocks.{block}.two")
        for place, new in enumerate(inner):
            new[:, : grids[place].shape[1]] += grids[place]
        grids = [one.clamp(min=0) for one in inner]
    x = w.linear(torch.cat([one.mean((2, 3)) for one in grids], 1), "classifier")
    w.check()
    return x


def pooled(x):
    """The largest of 3x3 around every second pixel."""
    padded = functional.pad(x, (1, 1, 1, 1), value=-torch.inf)
    return torch.stack(
        [padded[:, :, dy : dy + x.shape[2], dx : dx + x.shape[3]][:, :, ::2, ::2] for dy in range(3) for dx in range(3)]
    ).amax(0)


def alexnet(state, x):
    """Krizhevsky 2014: five convolutions, pooled after the first, second and last, and three linear layers."""
    w = Weights(state)
    for name, is_pooled in (("0", True), ("3", True), ("6", False), ("8", False), ("10", True)):
        x = w.conv(x, name).clamp(min=0)
        x = pooled(x) if is_pooled else x
    x = x.mean((2, 3))
    for name in ("15", "17"):
        x = w.linear(x, name).clamp(min=0)
    x = w.linear(x, "19")
    w.check()
    return x


def squeezenet(state, x):
    """Iandola et al. 2016, as its version 1.1."""
    w = Weights(state)
    x = w.conv(x, "0").clamp(min=0)
    for name in range(2, 13):
        if name in (2, 5, 8):
            x = pooled(x)
            continue
        few = w.conv(x, f"{name}.squeeze", padding=0).clamp(min=0)
        wide = [w.conv(few, f"{name}.expand1", padding=0), w.conv(few, f"{name}.expand3")]
        x = torch.cat(wide, 1).clamp(min=0)
    x = w.conv(x, "13", padding=0).mean((2, 3))
    w.check()
    return x
