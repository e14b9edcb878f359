"""Levels for all tables together, so that every table's requirement holds on the join, and people who are left out.

Claim: the result meets every requirement in people on the join, with no more people left out than allowed, and no table
    is emptied. Where the search looks at every node that could be cheaper (see ``Cost``), nothing costs less.
Cost of a result: h + s (1 - h), with h the mean share of its height that each column is raised by and s the share of
    people left out: a person who is left out loses everything, as a suppressed row does.
How: from the values themselves, one level of one column at a time is raised: that which leaves the fewest people out,
    and of several the one that hides least. Of the nodes on this way the cheapest that is allowed is kept, and levels
    are lowered as long as that is allowed and cheaper. Then nodes are tried in the order of h, which no cost is below,
    until h reaches the best cost or the time is used up. None of the nodes that are tried depends on the allowance,
    other than by stopping earlier where something cheaper is known; so what is feasible stays feasible when more people
    may be left out. People in joint classes that fail are left out of all tables, and those who remain are judged again
    until every class passes.
Cost: one joint class per person for every node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from sfumato.bundles.checks.linked import joined_classes
from sfumato.core.errors import Infeasible
from sfumato.core.run_context import Work
from sfumato.counts.keys import distinct
from sfumato.counts.linked_rows import Codes, Link, joint_classes, persons
from sfumato.models.model import Model
from sfumato.tables.hierarchy import Hierarchy
from sfumato.tables.table import Kind, Table

MOST_NODES, LEAST_NODES, MOST_ROWS = 1_000, 50, 2_000_000
"""So many nodes are tried in the order of what they hide; fewer of large tables, by the rows that all of them have."""
_ROUNDING = 1e-12
Node = dict[tuple[str, str], int]
"""The level of every quasi-identifier, by table and column."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinkedTable:
    """One table, counted."""

    table: Table
    """Its rows."""
    hierarchies: Mapping[str, Hierarchy]
    """Of its quasi-identifiers."""
    codes: Mapping[str, NDArray[np.int32]]
    """The value of every row in every quasi-identifier."""
    kinds: Mapping[str, Kind]
    """How the columns that models look at are read."""
    models: tuple[Model, ...]
    """What must hold."""

    def labels(self, node: Node, name: str) -> Codes:
        """The class of each row by its labels at a node."""
        if not self.codes:
            return np.zeros(self.table.rows, np.int64)
        levels = {column: h.levels[node[name, column]] for column, h in self.hierarchies.items()}
        keys = [levels[column].parent[codes] for column, codes in self.codes.items()]
        return np.asarray(
            distinct(keys, [len(level.labels) for level in levels.values()], self.table.rows)[0], np.int64
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinkedProblem:
    """All tables, and how their rows hang together."""

    tables: Mapping[str, LinkedTable]
    """The tables."""
    root: str
    """The people's own."""
    order: tuple[Link, ...]
    """The links."""
    above: Mapping[str, Codes]
    """For each table, the places of the rows that its rows name."""
    counted: bool
    """Whether it is known how many rows of a kind a person has."""
    limit: int
    """How many people may be left out."""
    alone: Callable[[Node, NDArray[np.bool_]], str | None] = lambda node, out: None
    """A table whose rows by themselves do not meet its requirement at a node, without those who are left out."""
    seen: dict[tuple[int, ...], NDArray[np.bool_]] = field(default_factory=dict)
    """Who was left out at nodes that were looked at."""

    @property
    def people(self) -> int:
        """How many people there are."""
        return self.tables[self.root].table.rows

    @property
    def rows(self) -> int:
        """How many rows all tables have."""
        return sum(each.table.rows for each in self.tables.values())

    @property
    def heights(self) -> dict[tuple[str, str], int]:
        """The highest level of every quasi-identifier."""
        return {(name, c): h.height for name, each in self.tables.items() for c, h in each.hierarchies.items()}

    def emptied(self, out: NDArray[np.bool_]) -> str | None:
        """A table that has rows, and none of people who stay."""
        whose = persons(self.above, self.order, self.root, self.people)
        return next((name for name, of_row in whose.items() if not (~out[of_row]).any()), None)

    def left_out(self, node: Node) -> NDArray[np.bool_]:
        """Who must be left out at a node, so that everybody else is in a joint class that meets every requirement."""
        key = tuple(node.values())
        if key not in self.seen:
            self.seen[key] = self._left_out(node)
        return self.seen[key]

    def _left_out(self, node: Node) -> NDArray[np.bool_]:
        labels = {name: linked_table.labels(node, name) for name, linked_table in self.tables.items()}
        joint = joint_classes(labels, self.above, self.order, counted=self.counted)
        whose = persons(self.above, self.order, self.root, self.people)
        out = np.zeros(self.people, np.bool_)
        while True:
            failing = np.zeros(int(joint.max(initial=0)) + 1, np.bool_)
            for name, linked_table in self.tables.items():
                failing |= self._failing(linked_table, joint, whose[name], out, len(failing))
            more = failing[joint] & ~out
            if not more.any():
                return out
            out |= more

    def _failing(
        self, linked_table: LinkedTable, joint: Codes, whose: Codes, out: NDArray[np.bool_], classes: int
    ) -> NDArray[np.bool_]:
        """The joint classes that fail a requirement of one table, among people who are not left out."""
        failing, here = np.zeros(classes, np.bool_), np.flatnonzero(~out[whose])
        if not len(here):
            return failing
        kept = Table(frame=linked_table.table.frame[here], missing=linked_table.table.missing)
        grouped = joined_classes(kept, linked_table.kinds, linked_table.models, joint[whose[here]], whose[here])
        numbers = np.array([int(text) for text in grouped.labels[0]], np.int64)[grouped.keys[0]]
        for model in linked_table.models:
            failing[numbers[model.check(grouped.by_people()).failing]] = True
        return failing


def search_linked(problem: LinkedProblem, work: Work) -> tuple[Node, NDArray[np.bool_]]:
    """The levels, and who is left out."""
    search = _Search(problem=problem)
    heights = problem.heights
    node: Node = dict.fromkeys(heights, 0)
    search.consider(node)
    while (higher := _raised(node, heights)) and _hidden(node, heights) < search.cost:
        work.advance("search", sum(node.values()), sum(heights.values()))
        node = min(higher, key=lambda candidate: (int(problem.left_out(candidate).sum()), _hidden(candidate, heights)))
        search.consider(node)
    while search.best is not None and any(search.consider(lower) for lower in _lowered(search.best)):
        work.advance("search", len(problem.seen), len(problem.seen) + 1)
    most = min(max(MOST_ROWS // max(problem.rows, 1), LEAST_NODES), MOST_NODES)
    for done, each in enumerate(_by_hidden(heights)):
        if done == most or _hidden(each, heights) >= search.cost:
            break
        work.advance("search", done, most)
        search.consider(each)
    if search.best is None:
        raise Infeasible(_why_nothing_fits(problem, node, search))
    return search.best, problem.left_out(search.best)


@dataclass(slots=True, kw_only=True)
class _Search:
    """The cheapest node so far."""

    problem: LinkedProblem
    best: Node | None = None
    cost: float = np.inf
    empties: str | None = None
    alone: str | None = None

    def consider(self, node: Node) -> bool:
        """Keep a node that is allowed and cheaper than the best; whether it was."""
        problem = self.problem
        out = problem.left_out(node)
        hidden, share = _hidden(node, problem.heights), float(out.mean()) if len(out) else 0.0
        cost = hidden + share * (1 - hidden)
        if int(out.sum()) > problem.limit or cost >= self.cost - _ROUNDING:
            return False
        if (table := problem.emptied(out)) is not None:
            self.empties = table
            return False
        if (table := problem.alone(node, out)) is not None:
            self.alone = table
            return False
        self.best, self.cost = node, cost
        return True


def _raised(node: Node, heights: Mapping[tuple[str, str], int]) -> list[Node]:
    return [{**node, place: level + 1} for place, level in node.items() if level < heights[place]]


def _lowered(node: Node) -> list[Node]:
    return [{**node, place: level - 1} for place, level in node.items() if level]


def _by_hidden(heights: Mapping[tuple[str, str], int]) -> Iterator[Node]:
    """All nodes in the order of what they hide; each is reached over one lower node only, so none comes twice."""
    places = list(heights)
    queue: list[tuple[float, tuple[int, ...], int]] = [(0.0, (0,) * len(places), 0)]
    while queue:
        _, levels, first = heappop(queue)
        yield dict(zip(places, levels, strict=True))
        for at in range(first, len(places)):
            if levels[at] < heights[places[at]]:
                higher = (*levels[:at], levels[at] + 1, *levels[at + 1 :])
                heappush(queue, (_hidden(dict(zip(places, higher, strict=True)), heights), higher, at))


def _hidden(node: Node, heights: Mapping[tuple[str, str], int]) -> float:
    return sum(level / heights[place] for place, level in node.items() if heights[place]) / max(len(node), 1)


def _why_nothing_fits(problem: LinkedProblem, top: Node, search: _Search) -> str:
    """What would be feasible, where every column is at its top and too many people still stand out."""
    if search.alone is not None:
        return (
            f"tables.{search.alone}: its requirement holds in people on the join, but not for the table's rows alone; "
            "use a coarser hierarchy, or ask for less"
        )
    if search.empties is not None:
        return (
            f"linked tables: nobody with rows in {search.empties!r} could stay, and a table is never emptied; ask for "
            "less in its plan, use coarser hierarchies, or leave the table out"
        )
    least = int(problem.left_out(top).sum())
    message = (
        f"with every quasi-identifier at its top, {least:,} of {problem.people:,} people still stand out on the join"
    )
    why = (
        "by how many rows they have" if problem.counted else "by which tables they have rows in, or by sensitive values"
    )
    share = least / problem.people
    ways: Sequence[str] = [
        *([f"people.max_suppressed = {np.ceil(share * 1000) / 1000:g}"] if least < problem.people else []),
        *(['people.known = "values", if nobody knows how many rows somebody has'] if problem.counted else []),
        "a release of each table by itself with input.unit, which breaks the link",
    ]
    return f"linked tables: {message}, {why}. What would work: {'; or '.join(ways)}."
