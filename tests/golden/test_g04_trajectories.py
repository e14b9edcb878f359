"""Golden G4 (document 003, tables 4.1 to 4.5): LKC-privacy of trajectories, by the definitions and by the library."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from sfumato.algorithms.items import Trajectory
from sfumato.algorithms.items.alternatives import Links
from sfumato.algorithms.items.problem import ItemOutcome
from sfumato.algorithms.items.suppression import scores
from sfumato.core.run_context import Work
from sfumato.counts.frequent_itemsets import maximal_frequent
from sfumato.counts.itemsets import violating
from sfumato.counts.transactions import Transactions
from sfumato.metrics.item_utility import frequent_sets
from sfumato.models.lkc import LKCPrivacy
from tests.brute import itemsets as brute
from tests.brute import sequences
from tests.item_problems import SECRET, problem_of, set_part

ORDER = ["b2", "d3", "c4", "c5", "f6", "c7", "e8"]
RAW = ["b2 d3 c4 f6 c7", "f6 c7 e8", "d3 c4 f6 e8", "b2 c5 c7 e8", "d3 c7 e8", "c5 f6 e8", "b2 f6 c7 e8", "b2 c5 f6 c7"]
RELEASED = ["d3 f6 c7", "f6 c7 e8", "d3 f6 e8", "c5 c7 e8", "d3 c7 e8", "c5 f6 e8", "f6 c7 e8", "c5 f6 c7"]
DIAGNOSIS = ["AIDS", "Flu", "Fever", "Flu", "Fever", "Diabetes", "Diabetes", "AIDS"]
COUNTER = ["a1 d2", "a1 b2", "a1 b2 c3", "a1 b2 c3"]
STATUS = ["Flu", "AIDS", "AIDS", "Fever"]
AIDS = ("AIDS",)
HALF = Fraction(1, 2)
V = "b2d3 b2c4 b2f6 c4c7 c4e8"
U = "b2c5c7 b2f6c7 b2c7e8 d3c4f6 f6c7e8 c5f6 c5e8 d3c7 d3e8"
V3 = f"{V} b2c5e8 d3f6c7 d3f6e8 d3c7e8 c5f6c7 c5f6e8 c5c7e8"


def records(rows: list[str]) -> list[frozenset[str]]:
    return [frozenset(row.split()) for row in rows]


def paths(rows: list[str]) -> list[sequences.Path]:
    return [tuple((pair[0], int(pair[1:])) for pair in row.split()) for row in rows]


def sets(text: str) -> set[frozenset[str]]:
    """Sets written without blanks, as in the thesis: every pair has two characters."""
    return {frozenset(word[at : at + 2] for at in range(0, len(word), 2)) for word in text.split()}


def as_sets(found: set[sequences.Path]) -> set[frozenset[str]]:
    return set(map(sequences.as_set, found))


TABLE, PATHS = records(RAW), paths(RAW)


def mined(rows: list[str] = RAW, secret: list[str] = DIAGNOSIS) -> Transactions:
    return Transactions.of([row.split() for row in rows], order=sequences.in_time(paths(rows)), secret=secret)


def labels(rows: list[str], l: int, secret: list[str] = DIAGNOSIS, c: float = 0.5) -> list[tuple[str, ...]]:
    made = mined(rows, secret)
    return violating(made, l=l, k=2, c=c, values=AIDS).labelled(made.labels)


def test_groups_and_confidences_of_the_raw_table():
    assert [row + 1 for row in sequences.containing(PATHS, paths(["f6 c7"])[0])] == [1, 2, 7, 8]
    assert [row + 1 for row in sequences.containing(PATHS, paths(["b2 d3"])[0])] == [1]
    assert [row + 1 for row in sequences.containing(PATHS, paths(["b2 f6"])[0])] == [1, 7, 8]
    assert brute.supported(TABLE, frozenset({"b2", "c4"})) == 1
    assert brute.share(TABLE, DIAGNOSIS, frozenset({"b2", "f6"}), "AIDS") == Fraction(2, 3)


def test_example_4_3_1_what_violates():
    found = brute.violating(TABLE, DIAGNOSIS, 2, 2, HALF, AIDS)
    assert sets("b2c4 b2f6") <= found
    assert not sets("b2c5f6c7") & found
    assert sets("b2c5f6c7") <= brute.violating(TABLE, DIAGNOSIS, 4, 2, HALF, AIDS)


def test_example_4_3_3_every_set_of_the_search():
    (x1, v1, w1), (x2, v2, w2) = sequences.levels(PATHS, DIAGNOSIS, 2, 2, HALF, AIDS)
    assert as_sets(x1) == as_sets(w1) == {frozenset({pair}) for pair in ORDER}
    assert v1 == set()
    assert len(x2) == 21
    assert as_sets(x2) == {frozenset(pair) for pair in combinations(ORDER, 2)}
    assert as_sets(v2) == sets(V)
    assert as_sets(w2) == sets("b2c5 b2c7 b2e8 d3c4 d3f6 d3c7 d3e8 c4f6 c5f6 c5c7 c5e8 f6c7 f6e8 c7e8")


def test_violations_by_the_definition():
    assert brute.minimal_violating(TABLE, DIAGNOSIS, 2, 2, HALF, AIDS) == sets(V)
    assert as_sets(sequences.minimal_violating(PATHS, DIAGNOSIS, 2, 2, HALF, AIDS)) == sets(V)
    assert set().union(*sets(V)) == {"b2", "d3", "c4", "f6", "c7", "e8"}


def test_example_4_3_2_length_three():
    """b2d3 is minimal; b2d3c4 violates and is not; seven sets of three (worked by hand, one record each) join V."""
    found = brute.violating(TABLE, DIAGNOSIS, 3, 2, HALF, AIDS)
    assert sets("b2d3 b2d3c4") <= found
    minimal = brute.minimal_violating(TABLE, DIAGNOSIS, 3, 2, HALF, AIDS)
    assert minimal == as_sets(sequences.minimal_violating(PATHS, DIAGNOSIS, 3, 2, HALF, AIDS))
    assert minimal == sets(V3)
    assert all(brute.supported(TABLE, q) == 1 for q in minimal if len(q) == 3)
    levels = sequences.levels(PATHS, DIAGNOSIS, 3, 2, HALF, AIDS)
    assert as_sets(set().union(*(v for _, v, _ in levels))) == minimal


def test_maximal_frequent_by_the_definition():
    assert brute.maximal_frequent(TABLE, 2) == sets(U)
    assert as_sets(sequences.maximal_frequent(PATHS, 2)) == sets(U)


def test_tables_4_4_and_4_5_both_steps():
    made = list(brute.steps(sets(V), sets(U), ORDER, "ratio"))
    assert [item for item, _ in made] == ["c4", "b2"]
    first, second = (table for _, table in made)
    assert first == {
        "b2": Fraction(3, 4),
        "d3": Fraction(1, 4),
        "c4": Fraction(3, 2),
        "f6": Fraction(1, 5),
        "c7": Fraction(1, 6),
        "e8": Fraction(1, 5),
    }
    assert second == {"b2": Fraction(2, 4), "d3": Fraction(1, 3), "f6": Fraction(1, 4)}
    gain = {item: brute.gains(sets(V), item) for item in first}
    loss = {item: brute.gains(sets(U), item) + 1 for item in first}
    assert gain == {"b2": 3, "d3": 1, "c4": 3, "f6": 1, "c7": 1, "e8": 1}
    assert loss == {"b2": 4, "d3": 4, "c4": 2, "f6": 5, "c7": 6, "e8": 5}


def test_table_4_2_the_release():
    suppressed, released = brute.anonymize(TABLE, DIAGNOSIS, ORDER, 2, 2, HALF, AIDS, 2, "ratio")
    assert suppressed == ["c4", "b2"]
    assert released == records(RELEASED)
    assert not brute.holds_lkc(TABLE, DIAGNOSIS, 2, 2, HALF, AIDS)
    assert brute.holds_lkc(released, DIAGNOSIS, 2, 2, HALF, AIDS)
    assert brute.lost_frequent(sets(U), released, 2) == Fraction(4, 9)


@pytest.mark.parametrize(("score", "suppressed"), [("gain", ["b2", "c4"]), ("loss", ["c4", "d3", "b2"])])
def test_the_other_scores(score, suppressed):
    """Worked by hand: most violations first (b2 and c4 have 3, b2 is earlier), and fewest frequent sets first."""
    found, released = brute.anonymize(TABLE, DIAGNOSIS, ORDER, 2, 2, HALF, AIDS, 2, score)
    assert found == suppressed
    assert brute.holds_lkc(released, DIAGNOSIS, 2, 2, HALF, AIDS)


def test_table_4_3_not_monotone_in_l():
    """Errata 3: P(AIDS | b2) is 2/3 and not 1; the sequences of three hold and shorter ones do not."""
    table = records(COUNTER)
    threes = {q for q in brute.known(table, 3) if len(q) == 3}
    assert threes == {frozenset({"a1", "b2", "c3"})}
    assert not any(brute.violates(table, STATUS, q, 2, HALF, AIDS) for q in threes)
    assert brute.supported(table, frozenset({"a1", "d2"})) == 1
    assert brute.share(table, STATUS, frozenset({"a1", "b2", "c3"}), "AIDS") == HALF
    assert brute.share(table, STATUS, frozenset({"b2"}), "AIDS") == Fraction(2, 3)
    assert brute.share(table, STATUS, frozenset({"a1", "b2"}), "AIDS") == Fraction(2, 3)
    assert brute.minimal_violating(table, STATUS, 3, 2, HALF, AIDS) == {frozenset({"d2"}), frozenset({"b2"})}
    assert not brute.holds_lkc(table, STATUS, 3, 2, HALF, AIDS)


@pytest.mark.parametrize("l", [2, 3, 4, 5])
def test_the_library_finds_the_violations(l):
    found = labels(RAW, l)
    assert len(found) == len(set(found))
    assert {"".join(q) for q in found} == set((V if l == 2 else V3).split())
    assert all([ORDER.index(item) for item in q] == sorted(ORDER.index(item) for item in q) for q in found)


def test_the_library_counts_rows_and_the_watched_value():
    made = mined()
    found = violating(made, l=2, k=2, c=0.5, values=AIDS)
    counted = dict(
        zip(
            ("".join(q) for q in found.labelled(made.labels)),
            zip(found.rows.tolist(), found.top.tolist(), strict=True),
            strict=True,
        )
    )
    assert counted == {"b2d3": (1, 1), "b2c4": (1, 1), "b2f6": (3, 2), "c4c7": (1, 1), "c4e8": (1, 0)}


def test_the_library_finds_the_maximal_frequent_sequences():
    made = mined()
    found = maximal_frequent(made, 2)
    named = found.labelled(made.labels)
    assert {"".join(q) for q in named} == set(U.split())
    assert len(named) == 9
    assert found.rows.tolist() == [brute.supported(TABLE, frozenset(q)) for q in named]


def test_the_library_accepts_the_release():
    assert labels(RELEASED, 2) == []


def test_the_library_checks_every_length():
    assert set(labels(COUNTER, 3, STATUS)) == {("d2",), ("b2",)}
    assert set(labels(COUNTER, 1, STATUS)) == {("d2",), ("b2",)}
    assert set(labels(COUNTER, 3, STATUS, c=2 / 3)) == {("d2",)}


def test_the_transactions_hold_the_table():
    made = mined()
    assert (made.rows, made.count, list(made.labels)) == (8, 7, ORDER)
    assert made.supports().tolist() == [4, 3, 2, 3, 6, 6, 6]
    rows = [made.codes[start:end].tolist() for start, end in zip(made.starts[:-1], made.starts[1:], strict=True)]
    assert [[ORDER[code] for code in row] for row in rows] == [row.split() for row in RAW]


# The algorithm of the library.

LKC = LKCPrivacy(l=2, k=2, c=0.5, column=SECRET, values=AIDS)


def anonymized(score: str = "ratio") -> ItemOutcome:
    problem = problem_of([set_part("path", TABLE, ORDER)], [LKC], DIAGNOSIS)
    return Trajectory(score=score, support=2)(problem, Work())


def test_the_library_scores_as_in_table_4_4():
    made = mined()
    bad = Links(violating(made, l=2, k=2, c=0.5, values=AIDS), made.count)
    frequent = Links(maximal_frequent(made, 2), made.count)
    assert dict(zip(ORDER, bad.counts.tolist(), strict=True)) == {
        "b2": 3, "d3": 1, "c4": 3, "c5": 0, "f6": 1, "c7": 1, "e8": 1
    }  # fmt: skip
    assert frequent.counts.tolist() == [3, 3, 1, 3, 4, 5, 4]
    found = scores(bad.counts, frequent.counts.astype(np.float64), "ratio")
    assert found.tolist() == [3 / 4, 1 / 4, 3 / 2, -1, 1 / 5, 1 / 6, 1 / 5]
    c4 = ORDER.index("c4")
    bad.remove(bad.holding(c4))
    frequent.remove(frequent.holding(c4))
    found = scores(bad.counts, frequent.counts.astype(np.float64), "ratio")
    assert found.tolist() == [2 / 4, 1 / 3, -1, -1, 1 / 4, -1, -1]


def test_the_library_suppresses_c4_and_then_b2():
    outcome = anonymized()
    assert [(s.action, s.label, s.gain, s.loss, s.left) for s in outcome.steps] == [
        ("suppress", "c4", 3, 1.0, 2),
        ("suppress", "b2", 2, 3.0, 0),
    ]
    assert outcome.effort == {"violating sets": 5, "maximal frequent sets": 9, "rounds": 1}


def test_the_library_releases_table_4_2():
    outcome = anonymized()
    assert [" ".join(record) for record in outcome.transactions.records()] == RELEASED
    assert outcome.shown.labels == ("d3", "c5", "f6", "c7", "e8")
    assert not len(outcome.stripped)
    view = outcome.view(mined())
    assert frequent_sets(view, 2).lost == pytest.approx(4 / 9)


@pytest.mark.parametrize(("score", "suppressed"), [("gain", ["b2", "c4"]), ("loss", ["c4", "d3", "b2"])])
def test_the_library_with_the_other_scores(score, suppressed):
    outcome = anonymized(score)
    assert [step.label for step in outcome.steps] == suppressed
    released = [frozenset(record) for record in outcome.transactions.records()]
    assert released == [record - set(suppressed) for record in TABLE]


def test_the_library_judges_table_4_1_and_table_4_2():
    before, after = LKC.check_items(mined()), LKC.check_items(mined(RELEASED))
    assert (before.holds, before.reached, before.limit, before.sense) == (False, 1.0, 0.5, "at most")
    assert len(before.failing) == 5
    assert (after.holds, after.reached, len(after.failing)) == (True, 0.5, 0)
    assert after.note == "the smallest group of a known set has 2 records"
