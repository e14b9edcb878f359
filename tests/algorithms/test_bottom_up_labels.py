"""Sets of siblings and values that are put out: each label stands for as many values as its size says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.algorithms.bottom_up import BottomUp
from sfumato.pipeline.apply import _everywhere
from sfumato.tables.hierarchy_files import Paths
from sfumato.tables.schema import ObservedDomain
from sfumato.testing.searches import check_outcome
from tests.algorithms.test_bottom_up import SCORES, TREES, answer, problem_of
from tests.example_tables import column
from tests.weights import examples


@examples(200, whole=True)
@given(
    name=st.sampled_from(["a", "b", "c"]),
    data=st.data(),
    rows=st.integers(2, 12),
    score=st.sampled_from(SCORES),
    partial=st.booleans(),
    suppress=st.booleans(),
    steps=st.sampled_from([None, 2, 4]),
)
def test_as_many_values_read_as_a_label_as_its_size_says(name, data, rows, score, partial, suppress, steps):
    """Values of the declared domain that do not occur are carried along."""
    values = data.draw(st.lists(st.sampled_from(list(TREES[name])), min_size=rows, max_size=rows))
    other = data.draw(st.lists(st.sampled_from("xyz"), min_size=rows, max_size=rows))
    problem = problem_of({name: values, "b": other} if name != "b" else {name: values})
    found = answer(BottomUp(score=score, partial=partial, suppress=suppress, steps=steps), problem)
    if found is None:
        return
    check_outcome(problem, found)
    domain, cut = ObservedDomain.of(column(name, values)), found.cut[0]
    whole = ObservedDomain.of(column(name, list(TREES[name])))
    said = _everywhere(Paths(paths=TREES[name]).build(whole), domain, cut, frozenset(cut.labels))
    read = Counter(said)
    for label, size in zip(cut.labels, cut.sizes, strict=True):
        assert label == "*" or read[label] == size, (label, read, cut)
    for value, code in zip(domain.values, cut.of_code, strict=True):
        assert said[whole.values.index(value)] == cut.labels[code]


@pytest.mark.parametrize(
    ("options", "rows", "seed", "k"),
    [
        ({"partial": True}, 60, 1, 3),
        ({"partial": True, "steps": 20}, 60, 1, 3),
        ({"suppress": True}, 200, 2, 5),
        ({"partial": True, "suppress": True, "score": "loss-privacy"}, 60, 1, 3),
    ],
)
def test_sets_and_values_put_out_are_verified(tmp_path: Path, options, rows, seed, k):
    """Once refused: a set covered children that do not occur, and a parent counted values that read as *."""
    names = ("workclass", "education", "marital-status", "sex")
    columns = {name: {"role": "quasi", "hierarchy": {"bundled": f"census/{name}"}} for name in names}
    columns |= {"age": {"role": "quasi", "hierarchy": {"kind": "grown"}}, "income": {"role": "target"}}
    algorithm = {"name": "bottom-up", "max_suppressed": 0.05, **options}
    plan = sf.Plan.parse({"columns": columns, "privacy": {"k_anonymity": k}, "algorithm": algorithm})
    made = sf.release(plan, sf.datasets.census(rows, seed=seed).select(*columns))
    checked = made.write(tmp_path / "b")
    assert checked.holds, [check for check in checked.checks if not check.holds]
