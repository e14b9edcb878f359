"""Levels for all tables together, so that every table's requirement holds on the join, and people who are left out.

Claim: what is found meets every requirement in people on the join, with no more people left out than allowed. Nothing
    is claimed about its loss.
How: from the values themselves, one level of one column at a time is raised: that which leaves the fewest people out,
    and of several the one that hides least. Where few enough are left out, levels are lowered again as long as that
    stays so. People in joint classes that fail are left out of all tables, and those who are left are judged again
    until nobody fails.
Cost: one joint class per person for every column at every step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Kind, Table
from sfumato.describe.hierarchy import Hierarchy
from sfumato.ground.errors import Infeasible
from sfumato.ground.work import Work
from sfumato.group.keys import distinct
from sfumato.group.linked_rows import Codes, Link, joint_classes, persons
from sfumato.models.verdict import Model
from sfumato.verification.linked_checks import joined_classes

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
        levels = {one: h.levels[node[name, one]] for one, h in self.hierarchies.items()}
        keys = [levels[one].parent[codes] for one, codes in self.codes.items()]
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
    seen: dict[tuple[int, ...], NDArray[np.bool_]] = field(default_factory=dict)
    """Who was left out at nodes that were looked at."""

    @property
    def people(self) -> int:
        """How many people there are."""
        return self.tables[self.root].table.rows

    def left_out(self, node: Node) -> NDArray[np.bool_]:
        """Who must be left out at a node, so that everybody else is in a joint class that meets every requirement."""
        key = tuple(node.values())
        if key not in self.seen:
            self.seen[key] = self._left_out(node)
        return self.seen[key]

    def _left_out(self, node: Node) -> NDArray[np.bool_]:
        labels = {name: one.labels(node, name) for name, one in self.tables.items()}
        joint = joint_classes(labels, self.above, self.order, counted=self.counted)
        whose = persons(self.above, self.order, self.root, self.people)
        out = np.zeros(self.people, np.bool_)
        while True:
            failing = np.zeros(int(joint.max(initial=0)) + 1, np.bool_)
            for name, one in self.tables.items():
                failing |= self._failing(one, joint, whose[name], out, len(failing))
            more = failing[joint] & ~out
            if not more.any():
                return out
            out |= more

    def _failing(
        self, one: LinkedTable, joint: Codes, whose: Codes, out: NDArray[np.bool_], classes: int
    ) -> NDArray[np.bool_]:
        """The joint classes that fail a requirement of one table, among people who are not left out."""
        failing, here = np.zeros(classes, np.bool_), np.flatnonzero(~out[whose])
        if not len(here):
            return failing
        kept = Table(frame=one.table.frame[here], missing=one.table.missing)
        grouped = joined_classes(kept, one.kinds, one.models, joint[whose[here]], whose[here])
        numbers = np.array([int(text) for text in grouped.labels[0]], np.int64)[grouped.keys[0]]
        for model in one.models:
            failing[numbers[model.check(grouped.by_people()).failing]] = True
        return failing


def search_linked(problem: LinkedProblem, work: Work) -> tuple[Node, NDArray[np.bool_]]:
    """The levels, and who is left out."""
    heights = {(name, c): h.height for name, one in problem.tables.items() for c, h in one.hierarchies.items()}
    node: Node = dict.fromkeys(heights, 0)
    while int(problem.left_out(node).sum()) > problem.limit:
        work.advance("search", sum(node.values()), sum(heights.values()))
        higher = [{**node, place: level + 1} for place, level in node.items() if level < heights[place]]
        if not higher:
            raise Infeasible(_why_nothing_fits(problem, int(problem.left_out(node).sum())))
        node = min(higher, key=lambda one: (int(problem.left_out(one).sum()), _hidden(one, heights)))
    node = _lowered(problem, node)
    return node, problem.left_out(node)


def _lowered(problem: LinkedProblem, node: Node) -> Node:
    """A node below, as long as few enough people are left out there."""
    while True:
        lower = [{**node, place: level - 1} for place, level in node.items() if level]
        fit = next((one for one in lower if int(problem.left_out(one).sum()) <= problem.limit), None)
        if fit is None:
            return node
        node = fit


def _hidden(node: Node, heights: Mapping[tuple[str, str], int]) -> float:
    return sum(level / heights[place] for place, level in node.items() if heights[place])


def _why_nothing_fits(problem: LinkedProblem, least: int) -> str:
    """What would be feasible, where every column is at its top and too many people still stand out."""
    told = f"with every quasi-identifier at its top, {least:,} of {problem.people:,} people still stand out on the join"
    why = (
        "by how many rows they have" if problem.counted else "by which tables they have rows in, or by sensitive values"
    )
    share = least / problem.people
    ways: Sequence[str] = [
        *([f"people.max_suppressed = {np.ceil(share * 1000) / 1000:g}"] if least < problem.people else []),
        *(['people.known = "values", if nobody knows how many rows somebody has'] if problem.counted else []),
        "a release of each table by itself with input.unit, which breaks the link",
    ]
    return f"linked tables: {told}, {why}. What would work: {'; or '.join(ways)}."
