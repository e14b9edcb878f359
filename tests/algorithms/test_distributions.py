"""Records as distributions: labels by their definition, verified from bytes, read by attackers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.algorithms.labels import recoded
from sfumato.algorithms.mondrian import Mondrian
from sfumato.attacks.labels import coverage_of
from sfumato.core.run_context import Work
from sfumato.metrics.learners import Words, covered
from sfumato.models import KAnonymity
from sfumato.tables.labels import MAX_LABEL, read_distribution, written_distribution
from sfumato.testing.searches import check_outcome
from tests.algorithms.mondrian_tables import MISSING, mixed_rows, problem_of
from tests.bundles.forging import failing, forge
from tests.weights import examples

COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [10, 40], "low": 0, "high": 120}},
    "education": {"role": "quasi", "hierarchy": {"bundled": "census/education"}},
    "sex": {"role": "quasi", "hierarchy": {"bundled": "census/sex"}},
    "occupation": {"role": "sensitive"},
    "income": {"role": "target"},
}


def plan(name: str = "mondrian", **more: Any) -> sf.Plan:
    privacy = {"k_anonymity": 5, "l_diversity": 2}
    return sf.Plan.parse(
        {"columns": COLUMNS, "privacy": privacy, "algorithm": {"name": name, "output": "distributions"}, **more}
    )


def literal(values: list[str]) -> str:
    """What a group shows in a column, from its rows one by one."""
    counts = Counter(values)
    if len(counts) == 1:
        return values[0]
    if MISSING in counts:
        return "*"
    most = sorted(counts.items(), key=lambda one: -one[1])
    return "{" + ", ".join(f'"{value}": {many}' for value, many in most) + "}"


@examples(200)
@given(quasi=mixed_rows(), data=st.data())
def test_a_group_shows_how_often_each_of_its_values_occurs(quasi, data):
    problem = problem_of(quasi, models=(KAnonymity(k=1),))
    many = problem.cells.count
    drawn = data.draw(st.lists(st.integers(0, 2), min_size=many, max_size=many))
    groups = np.unique(np.array(drawn, np.int64), return_inverse=True)[1].reshape(-1).astype(np.int64)
    made = recoded(problem, groups, int(groups.max()) + 1, "distributions")
    for c, (names, codes) in enumerate(zip(problem.cells.labels, problem.cells.keys, strict=True)):
        for cell in range(many):
            mine = [other for other in range(many) if groups[other] == groups[cell]]
            rows = [names[codes[other]] for other in mine for _ in range(int(problem.cells.sizes[other]))]
            shown, expected = made.labels[c][made.keys[c, cell]], literal(rows)
            assert (read_distribution(shown) or shown) == (read_distribution(expected) or expected)
        assert made.forms[c] == "distributions"
        cover = covered(problem.hierarchies[c], problem.number(c), Words.of(made, c), codes, made.keys[c])
        for label in np.unique(made.keys[c]):
            counts = read_distribution(made.labels[c][label])
            if counts is not None:
                shares = {names[code]: share for code, share in enumerate(cover[label]) if share}
                assert shares == pytest.approx({v: n / sum(counts.values()) for v, n in counts.items()})


@examples(100)
@given(quasi=mixed_rows(), k=st.integers(1, 4))
def test_mondrian_keeps_its_word_with_distributions(quasi, k):
    problem = problem_of(quasi, models=(KAnonymity(k=k),))
    if problem.cells.rows < k:
        return
    check_outcome(problem, Mondrian(output="distributions")(problem, Work()))


@examples(100)
@given(st.dictionaries(st.text(min_size=1, max_size=8), st.integers(1, 99), min_size=2, max_size=6))
def test_what_is_written_is_read(counts):
    label = written_distribution(counts)
    assert read_distribution(label) == counts
    found = coverage_of([label], [*counts, "somebody else's"])
    assert found.covers[0].tolist() == [True] * len(counts) + ["somebody else's" in counts]


@pytest.mark.parametrize(
    "label",
    ['{"a": 1}', '{"a": 1, "b": 0}', '{"a": 1, "b": true}', '{"a": 1, "b": 1.5}', '{"a": 1, "a": 2}', "{a, b}", "{", "",
     '{"a": {"b": 1}, "c": 1}', '{"a": 1, "b": 2'],
)  # fmt: skip
def test_other_labels_are_no_distributions(label):
    assert read_distribution(label) is None


def test_a_distribution_that_nobody_would_read_is_a_label_of_the_hierarchy(tmp_path: Path):
    """Two hundred different numbers in one group of [0-200); a few in the other."""
    numbers = [*range(200), 205, 205, 207]
    frame = pl.DataFrame({"n": numbers * 3, "s": ["x", "y", "z"] * len(numbers)})
    tree = {
        "columns": {
            "n": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [200], "low": 0, "high": 400}},
            "s": {"role": "sensitive"},
        },
        "privacy": {"k_anonymity": 9},
        "algorithm": {"name": "mondrian", "cut": "any", "choose": "width", "output": "distributions"},
    }
    made = sf.release(sf.Plan.parse({**tree, "privacy": {"k_anonymity": 9}}), frame)
    assert made.write(tmp_path / "fine").holds
    coarse = recoded(
        made.prepared.problem, (np.array(sorted(set(numbers))) >= 200).astype(np.int64), 2, "distributions"
    )
    assert set(coarse.labels[0]) == {"[0-200)", '{"205": 6, "207": 3}'}
    assert len(written_distribution({str(n): 3 for n in range(200)})) > MAX_LABEL
    assert coarse.rulers[0].sizes.tolist() == [200.0, 2.0]


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    made = sf.release(plan(), sf.datasets.census(400, seed=3))
    assert made.write(tmp_path / "out").holds
    return tmp_path / "out"


def test_a_release_is_judged_by_its_labels_and_verified(bundle: Path):
    rows = pl.read_csv(bundle / "data.csv", infer_schema=False)
    sizes = rows.group_by("age", "education", "sex").len()
    assert sizes["len"].min() >= 5  # type: ignore[operator]
    found = [read_distribution(label) for label in rows["age"].unique()]
    assert sum(one is not None for one in found) > 10
    for label, many in sizes.group_by("age").agg(pl.col("len").min()).iter_rows():
        counts = read_distribution(label)
        assert counts is None or sum(counts.values()) <= many
    ages = Counter[str]()
    for label, many in rows.group_by("age").len().iter_rows():
        counts = read_distribution(label) or {label: 1}
        for value, rows_ in counts.items():
            ages[value] += rows_ * many // sum(counts.values())
    assert ages == Counter(map(str, sf.datasets.census(400, seed=3)["age"])), "together they are the column"
    assert "shown as how many rows of each group have each value" in (bundle / "report.html").read_text()


def test_distributions_tell_more_than_boxes_and_lose_less():
    frame = sf.datasets.census(400, seed=3)
    losses = {}
    for output in ("hierarchy", "boxes", "distributions"):
        tree = {"columns": COLUMNS, "privacy": {"k_anonymity": 5}, "algorithm": {"name": "mondrian", "output": output}}
        losses[output] = sf.release(sf.Plan.parse(tree), frame).utility["loss"]
    assert losses["distributions"] < losses["boxes"] < losses["hierarchy"]


def test_other_group_algorithms_show_them_too(tmp_path: Path):
    frame = sf.datasets.census(300, seed=3)
    assert sf.release(plan("hilbert"), frame).write(tmp_path / "hilbert").holds
    numbers = {"age": COLUMNS["age"], "occupation": COLUMNS["occupation"]}
    tree = {
        "columns": numbers,
        "privacy": {"k_anonymity": 5},
        "algorithm": {"name": "microaggregation", "output": "distributions"},
    }
    assert sf.release(sf.Plan.parse(tree), frame).write(tmp_path / "micro").holds


@pytest.mark.parametrize("change", ["more", "another group's", "no counts"])
def test_a_distribution_that_its_class_cannot_have_is_caught(bundle: Path, change: str):
    """One row more than the class has; two columns that count different groups; a word instead of a count."""
    rows = pl.read_csv(bundle / "data.csv", infer_schema=False)
    label = next(label for label in sorted(rows["age"].unique()) if read_distribution(label) is not None)
    counts = dict(read_distribution(label) or {})
    first = next(iter(counts))
    new = written_distribution({**counts, first: counts[first] + (1 if change == "more" else 7)})
    new = new.replace(": ", ": some ", 1) if change == "no counts" else new
    rows.with_columns(age=pl.col("age").replace({label: new})).write_csv(bundle / "data.csv")

    def mended(content: dict[str, Any]) -> None:
        stated = content["recoding"]["columns"]["age"]
        for part in ("labels", "sizes"):
            stated[part] = {new if name == label else name: value for name, value in stated[part].items()}

    forge(bundle, mended)
    caught = failing(bundle)
    assert "counts of the distributions" in caught if change != "no counts" else caught


def test_sizes_that_a_distribution_cannot_have_are_caught(bundle: Path):
    def larger(content: dict[str, Any]) -> None:
        stated = content["recoding"]["columns"]["age"]
        label = next(name for name in stated["labels"] if read_distribution(name) is not None)
        stated["sizes"][label] += 30

    forge(bundle, larger)
    assert "recoding of age" in failing(bundle)
