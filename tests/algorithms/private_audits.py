"""Every kind of look that DiffGen and marginals take at the rows, as a case for the noise audit, and noisier twins.

A case is a pair of neighbouring tables on which one record moves what is looked at as far as it can, the part of the
release that tells, and the epsilon that the release itself states for it. The twin does the same with half of the noise
that the promise needs, drawn by numpy: it spends twice what it says. How often twins are found is measured by
``python -m tests.algorithms.private_audits``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.algorithms import diffgen, private_table
from sfumato.algorithms.diffgen import noisy_specializer
from sfumato.algorithms.diffgen.specialization import score
from sfumato.algorithms.marginals.choices import dependences, errors
from sfumato.algorithms.marginals.choices import majority_scores as rows_told
from sfumato.algorithms.private_table import NoisyTable, PrivateTable
from sfumato.attacks.noise_audit import NoiseAudit, audit_noise
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.dp.accounting import Cost
from sfumato.dp.events import Pure
from sfumato.dp.noise import Noisy
from sfumato.tables.taxonomy import taxonomy
from tests.algorithms.diffgen_tables import CODE, CODES, of_sets, of_tree, table_of

ALARM = 1e-6
"""How often an audit accuses a mechanism that keeps its promise, at most."""
HALF = 2.0
"""Twins have so many times less noise than they need."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One look at the rows."""

    name: str
    first: Any
    second: Any
    run: Callable[[Any], Any]
    """The product: input to output, with noise from OpenDP."""
    twin: Callable[[np.random.Generator, float], Callable[[Any], Any]]
    """The same with so many times less noise, from numpy."""
    declared: float
    """The epsilon that is stated for what is looked at."""
    runs: int
    less: float = HALF
    """So many times less noise is found in so many runs."""

    def audited(self) -> NoiseAudit:
        return self._audit(self.run)

    def audited_twin(self, seed: int, less: float | None = None) -> NoiseAudit:
        return self._audit(self.twin(np.random.default_rng(seed), less or self.less))

    def _audit(self, mechanism: Callable[[Any], Any]) -> NoiseAudit:
        return audit_noise(
            mechanism, self.first, self.second, runs=self.runs, confidence=1 - ALARM, declared=self.declared
        )


# Twins: the laws of OpenDP's mechanisms, with less noise.


def counted(dice: np.random.Generator, less: float) -> Callable[..., Noisy]:
    """Discrete Laplace noise of scale 1 / (less * epsilon)."""

    def count(counts: Any, epsilon: Fraction, what: str) -> Noisy:
        ended = 1 - np.exp(-less * float(epsilon))
        noise = dice.geometric(ended, counts.shape) - dice.geometric(ended, counts.shape)
        return Noisy(values=counts + noise, event=Pure(epsilon=epsilon, what=what), scale=1.0, law="laplace")

    return count


def picked(values: Any, sensitivity: float, monotonic: bool, epsilon: Fraction, dice: Any, less: float) -> int:
    """Report noisy max with exponential noise."""
    scale = (1 if monotonic else 2) * sensitivity / (less * float(epsilon))
    return int(np.argmax(np.asarray(values) + dice.exponential(scale, len(values))))


def for_cost(dice: np.random.Generator, less: float) -> Callable[..., Noisy]:
    """The same for a cost in pure epsilon."""
    noise = counted(dice, less)

    def count(counts: Any, cost: Cost) -> Noisy:
        assert isinstance(cost, Pure)
        return noise(counts, cost.epsilon, cost.what)

    return count


def less_noisy(dice: np.random.Generator, less: float) -> private_table.Mechanisms:
    def choose(scores: private_table.Scores, cost: Cost) -> int:
        assert isinstance(cost, Pure)
        return picked(scores.values, scores.sensitivity, scores.monotonic, cost.epsilon, dice, less)

    def waits(number: int, rate: Fraction) -> Any:
        return dice.geometric(1 - np.exp(-float(rate)), number) - 1

    return private_table.Mechanisms(choose=choose, count=for_cost(dice, less), waits=waits)


# Tables: neighbours on which a look moves furthest.


def table(rows: Sequence[tuple[str, ...]], classes: Sequence[str], domains: dict[str, tuple[str, ...]]) -> PrivateTable:
    """Rows of flat domains, the class last."""
    found = []
    for place, (name, leaves) in enumerate(domains.items()):
        tree = taxonomy([(leaf,) for leaf in leaves], {}, total=float(len(leaves)), height=1)
        found.append(of_tree(name, tree, leaves, [row[place] for row in rows]))
    kinds = [classes.index(row[-1]) for row in rows]
    return table_of(found, classes, kinds, "class" if len(classes) > 1 else None)


ONE = {"x": ("a", "b")}
TWO = {"x": ("a", "b"), "z": ("c", "d")}
NY = ("N", "Y")


def neighbours(rows: list[tuple[str, ...]], more: tuple[str, ...], classes: Sequence[str], domains: Any) -> Any:
    return table(rows, classes, domains), table([*rows, more], classes, domains)


def sets_of(many: int) -> PrivateTable:
    """So many records with the one code 11."""
    return table_of([of_sets("codes", CODES, CODE, [("11",)] * many)], NY, [0] * many, "class")


def by_label(made: NoisyTable) -> Any:
    """The counts of each label of the first column and each class, in a fixed order."""
    found = np.zeros((2, made.counts.shape[1]))
    np.add.at(found, made.keys[0], made.counts)
    return found


def first_told(made: NoisyTable) -> bool:
    """Whether the first attribute was chosen: others read ``*``."""
    return made.labels[0] != ("*",)


