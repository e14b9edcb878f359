"""Anatomy, and groups of rows with different sensitive values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.algorithms.feasibility import described, refuse_unreachable
from sfumato.algorithms.problem import Grain, Outcome, Problem, Recoded
from sfumato.core.errors import Infeasible, PlanError
from sfumato.core.run_context import Work
from sfumato.counts.classes import Classes
from sfumato.counts.keys import Ids
from sfumato.counts.tally import Tally
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity, SimpleLDiversity
from sfumato.models.model import judge

# Groups of rows with different sensitive values: how large they must be, whether they exist, and making them.


Codes = NDArray[np.int32]
Places = NDArray[np.int64] | NDArray[np.float64]
_LENIENT = (DistinctLDiversity, KAnonymity)


def sensitive_column(problem: Problem, name: str) -> str | None:
    """The one sensitive column that the models look at, if any; several are refused."""
    columns = sorted({column for model in problem.models for column in model.columns})
    if len(columns) > 1:
        raise PlanError(
            f"algorithm.name: {name} makes groups for one sensitive column, but the requirement looks at "
            f"{', '.join(columns)}; use mondrian or local"
        )
    return columns[0] if columns else None


def refuse_other_models(problem: Problem, name: str) -> None:
    """Refuse models whose verdict on a group depends on more than the values in it (t-closeness)."""
    for model in problem.models:
        if model.counts_anew or not model.kept_by_merging or not model.kept_by_removal or model.name == "t-closeness":
            raise PlanError(
                f"algorithm.name: {name} makes groups of rows with different values, which is not what "
                f"{described(model)} asks for; use mondrian or local"
            )


def fewest_different(problem: Problem, column: str | None) -> int | None:
    """The fewest rows, all with different values, that every model accepts as a group; None where no number will do."""
    for size in range(1, _most_different(problem, column) + 1):
        classes = _uniform(problem, column, size)
        if all(judge(model, classes, problem.reading).holds for model in problem.models):
            return size
    return None


def group_size(problem: Problem, column: str | None, name: str) -> int:
    """The fewest rows, all with different values, that every model accepts as a group, or a refusal."""
    refuse_other_models(problem, name)
    size = fewest_different(problem, column)
    if size is not None:
        return size
    most = _most_different(problem, column)
    reason = f"{column!r} has {most} different values" if column else f"there are {most} rows"
    wanted = " and ".join(described(model) for model in problem.models)
    raise Infeasible(f"{wanted}: no group of rows with different values is large enough; {reason}")


def _most_different(problem: Problem, column: str | None) -> int:
    return problem.cells.rows if column is None else len(problem.cells.tally(column).values)


def _uniform(problem: Problem, column: str | None, size: int) -> Classes:
    """One class of so many rows, each with another value."""
    tallies: dict[str, Tally] = {}
    if column is not None:
        known = problem.cells.tally(column)
        present = [code for code in range(len(known.values)) if code != known.missing]
        first = (present if known.missing is None else [known.missing, *present])[:size]
        size = len(first)
        tallies[column] = Tally(
            column=column,
            values=known.values,
            owners=np.zeros(size, np.int64),
            codes=np.array(first, np.int32),
            counts=np.ones(size, np.int64),
            classes=1,
            missing=known.missing,
            numbers=known.numbers,
            whole=known.overall,
        )
    return Classes(
        quasi=(), keys=np.zeros((0, 1), np.int32), labels=(), sizes=np.array([size], np.int64), tallies=tallies
    )


def different(problem: Problem, column: str, places: Places, size: int, work: Work) -> tuple[Ids, int]:
    """Groups of ``size`` rows with different values, along the line; eligibility is tested first.

    A value in more than one row of ``size`` cannot be without repetition. Distinct l-diversity (with k-anonymity) does
    not mind: then there are as many groups as the other values allow, and what is left over is spread among them.
    """
    tally = problem.cells.tally(column)
    count = _most_groups(tally.overall, size)
    if not eligible(problem, column, size):
        _refuse_ineligible(tally, size, problem.cells.rows)
    codes = np.zeros(problem.cells.count, np.int32)
    codes[tally.owners] = tally.codes
    groups = np.full(len(codes), -1, np.int64)
    for number, chosen in enumerate(groups_of_different(codes, places, size, count)):
        groups[chosen] = number
        if work.due:
            work.advance("group", number, count)
    left = np.flatnonzero(groups < 0)
    left = left[np.argsort(places[left], kind="stable")]
    groups[left] = np.arange(len(left)) * count // max(len(left), 1)
    return groups, count


def eligible(problem: Problem, column: str, size: int) -> bool:
    """Whether no value is too frequent for groups of ``size`` different values, or the models do not mind."""
    counts = problem.cells.tally(column).overall
    if int(counts.max(initial=0)) <= problem.cells.rows // size:
        return True
    return _most_groups(counts, size) > 0 and all(isinstance(model, _LENIENT) for model in problem.models)


def _most_groups(counts: NDArray[np.int64], size: int) -> int:
    """How many groups with ``size`` different values can be made at once: each value is once in a group at most."""
    most = int(counts.sum()) // size
    while most and int(np.minimum(counts, most).sum()) < most * size:
        most = int(np.minimum(counts, most).sum()) // size
    return most


def _refuse_ineligible(tally: Tally, size: int, rows: int) -> None:
    most = int(np.argmax(tally.overall))
    count = int(tally.overall[most])
    raise Infeasible(
        f"{tally.column!r}: {tally.values[most]!r} is in {count:,} of {rows:,} rows, but groups of {size} different "
        f"values need every value in at most {rows // size:,} rows; at most {max(rows // count, 1)} different values "
        "per group are possible"
    )


def groups_of_different(codes: Codes, places: Places, size: int, count: int) -> Iterator[list[int]]:
    """So many groups of at least ``size`` rows with different codes, each time those first on the line.

    Claim: no row is in two groups, no code twice in a group. A row is left over only if its code is in every group.
    How: of the codes' first rows the smallest are taken; a code with as many rows left as there are groups to come is
        in every one of them, whatever its place.
    Source: Ghinita et al. 2007; document 004, section 6.1.2.
    """
    queues = _queues(codes, places)
    waiting = [(places[queue[0]], code) for code, queue in queues.items()]
    heapify(waiting)
    at = dict.fromkeys(queues, 0)
    due: dict[int, list[int]] = {}
    for code, queue in queues.items():
        due.setdefault(min(len(queue), count), []).append(code)
    always: list[int] = []
    for left in range(count, 0, -1):
        always += [code for code in due.pop(left, ()) if len(queues[code]) - at[code] >= left]
        chosen = dict.fromkeys(always)
        while len(chosen) < size and waiting:
            chosen.setdefault(heappop(waiting)[1])
        yield [int(queues[code][at[code]]) for code in chosen]
        for code in chosen:
            at[code] += 1
            rest = len(queues[code]) - at[code]
            if rest and code not in always:
                heappush(waiting, (places[queues[code][at[code]]], code))
                due.setdefault(rest, []).append(code)


def _queues(codes: Codes, places: Places) -> dict[int, Ids]:
    """The rows of each code in their order on the line."""
    order = np.lexsort((places, codes))
    ends = np.searchsorted(codes[order], np.arange(int(codes.max(initial=-1)) + 2))
    return {code: order[ends[code] : ends[code + 1]] for code in range(len(ends) - 1) if ends[code] < ends[code + 1]}


# Anatomy: quasi-identifiers stay as they are, and sensitive values are published apart, by group.


_DIVERSITIES = (DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity, SimpleLDiversity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Anatomy:
    """Publish two tables: rows with a group number, and each group's sensitive values.

    Claim: every group meets the l-diversity asked for; who finds a row learns its group's values and their counts,
        not which one is the row's.
    How: each group takes one row of each of several values, drawn at random; values that are so frequent that every
        group to come must have one come first.
    Needs: l-diversities of the one sensitive column; no value more frequent than 1/l in the table, tested first,
        except for distinct l-diversity, which lets a group have a value twice.
    Does not protect against: finding a row (quasi-identifiers are published unchanged, so there is no k-anonymity);
        learning that somebody is in the table.
    Cost: a sort of the rows and one step per group.
    Source: Xiao, Tao 2006; document 003, section 2.1.2.
    """

    grain: ClassVar[Grain] = "rows"

    def __call__(self, problem: Problem, work: Work) -> Outcome:
        """Group the rows; no quasi-identifier is changed."""
        for model in problem.models:
            if not isinstance(model, _DIVERSITIES):
                raise PlanError(
                    f"algorithm.name: anatomy publishes quasi-identifiers unchanged and meets l-diversity only, not "
                    f"{described(model)}; use mondrian, local or optimal"
                )
        refuse_unreachable(replace(problem, limit=0))
        column = sensitive_column(problem, "anatomy") or ""
        size = group_size(problem, column, "anatomy")
        drawn = work.chance.generator().permutation(problem.cells.count)
        buckets, count = different(problem, column, drawn, size, work)
        levels = (0,) * len(problem.hierarchies)
        suppressed = np.zeros(problem.cells.count, np.bool_)
        return Outcome(
            levels=levels,
            suppressed=suppressed,
            loss=problem.metric.loss(Recoded.at(problem, levels).view(problem, suppressed)).value,
            proven=True,
            buckets=buckets,
            effort={"groups": count, "smallest_group": size},
        )
