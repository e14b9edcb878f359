"""Yao's garbled circuits with half gates: two blocks for an and gate, nothing for an exclusive or.

Claim: whoever holds one label for every input wire computes one label for every output wire, and learns from labels and
tables nothing about any value but what decoding bits tell; where the hash is circular correlation robust.

Source: Zahur, Rosulek, Evans 2015 (half gates); Kolesnikov, Schneider 2008 (free exclusive or); Beaver, Micali, Rogaway
1990 (point and permute: the lowest bit of a label says which row of a table it opens). The label of 1 is the label of 0
xor one offset, whose lowest bit is 1. All gates of a layer are hashed in one call.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.collaborate.primitives.circuit import CONSTANTS, Circuit
from sfumato.collaborate.primitives.fixed_key_hash import BLOCK, Blocks, FixedKeyHash
from sfumato.collaborate.primitives.ristretto_points import Draw

TABLE = 2 * BLOCK
"""Bytes of the table of an and gate."""
LOWEST = np.uint64(1)


def fresh_offset(draw: Draw) -> Blocks:
    """A random block whose lowest bit is 1."""
    offset = np.frombuffer(draw(BLOCK), np.uint64).reshape(1, 2).copy()
    offset[0, 0] |= LOWEST
    return offset


def garbled(
    circuit: Circuit, hashed: FixedKeyHash, offset: Blocks, evaluator: Blocks, draw: Draw
) -> tuple[Blocks, Blocks]:
    """The labels of 0 of all wires, and the tables of all and gates, two blocks each.

    ``evaluator`` has the labels of 0 of the evaluator's inputs; those of the garbler's and of constants are drawn.
    """
    own = CONSTANTS + circuit.garbler_inputs
    labels = np.empty((circuit.wires, 2), np.uint64)
    labels[:own] = np.frombuffer(draw(BLOCK * own), np.uint64).reshape(-1, 2)
    labels[own : circuit.inputs] = evaluator
    tables = np.empty((circuit.ands, 2, 2), np.uint64)
    done = 0
    for layer, xors, ands in circuit.steps():
        np.bitwise_xor(labels[layer.xor_left], labels[layer.xor_right], out=labels[xors])
        count = len(layer.and_left)
        if count:
            left, right = labels[layer.and_left], labels[layer.and_right]
            labels[ands] = _garbled_gates(hashed, offset, left, right, done, tables[done : done + count])
            done += count
    return labels, tables.reshape(-1, 2)


def opened(circuit: Circuit, hashed: FixedKeyHash, inputs: Blocks, tables: Blocks) -> Blocks:
    """One label of every wire, from one label of every input and the tables."""
    labels = np.empty((circuit.wires, 2), np.uint64)
    labels[: circuit.inputs] = inputs
    gates = tables.reshape(-1, 2, 2)
    done = 0
    for layer, xors, ands in circuit.steps():
        np.bitwise_xor(labels[layer.xor_left], labels[layer.xor_right], out=labels[xors])
        count = len(layer.and_left)
        if count:
            left, right = labels[layer.and_left], labels[layer.and_right]
            labels[ands] = _opened_gates(hashed, left, right, done, gates[done : done + count])
            done += count
    return labels


def colours(labels: Blocks) -> NDArray[np.uint8]:
    """The lowest bit of each label."""
    return (labels[:, 0] & LOWEST).astype(np.uint8)


def _garbled_gates(
    hashed: FixedKeyHash, offset: Blocks, left: Blocks, right: Blocks, first: int, tables: Blocks
) -> Blocks:
    """The labels of 0 of the outputs; the tables are written: first the garbler's half gate, then the evaluator's."""
    count = len(left)
    blocks = np.concatenate([left, left ^ offset, right, right ^ offset])
    left0, left1, right0, right1 = hashed(blocks, _tweaks(first, count, twice=True)).reshape(4, count, 2)
    left_colour, right_colour = _masks(left), _masks(right)
    tables[:, 0] = left0 ^ left1 ^ (right_colour & offset)
    tables[:, 1] = right0 ^ right1 ^ left
    found: Blocks = left0 ^ right0 ^ (left_colour & tables[:, 0]) ^ (right_colour & (right0 ^ right1))
    return found


def _opened_gates(hashed: FixedKeyHash, left: Blocks, right: Blocks, first: int, tables: Blocks) -> Blocks:
    count = len(left)
    own, other = hashed(np.concatenate([left, right]), _tweaks(first, count, twice=False)).reshape(2, count, 2)
    found: Blocks = own ^ other ^ (_masks(left) & tables[:, 0]) ^ (_masks(right) & (tables[:, 1] ^ left))
    return found


def _masks(labels: Blocks) -> Blocks:
    """All ones where the colour is 1, as a column."""
    found: Blocks = np.uint64(0) - (labels[:, :1] & LOWEST)
    return found


def _tweaks(first: int, count: int, *, twice: bool) -> NDArray[np.uint64]:
    """Even numbers for left inputs, odd ones for right inputs, each gate its own."""
    even = np.arange(2 * first, 2 * (first + count), 2, dtype=np.uint64)
    odd = even + LOWEST
    return np.concatenate([even, even, odd, odd] if twice else [even, odd])
