"""Lanes: several floating point numbers in one register, to compute several classes at once.

A lane is the place of one number in a vector register of the processor. Numba does not use vector registers for such
computations by itself. So this module teaches Numba a type for several lanes, how to load and store it, and how to
calculate with it; LLVM translates that for the processor. The number of lanes is the length of a tuple, `block`,
because the length of a tuple is known when a kernel is compiled.

The functions here are called from kernels only. They leave out the first argument, `_context`, which Numba gives.
"""

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any, cast

from llvmlite import ir  # type: ignore[import-untyped]  # it has no types
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model


def _intrinsic(definition: Callable[..., Any]) -> Callable[..., Any]:
    """Numba's decorator `intrinsic`; typed here because a kernel calls the function without its first argument."""
    return cast(Callable[..., Any], intrinsic(definition))


class _Lanes(types.Type):
    """Numba's type of several numbers in one register."""

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(name=f"lanes({width})")


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):
    """How the type is stored: as a vector of LLVM."""

    def __init__(self, manager: Any, lanes: Any) -> None:
        vector = ir.VectorType(ir.DoubleType(), lanes.width)
        super().__init__(manager, lanes, vector)  # type: ignore[no-untyped-call]  # Numba has no types here


@_intrinsic
def broadcast(_context: Any, number: Any, block: Any) -> Any:
    """The same number in every lane; there are as many lanes as `block` has elements."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = ir.Constant(context.get_value_type(signature.return_type), ir.Undefined)
        for lane in range(block.count):
            vector = builder.insert_element(vector, arguments[0], _lane(lane))
        return vector

    return _Lanes(block.count)(number, block), generate


@_intrinsic
def gather(_context: Any, table: Any, row: Any, block: Any) -> Any:
    """Read row `row` of a contiguous table, in the columns that `block` lists; each becomes a lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = ir.Constant(context.get_value_type(signature.return_type), ir.Undefined)
        for lane, address in enumerate(_addresses(context, builder, signature, arguments, block)):
            vector = builder.insert_element(vector, builder.load(address), _lane(lane))
        return vector

    return _Lanes(block.count)(table, row, block), generate


@_intrinsic
def load(_context: Any, table: Any, row: Any, block: Any) -> Any:
    """Read row `row` of a contiguous table that has as many columns as `block` has elements; each becomes a lane."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(_address(context, builder, signature, arguments, signature.return_type), align=8)

    return _Lanes(block.count)(table, row, block), generate


@_intrinsic
def store(_context: Any, table: Any, row: Any, lanes: Any) -> Any:
    """Overwrite row `row` of a contiguous table that has as many columns as there are lanes, with the lanes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _address(context, builder, signature, arguments, lanes), align=8)
        return context.get_dummy_value()

    return types.void(table, row, lanes), generate


@_intrinsic
def fetch(_context: Any, table: Any, row: Any, block: Any) -> Any:
    """Ask the processor to fetch row `row` of a contiguous table into its cache, because it will be used soon.

    The table has as many columns as `block` has elements.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = _address(context, builder, signature, arguments, _Lanes(block.count))
        for place in (0, 8 * block.count - 1):  # the first and the last byte, because a row may be in two cache lines
            _prefetch(builder, start, place)
        return context.get_dummy_value()

    return types.void(table, row, block), generate


@_intrinsic
def fetch_number(_context: Any, numbers: Any, place: Any) -> Any:
    """Ask the processor to fetch the number at a place of a contiguous array, because it will be used soon."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        _prefetch(builder, builder.gep(array.data, [arguments[1]]), 0)
        return context.get_dummy_value()

    return types.void(numbers, types.uint64), generate


@_intrinsic
def scatter(_context: Any, table: Any, row: Any, block: Any, lanes: Any) -> Any:
    """Overwrite row `row` of a contiguous table, in the columns that `block` lists, with the lanes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        for lane, address in enumerate(_addresses(context, builder, signature, arguments, block)):
            builder.store(builder.extract_element(arguments[3], _lane(lane)), address)
        return context.get_dummy_value()

    return types.void(table, row, block, lanes), generate


@_intrinsic
def larger(_context: Any, left: Any, right: Any) -> Any:
    """In every lane, the larger of both numbers."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *arguments), *arguments)

    return left(left, right), generate


@_intrinsic
def any_larger(_context: Any, left: Any, right: Any) -> Any:
    """Whether in any lane the left number is larger than the right one."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        mask = ir.IntType(left.width)
        lanes = builder.bitcast(builder.fcmp_ordered(">", *arguments), mask)
        return builder.icmp_unsigned("!=", lanes, ir.Constant(mask, 0))

    return types.boolean(left, right), generate


@_intrinsic
def distance(_context: Any, left: Any, right: Any) -> Any:
    """In every lane, the absolute difference of both numbers."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.select(
            builder.fcmp_ordered(">", *arguments), builder.fsub(*arguments), builder.fsub(*reversed(arguments))
        )

    return left(left, right), generate


