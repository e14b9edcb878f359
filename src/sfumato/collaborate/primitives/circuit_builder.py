"""Builds circuits from words: arrays of wires whose last axis is the binary digits, lowest first.

Every operation takes whole arrays, so a thousand additions are built in as many steps as one. Gates whose inputs are
constant or equal are left out. Exclusive or costs nothing in a garbled circuit, so the operations are written for few
and gates: one for each digit of an addition (Kolesnikov, Sadeghi, Schneider 2009).
"""

from __future__ import annotations

import numpy as np

from sfumato.collaborate.primitives.circuit import CONSTANTS, ONE, ZERO, Circuit, Layer, Wires
from sfumato.ground.errors import ParameterError


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
        outputs = [number[:0] if one is None else number[np.asarray(one).ravel()] for one in (garbler, evaluator)]
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
