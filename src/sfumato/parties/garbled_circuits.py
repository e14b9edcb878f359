"""Yao's garbled circuits with half gates, and the two-party protocol that evaluates them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.core.randomness import fresh_key
from sfumato.parties.circuits import CONSTANTS, ONE, Bits, Circuit, packed, unpacked
from sfumato.parties.conversation import Exchange, Leakage, Seat, Talk, Told
from sfumato.parties.oblivious_transfer import (
    BLOCK,
    Blocks,
    FixedKeyHash,
    Receiving,
    Sending,
    ready_to_receive,
    ready_to_send,
    receive_offset,
    send_offset,
)
from sfumato.parties.ristretto import Draw

# Yao's garbled circuits with half gates: two blocks for an and gate, nothing for an exclusive or.
#
# Claim: whoever holds one label for every input wire computes one label for every output wire, and learns from labels
# and tables nothing about any value but what decoding bits tell; where the hash is circular correlation robust.
#
# Source: Zahur, Rosulek, Evans 2015 (half gates); Kolesnikov, Schneider 2008 (free exclusive or); Beaver, Micali,
# Rogaway 1990 (point and permute: the lowest bit of a label says which row of a table it opens). The label of 1 is the
# label of 0 xor one offset, whose lowest bit is 1. All gates of a layer are hashed in one call.


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
    outputs: Blocks = left0 ^ right0 ^ (left_colour & tables[:, 0]) ^ (right_colour & (right0 ^ right1))
    return outputs


def _opened_gates(hashed: FixedKeyHash, left: Blocks, right: Blocks, first: int, tables: Blocks) -> Blocks:
    count = len(left)
    own, other = hashed(np.concatenate([left, right]), _tweaks(first, count, twice=False)).reshape(2, count, 2)
    outputs: Blocks = own ^ other ^ (_masks(left) & tables[:, 0]) ^ (_masks(right) & (tables[:, 1] ^ left))
    return outputs


def _masks(labels: Blocks) -> Blocks:
    """All ones where the colour is 1, as a column."""
    masks: Blocks = np.uint64(0) - (labels[:, :1] & LOWEST)
    return masks


def _tweaks(first: int, count: int, *, twice: bool) -> NDArray[np.uint64]:
    """Even numbers for left inputs, odd ones for right inputs, each gate its own."""
    even = np.arange(2 * first, 2 * (first + count), 2, dtype=np.uint64)
    odd = even + LOWEST
    return np.concatenate([even, even, odd, odd] if twice else [even, odd])


# Two parties compute a circuit on private inputs; each learns its own outputs and nothing else.
#
# Claim: the garbler learns the circuit's outputs for the garbler, the evaluator those for the evaluator. Semi-honest.
#
# Source: Yao 1986; Lindell, Pinkas 2009 for the proof. The evaluator gets the labels of its inputs by oblivious
# transfer, so the garbler does not learn them; the garbler sends labels of its own inputs, tables, and the colours of
# 0 of the evaluator's outputs. The evaluator sends back the colours of the garbler's outputs, which tell it nothing
# itself.


LABEL = "circuit/garbled"
BACK = "circuit/colours"

LEAKAGE = Leakage(
    protocol="garbled circuit",
    result=(
        Told(to="garbler", what="its outputs of the circuit"),
        Told(to="evaluator", what="its outputs of the circuit"),
    ),
    beyond=(Told(to="everybody", what="the circuit, which is public, and so the sizes of all inputs"),),
    withstands="either party alone",
    limits="a party that does not follow the protocol: a garbler may garble another circuit, and the evaluator, which "
    "sees outputs first, may stop before the garbler learns its own or tell it other ones",
)


def garble(ready: Sending, circuit: Circuit, bits: Bits, *, draw: Draw = fresh_key) -> Talk[Bits]:
    """The garbler's side, with its input; its outputs of the circuit."""
    circuit.check_inputs(len(bits), circuit.evaluator_inputs)
    hashed, offset = _hash(ready), fresh_offset(draw)
    theirs = yield from send_offset(ready, circuit.evaluator_inputs, offset)
    labels, tables = garbled(circuit, hashed, offset, theirs, draw)
    own = CONSTANTS + circuit.garbler_inputs
    values = np.concatenate([[0, ONE], bits]).astype(bool)
    active = labels[:own] ^ np.where(values[:, None], offset, np.uint64(0))
    decoding = packed(colours(labels[circuit.evaluator_outputs]))
    content = b"".join((active.tobytes(), tables.tobytes(), decoding.tobytes()))
    yield Exchange(label=LABEL, send={ready.peer: content})
    count = len(circuit.garbler_outputs)
    if not count:
        return np.empty(0, np.uint8)
    came = yield Exchange(label=BACK, expect={ready.peer: -(-count // 8)})
    return unpacked(came[ready.peer], count) ^ colours(labels[circuit.garbler_outputs])


def evaluate(ready: Receiving, circuit: Circuit, bits: Bits) -> Talk[Bits]:
    """The evaluator's side, with its input; its outputs of the circuit."""
    circuit.check_inputs(circuit.garbler_inputs, len(bits))
    hashed = _hash(ready)
    own = yield from receive_offset(ready, bits)
    ends = np.cumsum(
        [
            BLOCK * (CONSTANTS + circuit.garbler_inputs),
            TABLE * circuit.ands,
            -(-len(circuit.evaluator_outputs) // 8),
        ]
    ).tolist()
    came = yield Exchange(label=LABEL, expect={ready.peer: ends[-1]})
    content = came[ready.peer]
    active, tables = (
        np.frombuffer(part, np.uint64).reshape(-1, 2) for part in (content[: ends[0]], content[ends[0] : ends[1]])
    )
    labels = opened(circuit, hashed, np.concatenate([active, own]), tables)
    if len(circuit.garbler_outputs):
        yield Exchange(label=BACK, send={ready.peer: packed(colours(labels[circuit.garbler_outputs])).tobytes()})
    outputs = circuit.evaluator_outputs
    return unpacked(content[ends[1] :], len(outputs)) ^ colours(labels[outputs])


def ready_to_compute(seat: Seat, peer: int, *, draw: Draw = fresh_key) -> Talk[Sending | Receiving]:
    """Base transfers once for any number of circuits; of two parties the one with the lower number garbles."""
    if seat.me < peer:
        return (yield from ready_to_send(seat, peer, draw=draw))
    return (yield from ready_to_receive(seat, peer, draw=draw))


def compute(ready: Sending | Receiving, circuit: Circuit, bits: Bits, *, draw: Draw = fresh_key) -> Talk[Bits]:
    """One's own side of a circuit, garbler or evaluator; one's own outputs."""
    if isinstance(ready, Sending):
        return (yield from garble(ready, circuit, bits, draw=draw))
    return (yield from evaluate(ready, circuit, bits))


def _hash(ready: Sending | Receiving) -> FixedKeyHash:
    """A key of its own for each circuit: the number of transfers before it names it."""
    garbler = ready.seat.me if isinstance(ready, Sending) else ready.peer
    return FixedKeyHash(ready.seat.session, f"circuit of {garbler} after {ready.done} transfers")
