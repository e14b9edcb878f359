"""The kit that every differentially private algorithm must pass.

What it accounts for is exactly what was asked; labels come from the declared domains and counts are not negative, also
where the table is empty; a budget that is none is refused; and neighbouring tables are told apart no better than
epsilon allows, as far as an audit of a few hundred runs sees. ``BrokenMechanism`` is raised where one of these does not
hold. That an audit finds nothing proves nothing: the proof stands beside the algorithm. The audits are given back, and
each says how small a violation it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from sfumato.attacks.answers.noise_audit import NoiseAudit, audit_outputs
from sfumato.budget.accountants import epsilon_of
from sfumato.data.table import Table
from sfumato.ground.errors import ParameterError, SfumatoError
from sfumato.ground.work import Work
from sfumato.publish.noisy_table import NoisyTable, PrivateTable
from sfumato.verification.private_checks import allowed
from sfumato.workflow.kinds.private.declared import declared_table
from sfumato.workflow.kinds.private.private_rows import stated_domains
from sfumato.workflow.plan.plan import Plan

Mechanism = Callable[[PrivateTable, Work], NoisyTable]
Make = Callable[..., Mechanism]
Row = tuple[str, int, str]
Seen = dict[str, Any]
BUDGETS: tuple[Any, ...] = ("1/3", 0.1, 2)
"""What is asked for; no share of the first is a finite decimal, and of the second a float is a lie."""
NO_BUDGETS: tuple[Any, ...] = (0, -1, float("nan"), float("inf"), "x", None, True)
"""What must be refused."""
AUDITED = Fraction(1)
"""The epsilon of the audits: where a factor of two is seen best."""
ALARM = 1e-6
"""How often one audit accuses a mechanism that keeps its promise, at most."""
AUDITS = 9
"""So a mechanism that keeps its promise is accused with a probability of at most ``AUDITS * ALARM``."""
ROWS: tuple[Row, ...] = (("cook", 1, "yes"),) * 3 + (("baker", 2, "no"),) * 2
"""A few people; nobody is a smith or a clerk."""
MORE: tuple[Row, ...] = (("cook", 1, "yes"), ("smith", 3, "no"))
"""With each of them, the table is a neighbour: one like the others, and one like nobody."""
_DOMAIN = {
    "columns": {
        "job": {"role": "quasi", "hierarchy": {"tree": {"food": ["cook", "baker"], "other": ["smith", "clerk"]}}},
        "age": {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 4, "grid": 1}},
        "good": {"role": "target", "values": ["yes", "no"]},
    },
    "privacy": {"epsilon": 1},
}
_NARROW = {
    "columns": {"job": {"role": "quasi", "hierarchy": {"tree": {"kitchen": ["cook"], "bakery": ["baker"]}}}},
    "privacy": {"epsilon": 1},
}


class BrokenMechanism(AssertionError):
    """A mechanism does not do what every private one does."""


def check_private(make: Make, *, runs: int = 400) -> tuple[NoiseAudit, ...]:
    """Run every check over a mechanism that ``make(epsilon=...)`` makes; ``runs`` on every table are audited.

    The audits, which are given back, raise a false alarm with a probability of at most 9 in a million together. Each
    says what it finds (``finds``, ``factor``): with 400 runs an epsilon of 1.8 where 1 was promised. Where there is
    nothing to choose and all of epsilon goes to counts, so much less noise is found; of a part of the budget that is
    small beside the others, less is seen.
    """
    check_spending(make)
    check_refusals(make)
    for rows in (ROWS, ()):
        table = tiny_table(rows)
        for _ in range(5):
            check_output(table, make(epsilon=1)(table, Work()))
    check_estimates(make)
    return check_neighbours(make, runs=runs)


def tiny_table(rows: Sequence[Row]) -> PrivateTable:
    """Rows of job, age and class over declared domains."""
    schema = {"job": pl.String, "age": pl.Int64, "good": pl.String}
    return declared_table(Plan.parse(_DOMAIN), Table(frame=pl.DataFrame(list(rows), schema=schema, orient="row")))


def narrow_table(cooks: int) -> PrivateTable:
    """So many cooks and twenty bakers: one attribute of two values and no class, so that nothing is to be chosen."""
    frame = pl.DataFrame({"job": ["cook"] * cooks + ["baker"] * 20})
    return declared_table(Plan.parse(_NARROW), Table(frame=frame))


def check_spending(make: Make) -> None:
    """The event's epsilon is exactly what was asked for."""
    for budget in BUDGETS:
        asked = Fraction(str(budget))
        for rows in (ROWS, ()):
            spent = epsilon_of(make(epsilon=budget)(tiny_table(rows), Work()).event)
            _demand(spent == asked, make, f"what is accounted for is exactly {asked}, not {spent}")


