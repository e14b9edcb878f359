"""Boolean circuits as data: layers, a builder, packed bits and wires, and a plain evaluator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.core.errors import ParameterError

# Bit matrices turned from columns to rows and back, eight by eight bits in one word.
#
# Source: Warren 2012, Hacker's Delight, section 7-3. Bits are counted from the lowest of each byte.


Bytes = NDArray[np.uint8]
SWAPS = ((7, 0x00AA00AA00AA00AA), (14, 0x0000CCCC0000CCCC), (28, 0x00000000F0F0F0F0))
AT_ONCE = 1 << 11
"""Groups of eight positions that are turned in a fast cache."""


def rows_of(columns: Bytes) -> Bytes:
    """Row p holds bit p of every column; the number of columns is a multiple of 8.

    >>> rows_of(np.array([[1], [3], [0], [0], [0], [0], [0], [128]], np.uint8)).ravel()
    array([  3,   2,   0,   0,   0,   0,   0, 128], dtype=uint8)
    """
    count, length = columns.shape
    rows = np.empty((length, 8, count // 8), np.uint8)
    for at in range(0, length, AT_ONCE):
        chunk = columns[:, at : at + AT_ONCE]
        turned = _turned(chunk.reshape(count // 8, 8, -1).transpose(2, 0, 1))
        rows[at : at + AT_ONCE] = turned.transpose(0, 2, 1)
    return rows.reshape(8 * length, count // 8)


def columns_of(rows: Bytes) -> Bytes:
    """Column c holds bit c of every row; the number of rows is a multiple of 8.

    >>> some = np.arange(32, dtype=np.uint8).reshape(16, 2)
    >>> bool((rows_of(columns_of(some)) == some).all())
    True
    """
    length, count = len(rows) // 8, rows.shape[1]
    columns = np.empty((count, 8, length), np.uint8)
    for at in range(0, length, AT_ONCE):
        chunk = rows[8 * at : 8 * (at + AT_ONCE)]
        turned = _turned(chunk.reshape(-1, 8, count).transpose(0, 2, 1))
        columns[:, :, at : at + AT_ONCE] = turned.transpose(1, 2, 0)
    return columns.reshape(8 * count, length)


def packed(bits: NDArray[np.bool_] | Bytes) -> Bytes:
    """Bits as bytes, the last byte filled up with zeros."""
    return np.packbits(bits, axis=-1, bitorder="little")


def unpacked(content: bytes | Bytes, count: int) -> Bytes:
    """The first bits of bytes, as 0 and 1."""
    array = np.frombuffer(content, np.uint8) if isinstance(content, bytes) else content
    return np.unpackbits(array, axis=-1, count=count, bitorder="little")


def _turned(blocks: Bytes) -> Bytes:
    """Each 8 by 8 bits of the last axis, transposed."""
    words = np.array(blocks, order="C").view("<u8")[..., 0]
    for shift, mask in SWAPS:
        moved = (words ^ (words >> np.uint64(shift))) & np.uint64(mask)
        words ^= moved
        words ^= moved << np.uint64(shift)
    return words[..., None].view(np.uint8)


# Boolean circuits as data: layers of gates that depend on earlier layers only, and a plain evaluator.
#
# A circuit has the inputs of two parties, first those of the *garbler*, then those of the *evaluator*, and outputs for
# each of them. Wires are numbered in the order in which they get their values: two constants, the inputs, then layer
# by layer the outputs of exclusive-or gates and of and gates. What works on a circuit handles all gates of one kind
# and layer in one step.


Wires = NDArray[np.int64]
"""Numbers of wires."""
Bits = NDArray[np.uint8]
"""Values of wires, 0 and 1."""
ZERO, ONE = 0, 1
"""The wires that always carry 0 and 1."""
CONSTANTS = 2
"""How many such wires there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """Gates that may all be computed at once; each pair of arrays holds the gates' two inputs."""

    xor_left: Wires
    """First inputs of the exclusive-or gates."""
    xor_right: Wires
    """Second inputs of the exclusive-or gates."""
    and_left: Wires
    """First inputs of the and gates."""
    and_right: Wires
    """Second inputs of the and gates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circuit:
    """A Boolean circuit of two parties."""

    garbler_inputs: int
    """Bits that the garbler puts in."""
    evaluator_inputs: int
    """Bits that the evaluator puts in."""
    layers: tuple[Layer, ...]
    """Gates, in the order in which they are computed."""
    garbler_outputs: Wires
    """Wires whose values the garbler learns."""
    evaluator_outputs: Wires
    """Wires whose values the evaluator learns."""

    @property
    def inputs(self) -> int:
        """Wires that have a value before any gate: constants and inputs."""
        return CONSTANTS + self.garbler_inputs + self.evaluator_inputs

    @property
    def wires(self) -> int:
        """All wires."""
        return self.inputs + sum(len(layer.xor_left) + len(layer.and_left) for layer in self.layers)

    @property
    def ands(self) -> int:
        """And gates: what a garbled circuit costs."""
        return sum(len(layer.and_left) for layer in self.layers)

    def steps(self) -> Iterator[tuple[Layer, slice, slice]]:
        """Each layer with the wires that its exclusive-or gates and its and gates set."""
        at = self.inputs
        for layer in self.layers:
            middle = at + len(layer.xor_left)
            end = middle + len(layer.and_left)
            yield layer, slice(at, middle), slice(middle, end)
            at = end

    def check_inputs(self, garbler: int, evaluator: int) -> None:
        """Refuse inputs of another size than the circuit has."""
        taken = (self.garbler_inputs, self.evaluator_inputs)
        if (garbler, evaluator) != taken:
            raise ParameterError(f"the circuit takes {taken[0]} and {taken[1]} bits, not {garbler} and {evaluator}")


def evaluated(circuit: Circuit, garbler: Bits, evaluator: Bits) -> tuple[Bits, Bits]:
    """What the garbler and the evaluator learn, computed in the open."""
    circuit.check_inputs(len(garbler), len(evaluator))
    values = np.empty(circuit.wires, np.uint8)
    values[ZERO], values[ONE] = 0, 1
    values[CONSTANTS : circuit.inputs] = np.concatenate([garbler, evaluator])
    for layer, xors, ands in circuit.steps():
        values[xors] = values[layer.xor_left] ^ values[layer.xor_right]
        values[ands] = values[layer.and_left] & values[layer.and_right]
    return values[circuit.garbler_outputs], values[circuit.evaluator_outputs]


# Builds circuits from words: arrays of wires whose last axis is the binary digits, lowest first.
#
# Every operation takes whole arrays, so a thousand additions are built in as many steps as one. Gates whose inputs are
# constant or equal are left out. Exclusive or costs nothing in a garbled circuit, so the operations are written for
# few and gates: one for each digit of an addition (Kolesnikov, Sadeghi, Schneider 2009).


class CircuitBuilder:
    """A circuit that grows; inputs come first."""

    def __init__(self) -> None:
        """Nothing but the two constants."""
        self._sizes = [0, 0]
        self._levels = np.zeros(64, np.int64)
        self._count = CONSTANTS
        self._gates: list[tuple[bool, Wires, Wires, Wires]] = []

    def garbler_input(self, *shape: int) -> Wires:
        """Wires for bits of the garbler; all its inputs come before those of the evaluator."""
        if self._sizes[1]:
            raise ParameterError("the garbler's inputs come before the evaluator's")
        return self._input(0, shape)

    def evaluator_input(self, *shape: int) -> Wires:
        """Wires for bits of the evaluator."""
        return self._input(1, shape)

    def constant(self, number: int, width: int) -> Wires:
        """A public number."""
        return np.array([ONE if number >> at & 1 else ZERO for at in range(width)], np.int64)

    def xor(self, left: Wires, right: Wires) -> Wires:
        """Exclusive or, digit by digit."""
        a, b = np.broadcast_arrays(left, right)
        out = np.where(a == ZERO, b, a)
        out[a == b] = ZERO
        return self._gate(False, a, b, out, (a != ZERO) & (b != ZERO) & (a != b))

    def and_(self, left: Wires, right: Wires) -> Wires:
        """And, digit by digit."""
        a, b = np.broadcast_arrays(left, right)
        out = np.where(a == ONE, b, a)
        out[(a == ZERO) | (b == ZERO)] = ZERO
        return self._gate(True, a, b, out, (a > ONE) & (b > ONE) & (a != b))

    def not_(self, word: Wires) -> Wires:
        """The opposite of each digit."""
        return self.xor(word, np.full_like(word, ONE))

    def circuit(self, garbler: Wires | None = None, evaluator: Wires | None = None) -> Circuit:
        """The circuit whose outputs are these wires, in layers."""
        number = np.arange(self._count)
        layers = self._layers(number) if self._gates else ()
        outputs = [number[:0] if wires is None else number[np.asarray(wires).ravel()] for wires in (garbler, evaluator)]
        return Circuit(
            garbler_inputs=self._sizes[0],
            evaluator_inputs=self._sizes[1],
            layers=layers,
            garbler_outputs=outputs[0],
            evaluator_outputs=outputs[1],
        )

    def _layers(self, number: Wires) -> tuple[Layer, ...]:
        """Gates ordered by layer and kind; ``number`` is set to where each wire is found then."""
        kind = np.concatenate([np.full(len(out), is_and) for is_and, _, _, out in self._gates])
        left, right, out = (np.concatenate([gate[at] for gate in self._gates]) for at in (1, 2, 3))
        keys = 2 * self._levels[out] + kind
        order = np.argsort(keys, kind="stable")
        number[out[order]] = np.arange(len(order)) + CONSTANTS + sum(self._sizes)
        left, right, keys = number[left[order]], number[right[order]], keys[order]
        ends = np.searchsorted(keys, np.arange(2, keys[-1] // 2 * 2 + 3))
        return tuple(
            Layer(
                xor_left=left[at:middle],
                xor_right=right[at:middle],
                and_left=left[middle:end],
                and_right=right[middle:end],
            )
            for at, middle, end in zip(ends[:-1:2], ends[1::2], ends[2::2], strict=True)
        )

    def _input(self, party: int, shape: tuple[int, ...]) -> Wires:
        if self._gates:
            raise ParameterError("inputs come before gates")
        size = int(np.prod(shape))
        self._sizes[party] += size
        return self._fresh(size).reshape(shape)

    def _fresh(self, size: int) -> Wires:
        first, self._count = self._count, self._count + size
        if self._count > len(self._levels):
            larger = np.zeros(2 * self._count, np.int64)
            larger[: len(self._levels)] = self._levels
            self._levels = larger
        return np.arange(first, self._count)

    def _gate(self, kind: bool, left: Wires, right: Wires, out: Wires, real: Wires) -> Wires:
        """The wires ``out``, with fresh ones where a gate is really needed."""
        a, b = left[real], right[real]
        if len(a):
            fresh = self._fresh(len(a))
            self._levels[fresh] = np.maximum(self._levels[a], self._levels[b]) + 1
            self._gates.append((kind, a, b, fresh))
            out[real] = fresh
        return out


# Numbers as the bits of wires, lowest first, and back.


Numbers = Sequence[int] | NDArray[np.int64] | NDArray[np.uint64]
"""Whole numbers of any size, or arrays of them within 64 bits."""


def bits_of(numbers: Numbers, width: int, *, signed: bool = False) -> Bits:
    """The digits of each number in two's complement, one number a row; one that does not fit is refused.

    >>> bits_of([5, 0], 3).tolist(), bits_of([-1], 2, signed=True).tolist()
    ([[1, 0, 1], [0, 0, 0]], [[1, 1]])
    """
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    array = numbers if isinstance(numbers, np.ndarray) else np.array([int(number) for number in numbers], object)
    if array.size == 0:
        return np.empty((0, width), np.uint8)
    least, most = (int(array.min()), int(array.max()))
    if array.ndim != 1 or array.dtype.kind not in "iuO" or least < low or most > high:
        raise ParameterError(f"whole numbers from {low} to {high} are needed, not {least} to {most} of {array.dtype}")
    if array.dtype.kind != "O":
        words = array.astype(np.int64 if array.dtype.kind == "i" else np.uint64).view(np.uint8).reshape(-1, 8)
        filled = words if width <= 64 else np.hstack([words, np.repeat(_sign(array), -(-width // 8) - 8, axis=1)])
        return unpacked(filled, width)
    size = -(-width // 8)
    content = b"".join((int(number) % (1 << width)).to_bytes(size, "little") for number in numbers)
    return unpacked(np.frombuffer(content, np.uint8).reshape(-1, size), width)


def numbers_of(bits: Bits, *, signed: bool = False) -> list[int]:
    """The number of each row of digits."""
    width = bits.shape[-1]
    values = [int.from_bytes(row.tobytes(), "little") for row in packed(bits)]
    return [value - (1 << width) if signed and width and value >> width - 1 else value for value in values]


def _sign(array: NDArray[np.int64] | NDArray[np.uint64]) -> NDArray[np.uint8]:
    """255 for negative numbers and 0 for others: what fills up wider words."""
    return np.where(array < 0, np.uint8(255), np.uint8(0))[:, None]


# Many runs of one circuit in the open, side by side: for audits and simulations, not for parties.
#
# Eight runs share a byte of every wire, so a thousand runs take little longer than one.


RUNS_AT_ONCE = 1 << 12
"""So many runs are held in memory."""


def evaluated_runs(circuit: Circuit, garbler: Bits, evaluator: Bits) -> Bits:
    """Runs x outputs: what the evaluator learns in each run, from runs x inputs of both parties."""
    circuit.check_inputs(garbler.shape[1], evaluator.shape[1])
    inputs = np.concatenate([garbler, evaluator], axis=1)
    parts = [_some(circuit, inputs[at : at + RUNS_AT_ONCE]) for at in range(0, len(inputs), RUNS_AT_ONCE)]
    return np.concatenate([np.empty((0, len(circuit.evaluator_outputs)), np.uint8), *parts])


def _some(circuit: Circuit, inputs: Bits) -> Bits:
    runs = len(inputs)
    values = np.empty((circuit.wires, -(-runs // 8)), np.uint8)
    values[ZERO], values[ONE] = 0, 255
    values[CONSTANTS : circuit.inputs] = packed(np.ascontiguousarray(inputs.T))
    for layer, xors, ands in circuit.steps():
        values[xors] = values[layer.xor_left] ^ values[layer.xor_right]
        values[ands] = values[layer.and_left] & values[layer.and_right]
    return np.ascontiguousarray(unpacked(values[circuit.evaluator_outputs], runs).T)
