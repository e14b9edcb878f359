"""What parties receive, real and simulated, and whether anybody can tell them apart.

A simulator knows a party's own input, its result and the declared leakage, and makes messages from nothing else. If no
test tells the messages of real runs from those of simulated runs, the party has seen nothing more.

Five tests for each label; with ``rate`` shared out among all, an honest protocol is blamed with a probability below it:

* the lengths of all messages are the same;
* every bit position has the same share of ones over the runs (Hoeffding's inequality);
* bytes have the same distribution (chi-square of two samples);
* so have differences of messages that follow each other in a run, xor and modulo 2^64: a mask used twice cancels there;
* no block of 8 bytes comes back more often.

Two more look at all messages of a run together, with the party's own coins among them (``joint_differences``):

* differences of every two messages, whatever their labels, have the same bytes: a mask that another message or one's
  own coins give away cancels there;
* every two bit positions agree equally often (Hoeffding's inequality).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise
from math import log, sqrt
from typing import Any

import numpy as np
from scipy.stats import chi2

from sfumato.parties.conversation import Talk, Transcript
from sfumato.parties.simulation import together

View = Mapping[str, Sequence[bytes]]
"""The messages that one party received in one run, by label, in order."""
RATE = 1e-9
"""How often an honest protocol is blamed, at most."""
FEWEST = 20
"""Bytes that each cell of a chi-square test expects at least."""


def received(transcript: Transcript) -> dict[str, list[bytes]]:
    """A party's view of a run."""
    view: dict[str, list[bytes]] = {}
    for message in transcript.received():
        view.setdefault(message.label, []).append(message.content)
    return view


def views(make: Callable[[], Sequence[Talk[Any]]], runs: int) -> list[list[dict[str, list[bytes]]]]:
    """For each party, what it receives in so many runs of fresh talks."""
    found: list[list[dict[str, list[bytes]]]] = []
    for _ in range(runs):
        talks = make()
        notes = [Transcript() for _ in talks]
        together(talks, notes)
        found.append([received(note) for note in notes])
    return [list(party) for party in zip(*found, strict=True)]


def indistinguishable(real: Sequence[View], simulated: Sequence[View], *, rate: float = RATE) -> bool:
    """Whether no test tells real views from simulated ones."""
    return not differences(real, simulated, rate=rate)


def differences(real: Sequence[View], simulated: Sequence[View], *, rate: float = RATE) -> list[str]:
    """What tells real views from simulated ones, as the label and the test that noticed."""
    labels = sorted({label for view in (*real, *simulated) for label in view})
    each = rate / (5 * max(1, len(labels)))
    found = []
    for label in labels:
        one, other = ([list(view.get(label, ())) for view in side] for side in (real, simulated))
        if {tuple(map(len, run)) for run in one} != {tuple(map(len, run)) for run in other}:
            found.append(f"{label}: lengths")
        elif any(map(len, one)):
            found += [f"{label}: {test.__name__}" for test in TESTS if test(one, other, each)]
    return found


PAIRS = 24
"""So many messages of a run are compared with each other, the first of each label first."""
BITS = 700
"""So many bits of a run are compared with each other, spread over all messages."""


def joint_differences(real: Sequence[View], simulated: Sequence[View], *, rate: float = RATE) -> list[str]:
    """What tells real views from simulated ones, label by label and taken together."""
    found = differences(real, simulated, rate=rate / 2)
    if any(one.endswith("lengths") for one in found):
        return found
    one, other = ([_in_turn(view) for view in side] for side in (real, simulated))
    names = [name for name, _ in one[0][:PAIRS]]
    pairs = list(combinations(range(len(names)), 2))
    for a, b in pairs:
        for operation, kind in ((np.bitwise_xor, np.uint8), (np.subtract, np.uint64)):
            sides = [
                _steps([(run[a][1], run[b][1]) for run in side], kind, operation, cut=True) for side in (one, other)
            ]
            if _differ(*map(_unequal, sides), rate / (8 * len(pairs))):
                found.append(f"{names[a]} and {names[b]}: {operation.__name__}")
    if _disagree(one, other, rate / 4):
        found.append("bits together")
    return found


