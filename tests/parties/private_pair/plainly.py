"""Slow literal twins: scores, weights and choices of two parties computed in the open, and parties for tests."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.algorithms.private_table import PrivateTable
from sfumato.parties.circuits import numbers_of, unpacked
from sfumato.parties.diffgen.selection import GapWeights, weight_bits
from sfumato.parties.diffgen.two_parties import HeldColumns
from sfumato.parties.random_selection import BIAS
from tests.algorithms.diffgen_tables import behind
from tests.parties.ready import Repeatable


def joint_score(mine: Any, theirs: Any, price: int = 0) -> int:
    """Max of both parties' counts, child by child."""
    found = 0
    for one, other in zip(np.asarray(mine).tolist(), np.asarray(theirs).tolist(), strict=True):
        found += max(a + b for a, b in zip(one, other, strict=True))
    return found - price


def weights_of(scores: Sequence[int], weights: GapWeights) -> list[int]:
    """The weight of each score, by its gap to the highest."""
    return [weights.of(max(scores) - one) for one in scores]


def first_above(weights: Sequence[int], chance: int, bits: int) -> int:
    """The first candidate whose prefix sum is above the random value."""
    value, total = sum(weights) * chance >> bits, 0
    for place, one in enumerate(weights):
        total += one
        if value < total:
            return place
    raise AssertionError("the random value is below the sum")


def random_number(seed: bytes, count: int, weights: GapWeights) -> int:
    """The random bits that a party draws first from a repeatable source, as a number."""
    bits = weight_bits(count, weights) + BIAS
    return numbers_of(unpacked(Repeatable(seed)(-(-bits // 8)), bits)[None])[0]


def chosen_plainly(scores: Sequence[int], weights: GapWeights, chance: int) -> int:
    """The choice that the circuit should make."""
    return first_above(weights_of(scores, weights), chance, weight_bits(len(scores), weights) + BIAS)


def probabilities(weights: Sequence[int]) -> list[Fraction]:
    return [Fraction(one, sum(weights)) for one in weights]


def held(table: PrivateTable, owners: tuple[int, ...], me: int) -> HeldColumns:
    """One party's columns of a table."""
    rows = behind(table)
    return HeldColumns(
        attributes=table.attributes,
        owners=owners,
        codes={at: rows.columns[at].codes for at, owner in enumerate(owners) if owner == me},
        classes=table.classes,
        kinds=rows.counted[table.target_name or ""],
        target_name=table.target_name,
    )
