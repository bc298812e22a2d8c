"""Four neighbouring values at a time, in one register: a pixel and one value more.

The compiler vectorises along a row only, which does not help where each pixel comes from elsewhere; these
functions say in its own language that the channels of a pixel are to be computed together.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

FLOATS = ir.VectorType(ir.FloatType(), 4)
BYTES = ir.VectorType(ir.IntType(8), 4)


def _four(builder: Any, data: Any, at: Any, kind: Any) -> Any:
    """Four values from there on, as floats."""
    place = builder.bitcast(builder.gep(data, [at]), kind.as_pointer())
    values = builder.load(place, align=1)
    return values if kind is FLOATS else builder.uitofp(values, FLOATS)


def _all_four(builder: Any, value: Any) -> Any:
    """The value four times."""
    one = builder.insert_element(ir.Constant(FLOATS, ir.Undefined), value, ir.IntType(32)(0))
    return builder.shuffle_vector(
        one, ir.Constant(FLOATS, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), 4), [0] * 4)
    )


def _between(builder: Any, a: Any, b: Any, share: Any) -> Any:
    """The mean of both, with that share of b."""
    return builder.fadd(a, builder.fmul(builder.fsub(b, a), share))


def _mixer(kind: Any) -> Any:
    """The weighted mean of four pixels of an array of that kind; see `mix_floats`."""

    def mix(typing: Any, flat: Any, corners: Any, shares: Any, out: Any, at: Any) -> Any:  # noqa: ARG001
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            flat_, corners_, shares_, out_, at_ = arguments
            source = context.make_array(signature.args[0])(context, builder, flat_).data
            target = context.make_array(signature.args[3])(context, builder, out_).data
            places = [builder.sext(one, ir.IntType(64)) for one in cgutils.unpack_tuple(builder, corners_)]
            a, b, c, d = (_four(builder, source, place, kind) for place in places)
            right, low = (_all_four(builder, one) for one in cgutils.unpack_tuple(builder, shares_))
            mean = _between(builder, _between(builder, a, b, right), _between(builder, c, d, right), low)
            place = builder.bitcast(builder.gep(target, [at_]), FLOATS.as_pointer())
            builder.store(mean, place, align=1)
            return context.get_dummy_value()

        four, two = types.UniTuple(types.int32, 4), types.UniTuple(types.float32, 2)
        return types.void(flat, four, two, out, types.int64), generate

    return mix


mix_bytes = intrinsic(_mixer(BYTES))
"""As `mix_floats`, of bytes."""
mix_floats = intrinsic(_mixer(FLOATS))
"""``mix_floats(flat, corners, shares, out, at)``: writes four values to out[at:], the bilinear mean of those that begin
at the corners (top left, top right, bottom left, bottom right; int32) with the shares of right and bottom, float32."""


@intrinsic  # type: ignore[untyped-decorator]
def mix_two(typing: Any, flat: Any, before: Any, share: Any, out: Any, at: Any) -> Any:  # noqa: ARG001
    """``mix_two(flat, before, share, out, at)``: writes four values to out[at:].

    They are the mean of the pixel that begins at flat[before] (int32) and the next, that with the share (float32).
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        flat_, before_, share_, out_, at_ = arguments
        source = context.make_array(signature.args[0])(context, builder, flat_).data
        target = context.make_array(signature.args[3])(context, builder, out_).data
        first = builder.sext(before_, ir.IntType(64))
        a, b = (_four(builder, source, builder.add(first, ir.IntType(64)(step)), FLOATS) for step in (0, 3))
        mean = _between(builder, a, b, _all_four(builder, share_))
        builder.store(mean, builder.bitcast(builder.gep(target, [at_]), FLOATS.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(flat, types.int32, types.float32, out, types.int64), generate
