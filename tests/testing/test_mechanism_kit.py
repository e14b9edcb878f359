"""Every private algorithm of the catalog passes the kit; mechanisms that are known to be bad do not.

A mechanism that keeps its promise is accused with a probability of at most 6 in a million.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sfumato.budget.events import Pure, exactly
from sfumato.ground.work import Work
from sfumato.group.cut_counts import by_value
from sfumato.group.needs import refuse_lacking
from sfumato.noise import noisy_counts
from sfumato.publish.noisy_table import NoisyTable, PrivateTable
from sfumato.testing.mechanism_kit import BrokenMechanism, check_private
from sfumato.workflow.catalog.lookup import catalog


@pytest.mark.parametrize("name", catalog().solving("private"))
def test_every_private_algorithm_passes(name: str):
    check_private(catalog().algorithms[name].run)


def jobs(table: PrivateTable) -> NDArray[np.int64]:
    """Rows of each job and class: private."""
    refuse_lacking(table.counts, ("integers",), "jobs")
    walk = table.counts.root(table.figures)
    found: NDArray[np.int64] = walk.histogram(by_value(0, len(table.attributes[0].values)))[0]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """Noisy counts of jobs and classes; ages are not told. This one keeps its promise."""

    epsilon: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exactly("epsilon", self.epsilon))

    def counts(self, table: PrivateTable) -> NDArray[np.int64]:
        return np.maximum(noisy_counts(jobs(table), epsilon=self.epsilon).values, 0)

    def __call__(self, table: PrivateTable, work: Work) -> NoisyTable:
        counts, values = self.counts(table), table.attributes[0].values
        return NoisyTable(
            columns=tuple(one.name for one in table.attributes),
            labels=(values, ("*",)),
            keys=np.stack([np.arange(len(values)), np.zeros(len(values))]).astype(np.int32),
            counts=counts,
            event=Pure(epsilon=self.epsilon, what="jobs"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Overspent(Histogram):
    """Spends twenty times what it accounts for."""

    def counts(self, table: PrivateTable) -> NDArray[np.int64]:
        return np.maximum(noisy_counts(jobs(table), epsilon=self.epsilon * 20).values, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Honest(Overspent):
    """Accounts for more than was asked for."""

    def __call__(self, table: PrivateTable, work: Work) -> NoisyTable:
        found = super(Honest, self).__call__(table, work)
        return replace(found, event=Pure(epsilon=self.epsilon * 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounded(Histogram):
    """Accounts for a float that is nearly what was asked for."""

    def __call__(self, table: PrivateTable, work: Work) -> NoisyTable:
        found = super(Rounded, self).__call__(table, work)
        return replace(found, event=Pure(epsilon=float(self.epsilon)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Observing(Histogram):
    """Reads its labels off the rows: a job that nobody has is not there."""

    def __call__(self, table: PrivateTable, work: Work) -> NoisyTable:
        found = super(Observing, self).__call__(table, work)
        seen = jobs(table).sum(axis=1) > 0
        return replace(found, keys=found.keys[:, seen], counts=found.counts[seen])


@dataclass(frozen=True, slots=True, kw_only=True)
class Talkative(Histogram):
    """Tells the true number of rows among its public figures."""

    def __call__(self, table: PrivateTable, work: Work) -> NoisyTable:
        return replace(super(Talkative, self).__call__(table, work), effort={"rows": int(jobs(table).sum())})


@dataclass(frozen=True, slots=True, kw_only=True)
class Strange(Histogram):
    """Has a label of its own."""

    def __call__(self, table: PrivateTable, work: Work) -> NoisyTable:
        found = super(Strange, self).__call__(table, work)
        return replace(found, labels=(("chef", *found.labels[0][1:]), found.labels[1]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Negative(Histogram):
    """Publishes the noise as it falls."""

    def counts(self, table: PrivateTable) -> NDArray[np.int64]:
        return noisy_counts(jobs(table), epsilon=self.epsilon).values - 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Unasked(Histogram):
    """Takes any budget."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", exactly("epsilon", self.epsilon or 1))


def test_a_histogram_passes():
    check_private(Histogram)


@pytest.mark.parametrize(
    ("make", "law"),
    [
        (Overspent, "by its counts it is"),
        (Honest, "is exactly 1/3, not 2/3"),
        (Rounded, "is exactly 1/3, not"),
        (Observing, "by its labels it is"),
        (Talkative, "by its words it is"),
        (Strange, r"not \['chef'\]"),
        (Negative, "no count is negative"),
        (Unasked, "epsilon = 0 is refused"),
    ],
)
def test_what_is_known_to_be_bad_is_caught(make: Any, law: str):
    with pytest.raises(BrokenMechanism, match=law):
        check_private(make)
