"""The experiments of document 004, section 7, in one call."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sfumato.ground.brief import Brief
from sfumato.ground.work import Work
from sfumato.mine.diversity_experiment import Diversity, DiversityPoint, diversity_study
from sfumato.mine.sharing_experiment import QUICK, Learner, SharingPoint, Trials, sharing_study
from sfumato.mine.uci_sets import QUASI, SETS, uci_set

LEARNERS: tuple[Learner, ...] = ("tree", "bayes", "rule")
SHOWN = ("adult", "nursery")
"""The data sets of figures 14 to 16."""
_FEW = (Diversity(c=5, l=2), Diversity(c=20, l=3))
_MANY = {
    "adult": (
        *(Diversity(c=c, l=l) for l in range(2, 8) for c in (20, 10, 5)),
        *(Diversity(l=l) for l in range(2, 8)),
    ),
    "nursery": (
        *(Diversity(c=c, l=l) for l in range(2, 6) for c in (20, 15, 10, 5)),
        *(Diversity(l=l) for l in range(2, 6)),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Experiment(Brief):
    """What was measured."""

    quick: bool
    """Whether few runs were made."""
    rows: tuple[tuple[str, int, int, int, int], ...]
    """Table 1: for each data set its records, nominal and numeric attributes without the class, and classes."""
    sharing: tuple[SharingPoint, ...]
    """Figures 10 to 13."""
    diversity: tuple[DiversityPoint, ...]
    """Figures 14 to 16."""


def experiment(
    *,
    quick: bool = True,
    sets: Sequence[str] = SETS,
    folder: str | os.PathLike[str] | None = None,
    seed: int = 4,
    work: Work | None = None,
) -> Experiment:
    """Table 1 and figures 10 to 16 on the data sets that are there.

    Quick: one fold dealt once, 1, 3 and 10 sources, three requirements. Else ten folds dealt five times, 1 to 10
    sources, all requirements of the figures. The data set Train of table 1 is not to be had.
    """
    found = {name: uci_set(name, folder) for name in sets}
    trials = replace(QUICK if quick else Trials(), seed=seed)
    watch = work or Work()
    sharing = [
        point
        for name, one in found.items()
        for point in sharing_study(name, one, trials, learners=LEARNERS, work=watch)
    ]
    ends = replace(trials, sources=(1, 10))
    diversity = [
        point
        for name, one in found.items()
        if name in SHOWN
        for point in diversity_study(
            name,
            one,
            _FEW if quick else _MANY[name],
            ends,
            quasi=QUASI.get(name),
            seconds=0.25 if quick else 5.0,
            work=watch,
        )
    ]
    rows = []
    for name, one in found.items():
        numeric = sum(attribute.numeric for attribute in one.attributes)
        rows.append((name, one.count, len(one.attributes) - numeric, numeric, len(one.classes)))
    return Experiment(quick=quick, rows=tuple(rows), sharing=tuple(sharing), diversity=tuple(diversity))
