"""Circuits of any number of parties on shares (Goldreich, Micali, Wigderson)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.core.errors import SessionError
from sfumato.core.randomness import fresh_key
from sfumato.parties.circuits import CONSTANTS, ONE, Bits, Circuit, packed, unpacked
from sfumato.parties.conversation import Exchange, Leakage, Result, Seat, Talk, Told, to_all
from sfumato.parties.oblivious_transfer import (
    BLOCK,
    KeyStreams,
    Receiving,
    Sending,
    ready_to_receive,
    ready_to_send,
    receive_bits,
    send_bits,
)
from sfumato.parties.ristretto import Draw

# The same step with every other party at once, instead of one party after the other.


def side_by_side(talks: Mapping[int, Talk[Result]]) -> Talk[dict[int, Result]]:
    """What each talk returns, by the party that it is with; all have the same steps, and none another party."""
    results: dict[int, Result] = {}
    answers: dict[int, Mapping[int, bytes] | None] = dict.fromkeys(talks)
    while len(results) < len(talks):
        steps: dict[int, Exchange] = {}
        for peer, answer in answers.items():
            try:
                steps[peer] = talks[peer].send(answer)  # type: ignore[arg-type]  # None starts a generator
            except StopIteration as over:
                results[peer] = over.value
        if steps:
            came = yield _merged(steps)
        answers = {peer: {sender: came[sender] for sender in step.expect} for peer, step in steps.items()}
    return results


def _merged(steps: Mapping[int, Exchange]) -> Exchange:
    labels = sorted({step.label for step in steps.values()})
    if len(labels) > 1:
        raise SessionError(f"talks side by side are at different steps: {', '.join(labels)}")
    return Exchange(
        label=labels[0],
        send={peer: content for step in steps.values() for peer, content in step.send.items()},
        expect={peer: length for step in steps.values() for peer, length in step.expect.items()},
    )


# Any number of parties compute a circuit; each value on a wire is an exclusive or of shares, one for each party.
#
# Claim: everybody learns the circuit's outputs. Any parties together, all but one, learn nothing more about that one's
# input. Semi-honest.
#
# Source: Goldreich, Micali, Wigderson 1987, with the triples of Beaver 1991: random bits a, b and a and b, shared, one
# for each and gate, made beforehand from oblivious transfers between all pairs. An exclusive or is local; an and gate
# costs two bits to everybody, and all gates of a layer go in one step. Whoever has an input holds it as their share,
# and all others hold 0, so shares of outputs are masked anew before they are shown: an exclusive or of inputs would
# tell each of them otherwise.
#
# A circuit of several parties has all inputs, in order of the parties, as inputs of the garbler, and the common
# outputs as outputs of the garbler. Rounds are its layers of and gates, so flat operations are better here.


LAYER = "shares/layer"
OUTPUT = "shares/output"
SEEDS = "shares/seeds"

LEAKAGE = Leakage(
    protocol="circuit on shares",
    result=(Told(to="everybody", what="the outputs of the circuit"),),
    beyond=(Told(to="everybody", what="the circuit, which is public, and so the sizes of all inputs"),),
    withstands="any n - 1 of n parties",
    limits="a party that does not follow the protocol: it can change outputs unnoticed, and may stop before others "
    "learn them",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """A party that is ready for circuits with all others."""

    seat: Seat
    """Its place."""
    sending: Mapping[int, Sending]
    """Transfers to each other party."""
    receiving: Mapping[int, Receiving]
    """Transfers from each other party."""
    masks: Mapping[int, KeyStreams]
    """Streams that both this and the other party know: they hide shares of outputs, and cancel in their sum."""


def ready_to_share(seat: Seat, *, draw: Draw = fresh_key) -> Talk[Sharing]:
    """Base transfers between all pairs, in both directions, once for any number of circuits."""
    sending: dict[int, Sending] = {}
    receiving: dict[int, Receiving] = {}
    for turn in (False, True):
        upper, lower = _parted(seat, turn)
        talks: dict[int, Talk[Sending | Receiving]] = {}
        talks |= {peer: ready_to_send(seat, peer, draw=draw) for peer in upper}
        talks |= {peer: ready_to_receive(seat, peer, draw=draw) for peer in lower}
        for peer, ready in (yield from side_by_side(talks)).items():
            if isinstance(ready, Sending):
                sending[peer] = ready
            else:
                receiving[peer] = ready
    seeds = {peer: draw(BLOCK) for peer in seat.others}
    came = yield Exchange(label=SEEDS, send=seeds, expect=dict.fromkeys(seat.others, BLOCK))
    masks = {peer: KeyStreams([seeds[peer], came[peer]]) for peer in seat.others}
    return Sharing(seat=seat, sending=sending, receiving=receiving, masks=masks)


def compute_shared(
    ready: Sharing, circuit: Circuit, bits: Bits, sizes: Sequence[int], *, draw: Draw = fresh_key
) -> Talk[Bits]:
    """The common outputs; ``sizes`` says how many input bits each party has, and ``bits`` are one's own."""
    seat = ready.seat
    circuit.check_inputs(sum(sizes), 0)
    own = CONSTANTS + sum(sizes[: seat.me])
    shares = np.zeros(circuit.wires, np.uint8)
    shares[ONE] = seat.me == 0
    shares[own : own + sizes[seat.me]] = bits
    triples = yield from _triples(ready, circuit.ands, draw)
    done = 0
    for layer, xors, ands in circuit.steps():
        shares[xors] = shares[layer.xor_left] ^ shares[layer.xor_right]
        count = len(layer.and_left)
        if count:
            a, b, c = (part[done : done + count] for part in triples)
            masked = np.concatenate([shares[layer.and_left] ^ a, shares[layer.and_right] ^ b])
            left, right = (yield from _revealed(seat, LAYER, masked)).reshape(2, count)
            shares[ands] = c ^ (left & b) ^ (right & a) ^ (left & right if seat.me == 0 else np.uint8(0))
            done += count
    outputs = shares[circuit.garbler_outputs]
    for streams in ready.masks.values():
        for mask in streams.read(-(-len(outputs) // 8)):
            outputs ^= unpacked(mask, len(outputs))
    return (yield from _revealed(seat, OUTPUT, outputs))


def _triples(ready: Sharing, count: int, draw: Draw) -> Talk[tuple[Bits, Bits, Bits]]:
    """Shares of random bits a, b and of a and b."""
    a, b = (unpacked(draw(-(-count // 8)), count) for _ in range(2))
    c = a & b
    for turn in (False, True):
        upper, lower = _parted(ready.seat, turn)
        talks = {peer: send_bits(ready.sending[peer], a) for peer in upper}
        talks |= {peer: receive_bits(ready.receiving[peer], b) for peer in lower}
        for part in (yield from side_by_side(talks)).values():
            c ^= part
    return a, b, c


def _parted(seat: Seat, turn: bool) -> tuple[list[int], list[int]]:
    """Whom this party sends to, and from whom it receives: up first, down in the second turn."""
    upper = [peer for peer in seat.others if (peer > seat.me) != turn]
    return upper, [peer for peer in seat.others if peer not in upper]


def _revealed(seat: Seat, label: str, shares: Bits) -> Talk[Bits]:
    """The values of which everybody has a share."""
    content = packed(shares).tobytes()
    came = yield to_all(seat, label, content)
    total = np.frombuffer(content, np.uint8).copy()
    for part in came.values():
        total ^= np.frombuffer(part, np.uint8)
    return unpacked(total, len(shares))
