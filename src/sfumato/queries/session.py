"""A session: one analyst, one table, one ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.arguments import at_least, between, text
from sfumato.core.errors import DataError, ParameterError, unknown_column
from sfumato.dp.events import Event, Grouped, exactly
from sfumato.dp.ledger import Ledger
from sfumato.queries import answers as estimates
from sfumato.queries.answers import Answer, Estimate, quantile
from sfumato.queries.groups import group_codes, grouped, parted, present, readable
from sfumato.queries.groups import numbers_in as as_numbers
from sfumato.queries.questions import (
    Aggregate,
    Condition,
    Question,
    bounds_of,
    check_domains,
    columns_of,
    cost_of,
    cost_of_one,
    domain_of,
    groups_of,
    holding,
    names_of,
)
from sfumato.tables.frames import from_frame
from sfumato.tables.schema import Domain, Numbers
from sfumato.tables.table import Table

Bounds = Numbers | Sequence[float] | None
Where = Condition | str | None


class Session:
    """Noisy answers about a table, as long as the budget lasts.

    Claim: an answer is epsilon-differentially private for tables that differ by one record, or by all rows of one
        person where ``rows`` says how many these can be; all answers together cost no more than the ledger granted.
    How: a person with up to m rows moves every figure by up to m records, so noise is drawn for epsilon / m. What a
        question costs is known from the question alone; it is reserved in the ledger, then the records are looked at,
        then it is settled. Noise comes from OpenDP only; sums are exact whole numbers before.
    Needs: declared domains, and a table in which nobody has more than ``rows`` rows. A column that is missing from the
        table is refused; a cell that is outside its domain is clamped, told as other or left out without a word, for a
        message would tell of a record.
    """

    def __init__(
        self,
        table: Table | Callable[[], Table] | Any,
        *,
        ledger: Ledger | str | Path,
        analyst: str,
        domains: Mapping[str, Domain] | None = None,
        rows: int = 1,
        narrowed: Callable[[Table], Table] = lambda table: table,
    ) -> None:
        """``table`` may be a table, any frame, or a function that reads one when the first answer is paid for.

        The ledger is bound to this table; ``narrowed`` says which of its rows are asked.
        """
        self._load: Callable[[], Any] = table if callable(table) else lambda: table
        self._given: Table | None = None if callable(table) else _table(table)
        self._table: Table | None = None
        self._narrowed = narrowed
        self.ledger = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        self.analyst = text("analyst", analyst)
        check_domains(domains or {})
        self.domains: dict[str, Domain] = dict(domains or {})
        at_least("rows", rows, 1)
        self.rows = rows

    def count(self, *, epsilon: Any, where: Where = None, by: Sequence[str] = (), confidence: float = 0.95) -> Answer:
        """How many records, of each group if ``by`` names columns: every declared combination is answered."""
        return self._one(Aggregate(kind="count"), epsilon, where, by, confidence)

    def sum(self, column: str, *, bounds: Bounds = None, **options: Any) -> Answer:
        """The sum of a column, each number clamped to the bounds. Takes epsilon, where, by and confidence."""
        return self._figure("sum", column, bounds, **options)

    def mean(self, column: str, *, bounds: Bounds = None, **options: Any) -> Answer:
        """The mean of a column: half of epsilon for a sum, half for a count."""
        return self._figure("mean", column, bounds, **options)

    def variance(self, column: str, *, bounds: Bounds = None, **options: Any) -> Answer:
        """The variance of a column: a third of epsilon each for squares, sum and count."""
        return self._figure("variance", column, bounds, **options)

    def quantile(self, column: str, share: float, *, bounds: Bounds = None, **options: Any) -> Answer:
        """The number below which about a share of the records lies: half of epsilon for it, half for its interval."""
        return self._figure("quantile", column, bounds, share=share, **options)

    def median(self, column: str, *, bounds: Bounds = None, **options: Any) -> Answer:
        """The quantile of one half."""
        return self.quantile(column, 0.5, bounds=bounds, **options)

    def histogram(
        self,
        column: str,
        *,
        epsilon: Any,
        domain: Domain | None = None,
        bins: int | None = None,
        where: Where = None,
        confidence: float = 0.95,
    ) -> Answer:
        """Counts of the declared values of one column, or of ``bins`` equal parts of its range."""
        column_domain = domain or domain_of(
            text("column", column), Question(aggregates=(Aggregate(kind="count"),)), self.domains
        )
        if bins is not None:
            at_least("bins", bins, 1)
            if not isinstance(column_domain, Numbers):
                raise ParameterError(f"bins must be absent: {column!r} is declared with values, not with low and high")
            column_domain = parted(column_domain, bins)
        question = Question(
            aggregates=(Aggregate(kind="count"),), by=(column,), where=condition(where), domains={column: column_domain}
        )
        return self.ask(question, epsilon=epsilon, confidence=confidence)[0]

    def ask(self, question: Question, *, epsilon: Any, confidence: float = 0.95, what: str = "") -> list[Answer]:
        """Answer every aggregate of a question for an even part of epsilon, or refuse where the budget is too small."""
        if not isinstance(question, Question):
            raise ParameterError(f"question must be a Question, not {type(question).__name__}")
        budget = exactly("epsilon", epsilon)
        between("confidence", confidence, 0, 1, open_low=True)
        if confidence == 1:
            raise ParameterError("confidence must be below 1: noise has no end")
        domains = groups_of(question, self.domains)
        for aggregate in question.aggregates:
            if aggregate.kind != "count":
                bounds_of(aggregate, question, self.domains)
        if self._given is not None:
            _refuse_unknown(question, self._given)
        event = self._of_people(cost_of(question, budget / self.rows))
        title = what or ", ".join(aggregate.name for aggregate in question.aggregates)
        with self.ledger.charged(self.analyst, event, what=title) as charge:
            return self._answers(question, domains, budget / self.rows, confidence, self._rows(charge))

    def _rows(self, charge: int) -> Table:
        """The rows that are asked: read, and compared with what the ledger is bound to, once something was paid."""
        if self._table is None:
            whole = _table(self._load()) if self._given is None else self._given
            self.ledger.refuse_other(whole, charge)
            self._table = self._narrowed(whole)
        return self._table

    def _answers(
        self, question: Question, domains: list[Domain], budget: Fraction, confidence: float, table: Table
    ) -> list[Answer]:
        _refuse_unknown(question, table)
        chosen = holding(question.where, table)
        cells = [(domain, grouped(table, name, domain)) for name, domain in zip(question.by, domains, strict=True)]
        place, groups = group_codes(cells, table.rows)
        place = np.where(chosen, place, -1)
        share = budget / len(question.aggregates)
        answers = []
        for aggregate in question.aggregates:
            estimate = self._estimate(aggregate, question, table, (place, groups), (share, confidence))
            event = self._of_people(cost_of_one(aggregate, share))
            answers.append(_answer(aggregate, question, domains, estimate, event, confidence))
        return answers

    def _of_people(self, event: Event) -> Event:
        """What an event for single rows costs a person."""
        return event if self.rows == 1 else Grouped(part=event, rows=self.rows, what="all rows of one person")

    def _estimate(
        self,
        aggregate: Aggregate,
        question: Question,
        table: Table,
        where: tuple[Any, int],
        terms: tuple[Fraction, float],
    ) -> Estimate:
        place, groups = where
        if aggregate.column is None:
            return estimates.count(place[place >= 0], groups, *terms)
        bounds = bounds_of(aggregate, question, self.domains)
        numbers = as_numbers(present(table, aggregate.column))
        kept = (place >= 0) & ~np.isnan(numbers)
        given = numbers[kept], place[kept], groups, bounds, *terms
        if aggregate.kind == "quantile":
            return quantile(*given, share=aggregate.share)
        run = {"sum": estimates.total, "mean": estimates.mean, "variance": estimates.variance}[aggregate.kind]
        return run(*given)

    def _figure(
        self,
        kind: Any,
        column: str,
        bounds: Bounds,
        *,
        epsilon: Any,
        where: Where = None,
        by: Sequence[str] = (),
        confidence: float = 0.95,
        share: float = 0.5,
    ) -> Answer:
        aggregate = Aggregate(kind=kind, column=column, bounds=_limits(bounds), share=share)
        return self._one(aggregate, epsilon, where, by, confidence)

    def _one(self, aggregate: Aggregate, epsilon: Any, where: Where, by: Sequence[str], confidence: float) -> Answer:
        question = Question(aggregates=(aggregate,), by=names_of(by), where=condition(where))
        return self.ask(question, epsilon=epsilon, confidence=confidence)[0]


def condition(where: Where) -> Condition | None:
    """A condition, also from SQL text."""
    if not isinstance(where, str):
        return where
    from sfumato.queries.sql import parse_condition

    return parse_condition(where)


def _limits(bounds: Any) -> Numbers | None:
    """Bounds from a pair of numbers."""
    if bounds is None or isinstance(bounds, Numbers):
        return bounds
    if not isinstance(bounds, list | tuple) or len(bounds) != 2:
        raise ParameterError(f"bounds must be two numbers such as (0, 100), not {bounds!r}")
    return Numbers(low=bounds[0], high=bounds[1])


def _answer(
    aggregate: Aggregate, question: Question, domains: list[Domain], estimate: Estimate, event: Event, confidence: float
) -> Answer:
    return Answer(
        name=aggregate.name,
        by=question.by,
        groups=tuple(product(*(domain.labels for domain in domains))),
        values=estimate.values,
        low=estimate.low,
        high=estimate.high,
        confidence=confidence,
        scales=estimate.scales,
        event=event,
    )


def _table(given: Any) -> Table:
    return given if isinstance(given, Table) else from_frame(given)


def _refuse_unknown(question: Question, table: Table) -> None:
    """Refuse columns that the table does not have or whose type cannot be read: names and types are public."""
    figures = [aggregate.column for aggregate in question.aggregates if aggregate.column is not None]
    for where, names in (("WHERE", columns_of(question.where)), ("by", question.by), ("column", figures)):
        for name in names:
            if name not in table.names:
                raise unknown_column(name, table.names, where=where)
            if not readable(table.frame.schema[name]):
                raise DataError(
                    f"{table.source}, column {name!r}: lists, structs, bytes, durations and objects are not asked "
                    f"about, and it is {table.frame.schema[name]}"
                )
