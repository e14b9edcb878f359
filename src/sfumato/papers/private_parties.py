"""DiffGen by several parties on Adult: figure 7.2 of the thesis, one noise against two.

A release of several parties is, with the same noise, that of one table; the tests show it. So its accuracy is measured
on one table, with the noise that the parties would draw. Two parties choose by permute and flip, as one does: with one
noise, of which each has a share, their release has the law of one party's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from statistics import fmean

import numpy as np

from sfumato.algorithms.diffgen import DiffGen
from sfumato.algorithms.diffgen.noisy_specializer import published
from sfumato.algorithms.private_table import Counts, Mechanisms, NoisyTable, PrivateTable
from sfumato.core.run_context import Work
from sfumato.dp.accounting import Cost
from sfumato.dp.events import Pure
from sfumato.dp.noise import Noisy, laplace_share
from sfumato.papers.diffgen_adult import EPSILONS, adult_trial
from sfumato.papers.setup import LEARNER, adult_data, flat
from sfumato.reports.papers import Beside, Grid, Shown
from sfumato.reports.plots import Line, Panel, ticks_over

STEPS = 10
"""Specializations, as the thesis's best."""
ONE, TWO, THREE = "one noise: one party, or two", "two noises: two parties", "three parties"
Release = Callable[[str, PrivateTable, Work], NoisyTable]


def accuracy(*, full: bool, work: Work) -> Shown:
    """Figure 7.2: the accuracy of a tree that learns from the release, by budget, for one noise and for two."""
    epsilons, runs = (EPSILONS, 10) if full else (("0.1", "1"), 1)
    trial, accuracies = adult_trial(), dict[tuple[str, str], float]()
    cases = [(name, epsilon) for name in WAYS for epsilon in epsilons]
    for number, (name, epsilon) in enumerate(cases):
        work.advance("accuracy", number, len(cases))
        releases = (WAYS[name](epsilon, trial.train, work) for _ in range(runs))
        accuracies[name, epsilon] = 100 * fmean(trial.accuracy(table) for table in releases)
    raw, majority = 100 * trial.raw(), 100 * trial.majority()
    places = [float(e) for e in epsilons]
    panel = Panel(
        title=f"accuracy, score Max, {STEPS} specializations",
        lines=[
            *(
                Line(name=name, points=[(float(e), accuracies[name, e]) for e in epsilons], tone=tone)
                for tone, name in enumerate(WAYS)
            ),
            *flat(places, {"raw": raw, "majority": majority}),
        ],
        x="epsilon",
        ticks=places,
        y=ticks_over([*accuracies.values(), raw, majority]),
        unit=" %",
    )
    rows = [[e, *(f"{accuracies[name, e]:.2f}" for name in WAYS)] for e in epsilons]
    grid = Grid(title=f"accuracy in %, mean of {runs} runs", heads=["epsilon", *WAYS], rows=rows)
    return Shown(data=adult_data().words, beside=_beside(accuracies, epsilons), grids=[grid], panels=[panel])


def _beside(accuracies: Mapping[tuple[str, str], float], epsilons: tuple[str, ...]) -> list[Beside]:
    def less(of: str, than: str) -> list[float]:
        return [accuracies[than, e] - accuracies[of, e] for e in epsilons]

    def points_text(points: list[float]) -> str:
        return f"{fmean(points):+.2f} points on average, {min(points):+.2f} to {max(points):+.2f}"

    noise, many = less(TWO, ONE), less(THREE, ONE)
    return [
        Beside(
            what="what a second noise costs",
            theirs="insignificant",
            ours=points_text(noise),
            holds=abs(fmean(noise)) < 0.5,
            why=LEARNER,
        ),
        Beside(
            what="three parties, below one party",
            theirs="not measured",
            ours=points_text(many),
            why="Three parties choose by noisy counts of every attribute, and no choice costs them anything.",
        ),
    ]


def _counted(parties: int, needed: int) -> Callable[[Counts, Cost], Noisy]:
    """Counts to which each of some parties adds a share, so many of which are a whole noise."""

    def count(counts: Counts, cost: Cost) -> Noisy:
        assert isinstance(cost, Pure)
        shares = [laplace_share(np.shape(counts), cost.epsilon, needed) for _ in range(parties)]
        scale = float(Fraction(1) / cost.epsilon)
        return Noisy(
            values=counts + np.sum(shares, axis=0), event=cost, scale=scale, law="laplace", draws=parties / needed
        )

    return count


def _alone(epsilon: str, table: PrivateTable, work: Work) -> NoisyTable:
    return DiffGen(epsilon=epsilon, specializations=STEPS, score="max")(table, work)


def _pair(epsilon: str, table: PrivateTable, work: Work) -> NoisyTable:
    settings = DiffGen(epsilon=epsilon, specializations=STEPS, score="max")
    return published(settings, table, work, Mechanisms(count=_counted(2, 1)))


def _three(epsilon: str, table: PrivateTable, work: Work) -> NoisyTable:
    settings = DiffGen(epsilon=epsilon, specializations=STEPS, score="max", choosing="counts")
    return published(settings, table, work, Mechanisms(count=_counted(3, 2)))


WAYS: Mapping[str, Release] = {ONE: _alone, TWO: _pair, THREE: _three}
"""Every way to make the release."""
