"""Top-down and bottom-up take the very steps of their literal twins, on random tables, trees and numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sfumato.algorithms.bottom_up import BottomUp
from sfumato.algorithms.problem import Outcome, Problem
from sfumato.algorithms.top_down import TopDown
from sfumato.core.errors import Infeasible
from sfumato.core.run_context import Work
from sfumato.counts.local_table import cells
from sfumato.metrics.information_loss import LossMetric
from sfumato.metrics.metric import measures
from sfumato.models import AlphaKAnonymity, DistinctLDiversity, KAnonymity, LKCPrivacy
from sfumato.models.model import Model
from sfumato.tables.hierarchy_builders import Grown
from sfumato.tables.hierarchy_files import Paths
from sfumato.tables.labels import roundest
from sfumato.tables.schema import ObservedDomain
from sfumato.tables.table import Table
from tests.brute import trees as brute
from tests.brute.bottom_up import bottom_up
from tests.brute.top_down import top_down
from tests.brute.trees import MISSING, Found, Line, Requirement, Tree
from tests.weights import examples


@dataclass(frozen=True)
class Sample:
    """A table, as the twins see it."""

    rows: list[tuple[Any, ...]]
    columns: list[Tree | Line]
    target: list[str]
    sensitive: list[str]


@st.composite
def tree(draw: st.DrawFn) -> Tree:
    """A tree of any shape: inner nodes hang below earlier ones, leaves below any node or the root."""
    nodes: list[tuple[str, ...]] = [()]
    for name in "ABCD"[: draw(st.integers(0, 4))]:
        nodes.append((name, *draw(st.sampled_from(nodes))))
    leaves = draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=6))
    above = {f"v{place}": node for place, node in enumerate(leaves)}
    if draw(st.booleans()):  # a node that is called as its only child
        above["w"] = ("w", *draw(st.sampled_from(nodes)))
    return Tree(above)


NUMBERS = st.one_of(st.integers(0, 3), st.integers(-12, 130), st.sampled_from([0.25, 0.5, 1.75, 2.125, 10.1, -0.3]))


@st.composite
def columns(draw: st.DrawFn) -> tuple[Tree | Line, list[Any]]:
    """A column and what may stand in it."""
    gap = [MISSING] if draw(st.integers(0, 3)) == 0 else []
    if draw(st.integers(0, 2)):
        made = draw(tree())
        return made, [*made.above, *gap]
    few = draw(st.lists(NUMBERS, min_size=1, max_size=6, unique=True))
    low, high = min(few), max(few)
    limits = [Line(), Line(low - 3, high + 50), Line(low, high) if low < high else Line(low, low + 1)]
    return draw(st.sampled_from(limits)), [*few, *gap]


@st.composite
def samples(draw: st.DrawFn, *, most: int = 8) -> Sample:
    """A few different rows, some of them several times; every column has a value that is not missing."""
    drawn = [draw(columns()) for _ in range(draw(st.integers(1, 3)))]
    row = st.tuples(*(st.sampled_from(held) for _, held in drawn))
    times = draw(st.lists(st.tuples(row, st.integers(1, 3)), min_size=1, max_size=most))
    rows = [tuple(held[0] for _, held in drawn), *(one for one, count in times for _ in range(count))]
    return Sample(
        rows=rows,
        columns=[column for column, _ in drawn],
        target=draw(st.lists(st.sampled_from("YNM"), min_size=len(rows), max_size=len(rows))),
        sensitive=draw(st.lists(st.sampled_from("123"), min_size=len(rows), max_size=len(rows))),
    )


def seeded(seed: int) -> Sample:
    """A larger table, as different from the last one as chance makes it."""
    chance = Random(seed)
    drawn = [_seeded_column(chance) for _ in range(chance.randint(1, 4))]
    kinds = [tuple(chance.choice(held) for _, held in drawn) for _ in range(chance.randint(1, 14))]
    rows = [tuple(held[0] for _, held in drawn), *(chance.choice(kinds) for _ in range(chance.randint(1, 24)))]
    classes = chance.choice(["YN", "YNM", "Y"])
    return Sample(
        rows=rows,
        columns=[column for column, _ in drawn],
        target=[chance.choice(classes) for _ in rows],
        sensitive=[chance.choice("12345") for _ in rows],
    )


def _seeded_column(chance: Random) -> tuple[Tree | Line, list[Any]]:
    gap = [MISSING] * (chance.random() < 0.25)
    if chance.random() < 0.6:
        nodes: list[tuple[str, ...]] = [()]
        for name in "ABCDEF"[: chance.randint(0, 6)]:
            nodes.append((name, *chance.choice(nodes)))
        above = {f"v{place}": chance.choice(nodes) for place in range(chance.randint(1, 8))}
        return Tree(above), [*above, *gap]
    few = chance.sample(chance.choice([range(7), range(-15, 140), [0.25, 0.5, 1.75, 2.125, 10.1, -0.3]]), 6)
    few = few[: chance.randint(1, 6)]
    limits = [Line(), Line(min(few) - 3, max(few) + 50), Line(min(few), max(few) + (len(few) == 1))]
    return chance.choice(limits), [*few, *gap]


REQUIREMENTS = ["1", "k2", "k3", "lkc", "lkc3", "lkc-k", "alpha", "diverse"]


def required(name: str, sample: Sample) -> tuple[tuple[Model, ...], Requirement, int]:
    """A requirement as models, as a literal predicate, and its k."""
    seen, most = sample.sensitive, Fraction(3, 4)
    return {
        "1": ((KAnonymity(k=1),), brute.k_anonymous(1), 1),
        "k2": ((KAnonymity(k=2),), brute.k_anonymous(2), 2),
        "k3": ((KAnonymity(k=3),), brute.k_anonymous(3), 3),
        "lkc": (
            (LKCPrivacy(l=2, k=2, c=0.75, column="s", values=("1",)),),
            brute.lkc_private(2, 2, most, seen, ["1"]),
            1,
        ),
        "lkc3": (
            (LKCPrivacy(l=3, k=2, c=1.0, column="s"),),
            brute.lkc_private(3, 2, Fraction(1), seen, sorted(set(seen))),
            1,
        ),
        "lkc-k": (
            (LKCPrivacy(l=1, k=3, c=0.75, column="s"), KAnonymity(k=2)),
            brute.all_of(brute.lkc_private(1, 3, most, seen, sorted(set(seen))), brute.k_anonymous(2)),
            2,
        ),
        "alpha": (
            (AlphaKAnonymity(alpha=0.75, k=2, column="s", values=("1", "2")),),
            brute.alpha_k_anonymous(most, 2, seen, ["1", "2"]),
            1,
        ),
        "diverse": (
            (DistinctLDiversity(l=2, column="s"), KAnonymity(k=2)),
            brute.all_of(brute.l_diverse(2, seen), brute.k_anonymous(2)),
            2,
        ),
    }[name]


def encoded(place: int, column: Tree | Line, held: list[Any]) -> tuple[Any, Any]:
    """A column of the table, and its hierarchy."""
    name = f"q{place}"
    texts = [one if isinstance(one, str) else brute.written(one) for one in held]
    table = Table(frame=pl.DataFrame({name: texts}, schema={name: pl.String}), missing=(MISSING,))
    if isinstance(column, Tree):
        made = table.column(name, "text")
        return made, Paths(paths=column.above).build(ObservedDomain.of(made))
    whole = all(one == MISSING or one == int(one) for one in held)
    made = table.column(name, "integer" if whole else "real")
    return made, Grown(low=column.low, high=column.high).build(ObservedDomain.of(made))


def problem_of(sample: Sample, models: tuple[Model, ...]) -> Problem:
    quasi = [encoded(c, one, [row[c] for row in sample.rows]) for c, one in enumerate(sample.columns)]
    counted = pl.DataFrame({"s": sample.sensitive, "y": sample.target})
    grouped = cells([one for one, _ in quasi], [Table(frame=counted).column(name, "text") for name in "sy"]).classes
    tallies = {name: replace(tally, original=tally.overall) for name, tally in grouped.tallies.items()}
    return Problem(
        cells=replace(grouped, tallies=tallies, measures=measures(grouped)),
        hierarchies=tuple(hierarchy for _, hierarchy in quasi),
        models=models,
        metric=LossMetric(),
        target="y",
        numbers=tuple(one.numbers if one.kind in ("integer", "real") else None for one, _ in quasi),
    )


def shown(problem: Problem, outcome: Outcome) -> dict[tuple[str, ...], tuple[str, ...]]:
    """What every combination of values is published as."""
    held, recoded = problem.cells, outcome.recoding(problem)
    return {
        tuple(names[code] for names, code in zip(held.labels, held.keys[:, cell], strict=True)): tuple(
            names[code] for names, code in zip(recoded.labels, recoded.keys[:, cell], strict=True)
        )
        for cell in range(held.count)
    }


def same(sample: Sample, problem: Problem, outcome: Outcome, twin: Found) -> None:
    """The same steps with the same scores, and the same table."""
    assert outcome.trail is not None
    steps = [(int(one.column[1:]), one.coarse, one.fine, one.anonymity) for one in outcome.trail.steps]
    assert steps == [(c, coarse, fine, anonymity) for c, coarse, fine, _, anonymity in twin.steps]
    assert [one.score for one in outcome.trail.steps] == pytest.approx([one[3] for one in twin.steps], abs=1e-9)
    raw = [tuple(v if isinstance(v, str) else brute.written(v) for v in row) for row in sample.rows]
    assert shown(problem, outcome) == dict(zip(raw, twin.rows, strict=True))
    before = brute.smallest(raw) if outcome.trail.direction == "up" else len(raw)
    assert outcome.trail.anonymity == before
    assert [one.loss for one in outcome.trail.steps][-1:] in ([], [pytest.approx(outcome.loss)])


@examples(200)
@given(
    sample=st.one_of(samples(), st.integers(0, 2**40).map(seeded)),
    name=st.sampled_from(REQUIREMENTS),
    score=st.sampled_from(["gain", "discernibility"]),
    steps=st.sampled_from([None, None, 1, 3]),
)
def test_top_down_takes_the_steps_of_its_twin(sample: Sample, name: str, score: Any, steps: int | None):
    models, met, _ = required(name, sample)
    problem = problem_of(sample, models)
    twin = top_down(sample.rows, sample.columns, sample.target, met, score=score, steps=steps)
    if twin is None:
        with pytest.raises(Infeasible):
            TopDown(score=score, steps=steps)(problem, Work())
        return
    assume(not twin.close)
    same(sample, problem, TopDown(score=score, steps=steps)(problem, Work()), twin)


@examples(200)
@given(
    sample=st.one_of(samples(most=7), st.integers(0, 2**40).map(seeded)),
    name=st.sampled_from(REQUIREMENTS),
    score=st.sampled_from(["information-privacy", "information"]),
    mode=st.sampled_from(["plain", "index", "pruning"]),
    steps=st.sampled_from([None, None, 3, 99]),
)
def test_bottom_up_takes_the_steps_of_its_twin(sample: Sample, name: str, score: Any, mode: Any, steps: int | None):
    models, met, k = required(name, sample)
    problem = problem_of(sample, models)
    search = BottomUp(score=score, mode=mode, steps=steps)
    twin = bottom_up(sample.rows, sample.columns, sample.target, met, k=k, score=score, steps=steps or 0)
    if twin is None:
        with pytest.raises(Infeasible):
            search(problem, Work())
        return
    assume(not twin.close)
    outcome = search(problem, Work())
    same(sample, problem, outcome, twin)
    assert outcome.trail is not None
    assert outcome.trail.enough == twin.enough


@given(low=NUMBERS, high=NUMBERS)
def test_edges_are_the_roundest_numbers(low: float, high: float):
    assume(low < high)
    assert roundest(low, high) == brute.roundest(low, high)


PATIENTS = """Janitor M 34 Y Transgender; Doctor M 58 N Plastic; Mover M 34 Y Transgender; Lawyer M 24 N Vascular;
Mover M 58 N Urology; Janitor M 44 Y Plastic; Doctor M 24 N Urology; Lawyer F 58 N Plastic; Doctor F 44 N Vascular;
Carpenter F 63 Y Vascular; Technician F 63 Y Plastic"""


def patients() -> Sample:
    """The table of the thesis (3.1), with its taxonomies."""
    lines = [line.split() for line in PATIENTS.split(";")]
    blue = {
        "Janitor": "Non-Technical",
        "Mover": "Non-Technical",
        "Carpenter": "Technical",
        "Technician": "Technical",
    }
    job = {name: (kind, "Blue-collar") for name, kind in blue.items()}
    job |= dict.fromkeys(("Doctor", "Lawyer"), ("Professional", "White-collar"))
    return Sample(
        rows=[(job_, sex, int(age)) for job_, sex, age, _, _ in lines],
        columns=[Tree(job), Tree({"M": (), "F": ()}), Line(1, 99)],
        target=[line[3] for line in lines],
        sensitive=[line[4] for line in lines],
    )


@pytest.mark.parametrize("score", ["gain", "discernibility"])
def test_the_patients_of_the_thesis(score: Any):
    sample = patients()
    met = brute.lkc_private(2, 2, Fraction(1, 2), sample.sensitive, ["Transgender"])
    twin = top_down(sample.rows, sample.columns, sample.target, met, score=score)
    assert twin is not None
    problem = problem_of(sample, (LKCPrivacy(l=2, k=2, c=0.5, column="s", values=("Transgender",)),))
    same(sample, problem, TopDown(score=score)(problem, Work()), twin)
    first = twin.steps[0]
    assert first[:3] == (0, "*", ("Blue-collar", "White-collar"))
    assert first[3] == pytest.approx(0.6395 if score == "gain" else 121.0, abs=5e-5)


VIDS = {
    "c1 b2 a3": (0, 4),
    "c1 b2 c3": (0, 4),
    "c1 b2 d3": (0, 3),
    "c1 c2 a3": (2, 1),
    "c1 c2 b3": (2, 2),
    "d1 c2 b3": (4, 0),
    "d1 c2 e3": (2, 0),
    "d1 d2 b3": (2, 1),
    "d1 d2 e3": (2, 0),
}


@pytest.mark.parametrize("mode", ["plain", "index", "pruning"])
@pytest.mark.parametrize("steps", [None, 99])
def test_the_example_of_the_paper(mode: Any, steps: int | None):
    rows = [tuple(vid.split()) for vid, counts in VIDS.items() for _ in range(sum(counts))]
    target = [one for yes, no in VIDS.values() for one in "Y" * yes + "N" * no]
    above = [
        {"a1": ("e1",), "b1": ("e1",), "c1": ("f1",), "d1": ("f1",)},
        {"a2": ("e2",), "b2": ("e2",), "c2": ("f2",), "d2": ("f2",)},
        {"a3": (), "b3": (), "c3": ("f3", "g3"), "d3": ("f3", "g3"), "e3": ("g3",)},
    ]
    sample = Sample(rows=rows, columns=[Tree(one) for one in above], target=target, sensitive=target)
    twin = bottom_up(rows, sample.columns, target, brute.k_anonymous(3), k=3, steps=steps or 0)
    assert twin is not None
    assert twin.steps[0][:3] == (1, "f2", ("c2", "d2"))
    assert twin.enough == 1
    problem = problem_of(sample, (KAnonymity(k=3),))
    same(sample, problem, BottomUp(mode=mode, steps=steps)(problem, Work()), twin)
    assert all(one[4] <= other[4] for one, other in pairwise(twin.steps))