def alone_kept(made: NoisyTable) -> bool:
    """Whether the sets below 1* passed the test of emptiness."""
    return "1*" in made.labels[0]


# Cases.


def released(
    name: str, asked: Any, tables: Any, seen: Callable[[NoisyTable], Any], stated: str | int, runs: int
) -> Case:
    """A whole release, of which a part is looked at; the release states what that part costs."""

    def twin(dice: np.random.Generator, less: float) -> Callable[[Any], Any]:
        broken = less_noisy(dice, less)
        work = Work(chance=Chance(seed=int(dice.integers(2**31))))
        return lambda one: seen(noisy_specializer.published(asked, one, work, broken))

    return Case(
        name=name,
        first=tables[0],
        second=tables[1],
        run=lambda one: seen(asked(one, Work())),
        twin=twin,
        declared=float(Fraction(asked(tables[0], Work()).effort[stated])),
        runs=runs,
    )


def step(name: str, pair: tuple[private_table.Scores, private_table.Scores], epsilon: Fraction, runs: int) -> Case:
    """One choice by itself, between scores that move by all of their sensitivity."""
    cost = Pure(epsilon=epsilon)
    return Case(
        name=name,
        first=pair[0],
        second=pair[1],
        run=lambda scores: private_table.choose(scores, cost),
        twin=lambda dice, less: lambda scores: less_noisy(dice, less).choose(scores, cost),
        declared=float(epsilon),
        runs=runs,
    )


def counts_cases() -> list[Case]:
    """All of epsilon goes to counts: there is nothing to choose."""
    some = [(x, y) for x in "ab" for y in NY for _ in range(25)]
    asked = diffgen.DiffGen(epsilon=1, specializations=1)
    plain = diffgen.DiffGen(epsilon=1, specializations=1, score="max", consistent=False)
    whole = neighbours(some, ("b", "Y"), NY, ONE)
    return [
        released("DiffGen: counts of the groups", asked, whole, by_label, "epsilon of the counts", 400),
        released("DiffGen, plain: counts of the groups", plain, whole, by_label, "epsilon of the counts", 400),
        released(
            "DiffGen: emptiness of sets",
            diffgen.DiffGen(epsilon=4, specializations=1, kept="1/2"),
            (sets_of(1), sets_of(2)),
            alone_kept,
            "epsilon of one choice",
            400,
        ),
    ]


def choice_cases(*, long: bool = True) -> list[Case]:
    """What is chosen, in whole releases: one more record moves one score by all of its sensitivity, the other not.

    In fewer runs a quarter of the noise is found.
    """
    pure = [("a", "c", "N")]
    told = "epsilon of one choice"
    furthest = neighbours(pure * 1000, ("a", "d", "Y"), NY, TWO)
    majority = neighbours(pure * 10, ("b", "c", "Y"), NY, TWO)
    runs, less = (1800, HALF) if long else (600, 2 * HALF)
    gini = diffgen.DiffGen(epsilon=2, specializations=1)
    most = diffgen.DiffGen(epsilon=6, specializations=1, score="max")
    cases = [
        released("DiffGen, gini: choice", gini, furthest, first_told, told, runs),
        released("DiffGen, max: choice", most, majority, first_told, told, runs),
    ]
    return [replace(case, less=less) for case in cases]


def step_cases() -> list[Case]:
    """Choices by themselves."""
    plain = errors([np.array([[5]])], [np.array([[5.0]])], [0.0])
    near = np.array([0.0, plain.sensitivity])
    close, wide = replace(plain, values=near), replace(plain, values=near[::-1].copy())
    moved = dependences([np.zeros((1, 2, 2), np.int64)], [0.0])
    far = np.array([0.0, moved.sensitivity])
    across = (replace(moved, values=far), replace(moved, values=far[::-1].copy()))
    moved = rows_told([np.zeros((1, 2, 2), np.int64)], np.zeros((1, 2), np.int64), np.array([[2, 3]]), [0.0])
    apart = (replace(moved, values=np.zeros(2)), replace(moved, values=np.array([moved.sensitivity, 0.0])))
    gini, gain, most = score("gini", 2), score("gain", 2), score("max", 2)
    down = np.array([0.0, -gini.sensitivity])
    three = Fraction(3, 2)
    first, second = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    return [
        step("DiffGen, gini: one choice", (gini.on(down * 0), gini.on(down)), three, 1800),
        step(
            "DiffGen, max: one choice",
            (most.on(np.array([4.0, 4.0])), most.on(np.array([5.0, 4.0]))),
            three,
            1800,
        ),
        step("DiffGen, gain: one choice", (gain.on(first), gain.on(second)), three, 1800),
        step("marginals: one choice of an attribute of the core", apart, three, 1800),
        step("marginals: one choice of an attribute", across, three, 1800),
        step("marginals: one choice of a pair", (close, wide), three, 1800),
    ]


def main(seeds: int = 20) -> None:
    """How often twins with half the noise are found, as a table."""
    sys.stdout.write("| audit | epsilon | runs | finds, of one noisy count | half the noise found |\n")
    sys.stdout.write("| --- | --- | --- | --- | --- |\n")
    for case in [*counts_cases(), *choice_cases(), *step_cases()]:
        found = [case.audited_twin(seed) for seed in range(seeds)]
        power, times = f"{found[0].factor:.2f} times", f"{sum(one.refuted for one in found)} of {seeds}"
        sys.stdout.write(f"| {case.name} | {case.declared:g} | {case.runs:,} | {power} | {times} |\n")


if __name__ == "__main__":
    main()
