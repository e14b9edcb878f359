"""DiffGen by two parties over loopback with TLS: CPU, bytes and rounds by rows and specializations, both partitions."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from measure import table
from sfumato.algorithms.diffgen import DiffGen
from sfumato.algorithms.private_table import PrivateTable
from sfumato.core.run_context import Work
from sfumato.papers.diffgen_adult import behind, domains, private
from sfumato.papers.setup import CLASS, adult_data
from sfumato.parties.diffgen.pair import SHARED, get_ready
from sfumato.parties.diffgen.polynomial_choice import chosen_by_polynomials
from sfumato.parties.diffgen.selection import Shape, chosen, flipped, joint_inputs
from sfumato.parties.diffgen.two_parties import HeldColumns, run_horizontal_pair, run_vertical_pair
from sfumato.parties.network.certificates import Address, PartyCard, PartyKey
from sfumato.parties.network.session import Limits, Place, Session
from sfumato.parties.network.tcp import NetworkConversation
from sfumato.parties.simulation import ThreadConversation, in_threads

ROWS, STEPS = (1_000, 10_000, 30_162), (2, 5, 10)
TAXATION = ("hours-per-week", "capital-gain", "capital-loss", "workclass", "occupation")
"""The columns of the thesis's second party (table 5.5)."""
STATED = {"horizontal": "h k log F", "vertical": "2^h n"}
"""Encryptions, as propositions 7.3 and 7.6 bound them."""
LIMITS = Limits(join=120, silence=300, step=300)


def main() -> str:
    """Two tables."""
    heads = ("partition", "rows", "h", "groups", "CPU of one party", "of the other", "sent by both", "rounds",
             "stated cost")  # fmt: skip
    lines = [_over_tls(way, rows, h) for way in ("horizontal", "vertical") for rows in ROWS for h in STEPS]
    first = table("DiffGen by two parties on Adult, over loopback with TLS, epsilon = 1", heads, lines)
    heads = ("candidates", "permute and flip, CPU of both", "sent", "exponential, one circuit", "sent",
             "exponential, polynomials", "sent")  # fmt: skip
    return (
        first
        + NOTE.format(data=adult_data().words)
        + table("A choice of two parties, three ways", heads, [_ways(n) for n in (2, 5, 10, 40)])
    )


NOTE = """
{data} Two processes of this machine, mutual TLS 1.3; CPU is that of the session alone, with shared noise and the
exponential mechanism in one circuit. Sent are bytes without frames and TLS. The horizontal parties hold every second
row; the vertical ones the columns of document 003, table 5.5. Stated is what the thesis bounds encryptions by: `k`
candidates, `F` the sum of weights, `n` rows. Split points of six numbers are among the choices: up to 199 candidates in
one circuit.

"""


def _over_tls(way: str, rows: int, h: int) -> list[Any]:
    """One release; both parties must have made the same."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, port in zip("ab", _free_ports(), strict=True):
            PartyKey.new(name, Address(host="127.0.0.1", port=port)).write(folder)
        asked = json.dumps({"folder": place, "way": way, "rows": rows, "h": h})
        running = [
            subprocess.Popen([sys.executable, __file__, "party", str(me), asked], stdout=subprocess.PIPE)
            for me in (0, 1)
        ]
        found = [json.loads(one.communicate()[0]) for one in running]
    if found[0]["counts"] != found[1]["counts"]:
        raise RuntimeError("the parties made different releases")
    sent = sum(one["sent"] for one in found)
    return [way, f"{rows:,}", h, f"{found[0]['groups']:,}", *(f"{one['cpu']:.1f} s" for one in found),
            f"{sent / 1e6:,.1f} MB", found[0]["rounds"], STATED[way]]  # fmt: skip


def party(me: int, asked: dict[str, Any]) -> dict[str, Any]:
    """One party's side of a release, and what it took."""
    folder = Path(asked["folder"])
    whole = adult_table(asked["rows"], slice(me, None, 2) if asked["way"] == "horizontal" else slice(None))
    diffgen = DiffGen(epsilon=1, specializations=asked["h"], score="max")
    own: Any = whole if asked["way"] == "horizontal" else held(whole, me)
    run: Any = run_horizontal_pair if asked["way"] == "horizontal" else run_vertical_pair
    cards = [_place(folder, name) for name in "ab"]
    session = Session(protocol="counts", places=tuple(cards), limits=LIMITS)
    with NetworkConversation(session, me, folder / f"{'ab'[me]}.key") as talk:
        begin = time.process_time()
        made = run(talk, diffgen, own, Work(), noise=SHARED, choosing=chosen)
        cpu = time.process_time() - begin
        meter = talk.meter
        talk.finish()
    return {"cpu": cpu, "sent": meter.sent, "rounds": meter.rounds,
            "groups": made.keys.shape[1], "counts": made.counts.tolist()}  # fmt: skip


def _place(folder: Path, name: str) -> Place:
    card = PartyCard.load(folder / f"{name}.card")
    return Place(card=card, address=card.address, key=folder / f"{name}.key")


def _free_ports() -> list[int]:
    sockets = [socket.socket() for _ in range(2)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    found = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return found


def adult_table(rows: int, some: slice) -> PrivateTable:
    """The first rows of Adult, or some of them."""
    frame = adult_data().frame
    return private(frame[:rows][some], domains([name for name in frame.columns if name != CLASS]))


def held(whole: PrivateTable, me: int) -> HeldColumns:
    """One party's columns."""
    codes, kinds = behind(whole)
    owners = tuple(int(one.name in TAXATION) for one in whole.attributes)
    return HeldColumns(
        attributes=whole.attributes,
        owners=owners,
        codes={place: one for place, one in enumerate(codes) if owners[place] == me},
        classes=whole.classes,
        kinds=kinds,
        target_name=CLASS,
    )


def _ways(count: int) -> list[Any]:
    dice = np.random.default_rng(1)
    parts = [[dice.integers(0, 5000, (2, 2)) for _ in range(count)] for _ in range(2)]
    shape, cells = Shape(children=(2,) * count, classes=2), [f"{count}"]
    for way in (flipped, chosen, chosen_by_polynomials):

        def program(talk: ThreadConversation, way: Any = way) -> int:
            ready, before = get_ready(talk).ready, talk.meter.sent
            own = joint_inputs(parts[talk.seat.me], [0] * count)
            talk.run(way(ready, shape, own, Fraction(1, 52)))
            return talk.meter.sent - before

        begin = time.process_time()
        sent = sum(in_threads([program, program], seconds=600))
        cells += [f"{time.process_time() - begin:.2f} s", f"{sent / 1e6:.2f} MB"]
    return cells


if __name__ == "__main__":
    if sys.argv[1:2] == ["party"]:
        print(json.dumps(party(int(sys.argv[2]), json.loads(sys.argv[3]))))
    else:
        print(main())
