"""Primitives of several parties: seconds of CPU of each party and bytes sent, beside naive ways and peers in one run.

All parties run in one process; the seconds of each are counted while its own talk computes. Base transfers are paid
once for two parties and stand by themselves. Slow ways are measured on a sample and scaled. MPyC runs three processes
of its own, if it can be installed; its seconds are those of one process, without starting Python.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gmpy2
import numpy as np

from measure import table
from sfumato.core.randomness import fresh_key
from sfumato.parties.circuit_arithmetic import less
from sfumato.parties.circuits import CircuitBuilder
from sfumato.parties.conversation import Talk
from sfumato.parties.garbled_circuits import fresh_offset, garbled, ready_to_compute
from sfumato.parties.gmw import ready_to_share
from sfumato.parties.oblivious_polynomial import receive_polynomial, send_polynomial
from sfumato.parties.oblivious_transfer import (
    FixedKeyHash,
    receive_base,
    receive_chosen,
    receive_many,
    send_base,
    send_chosen,
    send_many,
)
from sfumato.parties.random_selection import random_value, selected
from sfumato.parties.scalar_product import product_of_bits, product_of_numbers
from sfumato.parties.secure_maximum import compare, joint_maximum_of_values, maximum_of_shares, maximum_of_values
from sfumato.parties.secure_sum import agree_keys, secure_sum
from sfumato.parties.secure_union import secure_union
from sfumato.parties.set_intersection import intersect_receiving, intersect_sending, points_receiving, points_sending
from sfumato.parties.simulation import seats, together

COUNTRY, MILLION = 45_222, 1_000_000
"""The complete records of Adult, and a million."""
REPEAT = 3
HEADERS = (
    "what",
    "first party, s",
    "second party, s",
    "sent by both, MB",
    "other way",
    "its CPU of a party, s",
    "ratio",
)


@dataclass
class Side:
    """What one party did."""

    cpu: float = 0.0
    sent: int = 0


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table."""

    what: str
    sides: Sequence[Side]
    others: Sequence[tuple[str, float]] = field(default_factory=tuple)

    def cells(self) -> list[list[object]]:
        """As lines of Markdown, one for every other way."""
        slowest = max(side.cpu for side in self.sides)
        own = [
            self.what,
            *(f"{side.cpu:.4f}" for side in self.sides[:2]),
            f"{sum(s.sent for s in self.sides) / 1e6:.2f}",
        ]
        if not self.others:
            return [[*own, "", "", ""]]
        return [
            [*(own if at == 0 else [""] * 4), name, f"{cpu:.3g}", f"{cpu / slowest:,.1f}"]
            for at, (name, cpu) in enumerate(self.others)
        ]


def watched(talk: Talk[Any], side: Side) -> Talk[Any]:
    """The same talk, whose seconds and bytes are counted."""
    answer: Any = None
    while True:
        start = time.process_time()
        try:
            step = talk.send(answer)
        except StopIteration as over:
            side.cpu += time.process_time() - start
            return over.value
        side.cpu += time.process_time() - start
        side.sent += sum(map(len, step.send.values()))
        answer = yield step


def best(make: Callable[[], Sequence[Talk[Any]]], repeat: int = REPEAT) -> tuple[list[Any], list[Side]]:
    """What the talks return, and the cheapest of some runs."""
    runs = []
    for _ in range(repeat):
        talks = make()
        sides = [Side() for _ in talks]
        results = together([watched(talk, side) for talk, side in zip(talks, sides, strict=True)])
        runs.append((sides, results))
    sides, results = min(runs, key=lambda run: sum(side.cpu for side in run[0]))
    return results, sides


def words(count: int) -> np.ndarray:
    """Random numbers of 64 bits."""
    return np.frombuffer(fresh_key(8 * count), np.uint64)


def bits(count: int) -> np.ndarray:
    """Random bits."""
    return np.frombuffer(fresh_key(count), np.uint8) & 1


