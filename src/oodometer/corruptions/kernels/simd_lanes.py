"""Neighbouring values side by side in a register, where the compiler would take them one by one.

It vectorises along a row only, which does not help where each pixel comes from elsewhere, nor where sums should stay
in registers; these functions say in its own language what is to be computed together. All arrays are flat.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

FLOAT, BYTE, INDEX = ir.FloatType(), ir.IntType(8), ir.IntType(64)


def _load(builder: Any, data: Any, at: Any, lanes: int) -> Any:
    """That many values from there on, as floats."""
    kind = data.type.pointee
    place = builder.bitcast(builder.gep(data, [at]), ir.VectorType(kind, lanes).as_pointer())
    values = builder.load(place, align=1)
    return values if kind == FLOAT else builder.uitofp(values, ir.VectorType(FLOAT, lanes))


def _store(builder: Any, values: Any, data: Any, at: Any) -> None:
    """The values from there on."""
    builder.store(values, builder.bitcast(builder.gep(data, [at]), values.type.as_pointer()), align=1)


def _repeated(builder: Any, value: Any, lanes: int) -> Any:
    """The float that many times."""
    kind = ir.VectorType(FLOAT, lanes)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.IntType(32)(0))
    return _chosen(builder, one, [0] * lanes)


def _chosen(builder: Any, values: Any, lanes: list[int]) -> Any:
    """Those lanes."""
    order = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes)
    return builder.shuffle_vector(values, ir.Constant(values.type, ir.Undefined), order)


def _between(builder: Any, a: Any, b: Any, share: Any) -> Any:
    """The mean of both, with that share of b."""
    return builder.fadd(a, builder.fmul(builder.fsub(b, a), share))


def _data(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    """The arguments, of arrays the pointers to their values, of tuples a list of the same."""
    return [_pointers(context, builder, kind, one) for kind, one in zip(signature.args, arguments, strict=True)]


def _pointers(context: Any, builder: Any, kind: Any, argument: Any) -> Any:
    if isinstance(kind, types.BaseTuple):
        parts = zip(kind, cgutils.unpack_tuple(builder, argument), strict=True)
        return [_pointers(context, builder, *part) for part in parts]
    if not isinstance(kind, types.Array):
        return argument
    if kind.layout != "C":
        raise TypeError("arrays must be contiguous")
    return context.make_array(kind)(context, builder, argument).data


@intrinsic  # type: ignore[untyped-decorator]
def mix_four(typing: Any, flat: Any, corners: Any, shares: Any, out: Any, at: Any) -> Any:  # noqa: ARG001
    """``mix_four(flat, corners, shares, out, at)``: writes a pixel and one value more to out[at:], float32.

    It is the bilinear mean of the pixels that begin at the corners, top left and bottom left (int32), and those that
    follow them, with the shares of right and bottom, float32. Reads two values more.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, corners_, shares_, target, to = _data(context, builder, signature, arguments)
        top, bottom = (_load(builder, source, builder.sext(one, INDEX), 8) for one in corners_)
        right, low = shares_
        both = _between(builder, top, bottom, _repeated(builder, low, 8))
        left, follows = _chosen(builder, both, [0, 1, 2, 3]), _chosen(builder, both, [3, 4, 5, 6])
        _store(builder, _between(builder, left, follows, _repeated(builder, right, 4)), target, to)
        return context.get_dummy_value()

    two = types.UniTuple
    return types.void(flat, two(types.int32, 2), two(types.float32, 2), out, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def mix_next(typing: Any, rows: Any, before: Any, shares: Any, out: Any, at: Any) -> Any:  # noqa: ARG001
    """``mix_next(rows, before, shares, out, at)``: writes eight values to each out[i][at:], all float32.

    They are the means of those from rows[i][before] on and those a pixel further, these with the shares from
    shares[at] on; places are int32, rows and out are two arrays each.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sources, before_, shares_, targets, at_ = _data(context, builder, signature, arguments)
        first, to = (builder.sext(one, INDEX) for one in (before_, at_))
        share = _load(builder, shares_, to, 8)
        made = []
        for source in sources:
            here, there = (_load(builder, source, builder.add(first, INDEX(step)), 8) for step in (0, 3))
            made.append(_between(builder, here, there, share))
        for values, target in zip(made, targets, strict=True):
            _store(builder, values, target, to)
        return context.get_dummy_value()

    return types.void(rows, types.int32, shares, out, types.int32), generate


def _adder(registers: int) -> Any:
    """The weighted sum in that many registers of 16 lanes; see `add_many`."""

    def add(typing: Any, source: Any, offsets: Any, weights: Any, total: Any, at: Any) -> Any:  # noqa: ARG001
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            source_, offsets_, weights_, total_, at_ = _data(context, builder, signature, arguments)
            n_taps = context.make_array(signature.args[1])(context, builder, arguments[1]).nitems
            nothing = ir.Constant(ir.VectorType(FLOAT, 16), None)
            sums = [cgutils.alloca_once_value(builder, nothing) for _ in range(registers)]
            for one in sums:
                builder.store(nothing, one)
            with cgutils.for_range(builder, n_taps) as loop:
                first = builder.add(at_, builder.load(builder.gep(offsets_, [loop.index])))
                weight = _repeated(builder, builder.load(builder.gep(weights_, [loop.index])), 16)
                for i, one in enumerate(sums):
                    values = _load(builder, source_, builder.add(first, INDEX(16 * i)), 16)
                    builder.store(builder.fadd(builder.load(one), builder.fmul(values, weight)), one)
            for i, one in enumerate(sums):
                _store(builder, builder.load(one), total_, builder.add(at_, INDEX(16 * i)))
            return context.get_dummy_value()

        return types.void(source, offsets, weights, total, types.int64), generate

    return add


MANY, FEW = 96, 16
add_many = intrinsic(_adder(MANY // 16))
"""``add_many(source, offsets, weights, total, at)``: total[i] = sum over k of weights[k] * source[i + offsets[k]] for
the MANY places i from at on; float32, the offsets int64."""
add_few = intrinsic(_adder(FEW // 16))
"""The same for FEW."""
