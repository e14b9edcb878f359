"""Errors of learners on releases: what is read, what is split, and the ends between which a release lies."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

import sfumato as sf
from sfumato.algorithms.problem import Outcome
from sfumato.core.errors import ParameterError, PlanError
from sfumato.counts.local_table import LocalTable
from sfumato.metrics.classification import Labelled, Study
from sfumato.metrics.learners import LEARNERS, ends_read, values_read
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.inputs import load_table
from sfumato.pipeline.methods.table.problem import Prepared, prepare
from sfumato.pipeline.methods.table.studies import study
from sfumato.tables.hierarchy_files import tree_paths
from sfumato.tables.schema import ObservedDomain


@dataclass
class Case:
    plan: sf.Plan
    prepared: Prepared


def case(rows: int = 900, *, noise: float = 0.05) -> Case:
    """A class that is told by a job's group and by an age, with a little noise."""
    rng = np.random.default_rng(7)
    jobs = np.array(["doctor", "lawyer", "mover", "janitor"])
    job, age = rng.integers(0, 4, rows), rng.integers(20, 80, rows)
    rich = ((job < 2) & (age >= 40)) ^ (rng.random(rows) < noise)
    frame = pl.DataFrame(
        {
            "job": jobs[job],
            "age": age,
            "kept": rng.integers(0, 3, rows).astype(str),
            "income": np.where(rich, "high", "low"),
        }
    )
    tree = {"Any": {"white": ["doctor", "lawyer"], "blue": ["mover", "janitor"]}}
    plan = sf.Plan.parse(
        {
            "columns": {
                "job": {"role": "quasi", "hierarchy": {"tree": tree}},
                "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [20, 40], "low": 0, "high": 80}},
                "kept": {"role": "keep"},
                "income": {"role": "target"},
            },
            "privacy": {"k_anonymity": 5},
            "algorithm": {"name": "optimal"},
        }
    )
    return Case(plan, prepare(plan, load_table(plan, frame, None), None, catalog()))


def local(prepared: Prepared) -> LocalTable:
    assert isinstance(prepared.source, LocalTable)
    return prepared.source


def labelled(prepared: Prepared) -> Labelled:
    rows = local(prepared)
    return Labelled(cell=rows.row_cells(prepared.problem.cells.quasi), target=rows.codes("income"))


def at(prepared: Prepared, *levels: int) -> Outcome:
    none = np.zeros(prepared.problem.cells.count, np.bool_)
    return Outcome(levels=levels, suppressed=none, loss=0.0, proven=False)


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_gains_from_what_is_shown(learner: str) -> None:
    prepared = case().prepared
    found = study(prepared, learner)  # type: ignore[arg-type]
    fine, same, none = (found.errors(at(prepared, *levels)) for levels in ((1, 1), (0, 0), (2, 3)))
    assert found.baseline == pytest.approx(same.released)  # unchanged values mean what originals mean
    assert none.released == pytest.approx(found.upper_bound, abs=0.02)
    assert fine.released < found.upper_bound - 0.05
    assert fine.released <= 0.25
    assert fine.tested == 300


def test_test_rows_are_never_trained_on_and_a_split_can_be_given() -> None:
    prepared = case(200).prepared
    rows = labelled(prepared)
    drawn = Study(prepared.problem, rows)
    assert not set(drawn.train.tolist()) & set(drawn.test.tolist())
    assert len(drawn.train) + len(drawn.test) == 200
    marked = np.arange(200) < 120
    given = Study(prepared.problem, rows, train=marked)
    assert given.train.tolist() == list(range(120))
    assert given.test.tolist() == list(range(120, 200))
    few = Study(prepared.problem, rows, most=30)
    assert len(few.train) + len(few.test) == 30


def test_suppressed_rows_are_not_learnt_from() -> None:
    prepared = case(300).prepared
    found = study(prepared, "tree")
    all_gone = replace(at(prepared, 0, 0), suppressed=np.ones(prepared.problem.cells.count, np.bool_))
    assert found.errors(all_gone).released == 1.0


def test_a_target_and_a_known_learner_are_needed() -> None:
    prepared = case(100).prepared
    with pytest.raises(ParameterError, match="learner"):
        study(prepared, "forest")  # type: ignore[arg-type]
    bare = replace(prepared.problem, target=None)
    rows = labelled(prepared)
    with pytest.raises(ParameterError, match="target"):
        Study(bare, rows)
    tree = {"columns": {"a": {"role": "quasi", "hierarchy": {"kind": "flat"}}}, "privacy": {"k_anonymity": 2}}
    plan = sf.Plan.parse({**tree, "utility": {"learner": "tree"}})
    with pytest.raises(PlanError, match=r"utility\.learner"):
        sf.release(plan, pl.DataFrame({"a": ["x", "x"]}))


def test_labels_are_read_as_what_they_cover() -> None:
    numbers: NDArray[np.float64] = np.array([20.0, 30.0, 40.0])
    cover = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [1 / 3, 1 / 3, 1 / 3]])
    assert ends_read(cover, numbers).tolist() == [[20, 20], [30, 40], [20, 40]]
    domain = ObservedDomain(column="c", kind="text", values=("a", "b", "c"), counts=np.ones(3, np.int64))
    hierarchy = tree_paths({"Any": {"X": ["a", "b"], "Y": ["c"]}}, source="demo").build(domain)
    told = cover @ values_read(hierarchy, None, "tree")
    assert told[1].tolist() == [0, 0.5, 0.5, 0.5, 0.5]  # b or c: half under X, half under Y


def test_the_inside_report_tells_the_errors_and_the_bundle_does_not() -> None:
    tree = case(300)
    plan = replace(tree.plan, learner="tree")
    made = sf.release(plan, local(tree.prepared).table.frame)
    assert "upper bound, UE" in made.report(inside=True)
    assert "upper bound, UE" not in made.report(inside=False)
    errors = made.classification("logistic")
    assert errors.learner == "logistic"
    assert 0 <= errors.baseline <= errors.upper_bound <= 1