def seconds(call: Callable[[], object]) -> float:
    """CPU of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def sums(peer: dict[str, float]) -> list[Row]:
    """Sums, unions and polynomials."""
    places = seats(3)
    keys = together([agree_keys(place) for place in places])
    values = [words(MILLION).view(np.int64) for _ in places]
    talks = lambda: [secure_sum(*one) for one in zip(places, keys, values, strict=True)]  # noqa: E731
    others = [("MPyC, 3 parties, 100,000 counts scaled", 10 * peer["sum 100000"])] if "sum 100000" in peer else []
    rows = [Row(what="sum of a million counts of 3 parties", sides=best(talks)[1], others=others)]
    items = [[b"item %d" % (at * step) for at in range(1000)] for step in (1, 2, 3)]
    _, sides = best(lambda: [secure_union(place, own) for place, own in zip(places, items, strict=True)], 1)
    rows.append(Row(what="union of 3 x 1,000 items", sides=sides))
    _, sides = best(lambda: [receive_polynomial(1, 12345, 10), send_polynomial(0, list(range(1, 12)))])
    rows.append(Row(what="polynomial of degree 10", sides=sides))
    return rows


def transfers() -> list[Row]:
    """Base transfers, extended ones, one of many."""
    one, other = seats(2)
    ready, sides = best(lambda: [ready_to_compute(one, 1), ready_to_compute(other, 0)])
    rows = [Row(what="128 base transfers, once", sides=sides)]
    count = 100_000
    zeros = np.frombuffer(fresh_key(16 * count), np.uint8).reshape(count, 16)
    choices = bits(count)
    _, sides = best(lambda: [send_chosen(ready[0], zeros, zeros), receive_chosen(ready[1], choices, 16)])
    sample = 500
    _, naive = best(lambda: [send_base(one, 1, sample), receive_base(other, 0, [0, 1] * (sample // 2))], 1)
    slow = max(side.cpu for side in naive) * count / sample
    rows.append(Row(what="100,000 transfers of 16 bytes", sides=sides, others=[("a base transfer for each", slow)]))
    messages = zeros[:1024]
    _, sides = best(lambda: [send_many(ready[0], messages, 10), receive_many(ready[1], range(10), 1024, 16)])
    rows.append(Row(what="10 of 1,024 messages", sides=sides))
    return rows


def paillier(sample: int = 60) -> dict[str, float]:
    """Seconds for one bit of a scalar product by Paillier's scheme, for the party that has more to do.

    One party encrypts its bits, by a full exponent or a short one (Damgard, Jurik, Nielsen 2010); the other raises each
    to its number.
    """
    p, q = (gmpy2.next_prime(int.from_bytes(fresh_key(128), "big") | 1 << 1023) for _ in range(2))
    n = p * q
    square = n * n
    chosen = bits(sample).tolist()
    ciphers: list[Any] = []
    base = gmpy2.powmod(-(gmpy2.mpz(int.from_bytes(fresh_key(256), "big")) ** 2) % n, n, square)

    def encrypt(short: bool) -> None:
        ciphers.clear()
        for bit in chosen:
            r = gmpy2.mpz(int.from_bytes(fresh_key(32 if short else 256), "big"))
            mask = gmpy2.powmod(base, r, square) if short else gmpy2.powmod(r % n, n, square)
            ciphers.append((1 + bit * n) * mask % square)

    def multiply() -> None:
        total = gmpy2.mpz(1)
        for cipher, number in zip(ciphers, words(sample).tolist(), strict=True):
            total = total * gmpy2.powmod(cipher, number, square) % square

    full, short = seconds(lambda: encrypt(False)), seconds(lambda: encrypt(True))
    other = seconds(multiply)
    names = ("Paillier, 2048 bits, scaled", "the same with short exponents")
    return {name: max(own, other) / sample for name, own in zip(names, (full, short), strict=True)}


def products(peer: dict[str, float]) -> list[Row]:
    """Scalar products of a vector of bits and one of numbers."""
    one, other = seats(2)
    ready = together([ready_to_compute(one, 1), ready_to_compute(other, 0)])
    each = paillier()
    rows = []
    for count in (COUNTRY, MILLION):
        numbers, chosen = words(count), bits(count)
        shares, sides = best(
            lambda n=numbers, c=chosen: [product_of_numbers(ready[0], n), product_of_bits(ready[1], c)]
        )
        assert sum(shares) % 2**64 == int((numbers * chosen).sum(dtype=np.uint64))
        others = [(name, one * count) for name, one in each.items()]
        others += [("MPyC, 3 parties", peer[f"product {count}"])] if f"product {count}" in peer else []
        rows.append(Row(what=f"scalar product of {count:,}", sides=sides, others=others))
    return rows


def one_by_one(comparisons: int = 4) -> float:
    """Seconds to garble one comparison when comparisons are garbled one after the other."""
    build = CircuitBuilder()
    found = less(build, build.garbler_input(1, 64), build.evaluator_input(1, 64), flat=False)
    circuit = build.circuit(evaluator=found)
    hashed, offset = FixedKeyHash(bytes(32), "bench"), fresh_offset(fresh_key)
    theirs = words(128).reshape(-1, 2)
    return (
        seconds(lambda: [garbled(circuit, hashed, offset, theirs, fresh_key) for _ in range(comparisons)]) / comparisons
    )


def circuits(peer: dict[str, float]) -> list[Row]:
    """Comparisons, maxima, random values and choices."""
    one, other = seats(2)
    ready = together([ready_to_compute(one, 1), ready_to_compute(other, 0)])
    rows = []
    for count in (1, 1000):
        ours, theirs = words(count), words(count)
        together([compare(ready[0], ours), compare(ready[1], theirs)])
        found, sides = best(lambda o=ours, t=theirs: [compare(ready[0], o), compare(ready[1], t)])
        assert (found[0] == (ours < theirs)).all()
        others = [("one after the other", one_by_one() * count)] if count > 1 else []
        others += [("MPyC, 3 parties", peer[f"compare {count}"])] if peer else []
        rows.append(Row(what=f"{count:,} comparison{'s' * (count > 1)} of 64 bits", sides=sides, others=others))
    ours, theirs = words(256), words(256)
    for what, talks in (
        (
            "maximum of 512 numbers",
            lambda: [maximum_of_values(ready[0], ours, 256), maximum_of_values(ready[1], theirs, 256)],
        ),
        (
            "maximum of 256 shared numbers",
            lambda: [maximum_of_shares(ready[0], ours), maximum_of_shares(ready[1], theirs)],
        ),
        ("random value below a shared number", lambda: [random_value(ready[0], 2**40), random_value(ready[1], 7)]),
        (
            "one of 100 by shared weights",
            lambda: [selected(ready[0], [2**40] * 100), selected(ready[1], list(range(100)))],
        ),
    ):
        together(talks())
        rows.append(Row(what=what, sides=best(talks)[1]))
    everybody = together([ready_to_share(place) for place in seats(3)])
    parts = [words(34), words(33), words(33)]
    sizes = [len(part) for part in parts]
    make = lambda: [joint_maximum_of_values(e, p, sizes) for e, p in zip(everybody, parts, strict=True)]  # noqa: E731
    together(make())
    others = [("MPyC, 3 parties", peer["maximum 100"])] if peer else []
    rows.append(Row(what="maximum of 100 numbers of 3 parties", sides=best(make)[1], others=others))
    return rows


def intersections() -> list[Row]:
    """Identifiers of two parties, half of them common."""
    one, other = seats(2)
    sample = 1000
    names = [f"person {at}" for at in range(2 * MILLION)]
    _, slow = best(lambda: [points_receiving(one, 1, names[:sample]), points_sending(other, 0, names[500:1500])], 1)
    each = max(side.cpu for side in slow) / sample
    rows = []
    for count in (100_000, MILLION):
        ours, theirs = names[:count], names[count // 2 : count // 2 + count]
        found, sides = best(
            lambda o=ours, t=theirs: [intersect_receiving(one, 1, o), intersect_sending(other, 0, t)], 1
        )
        assert len(found[0]) == count // 2
        others = [("Diffie-Hellman on ristretto255, scaled", each * count)]
        rows.append(Row(what=f"intersection of {count:,} identifiers", sides=sides, others=others))
    return rows


MPYC = """
import time
import numpy as np
from mpyc.runtime import mpc

