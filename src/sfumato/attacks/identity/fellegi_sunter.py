"""Linking a register with errors to a release: probabilistic record linkage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from sfumato.attacks.frame.numeric_labels import Floats
from sfumato.attacks.frame.subject import Ints, Mask, Subject
from sfumato.attacks.frame.trials import Finding, Limit, Rate
from sfumato.attacks.identity.agreement import AGREE, Comparison, Learned, learn
from sfumato.attacks.identity.fitted_rows import fitting_rows
from sfumato.attacks.identity.registers import with_errors
from sfumato.ground.arguments import at_least, between, number
from sfumato.ground.chance import Chance
from sfumato.ground.errors import ParameterError

_LEARNERS = 200
"""So many lines are compared with every row to learn how columns err,"""
_PAIRS = 20_000_000
"""or as many as make so many pairs, but not below 50."""
_MANY = 20000
"""From so many classes on, a line is scored only beside classes that agree in one of two selective columns."""
_KEPT = 20
"""So many classes are remembered for each line."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Links:
    """Whom the attacker linked to what."""

    classes: Ints
    """The class of released rows that each line was linked to; -1 for none."""
    weights: Floats
    """How much speaks for it."""
    learned: Learned
    """What was learned about errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FellegiSunter:
    """Somebody holds a register with names, of people who are in the release; some of its cells are missing or wrong.

    The attacker wants to know whose row is whose. Joining on all columns finds only people without an error. So the
    attacker compares every line with every row, column by column, learns how often columns agree for the same person
    and for others, and links first the pairs for which most speaks; a row is given to one line only. It takes lines
    times rows comparisons, or fewer if only rows are compared that agree in a selective column. Where nothing speaks
    for any row the line stays alone: a failed trial. Without the release the attacker can only pick a row: once in as
    many as there are. Whoever is not in the release has no row, so nothing is right in the control run.

    The register is made from the people, with errors in a share of the cells, or handed in (``against``).

    Cost: lines times classes in numbers of one byte. Source: Fellegi and Sunter 1969, A theory for record linkage;
        Winkler 1988 for learning m and u.
    """

    name: ClassVar[str] = "fellegi-sunter"
    threat: ClassVar[str] = "re-identification"

    trials: int = 2000
    """At most so many lines."""
    errors: float = 0.1
    """The share of the register's cells that are missing or wrong."""
    near: float = 1.0
    """Numbers that differ by no more than this nearly agree."""
    surely: float = 0.0
    """Lines are linked only where a match is at least so probable."""
    block: tuple[str, ...] = ()
    """Only rows that agree in one of these columns are looked at; in a large release two are chosen by themselves."""

    def __post_init__(self) -> None:
        """Refuse nonsense."""
        at_least("trials", self.trials, 1)
        between("errors", self.errors, 0, 1)
        between("surely", self.surely, 0, 1)
        if number("near", self.near) < 0:
            raise ParameterError(f"near must not be negative, not {self.near}")
        if isinstance(self.block, str):
            raise ParameterError(f"block must name columns, not {self.block!r}")

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""
        if not subject.quasi or not subject.people.height:
            return "there are no quasi-identifiers of anybody"
        if unknown := [name for name in self.block if name not in subject.quasi]:
            return f"{unknown[0]!r} is no quasi-identifier"
        return "" if subject.release.height else "the release has no rows"

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Link a register made from some of the people."""
        people = subject.some(self.trials, chance)
        draws = chance.generator().spawn(2)
        register = with_errors(people, subject.quasi, subject.numeric, self.errors, draws[0])
        control = None
        if subject.control is not None:
            others = subject.some(self.trials, chance, control=True)
            theirs = with_errors(others, subject.quasi, subject.numeric, self.errors, draws[1])
            alone = self.link(subject, theirs, chance).classes < 0
            control = Rate(hits=0.0, trials=others.height, failed=int(alone.sum()))
        return self.against(subject, register, people, chance, limit, control=control)

    def against(
        self,
        subject: Subject,
        register: pl.DataFrame,
        people: pl.DataFrame,
        chance: Chance,
        limit: Limit | None = None,
        *,
        control: Rate | None = None,
    ) -> Finding:
        """Link a register whose lines are these people, as only the experimenter knows.

        A line counts as right with the chance that the row is theirs: 0 where the class does not fit what is true of
        them, otherwise one over all rows that fit.
        """
        links = self.link(subject, register, chance)
        linked = links.classes >= 0
        rows = np.maximum(fitting_rows(subject, people), 1)
        right = np.where(_covered(subject, people, links.classes) & linked, 1.0 / rows, 0.0)
        exact = fitting_rows(subject, register)
        joined = np.where((exact > 0) & _same(subject, register, people), 1.0 / np.maximum(exact, 1), 0.0)
        lines, released = people.height, subject.release.height
        return Finding(
            attack=self.name,
            threat=self.threat,
            knows=f"a register with errors in {self.errors:.0%} of the cells, and that its people are in the release",
            does="tell whose row is whose",
            rate=Rate(hits=float(right.sum()), trials=lines, failed=int((~linked).sum())),
            naive=Rate(hits=lines / released if released else 0.0, trials=lines, exact=True),
            control=control,
            limit=limit,
            worst=float(right.max()) if lines else None,
            figures={
                "linked": float(linked.mean()) if lines else 0.0,
                "right_of_linked": float(right.sum() / linked.sum()) if linked.any() else 0.0,
                "exact_join": float(joined.mean()) if lines else 0.0,
            },
        )

    def link(self, subject: Subject, register: pl.DataFrame, chance: Chance) -> Links:
        """Give each line the class for which most speaks, the best first, as long as the class has rows left."""
        draws = chance.generator().spawn(3)[2]
        compared = Comparison.of(subject, register, self.near)
        learners = max(min(_LEARNERS, _PAIRS // max(len(compared.sizes), 1)), 50)
        some = np.sort(draws.permutation(compared.lines)[:learners]).astype(np.int64)
        learned = learn(compared, some)
        blocks = self._blocks(subject, compared)
        pairs = [_best(compared, line, blocks, learned, draws) for line in range(compared.lines)]
        line = np.repeat(np.arange(compared.lines), [len(found) for found, _, _ in pairs])
        classes, scores, surely = (np.concatenate(part) for part in zip(*pairs, strict=True))
        enough = (scores > 1e-9) & (surely >= self.surely)
        given, got = _greedy(line[enough], classes[enough], scores[enough], compared, draws)
        return Links(classes=given, weights=got, learned=learned)

    def _blocks(self, subject: Subject, compared: Comparison) -> tuple[int, ...]:
        if self.block or len(compared.sizes) <= _MANY:
            return tuple(subject.quasi.index(name) for name in self.block)
        shares = [
            float((table == AGREE)[:, labels].mean(axis=0).mean()) if table.size < 10**7 else 0.0
            for table, labels in zip(compared.tables, compared.labels[:, :_MANY], strict=True)
        ]
        return tuple(int(column) for column in np.argsort(shares, kind="stable")[:2])


def _best(
    compared: Comparison, line: int, blocks: tuple[int, ...], learned: Learned, draws: np.random.Generator
) -> tuple[Ints, Floats, Floats]:
    """The classes for which most speaks, how much, and how probable it is; who is equal is drawn by lot."""
    near = compared.agreeing(line, blocks)
    scores = compared.scores(line, near, learned.weights)
    total = float((np.exp(np.clip(scores, -500, 500)) * compared.sizes[near]).sum())
    if len(near) > _KEPT:
        lots = scores + 1e-9 * draws.random(len(near))
        kept = np.argpartition(-lots, _KEPT)[:_KEPT]
        near, scores = near[kept], scores[kept]
    ratios = np.exp(np.clip(scores, -500, 500))
    return near, scores, learned.surely(ratios, total, int(compared.sizes.sum()))


def _greedy(
    line: Ints, classes: Ints, scores: Floats, compared: Comparison, draws: np.random.Generator
) -> tuple[Ints, Floats]:
    """One class for each line and one line for each row, by falling weight."""
    given, got = np.full(compared.lines, -1, np.int64), np.zeros(compared.lines, np.float64)
    left = compared.sizes.copy()
    order = np.lexsort((draws.random(len(line)), -np.round(scores, 9)))
    for pair in order.tolist():
        if given[line[pair]] < 0 and left[classes[pair]] > 0:
            given[line[pair]], got[line[pair]] = classes[pair], scores[pair]
            left[classes[pair]] -= 1
    return given, got


def _covered(subject: Subject, people: pl.DataFrame, classes: Ints) -> Mask:
    """Whether the class of each person covers what is true of them."""
    labels, _, _ = subject.classes
    found = np.ones(people.height, np.bool_)
    for column, codes in enumerate(subject.coded(people)):
        covers = subject.coverage[subject.quasi[column]].covers
        every = np.concatenate([covers, covers.all(axis=1, keepdims=True)], axis=1)
        found &= every[labels[column][classes], codes]
    return found


def _same(subject: Subject, register: pl.DataFrame, people: pl.DataFrame) -> Mask:
    """Lines without an error: only their exact join can be right, as far as can be told."""
    return np.asarray((subject.coded(register) == subject.coded(people)).all(axis=0))
