"""Three and more parties make one private release: the same as one party with all rows and the same noise would."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sfumato.algorithms.diffgen import DiffGen, noisy_specializer
from sfumato.algorithms.marginals import Marginals, noisy_marginals
from sfumato.algorithms.private_table import Mechanisms, NoisyTable, PrivateTable
from sfumato.attacks.noise_audit import NoiseAudit, audit_outputs
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.dp.accounting import epsilon_of
from sfumato.dp.events import Pure
from sfumato.dp.noise import Noisy, laplace_share
from sfumato.parties.diffgen.many_parties import SummedNoise, coalitions, epsilon_against, run_many
from sfumato.parties.simulation import in_threads
from sfumato.pipeline.methods.private.domains import declared_table
from sfumato.pipeline.plan.plan import Plan
from sfumato.tables.table import Table
from tests.parties.releases_asked import COLUMNS, wholes
from tests.weights import examples

ALARM = 1e-6
"""How often an audit accuses noise that keeps its promise."""
NAMES = ("a", "b", "n", "t")
PLAN = Plan.parse(
    {"columns": {name: COLUMNS[name] for name in NAMES}, "privacy": {"epsilon": 1}, "algorithm": {"name": "diffgen"}}
)
Shares = Callable[[tuple[int, ...], Fraction, int], NDArray[np.int64]]


def table_of(frame: pl.DataFrame) -> PrivateTable:
    return declared_table(PLAN, Table(frame=frame.select(NAMES)))


def seeded(seed: int) -> Shares:
    """Small whole numbers in the place of a party's noise."""
    source = Chance(seed=seed).generator()
    return lambda shape, epsilon, parties: source.integers(-2, 3, shape)


def alone(asked: DiffGen | Marginals, whole: PrivateTable, session: bytes, parties: int, colluding: int) -> NoisyTable:
    """One party that has all rows, and the noise of all parties."""
    draws = [seeded(one) for one in range(parties)]

    def count(counts: Any, cost: Any) -> Noisy:
        noise = sum(draw(np.shape(counts), cost.epsilon, parties) for draw in draws)
        scale, many = float(1 / cost.epsilon), parties / (parties - colluding)
        return Noisy(values=counts + noise, event=cost, scale=scale, law="laplace", draws=many)

    work, looking = Work(chance=Chance(seed=int.from_bytes(session, "big"))), Mechanisms(count=count)
    if isinstance(asked, DiffGen):
        return noisy_specializer.published(asked, whole, work, looking)
    return noisy_marginals.published(asked, whole, work, looking)


def equal(one: NoisyTable, other: NoisyTable) -> bool:
    same = (one.labels, one.steps, one.event) == (other.labels, other.steps, other.event)
    return same and np.array_equal(one.keys, other.keys) and np.array_equal(one.counts, other.counts)


ASKED = (
    DiffGen(epsilon=2, specializations=4, score="max", choosing="counts"),
    DiffGen(epsilon=2, score="max", choosing="counts", inner=Fraction(1, 4)),
    Marginals(epsilon=2, choosing="declared"),
    Marginals(epsilon=2, choosing="declared", workload=(("a", "b"), ("b", "n"), ("a", "n"))),
)


@pytest.mark.slow
@examples(60)
@given(wholes(), st.sampled_from(ASKED), st.integers(3, 4), st.integers(0, 1))
def test_parties_release_what_one_party_with_all_rows_would(
    whole: pl.DataFrame, asked: DiffGen | Marginals, parties: int, colluding: int
) -> None:
    """With equal noise; one of the parties may have no rows."""
    cuts = np.linspace(0, whole.height, parties).astype(int)
    parts = [whole[: cuts[0]], *(whole[low:high] for low, high in pairwise(cuts))]

    def program(number: int) -> Callable[[Any], Any]:
        own = table_of(parts[number])
        draw = seeded(number)
        return lambda talk: (talk.seat.session, run_many(talk, asked, own, colluding=colluding, draw=draw))

    found = in_threads([program(number) for number in range(parties)])
    twin = alone(asked, table_of(whole), found[0][0], parties, colluding)
    assert all(equal(made, twin) for _, made in found)
    assert epsilon_of(twin.event) == 2


RUNS = 2000
NOTHING: Shares = lambda shape, epsilon, parties: np.zeros(shape, np.int64)  # noqa: E731


def once(shape: tuple[int, ...], epsilon: Fraction, parties: int) -> NDArray[np.int64]:
    """The same noise in every count: a value that is used twice."""
    return np.broadcast_to(laplace_share(1, epsilon, parties), shape)


