"""What a party sees of a release follows from its own records, the release and the declared leakage; and a twin.

Circuits, transfers and counts of pairs have tests of their own; here are the messages that are sent beside them, and
the lengths of all.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.algorithms.diffgen import DiffGen
from sfumato.algorithms.private_table import Mechanisms, PrivateTable
from sfumato.core.run_context import Work
from sfumato.parties import scalar_product
from sfumato.parties.conversation import Transcript
from sfumato.parties.diffgen import two_parties
from sfumato.parties.diffgen.pair import CountNoise
from sfumato.parties.diffgen.two_parties import run_horizontal_pair, run_vertical_pair
from sfumato.parties.simulation import ThreadConversation, in_threads
from tests.algorithms.diffgen_tables import JOB, JOBS, best, of_numbers, of_tree, table_of
from tests.parties.private_pair.plainly import held
from tests.parties.private_pair.seeded import dealt, seeded_choosing
from tests.parties.views import received

assert dealt
pytestmark = pytest.mark.usefixtures("dealt")
TOLD = ("counts/opened", "choice/told")
"""Messages that are not random."""
ASKED = DiffGen(score="max", epsilon=30, specializations=1)
FIRST = [("Engineer", 0, "Y"), ("Lawyer", 1, "Y"), ("Dancer", 2, "N"), ("Writer", 3, "N")]
"""The job tells the class, whatever the age is."""
SECOND = [("Lawyer", 3, "Y"), ("Lawyer", 2, "Y"), ("Writer", 1, "N"), ("Writer", 0, "N")]
"""Other records with the same professions by class."""


def people(rows: list[tuple[str, int, str]]) -> PrivateTable:
    jobs, ages, kinds = zip(*rows, strict=True)
    columns = [of_tree("job", JOBS, JOB, jobs), of_numbers("age", 0, 3, 1, ages)]
    return table_of(columns, "NY", ["NY".index(kind) for kind in kinds], "class")


def view(run: Any, sides: list[Any], me: int, noises: list[CountNoise]) -> dict[str, list[bytes]]:
    """What one party receives: told messages as they are, of others their lengths."""
    note = Transcript()

    def program(number: int) -> Callable[[ThreadConversation], Any]:
        def takes_part(talk: ThreadConversation) -> Any:
            talk.transcript = note if number == me else None
            extra = {"mechanisms": Mechanisms(choose=best)} if run is run_vertical_pair else {}
            return run(
                talk, ASKED, sides[number], Work(), noise=noises[number], choosing=seeded_choosing(number), **extra
            )

        return takes_part

    in_threads([program(number) for number in (0, 1)], session=b"one")
    found = received(note)
    return {label: [one if label in TOLD else bytes(len(one)) for one in some] for label, some in found.items()}


def fixed(value: int) -> CountNoise:
    def draw(shape: tuple[int, ...], epsilon: Fraction, parties: int) -> Any:
        return np.full(shape, value, np.int64)

    return CountNoise(name="fixed", draw=draw, whole=True)


class Filling:
    """Noise that makes one party's counts the same, whatever they are: records of one kind less, noise more."""

    def __init__(self, counts: list[list[int]], wanted: int) -> None:
        self.counts, self.wanted = np.array(counts), wanted

    def __call__(self, shape: tuple[int, ...], epsilon: Fraction, parties: int) -> Any:
        return self.wanted - self.counts


def test_a_horizontal_view_has_noisy_counts_only():
    """The other party has no professionals at all, or two, and its noise makes up for it: nothing else differs."""
    mine = people(FIRST)
    other = [people(rows) for rows in (SECOND, SECOND + FIRST)]
    counts = [[[0, 2], [2, 0]], [[0, 4], [4, 0]]]
    for me in (0, 1):
        seen = []
        for table, true in zip(other, counts, strict=True):
            noises = [fixed(0), CountNoise(name="filling", draw=Filling(true, 9), whole=True)]
            sides = [mine, table]
            if me == 1:
                noises, sides = noises[::-1], sides[::-1]
            seen.append(view(run_horizontal_pair, sides, me, noises))
        assert seen[0] == seen[1]


def test_counts_without_noise_are_seen():
    """The known-bad twin."""
    mine, other = people(FIRST), [people(rows) for rows in (SECOND, SECOND + FIRST)]
    bare = [view(run_horizontal_pair, [mine, table], 0, [fixed(0)] * 2) for table in other]
    assert bare[0]["counts/opened"] != bare[1]["counts/opened"]


def test_a_vertical_view_has_noisy_counts_only():
    """The other party's ages differ, which no release of professions shows."""
    owners, seen = (0, 1), []
    for rows in (FIRST, [(job, 3 - age, kind) for job, age, kind in FIRST]):
        table = people(rows)
        made = view(run_vertical_pair, [held(table, owners, me) for me in (0, 1)], 0, [fixed(0)] * 2)
        made["counts/opened"] = [bytes(len(one)) for one in made["counts/opened"]]
        made.pop("choice/told")
        seen.append(made)
    assert seen[0] == seen[1]


def test_opened_shares_are_random():
    """Two runs on the same records: noisy shares differ, as fresh transfers hide them; their sums do not."""
    table, found = people(FIRST), []
    for session in (b"a", b"b"):
        notes = [Transcript(), Transcript()]

        def program(me: int, notes: list[Transcript] = notes) -> Any:
            def takes_part(talk: ThreadConversation) -> Any:
                talk.transcript = notes[me]
                own = held(table, (0, 1), me)
                return run_vertical_pair(talk, ASKED, own, Work(), noise=fixed(0), choosing=seeded_choosing(me))

            return takes_part

        made = in_threads([program(me) for me in (0, 1)], session=session)
        sent = [np.frombuffer(note.received("counts/opened")[-1].content, "<i8") for note in notes]
        found.append((sent, made[0].counts.tolist()))
        assert ((sent[0] + sent[1]).astype(np.int32) >= 0).all()
    assert found[0][1] == found[1][1]
    assert not (found[0][0][0] == found[1][0][0]).any()


def test_leakages_are_declared():
    for leakage in (two_parties.HORIZONTAL_LEAKAGE, two_parties.VERTICAL_LEAKAGE, scalar_product.PAIR_COUNTS_LEAKAGE):
        said = " ".join(leakage.lines())
        assert "does not follow the protocol" in said
        assert "either party alone" in said
    assert "common people" in " ".join(two_parties.VERTICAL_LEAKAGE.lines())
