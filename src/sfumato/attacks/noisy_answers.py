"""Attacks on answers and noisy counts: averaging, differencing, and empty cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import exp
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from sfumato.attacks.candidates import codes_of, right, texts_of
from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.core.arguments import above, at_least, number, text
from sfumato.core.errors import ParameterError, SfumatoError, unknown_column
from sfumato.core.randomness import Chance

# The averaging attack: asking again and again until the noise is gone.


@dataclass(frozen=True, slots=True, kw_only=True)
class Averaging:
    """Somebody gets noisy answers and wants the exact count: they ask the same question many times and take the mean.

    Noise of scale b with fresh draws shrinks to b * sqrt(2 / r) after r answers; about 8 b^2 answers are enough to
    round to the right number two times in three, and 50 b^2 nearly always. It takes r questions. A budget
    that all answers share stops the attacker: a trial that is not answered to its end could not be carried out. So does
    an interface that answers the same question with the same noise.

    The naive guesser asks once and rounds.
    Source: Dwork, McSherry, Nissim and Smith 2006 (why a budget is needed); Denning 1980.
    """

    name: ClassVar[str] = "averaging"
    threat: ClassVar[str] = "method"

    repetitions: int = 400
    """How often the attacker asks in a trial."""
    trials: int = 100
    """How often the attacker tries."""

    def __post_init__(self) -> None:
        at_least("repetitions", self.repetitions, 2)
        at_least("trials", self.trials, 1)

    def run(self, answer: Callable[[], float], truth: float, limit: Limit | None = None) -> Finding:
        """Ask, average, round, and compare with the true count."""
        number("truth", truth)
        hits, first, failed, needed, spread, n_answers = 0, 0, 0, [], [], 0
        for _ in range(self.trials):
            answers = _asked(answer, self.repetitions)
            n_answers += len(answers)
            first += len(answers) > 0 and round(float(answers[0])) == truth
            if len(answers) < self.repetitions:
                failed += 1
                continue
            hits += round(float(answers.mean())) == truth
            needed.append(_from_then_on(answers, truth))
            spread.append(float(answers.std(ddof=1)))
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="how to ask the same question again",
            does="find the exact count by averaging",
            rate=Rate(hits=hits, trials=self.trials, failed=failed),
            naive=Rate(hits=first, trials=self.trials),
            limit=limit,
            figures={
                "answers": float(n_answers),
                "deviation_of_an_answer": float(np.mean(spread)) if spread else 0.0,
                "answers_needed": float(np.median(needed)) if needed else 0.0,
            },
            note="answers_needed: the median number after which the rounded mean stays right; "
            "one more than were asked for where it does not",
        )


def _asked(answer: Callable[[], float], repetitions: int) -> NDArray[np.float64]:
    """The answers until one is refused."""
    answers = []
    for _ in range(repetitions):
        try:
            answers.append(float(answer()))
        except SfumatoError:
            break
    return np.array(answers, np.float64)


def _from_then_on(answers: NDArray[np.float64], truth: float) -> int:
    """After how many answers the rounded mean is right and stays right.

    >>> _from_then_on(np.array([7.0, 4.0, 4.0, 5.0]), 5)
    3
    """
    means = np.cumsum(answers) / np.arange(1, len(answers) + 1)
    wrong = np.flatnonzero(np.rint(means) != truth)
    return int(wrong[-1]) + 2 if len(wrong) else 1


# The differencing attack: two counts that differ by one person tell about this person.


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A question: how many records have all of these values, leaving out those that have all of some others."""

    equal: Mapping[str, str] = field(default_factory=dict)
    """Column and value; nothing means every record."""
    but_not: Mapping[str, str] = field(default_factory=dict)
    """Records with all of these values are left out; nothing leaves nobody out."""

    def sql(self) -> str:
        r"""As a condition behind WHERE; empty for every record.

        >>> Counted(equal={"ill": "HIV"}, but_not={"age": "37", "zip": "90210"}).sql()
        '"ill" = \'HIV\' AND NOT ("age" = \'37\' AND "zip" = \'90210\')'
        """
        parts = [_sql(self.equal)] if self.equal else []
        return " AND ".join([*parts, f"NOT ({_sql(self.but_not)})"] if self.but_not else parts)

    def counted(self, table: pl.DataFrame) -> int:
        """The exact answer: what an interface without any protection says."""
        chosen = np.ones(table.height, np.bool_)
        for name, value in self.equal.items():
            chosen &= (texts_of(table, name) == value).to_numpy()
        left_out = np.full(table.height, bool(self.but_not))
        for name, value in self.but_not.items():
            left_out &= (texts_of(table, name) == value).to_numpy()
        return int((chosen & ~left_out).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Differencing:
    """Somebody who may ask for counts, never for rows, knows a person's quasi-identifiers and wants a sensitive value.

    For each value the attacker asks twice: how many have it, and how many of all others have it. The difference is 1
    for their value and 0 for every other. Both counts are about many people, so a rule that refuses small counts does
    not notice. It takes two questions for each value. Noise of the size of one person, or a budget that
    ends, stops the attacker: a question that is refused is a trial that could not be carried out.

    Source: Denning, Denning and Schwartz 1979 (trackers); Dinur and Nissim 2003.
    """

    name: ClassVar[str] = "differencing"
    threat: ClassVar[str] = "attribute disclosure"

    trials: int = 200
    """At most so many people."""

    def __post_init__(self) -> None:
        at_least("trials", self.trials, 1)

    def run(
        self,
        answer: Callable[[Counted], float],
        people: pl.DataFrame,
        column: str,
        chance: Chance,
        limit: Limit | None = None,
    ) -> Finding:
        """Ask about people of a register whose columns, but for the sensitive one, are what the attacker knows."""
        text("column", column)
        if column not in people.columns:
            raise unknown_column(column, people.columns, where="column")
        known = [name for name in people.columns if name != column]
        if not known:
            raise ParameterError("people must have more columns than the sensitive one")
        values = tuple(texts_of(people, column).unique().sort())
        draw = chance.generator()
        chosen = people[np.sort(draw.permutation(people.height)[: self.trials])]
        alone = chosen.join(people.group_by(known).len("alike"), on=known, how="left", maintain_order="left")["alike"]
        n_questions, scores, refused = 0, np.zeros((chosen.height, len(values))), 0
        for row, person in enumerate(chosen.select(pl.col(known).cast(pl.String)).iter_rows(named=True)):
            differences, questions = _differences(answer, column, values, person) if alone[row] == 1 else (None, 0)
            n_questions += questions
            refused += differences is None
            if differences is not None:
                scores[row] = np.where(differences == differences.max(), 1.0, 0.0)
        truth = codes_of(chosen, column, values)
        frequent = np.bincount(codes_of(people, column, values), minlength=len(values))
        guess = right(np.broadcast_to(frequent.astype(np.float64), scores.shape), truth)
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows="somebody's quasi-identifiers, and may ask for counts",
            does=f"find their {column} from two counts that differ by this person",
            rate=Rate(hits=float(right(scores, truth).sum()), trials=len(truth), failed=refused),
            naive=Rate(hits=float(guess.sum()), trials=len(truth)),
            limit=limit,
            figures={"questions": float(n_questions), "questions_for_one_person": 2.0 * len(values)},
            note="somebody who is not alone with their quasi-identifiers, or a refused question, is a failed trial",
        )


