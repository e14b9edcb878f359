"""Empty cells in noisy tables of counts: how many published cells have nobody in them, and what follows."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.ground.arguments import above, at_least
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ParameterError

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyCells:
    """Somebody has noisy counts and knows of everybody but one person: that one is where a count is positive.

    A table over many columns has far more cells than people, and noise makes about half of the empty ones positive. So
    most positive cells of a noisy table have nobody in them, and a positive count proves nothing. If the publisher
    saved the noise on empty cells, a positive count proves that somebody is there. The attacker looks at cells which
    have nobody or one person, and bets on those that are positive. It takes a look at the table.

    The naive guesser bets on any such cell. Under epsilon-differential privacy the odds of the attacker's bet rise by
    no more than e^epsilon: that is the limit where an epsilon is declared.
    Source: Mohammed, Chen, Fung, Yu 2011 (sparse tables); Cormode, Procopiuc, Srivastava, Tran 2012.
    """

    name: ClassVar[str] = "empty-cells"
    threat: ClassVar[str] = "membership"

    above: float = 0.0
    """A count above this is positive: a publisher may drop smaller ones."""
    trials: int = 2000
    """At most so many cells."""

    def __post_init__(self) -> None:
        at_least("trials", self.trials, 1)

    def run(
        self,
        published: ArrayLike,
        truth: ArrayLike,
        chance: Chance,
        limit: Limit | None = None,
        *,
        epsilon: float | None = None,
    ) -> Finding:
        """Compare published with true counts, cell by cell, cells that were left out with 0."""
        noisy, true = np.asarray(published, np.float64).reshape(-1), np.asarray(truth, np.float64).reshape(-1)
        if noisy.shape != true.shape or (true < 0).any():
            raise ParameterError("published must have a count for each true one, and no true one is negative")
        if epsilon is not None:
            above("epsilon", epsilon, 0)
        positive, single = noisy > self.above, true <= 1
        bets = np.flatnonzero(positive & single)
        bets = chance.generator().permutation(bets)[: self.trials]
        prior = float((true[single] == 1).mean()) if single.any() else 0.0
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="everybody in a table of counts but one person",
            does="tell from a positive count that they are there",
            rate=Rate(hits=int((true[bets] == 1).sum()), trials=len(bets)),
            naive=Rate(hits=prior * len(bets), trials=len(bets)),
            limit=limit or _promised(prior, epsilon),
            figures=_figures(noisy, true, positive),
            note="limit: the odds of the naive bet times e^epsilon",
        )


def _promised(prior: float, epsilon: float | None) -> Limit | None:
    if epsilon is None or not 0 < prior < 1:
        return None
    odds = exp(min(epsilon, 700.0)) * prior / (1 - prior)
    return Limit(value=odds / (1 + odds), why=f"differential privacy with epsilon {epsilon:g}")


def _figures(noisy: Reals, true: Reals, shown: NDArray[np.bool_]) -> dict[str, float]:
    """What a reader of the table should know."""
    false = shown & (true == 0)
    return {
        "cells": float(len(true)),
        "empty": float((true == 0).mean()) if len(true) else 0.0,
        "positive": float(shown.sum()),
        "positive_but_empty": float(false.sum() / max(int(shown.sum()), 1)),
        "occupied_but_not_positive": float(((true > 0) & ~shown).sum() / max(int((true > 0).sum()), 1)),
        "people": float(true.sum()),
        "people_where_nobody_is": float(noisy[false].sum()),
    } | ({"believable_from": from_here} if (from_here := _believable(noisy, true)) is not None else {})


def _believable(noisy: Reals, true: Reals) -> float | None:
    """The smallest count from which on more than half of the cells with such a count or more have somebody in them.

    None where there is no such count.

    >>> _believable(np.array([1.0, 1, 1, 2, 5]), np.array([0.0, 0, 0, 1, 4]))
    2.0
    """
    order = np.argsort(-noisy, kind="stable")
    share = np.cumsum(true[order] > 0) / np.arange(1, len(order) + 1)
    counts = noisy[order]
    last = np.append(counts[1:] != counts[:-1], True) if len(counts) else np.zeros(0, np.bool_)
    good = counts[last & (share > 0.5) & (counts > 0)]
    return float(good.min()) if len(good) else None