def check_refusals(make: Make) -> None:
    """A budget that is none is refused when the mechanism is made."""
    for bad in NO_BUDGETS:
        try:
            make(epsilon=bad)
        except ParameterError as error:
            told = str(error)
            _demand(told.count("epsilon") > 0, make, f"the refusal of epsilon = {bad!r} names it, not {told!r}")
        else:
            raise BrokenMechanism(f"{make!r} breaks: epsilon = {bad!r} is refused")


def check_output(table: PrivateTable, found: NoisyTable) -> None:
    """Columns, labels and rules are those of the declared domains; counts are whole and not negative."""
    names, groups = tuple(one.name for one in table.attributes), found.keys.shape[1]
    _demand(found.columns == names, found.columns, f"the columns are the declared ones, {names}")
    _demand(found.keys.shape == (len(names), groups), found.keys.shape, "every group has a label in every column")
    _demand(found.counts.shape == (groups, len(table.classes)), found.counts.shape, "a count for each group and class")
    _demand(found.counts.dtype.kind in "iu", found.counts.dtype, "counts are whole numbers")
    _demand(not (found.counts < 0).any(), found.counts.tolist(), "no count is negative")
    domains = stated_domains(table)["columns"]
    for place, (one, labels) in enumerate(zip(table.attributes, found.labels, strict=True)):
        strange = [label for label in labels if not allowed(domains[one.name])(label)]
        _demand(not strange, one.name, f"every label lies in the declared domain, not {strange}")
        keys = found.keys[place]
        _demand(bool(((keys >= 0) & (keys < len(labels))).all()), one.name, "every key is one of the labels")
        cut = found.cut[place] if found.cut else None
        whole = cut is None or len(cut.of_code) == len(one.values)
        _demand(whole, one.name, "a rule for new records reads every declared value")


def check_estimates(make: Make) -> None:
    """Counts that are estimates are refused: nobody knows how far one record moves them."""
    table = tiny_table(ROWS)
    try:
        make(epsilon=1)(replace(table, counts=_Estimated(table.counts)), Work())
    except SfumatoError:
        return
    raise BrokenMechanism(f"{make!r} breaks: a source whose counts are estimates is refused")


class _Estimated:
    """A source that says that its counts are no whole numbers."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self.gives = source.gives - {"integers"}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)


def check_neighbours(make: Make, *, runs: int = 400) -> tuple[NoiseAudit, ...]:
    """One record more is noticed no better than epsilon allows: neither by labels nor by words nor by counts."""
    run = make(epsilon=AUDITED)
    found = _audited(make, _outputs(run, narrow_table(20), runs), _outputs(run, narrow_table(21), runs))
    before = _outputs(run, tiny_table(ROWS), runs)
    for row in MORE:
        found += _audited(make, before, _outputs(run, tiny_table((*ROWS, row)), runs))
    return tuple(found)


def _audited(make: Make, before: Sequence[Seen], after: Sequence[Seen]) -> list[NoiseAudit]:
    """Audits of everything that two neighbouring tables show."""
    made = []
    for what in before[0]:
        sides = [[one[what] for one in outputs] for outputs in (before, after)]
        found = audit_outputs(sides[0], sides[1], confidence=1 - ALARM, declared=float(AUDITED))
        law = f"epsilon = {AUDITED} holds, but by its {what} it is {found.epsilon_low:.2f} or more ({found})"
        _demand(not found.refuted, make, law)
        made.append(found)
    return made


def _outputs(run: Mechanism, table: PrivateTable, runs: int) -> list[Seen]:
    tree = table.attributes[0].tree
    places = {label: place for place, label in enumerate(tree.labels)} if tree is not None else {}
    return [_seen(run(table, Work()), places) for _ in range(runs)]


def _seen(found: NoisyTable, places: Mapping[str, int]) -> Seen:
    """Which groups there are, what is told about the search, and how many groups and rows there are of everything."""
    labels = [np.array(one)[keys].tolist() for one, keys in zip(found.labels, found.keys, strict=True)]
    groups = sorted(zip(*labels, strict=True))
    jobs = np.zeros((len(places), found.counts.shape[1]), np.int64)
    known = np.array([job in places for job in labels[0]], bool)
    np.add.at(jobs, [places[job] for job in labels[0] if job in places], found.counts[known])
    sums = [found.counts.sum(axis=0), jobs.sum(axis=1), jobs.ravel()]
    return {
        "labels": repr((found.labels, groups)),
        "words": repr((found.steps, found.effort)),
        "counts": np.concatenate([[len(groups)], *sums]),
    }


def _demand(true: bool, who: object, law: str) -> None:
    if not true:
        raise BrokenMechanism(f"{who!r} breaks: {law}")
