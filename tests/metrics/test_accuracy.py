"""Accuracy on original rows after learning from released ones: against definitions and a pipeline written by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import sfumato as sf
from sfumato.algorithms.labels import recoded
from sfumato.algorithms.problem import Outcome, Problem
from sfumato.core.randomness import Chance
from sfumato.counts.local_table import Cells, cells
from sfumato.metrics.classification import STUDY, Trial, accuracy
from sfumato.metrics.information_loss import LossMetric
from sfumato.metrics.learners import Words, covered
from sfumato.metrics.metric import measures
from sfumato.models import KAnonymity
from sfumato.tables.hierarchy_builders import Intervals
from sfumato.tables.schema import ObservedDomain
from tests.example_tables import PATHS, column, hierarchy
from tests.weights import examples


def counted(rows: dict[str, list[str]], target: list[str], *, missing: tuple[str, ...] = ()) -> tuple[Problem, Cells]:
    """A problem over the columns of PATHS and ages."""
    quasi = [column(name, values) for name, values in rows.items()]
    made = cells(quasi, [column("t", target, missing=missing)])
    bands = Intervals(widths=(10, 40), low=0, high=80)
    trees = tuple(bands.build(ObservedDomain.of(c)) if c.name == "age" else hierarchy(c) for c in quasi)
    grouped = replace(made.classes, measures=measures(made.classes))
    problem = Problem(
        cells=grouped,
        hierarchies=trees,
        models=(KAnonymity(k=1),),
        metric=LossMetric(),
        target="t",
        numbers=tuple(c.numbers if c.kind == "integer" else None for c in quasi),
    )
    return problem, replace(made, classes=grouped)


def sample(rows: int = 600, seed: int = 3) -> tuple[dict[str, list[str]], list[str]]:
    """Rows whose class follows their values, with some noise."""
    draw = Chance(seed=seed).generator()
    quasi = {name: [list(PATHS[name])[i] for i in draw.integers(0, len(PATHS[name]), rows)] for name in PATHS}
    quasi["age"] = [str(n) for n in draw.integers(0, 80, rows)]
    score = np.array([int(age) / 40 for age in quasi["age"]]) + np.array([a in ("a1", "a2") for a in quasi["a"]])
    return quasi, ["yes" if each else "no" for each in score + 0.4 * draw.standard_normal(rows) > 1.6]


def at(problem: Problem, levels: tuple[int, ...], hidden: np.ndarray | None = None) -> Outcome:
    nothing = np.zeros(problem.cells.count, np.bool_)
    return Outcome(levels=levels, suppressed=nothing if hidden is None else hidden, loss=0.0, proven=False)


def top(problem: Problem) -> tuple[int, ...]:
    return tuple(h.height for h in problem.hierarchies)


def test_rows_as_they_are_reach_what_the_original_reaches_and_nothing_but_stars_the_majority():
    problem, _ = counted(*sample())
    raw = accuracy(problem, at(problem, (0, 0, 0, 0)))
    assert raw.released == raw.original > raw.majority + 0.1
    bare = accuracy(problem, at(problem, top(problem)))
    assert bare.released == bare.majority
    assert (bare.original, bare.majority) == (raw.original, raw.majority)


def test_coarser_levels_of_a_telling_column_tell_less():
    problem, _ = counted(*sample(3000))
    found = [accuracy(problem, at(problem, (3, 2, 1, level))).released for level in range(4)]
    assert found[0] > found[2] > found[3]
    assert found[1] > found[3]


def test_it_is_what_a_plain_pipeline_over_single_rows_gives():
    rows, target = sample()
    problem, made = counted(rows, target)
    order = sorted(range(len(target)), key=lambda i: (*made.classes.keys[:, made.row_cell[i]], target[i]))
    drawn = [order[i] for i in Chance(seed=STUDY).generator().permutation(len(target))]
    test, train = drawn[: len(drawn) // 3], drawn[len(drawn) // 3 :]

    def features(i: int) -> list[float]:
        told = []
        for c, tree in enumerate(problem.hierarchies):
            code = made.classes.keys[c, made.row_cell[i]]
            for level in tree.levels[:-1]:
                told += [float(level.parent[code] == node) for node in range(len(level.labels))]
        ages = np.array(sorted({int(age) for age in rows["age"]}))
        return [*told, (int(rows["age"][i]) - ages.mean()) / ages.std()]

    learner = LogisticRegression(max_iter=1000)
    learner.fit([features(i) for i in train], [target[i] for i in train])
    share = np.mean(learner.predict([features(i) for i in test]) == [target[i] for i in test])
    trial = Trial(problem)
    assert (trial.train.sum(), trial.test.sum()) == (len(train), len(test))
    assert trial.original == pytest.approx(share, abs=0.006)
    frequent = max(set(target), key=[target[i] for i in train].count)
    assert trial.majority == pytest.approx(np.mean([target[i] == frequent for i in test]))


def test_one_cell_per_row_gives_the_same_split_and_the_same_figures():
    rows, target = sample()
    problem, made = counted(rows, target)
    encoded = {"t": column("t", target)}
    apart = made.singly(encoded)
    single = replace(problem, cells=apart.classes)
    one, other = accuracy(problem, at(problem, (1, 1, 0, 1))), accuracy(single, at(single, (1, 1, 0, 1)))
    assert (one.original, one.majority) == (other.original, other.majority)
    assert one.released == other.released


@pytest.mark.parametrize("output", ["hierarchy", "boxes", "means"])
def test_groups_may_be_shown_in_any_form(output):
    problem, _ = counted(*sample(2000))
    age = problem.cells.keys[3]
    groups = (np.array(problem.hierarchies[3].levels[0].labels)[age].astype(int) // 8).astype(np.int64)
    made = recoded(problem, groups, int(groups.max()) + 1, output)
    nothing = np.zeros(problem.cells.count, np.bool_)
    found = accuracy(problem, Outcome(levels=None, recoded=made, suppressed=nothing, loss=0.0, proven=False))
    assert found.majority + 0.05 < found.released <= found.original + 0.01


def test_suppressed_rows_are_not_learnt_from():
    problem, _ = counted({"c": ["m", "n"] * 60}, ["yes", "no"] * 60)
    seen = Trial(problem)
    assert seen.released(at(problem, (0,))) == 1.0
    hidden = np.array([True, False])
    only = seen.released(at(problem, (0,), hidden))
    assert only == seen.test[seen.code == 0].sum() / seen.test.sum() or only == seen.test[seen.code == 1].sum() / 40
    assert seen.released(at(problem, (0,), np.array([True, True]))) == 0.0


def test_rows_without_a_class_are_left_out():
    with_gaps, _ = counted({"c": ["m", "n", "m"] * 60}, ["yes", "no", "?"] * 60, missing=("?",))
    trial = Trial(with_gaps)
    assert trial.train.sum() + trial.test.sum() == 120
    assert trial.original == 1.0


def test_large_tables_are_drawn_from_and_columns_of_many_values_are_read_by_their_groups():
    problem, _ = counted(*sample(3000))
    trial = Trial(problem, most=300)
    assert (trial.train.sum(), trial.test.sum()) == (200, 100)
    wide, _ = counted({"age": [str(n % 80) for n in range(400)]}, ["yes" if n % 80 > 40 else "no" for n in range(400)])
    assert accuracy(wide, at(wide, (0,))).released > 0.95


def test_what_is_not_possible_is_refused():
    problem, _ = counted(*sample(30))
    with pytest.raises(sf.ParameterError, match="target"):
        accuracy(replace(problem, target=None), at(problem, (0, 0, 0, 0)))
    with pytest.raises(sf.ParameterError, match="most must be at least 3"):
        Trial(problem, most=1)
    lonely, _ = counted({"c": ["m"]}, ["yes"])
    assert accuracy(lonely, at(lonely, (0,))).original == 0.0


@examples(60)
@given(st.data())
def test_a_label_covers_what_it_says(data):
    """Every row of the cover adds up to 1 and holds the true values; ranges and nodes hold all that lies inside."""
    size = data.draw(st.integers(2, 12))
    ages = [str(n) for n in data.draw(st.lists(st.integers(0, 79), min_size=size, max_size=size))]
    kinds = data.draw(st.lists(st.sampled_from(list(PATHS["a"])), min_size=size, max_size=size))
    problem, _ = counted({"age": ages, "a": kinds}, ["yes"] * size)
    many = problem.cells.count
    groups = np.array(data.draw(st.lists(st.integers(0, 2), min_size=many, max_size=many)), np.int64)
    output = data.draw(st.sampled_from(["hierarchy", "boxes", "means"]))
    groups = np.unique(groups, return_inverse=True)[1].reshape(-1).astype(np.int64)
    made = recoded(problem, groups, int(groups.max()) + 1, output)
    for c, tree in enumerate(problem.hierarchies):
        codes, keys, numbers = problem.cells.keys[c], made.keys[c], problem.number(c)
        found = covered(tree, numbers, Words.of(made, c), codes, keys)
        used = np.unique(keys)
        assert np.allclose(found[used].sum(axis=1), 1)
        for label in used:
            mine = codes[keys == label]
            if numbers is not None and made.forms[c] == "means" and made.labels[c][label] != "*":
                assert found[label] @ numbers == pytest.approx(float(made.labels[c][label]))
                assert (found[label] > 0).sum() <= 2
                continue
            assert (found[label, mine] > 0).all()
            inside = np.flatnonzero(found[label])
            assert np.allclose(found[label, inside], 1 / len(inside))
            if numbers is not None and made.forms[c] == "boxes":
                low, high = numbers[mine].min(), numbers[mine].max()
                assert inside.tolist() == np.flatnonzero((numbers >= low) & (numbers <= high)).tolist()
            elif made.forms[c] == "levels":
                parents = tree.levels[int(made.rulers[c].steps[label])].parent
                assert inside.tolist() == np.flatnonzero(parents == parents[mine[0]]).tolist()


def test_any_release_of_the_workflow_can_be_tried():
    census = sf.datasets.census(500, seed=2)
    plan = {
        "columns": {
            "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [10, 50], "low": 0, "high": 100}},
            "sex": {"role": "quasi", "hierarchy": {"kind": "flat"}},
            "education": {"role": "quasi", "hierarchy": {"bundled": "census/education"}},
            "income": {"role": "target"},
        },
        "privacy": {"k_anonymity": 5},
    }
    for name in ("optimal", "mondrian", "datafly"):
        made = sf.release(sf.Plan.parse({**plan, "algorithm": {"name": name, "max_suppressed": 0.05}}), census)
        found = accuracy(made.prepared.problem, made.outcome)
        assert 0.5 < found.released <= 1
        assert found.majority <= found.original
