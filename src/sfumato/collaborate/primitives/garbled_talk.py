"""Two parties compute a circuit on private inputs; each learns its own outputs and nothing else.

Claim: the garbler learns the circuit's outputs for the garbler, the evaluator those for the evaluator. Semi-honest.

Source: Yao 1986; Lindell, Pinkas 2009 for the proof. The evaluator gets the labels of its inputs by oblivious transfer,
so the garbler does not learn them; the garbler sends labels of its own inputs, tables, and the colours of 0 of the
evaluator's outputs. The evaluator sends back the colours of the garbler's outputs, which tell it nothing itself.
"""

from __future__ import annotations

import numpy as np

from sfumato.collaborate.exchange import Exchange, Seat, Talk
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.primitives.bit_matrix import packed, unpacked
from sfumato.collaborate.primitives.circuit import CONSTANTS, ONE, Bits, Circuit
from sfumato.collaborate.primitives.extended_transfers import receive_offset, send_offset
from sfumato.collaborate.primitives.fixed_key_hash import BLOCK, FixedKeyHash
from sfumato.collaborate.primitives.garbling import TABLE, colours, fresh_offset, garbled, opened
from sfumato.collaborate.primitives.ristretto_points import Draw
from sfumato.collaborate.primitives.transfer_extension import Receiving, Sending, ready_to_receive, ready_to_send
from sfumato.ground.secret_key import fresh_key

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