@_intrinsic
def where_larger(_context: Any, left: Any, right: Any, then: Any, otherwise: Any) -> Any:
    """In every lane, `then` if the left number is larger than the right one, and `otherwise` if it is not."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *arguments[:2]), *arguments[2:])

    return left(left, right, then, otherwise), generate


@_intrinsic
def total(_context: Any, lanes: Any) -> Any:
    """The sum of all lanes, added from the first to the last."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return reduce(builder.fadd, _numbers(builder, arguments[0], lanes))

    return types.float64(lanes), generate


@_intrinsic
def largest(_context: Any, lanes: Any) -> Any:
    """The largest number of all lanes."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        def the_larger(left: Any, right: Any) -> Any:
            return builder.select(builder.fcmp_ordered(">", left, right), left, right)

        return reduce(the_larger, _numbers(builder, arguments[0], lanes))

    return types.float64(lanes), generate


@_intrinsic
def times_power_of_two(_context: Any, lanes: Any, powers: Any) -> Any:
    """Every lane times 2^n, where n, from -1077 to 0, is in the lowest twelve bits of the same lane of `powers`."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        numbers = context.get_value_type(lanes)
        bits = ir.VectorType(ir.IntType(64), lanes.width)
        # Multiply in two steps, by 2^(n + 64) and by 2^-64, because the smallest 2^n are below what the format can
        # hold.
        bias = ir.Constant(bits, [(1023 + 64) << 52] * lanes.width)
        shifted = builder.shl(builder.bitcast(arguments[1], bits), ir.Constant(bits, [52] * lanes.width))
        power = builder.bitcast(builder.add(shifted, bias), numbers)
        return builder.fmul(builder.fmul(arguments[0], power), ir.Constant(numbers, [2.0**-64] * lanes.width))

    return lanes(lanes, powers), generate


def _prefetch(builder: Any, start: Any, byte: int) -> None:
    """Fetch the cache line that is so many bytes behind an address."""
    bytes_, integer = ir.IntType(8).as_pointer(), ir.IntType(32)
    prefetch = builder.module.declare_intrinsic(
        "llvm.prefetch", [bytes_], ir.FunctionType(ir.VoidType(), [bytes_, integer, integer, integer])
    )
    address = builder.gep(builder.bitcast(start, bytes_), [ir.Constant(ir.IntType(64), byte)])
    builder.call(prefetch, [address, integer(0), integer(3), integer(1)])


def _numbers(builder: Any, vector: Any, lanes: Any) -> list[Any]:
    """The number in each lane."""
    return [builder.extract_element(vector, _lane(lane)) for lane in range(lanes.width)]


def _lane(lane: int) -> Any:
    """The index of a lane, as a constant of LLVM."""
    return ir.Constant(ir.IntType(32), lane)


def _address(context: Any, builder: Any, signature: Any, arguments: Any, lanes: Any) -> Any:
    """The address at which row `arguments[1]`, a 64-bit number, of table `arguments[0]` starts."""
    table = context.make_array(signature.args[0])(context, builder, arguments[0])
    offset = builder.mul(arguments[1], ir.Constant(ir.IntType(64), lanes.width))
    last = builder.add(offset, ir.Constant(ir.IntType(64), lanes.width - 1))
    _require_below(context, builder, last, table.nitems)
    return builder.bitcast(builder.gep(table.data, [offset]), context.get_value_type(lanes).as_pointer())


def _addresses(context: Any, builder: Any, signature: Any, arguments: Any, block: Any) -> list[Any]:
    """The addresses of the columns that `arguments[2]` lists, in row `arguments[1]` of table `arguments[0]`."""
    table = context.make_array(signature.args[0])(context, builder, arguments[0])
    width = builder.extract_value(table.shape, 1)
    start = builder.mul(arguments[1], width)
    columns = [builder.extract_value(arguments[2], lane) for lane in range(block.count)]
    _require_below(context, builder, arguments[1], builder.extract_value(table.shape, 0))
    for column in columns:
        _require_below(context, builder, column, width)
    return [builder.gep(table.data, [builder.add(start, column)]) for column in columns]


def _require_below(context: Any, builder: Any, index: Any, size: Any) -> None:
    """Raise `IndexError` if an index is negative or not below a size, where Numba is to check: NUMBA_BOUNDSCHECK=1."""
    if context.enable_boundscheck:
        cgutils.do_boundscheck(context, builder, index, size)  # type: ignore[no-untyped-call]  # it has no types


def _define(operation: Callable[[Any, Any], Any], instruction: str) -> None:
    """Teach Numba an operator on lanes; `instruction` is the name of LLVM's instruction for it."""

    @_intrinsic
    def calculate(_context: Any, left: Any, right: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return getattr(builder, instruction)(*arguments)

        return left(left, right), generate

    @overload(operation, strict=False)
    def operate(left: Any, right: Any) -> Any:
        if isinstance(left, _Lanes) and isinstance(right, _Lanes):
            return lambda left, right: calculate(left, right)
        return None


_define(operator.add, "fadd")
_define(operator.sub, "fsub")
_define(operator.mul, "fmul")
_define(operator.truediv, "fdiv")
