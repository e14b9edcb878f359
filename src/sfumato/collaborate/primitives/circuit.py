"""Boolean circuits as data: layers of gates that depend on earlier layers only, and a plain evaluator.

A circuit has the inputs of two parties, first those of the *garbler*, then those of the *evaluator*, and outputs for
each of them. Wires are numbered in the order in which they get their values: two constants, the inputs, then layer by
layer the outputs of exclusive-or gates and of and gates. What works on a circuit handles all gates of one kind and
layer in one step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.ground.errors import ParameterError

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
        return self.inputs + sum(len(one.xor_left) + len(one.and_left) for one in self.layers)

    @property
    def ands(self) -> int:
        """And gates: what a garbled circuit costs."""
        return sum(len(one.and_left) for one in self.layers)

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