def _unequal(content: bytes) -> bytes:
    """Differences without blocks of zeros: an item that two messages have in common makes many bytes equal at once."""
    blocks = np.frombuffer(content[: len(content) // 8 * 8], np.uint64)
    return blocks[blocks != 0].tobytes()


def _in_turn(view: View) -> list[tuple[str, bytes]]:
    """The messages of a run, the first of each label first."""
    every = [(at, label, message) for label, some in sorted(view.items()) for at, message in enumerate(some)]
    return [(label, message) for _, label, message in sorted(every, key=lambda one: one[:2])]


def _disagree(one: Sequence[Any], other: Sequence[Any], rate: float) -> bool:
    """Whether two bits of a run are equal more often on one side."""
    if len({sum(len(message) for _, message in run) for run in (*one, *other)}) > 1:
        return False
    sides = [np.stack([np.unpackbits(np.frombuffer(b"".join(m for _, m in run), np.uint8)) for run in side])
             for side in (one, other)]  # fmt: skip
    width = sides[0].shape[1]
    if not width:
        return False
    places = np.unique(np.linspace(0, width - 1, min(BITS, width)).astype(np.int64))
    signs = [2.0 * side[:, places] - 1 for side in sides]
    first, second = (side.T @ side / len(side) for side in signs)
    runs = 2 / (1 / len(one) + 1 / len(other))
    limit = 2 * sqrt(log(len(places) ** 2 / rate) / runs)
    return bool(np.abs(first - second).max() > limit)


Runs = Sequence[Sequence[bytes]]


def positions(one: Runs, other: Runs, rate: float) -> bool:
    """Whether the share of ones differs at some bit position."""
    if len({tuple(map(len, run)) for run in one}) > 1:
        return False
    shares = [_bits(runs).sum(axis=0, dtype=np.int32) / len(runs) for runs in (one, other)]
    if not shares[0].size:
        return False
    runs = 2 / (1 / len(one) + 1 / len(other))
    return bool(np.abs(shares[0] - shares[1]).max() > sqrt(log(2 * shares[0].size / rate) / runs))


def octets(one: Runs, other: Runs, rate: float) -> bool:
    """Whether bytes are distributed differently."""
    return _differ(b"".join(map(b"".join, one)), b"".join(map(b"".join, other)), rate)


def xors(one: Runs, other: Runs, rate: float) -> bool:
    """Whether messages that follow each other differ in another way, bit by bit."""
    return _differ(*(_steps(runs, np.uint8, np.bitwise_xor) for runs in (one, other)), rate)


def steps(one: Runs, other: Runs, rate: float) -> bool:
    """Whether messages that follow each other differ in another way, modulo 2^64."""
    return _differ(*(_steps(runs, np.uint64, np.subtract) for runs in (one, other)), rate)


def repeats(one: Runs, other: Runs, rate: float) -> bool:
    """Whether blocks of 8 bytes come back in other numbers; counts that chance alone makes differ by less than this."""
    real, simulated = (_repeated(runs) for runs in (one, other))
    return abs(real - simulated) > 3 + sqrt(2 * log(2 / rate) * (real + simulated))


TESTS = (positions, octets, xors, steps, repeats)


def _bits(runs: Runs) -> np.ndarray:
    return np.stack([np.unpackbits(np.frombuffer(b"".join(run), np.uint8)) for run in runs])


def _steps(runs: Runs, kind: Any, operation: Any, *, cut: bool = False) -> bytes:
    """Differences of neighbouring messages of one length in a run; or of their beginnings, as long as the shorter."""
    found = []
    for run in runs:
        for before, after in pairwise(run):
            size = min(len(before), len(after)) // np.dtype(kind).itemsize * np.dtype(kind).itemsize
            if (cut or len(before) == len(after)) and size:
                left, right = (np.frombuffer(part[:size], kind) for part in (before, after))
                found.append(operation(right, left).tobytes())
    return b"".join(found)


def _repeated(runs: Runs) -> int:
    blocks = b"".join(message[: len(message) // 8 * 8] for run in runs for message in run)
    return len(blocks) // 8 - len(np.unique(np.frombuffer(blocks, np.uint64)))


def _differ(one: bytes, other: bytes, rate: float) -> bool:
    """Chi-square of two samples of bytes; with few bytes, of their halves instead."""
    if min(len(one), len(other)) < 16 * FEWEST:
        return False
    cells = 256 if min(len(one), len(other)) >= 256 * FEWEST else 16
    counts = [
        np.bincount(np.frombuffer(side, np.uint8).astype(np.int64) % cells, minlength=cells) for side in (one, other)
    ]
    return two_sample(counts[0], counts[1]) < rate


def two_sample(one: np.ndarray, other: np.ndarray) -> float:
    """How likely two counts of the same cells differ as much by chance."""
    total = one + other
    used = total > 0
    ratio = sqrt(one.sum() / other.sum())
    square = ((one[used] / ratio - other[used] * ratio) ** 2 / total[used]).sum()
    return float(chi2.sf(square, max(1, used.sum() - 1)))


def random_like(view: View, draw: Callable[[int], bytes]) -> dict[str, list[bytes]]:
    """A view of the same labels and lengths in which every message is random: what masked messages look like."""
    return {label: [draw(len(message)) for message in messages] for label, messages in view.items()}