def seen(own: int, colluding: int, draws: list[Shares], knows: tuple[int, ...] = ()) -> list[int]:
    """What parties who know some of the noise see of a count of the last party, which is 5 or 6, in many runs."""
    counts = [2, 3, own]
    shares: dict[int, NDArray[np.int64]] = {}

    def program(number: int) -> Callable[[Any], Any]:
        def draw(shape: tuple[int, ...], epsilon: Fraction, parties: int) -> NDArray[np.int64]:
            shares[number] = np.asarray(draws[number](shape, epsilon, parties))
            return shares[number]

        def run(talk: Any) -> NDArray[Any]:
            noise = SummedNoise(talk, colluding=colluding, draw=draw)
            return noise.count(np.full(RUNS, counts[number]), Pure(epsilon=Fraction(1))).values

        return run

    total = in_threads([program(number) for number in range(3)])[0]
    for number in knows:
        total = total - counts[number] - shares[number]
    return [int(one) for one in total]


def audit(colluding: int, draws: list[Shares], knows: tuple[int, ...], declared: float) -> NoiseAudit:
    sides = [seen(own, colluding, draws, knows) for own in (5, 6)]
    return audit_outputs(sides[0], sides[1], confidence=1 - ALARM, declared=declared)


@pytest.mark.slow
def test_no_view_of_sound_noise_is_refuted() -> None:
    """Outsiders, and as many parties as are expected to collude; more of them against what is left."""
    sound = [laplace_share] * 3
    event = Pure(epsilon=Fraction(1))
    for colluding, knows in ((0, ()), (1, (0,)), (1, ()), (2, (0, 1))):
        assert not audit(colluding, sound, knows, 1.0).refuted
    for colluding, knows in ((0, (0,)), (0, (0, 1)), (1, (0, 1))):
        left = float(epsilon_against(event, len(knows), parties=3, colluding=colluding))
        assert left > 1
        assert not audit(colluding, sound, knows, left).refuted


TWINS: dict[str, tuple[int, list[Shares], tuple[int, ...]]] = {
    "shares for outsiders only, seen by two parties": (0, [laplace_share] * 3, (0, 1)),
    "noise by one party only, seen by that party": (1, [laplace_share, NOTHING, NOTHING], (0,)),
    "counts without noise": (1, [NOTHING] * 3, ()),
}


@pytest.mark.parametrize("title", TWINS)
def test_an_unsound_twin_is_refuted(title: str) -> None:
    assert audit(*TWINS[title], 1.0).refuted


def test_noise_that_is_used_twice_is_refuted() -> None:
    """The difference of two counts with the same noise has none: as many runs as there are pairs."""
    shown = []
    for own in (5, 6):
        pairs = np.array([own, 5]) + np.stack([once((2,), Fraction(1), 1) for _ in range(60)])
        shown.append([int(one) for one in pairs[:, 0] - pairs[:, 1]])
    assert audit_outputs(shown[0], shown[1], confidence=1 - 1e-3, declared=1.0).refuted


def test_what_holds_against_whom() -> None:
    """With t expected to collude, epsilon holds against t; against more it is larger, and said."""
    event = Pure(epsilon=Fraction(1, 2), what="counts of the groups")
    told = coalitions(event, 4, 2)
    assert told["noises in a count"] == 2.0
    assert told["epsilon against 1 of 4 parties"] == told["epsilon against 2 of 4 parties"] == "1/2"
    assert Fraction(str(told["epsilon against 3 of 4 parties"])) > 1
    choice = Pure(epsilon=Fraction(1, 2), what="which value")
    assert epsilon_against(choice, 1, parties=2, colluding=0) == Fraction(1, 2)


def test_refusals() -> None:
    """Choices by scores, Gaussian noise, and parties that cannot be."""
    table = table_of(pl.DataFrame(schema=dict.fromkeys(NAMES, pl.String)))

    def with_(asked: Any, **more: Any) -> None:
        in_threads([lambda talk: run_many(talk, asked, table, **more)] * 3)

    with pytest.raises(ParameterError, match='choosing must be "counts"'):
        with_(DiffGen(epsilon=1, score="max"))
    with pytest.raises(ParameterError, match='choosing must be "declared"'):
        with_(Marginals(epsilon=1))
    with pytest.raises(ParameterError, match="not a rho"):
        with_(Marginals(rho=1, choosing="declared"))
    with pytest.raises(ParameterError, match="from 0 to 2"):
        with_(DiffGen(epsilon=1, score="max", choosing="counts"), colluding=3)
    with pytest.raises(ParameterError, match="score must be max"):
        DiffGen(epsilon=1, choosing="counts")
