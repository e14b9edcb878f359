"""Association rules from randomized baskets: supports without bias, their errors, frequent sets, rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from sfumato.collection.channels import Reals, Shown, bit_rows
from sfumato.collection.mechanisms import UnaryBits
from sfumato.core.arguments import at_least, between
from sfumato.core.errors import DataError, ParameterError

Items = tuple[int, ...]
"""Items by their places, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """How many baskets hold a set of items, estimated."""

    items: tuple[str, ...]
    """The set."""
    share: float
    """Of all baskets; an estimate without bias, which may lie outside [0, 1]."""
    error: float
    """Its standard error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Baskets with ``given`` often hold ``then`` too."""

    given: tuple[str, ...]
    """The items before the arrow."""
    then: tuple[str, ...]
    """Those behind it."""
    support: float
    """The estimated share of baskets that hold all of them."""
    confidence: float
    """The same as a share of those that hold ``given``, cut to [0, 1]."""


class Baskets:
    """Shown baskets, and what can be learnt of the true ones.

    Claim: the mean of an estimated support over all draws of the coins is the true support: every bit enters as
        (bit - flip) / (keep - flip), whose mean is the true bit, and the coins of a basket are independent.
    Cost: the error grows with 1 / (keep - flip) for every item of a set.
    Source: Rizvi and Haritsa 2002; Evfimievski, Srikant, Agrawal and Gehrke 2002; document 000, section 20.2.2.
    """

    def __init__(self, question: UnaryBits, answers: Shown) -> None:
        """Shown answers to a question about items."""
        if question.kind != "items":
            raise ParameterError(f"question {question.name!r} must be about items, not {question.kind}")
        if len(answers) == 0:
            raise DataError(f"question {question.name!r}: there are no answers; at least one is needed")
        rows, times = np.unique(bit_rows(question, answers), axis=0, return_counts=True)
        keep, flip = map(float, question.shown)
        self.question, self.weights = question, times / times.sum()
        self.answers, self.signs = int(times.sum()), (rows - flip) / (keep - flip)

    def support(self, items: Iterable[str]) -> Support:
        """The estimated support of a set of items."""
        return self._of(tuple(sorted({self.question.values.index(item) for item in items})))

    def _of(self, places: Items) -> Support:
        each: Reals = self.signs[:, list(places)].prod(axis=1)
        mean = float(self.weights @ each)
        spread = float(self.weights @ (each - mean) ** 2)
        names = tuple(self.question.values[place] for place in places)
        return Support(items=names, share=mean, error=float(np.sqrt(spread / self.answers)))

    def frequent(self, least: float, *, most_items: int = 3, errors: float = 1.0) -> list[Support]:
        """The sets whose estimated support is at least so large, with few items first.

        Estimates do not fall as true supports do when sets grow. So a set is looked at where all its subsets come
        within so many standard errors of the limit.
        """
        between("least", least, 0.0, 1.0, open_low=True)
        at_least("most_items", most_items, 1)
        supports: list[Support] = []
        level: list[Items] = [(place,) for place in range(len(self.question.values))]
        while level:
            seen = {places: self._of(places) for places in level}
            supports += [support for support in seen.values() if support.share >= least]
            near = {places for places, support in seen.items() if support.share + errors * support.error >= least}
            level = _larger(near) if len(level[0]) < most_items else []
        return supports

    def rules(self, least: float, confidence: float, *, most_items: int = 3, errors: float = 1.0) -> list[Rule]:
        """Rules whose sets are frequent and whose estimated confidence is at least so large; the surest first."""
        between("confidence", confidence, 0.0, 1.0, open_low=True)
        rules = []
        for whole in self.frequent(least, most_items=most_items, errors=errors):
            for size in range(1, len(whole.items)):
                for given in combinations(whole.items, size):
                    base = self.support(given).share
                    sure = min(max(whole.share / base, 0.0), 1.0) if base > 0 else 0.0
                    if sure >= confidence:
                        then = tuple(item for item in whole.items if item not in given)
                        rules.append(Rule(given=given, then=then, support=whole.share, confidence=sure))
        return sorted(rules, key=lambda rule: (-rule.confidence, -rule.support, rule.given, rule.then))


def _larger(sets: set[Items]) -> list[Items]:
    """The sets with one item more, all of whose subsets are among these."""
    grown: Sequence[Items] = sorted(sets)
    joined = [
        (*itemset, other[-1])
        for n, itemset in enumerate(grown)
        for other in grown[n + 1 :]
        if itemset[:-1] == other[:-1]
    ]
    return [itemset for itemset in joined if all(itemset[:n] + itemset[n + 1 :] in sets for n in range(len(itemset)))]
