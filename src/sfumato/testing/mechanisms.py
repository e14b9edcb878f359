"""The kit that every differentially private algorithm must pass.

What it accounts for is exactly what was asked; labels come from the declared domains and counts are not negative, also
where the table is empty; a budget that is none is refused; and neighbouring tables are told apart no better than
epsilon allows, as far as an audit of a few hundred runs sees. ``BrokenMechanism`` is raised where one of these does not
hold. That an audit finds nothing proves nothing: the proof stands beside the algorithm. The audits are given back, and
each says how small a violation it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sfumato.algorithms.private_table import NoisyTable, PrivateTable
from sfumato.attacks.noise_audit import NoiseAudit, audit_outputs
from sfumato.bundles.checks.private import allowed
from sfumato.core.errors import ParameterError, SfumatoError
from sfumato.core.run_context import Work
from sfumato.dp.accounting import epsilon_of
from sfumato.pipeline.methods.private.domains import stated_domains
from sfumato.pipeline.noise_audit import ROWS, Mechanism, Seen, outputs, pairs, tiny_table

Make = Callable[..., Mechanism]
BUDGETS: tuple[Any, ...] = ("1/3", 0.1, 2)
"""What is asked for; no share of the first is a finite decimal, and of the second a float is a lie."""
NO_BUDGETS: tuple[Any, ...] = (0, -1, float("nan"), float("inf"), "x", None, True)
"""What must be refused."""
AUDITED = Fraction(1)
"""The epsilon of the audits: where a factor of two is seen best."""
ALARM = 1e-6
"""How often one audit accuses a mechanism that keeps its promise, at most."""
AUDITS = 16
"""So a mechanism that keeps its promise is accused with a probability of at most ``AUDITS * ALARM``."""


class BrokenMechanism(AssertionError):
    """A mechanism does not do what every private one does."""


def check_private(make: Make, *, runs: int = 400) -> tuple[NoiseAudit, ...]:
    """Run every check over a mechanism that ``make(epsilon=...)`` makes; ``runs`` on every table are audited.

    The audits, which are given back, raise a false alarm with a probability of at most 16 in a million together. Each
    says what it finds (``finds``, ``factor``): with 400 runs an epsilon of 1.9 where 1 was promised. Where there is
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


def check_spending(make: Make) -> None:
    """The event's epsilon is exactly what was asked for."""
    for budget in BUDGETS:
        expected = Fraction(str(budget))
        for rows in (ROWS, ()):
            spent = epsilon_of(make(epsilon=budget)(tiny_table(rows), Work()).event)
            _demand(spent == expected, make, f"what is accounted for is exactly {expected}, not {spent}")


def check_refusals(make: Make) -> None:
    """A budget that is none is refused when the mechanism is made."""
    for bad in NO_BUDGETS:
        try:
            make(epsilon=bad)
        except ParameterError as error:
            message = str(error)
            _demand(message.count("epsilon") > 0, make, f"the refusal of epsilon = {bad!r} names it, not {message!r}")
        else:
            raise BrokenMechanism(f"{make!r} breaks: epsilon = {bad!r} is refused")


def check_output(table: PrivateTable, release: NoisyTable) -> None:
    """Columns, labels and rules are those of the declared domains; counts are whole and not negative."""
    names, groups = tuple(attribute.name for attribute in table.attributes), release.keys.shape[1]
    _demand(release.columns == names, release.columns, f"the columns are the declared ones, {names}")
    _demand(release.keys.shape == (len(names), groups), release.keys.shape, "every group has a label in every column")
    _demand(
        release.counts.shape == (groups, len(table.classes)), release.counts.shape, "a count for each group and class"
    )
    _demand(release.counts.dtype.kind in "iu", release.counts.dtype, "counts are whole numbers")
    _demand(not (release.counts < 0).any(), release.counts.tolist(), "no count is negative")
    domains = stated_domains(table)["columns"]
    for place, (attribute, labels) in enumerate(zip(table.attributes, release.labels, strict=True)):
        strange = [label for label in labels if not allowed(domains[attribute.name])(label)]
        _demand(not strange, attribute.name, f"every label lies in the declared domain, not {strange}")
        keys = release.keys[place]
        _demand(bool(((keys >= 0) & (keys < len(labels))).all()), attribute.name, "every key is one of the labels")
        cut = release.cut[place] if release.cut else None
        whole = cut is None or len(cut.of_code) == len(attribute.values)
        _demand(whole, attribute.name, "a rule for new records reads every declared value")


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
    audits: list[NoiseAudit] = []
    outputs_by_table: dict[int, list[Seen]] = {}
    for pair in pairs():
        if id(pair.first) not in outputs_by_table:
            outputs_by_table[id(pair.first)] = outputs(run, pair.first, runs)
        audits += _audited(make, outputs_by_table[id(pair.first)], outputs(run, pair.second, runs))
    return tuple(audits)


def _audited(make: Make, before: Sequence[Seen], after: Sequence[Seen]) -> list[NoiseAudit]:
    """Audits of everything that two neighbouring tables show."""
    audits = []
    for what in before[0]:
        sides = [[output[what] for output in outputs] for outputs in (before, after)]
        audit = audit_outputs(sides[0], sides[1], confidence=1 - ALARM, declared=float(AUDITED))
        law = f"epsilon = {AUDITED} holds, but by its {what} it is {audit.epsilon_low:.2f} or more ({audit})"
        _demand(not audit.refuted, make, law)
        audits.append(audit)
    return audits


def _demand(true: bool, who: object, law: str) -> None:
    if not true:
        raise BrokenMechanism(f"{who!r} breaks: {law}")