def _differences(
    answer: Callable[[Counted], float], column: str, values: tuple[str, ...], person: Mapping[str, str]
) -> tuple[np.typing.NDArray[np.float64] | None, int]:
    """For each value the count with them less the count without them; None where a question was refused."""
    differences, n_questions = np.zeros(len(values)), 0
    for at, value in enumerate(values):
        for sign, left_out in ((1, {}), (-1, person)):
            n_questions += 1
            try:
                differences[at] += sign * float(answer(Counted(equal={column: value}, but_not=left_out)))
            except SfumatoError:
                return None, n_questions
    return differences, n_questions


def _sql(equal: Mapping[str, str]) -> str:
    quoted = (
        ('"' + name.replace('"', '""') + '"', "'" + value.replace("'", "''") + "'") for name, value in equal.items()
    )
    return " AND ".join(f"{name} = {value}" for name, value in quoted)


# Empty cells in noisy tables of counts: how many published cells have nobody in them, and what follows.


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


def _figures(noisy: Reals, true: Reals, is_positive: NDArray[np.bool_]) -> dict[str, float]:
    """What a reader of the table should know."""
    false = is_positive & (true == 0)
    return {
        "cells": float(len(true)),
        "empty": float((true == 0).mean()) if len(true) else 0.0,
        "positive": float(is_positive.sum()),
        "positive_but_empty": float(false.sum() / max(int(is_positive.sum()), 1)),
        "occupied_but_not_positive": float(((true > 0) & ~is_positive).sum() / max(int((true > 0).sum()), 1)),
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