def vector(count, step, below):
    return kind.array(np.array([at * step % below for at in range(count)], dtype=object))

def held(count, party, below=1000003):
    return mpc.input(vector(count, 7919 + party, below), senders=party)

async def main():
    await mpc.start()
    for name, work in (
        ("compare 1", lambda: mpc.np_less(held(1, 0), held(1, 1))),
        ("compare 1000", lambda: mpc.np_less(held(1000, 0), held(1000, 1))),
        ("product 45222", lambda: held(45222, 0, 2) @ held(45222, 1)),
        ("sum 100000", lambda: held(100000, 0) + held(100000, 1) + held(100000, 2)),
        ("maximum 100", lambda: mpc.argmax(mpc.input([kind(at * 7919 % 1000003) for at in range(100)], senders=0))[0]),
    ):
        best = None
        for _ in range(2):
            start = time.process_time()
            await mpc.output(work())
            spent = time.process_time() - start
            best = spent if best is None else min(best, spent)
        if mpc.pid == 0:
            print(f"{name}: {best}", flush=True)
    await mpc.shutdown()

kind = mpc.SecInt(64)
mpc.run(main())
"""


def mpyc() -> dict[str, float]:
    """Seconds of one of three processes of MPyC; nothing where it cannot be had."""
    with tempfile.TemporaryDirectory() as found:
        place = Path(found)
        python = os.environ.get("MPYC_PYTHON")
        if python is None:
            venv.create(place / "env", with_pip=True)
            python = str(place / "env/bin/python")
            if subprocess.run([python, "-m", "pip", "install", "-q", "mpyc", "gmpy2", "numpy"], check=False).returncode:
                return {}
        (place / "peer.py").write_text(MPYC)
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            [python, "peer.py", "-M3", "--no-log"],
            cwd=place, env=clean, capture_output=True, text=True, check=False, timeout=600,
        )  # fmt: skip
    lines = (line.split(": ") for line in done.stdout.splitlines() if ": " in line)
    return {name: float(value) for name, value in lines}


def main() -> str:
    """All primitives."""
    peer = mpyc()
    rows = [*sums(peer), *transfers(), *products(peer), *circuits(peer), *intersections()]
    return table("Primitives of several parties", HEADERS, [line for row in rows for line in row.cells()])


if __name__ == "__main__":
    sys.stdout.write(main())
