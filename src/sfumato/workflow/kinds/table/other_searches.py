"""Other searches on the same table, within a time budget: what they would lose, and whether the purpose takes one.

A full-domain optimum lets every value read the same in every row; group by group, the same requirement often costs much
less. What the others would lose is measured against the original, so only the steward may know it: the inside report,
the terminal and ``--json`` show it, a bundle does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sfumato.ground.errors import Interrupted, OutOfTime, SfumatoError
from sfumato.ground.work import BY_TIME, Work
from sfumato.publish.problem import Problem
from sfumato.report.table.table_facts import SearchFacts
from sfumato.workflow.kinds.kind import Searched

GROUP_BY_GROUP = ("mondrian", "local")
"""Searches that are fast and often lose less, because a value may read differently in different rows."""

Run = Callable[[str, Work], Searched]


def try_others(
    taken: Searched, run: Run, work: Work, seconds: float, names: Sequence[str] = GROUP_BY_GROUP
) -> tuple[Searched, ...]:
    """What the fast searches find together within as many steps as fit into so many seconds."""
    inner = work.allowing(seconds)
    return tuple(_attempt(name, run, inner) for name in names if name != taken.algorithm and seconds > 0)


def _attempt(name: str, run: Run, work: Work) -> Searched:
    """What one search finds; a search that cannot be made says why."""
    try:
        if work.expired:
            raise OutOfTime("the time for other searches was over")
        return run(name, work)
    except Interrupted:
        raise
    except SfumatoError as error:
        return Searched(prepared=None, outcome=None, algorithm=name, why=str(error))


def told(found: Searched) -> SearchFacts:
    """A search as the steward's report shows it."""
    if found.outcome is None:
        return SearchFacts(algorithm=found.algorithm, value=None, alike=False, why=found.why)
    outcome = found.outcome
    return SearchFacts(
        algorithm=found.algorithm,
        value=_value(found),
        alike=outcome.alike,
        cut=outcome.effort.get("stopped") == BY_TIME,
    )


def _value(found: Searched) -> float:
    problem: Problem = found.prepared.problem
    return problem.metric.measure(found.outcome.recoding(problem).view(problem, found.outcome.suppressed))


def least_lossy(taken: Searched, others: Sequence[Searched]) -> Searched:
    """The search that loses least by the plan's metric; the first one where others lose as much."""
    able = [one for one in (taken, *others) if one.outcome is not None]
    best = min(able, key=lambda one: one.outcome.loss)
    metric = taken.prepared.problem.metric.name
    return replace(best, why=f"Chosen by auto: of the searches that were made, it lost least by {metric}.")
