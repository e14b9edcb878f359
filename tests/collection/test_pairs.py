"""Intervals of pairs of questions: literal draws, whatever the order of answers, and how often they hold the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato.collection import joint_distribution
from sfumato.collection.channels import Reals, evidence, shown_codes, shown_numbers
from sfumato.collection.estimates import Reconstruction
from sfumato.collection.joint_distribution import Drawing, _categories, cramers_v
from sfumato.collection.mechanisms import KeptCategory
from sfumato.collection.reconstruction import FURTHER, Stopping, deviation, reconstruct
from sfumato.collection.specification import Specification, number_question
from sfumato.core.randomness import Chance

NUMBERS = tuple(number_question(name, "uniform", low=0, high=99, privacy="0.5") for name in "xyz")
KINDS = tuple(KeptCategory.within(name, tuple("abcd"[:many]), epsilon="1.5") for name, many in (("p", 3), ("q", 4)))
WARNER = tuple(KeptCategory.warner(name, ("yes", "no"), truth="3/4") for name in "pq")


def shown_of(table: Reals, questions: tuple[KeptCategory, ...], rows: int, seed: int) -> dict[str, list[str]]:
    """Answers of people drawn from a joint distribution, as shown."""
    codes = Chance(seed=seed).generator().choice(table.size, rows, p=table.reshape(-1))
    both = np.unravel_index(codes, table.shape)
    return {
        q.name: [q.values[n] for n in shown_codes(q, true, Chance(seed=10_000 + 2 * seed + at))]
        for at, (q, true) in enumerate(zip(questions, both, strict=True))
    }


def test_correlations_are_drawn_as_it_is_written():
    """Every resample by itself: rows repeated as often as they were drawn, their covariances, their distributions."""
    draw = Chance(seed=1).generator()
    values = np.array([shown_numbers(q, draw.integers(0, 100, 40), Chance(seed=n)) for n, q in enumerate(NUMBERS)])
    seen = [evidence(q, one, cells=4) for q, one in zip(NUMBERS, values, strict=True)]
    found = Drawing(resamples=20).correlations(values, seen, [3, 3, 3])
    again = Chance(seed=0).generator()
    order = np.lexsort(values)[again.permutation(40)]
    times = again.multinomial(40, np.full(40, 1 / 40), size=20)
    for one, weights in zip(found, times, strict=True):
        rows = np.repeat(order, weights)
        wide = np.cov(values[:, rows])
        spread = []
        for each in seen:
            made = reconstruct(each.take(rows), stopping=Stopping(limit=1e-12, rounds=3))
            edges = made.channel.edges
            assert edges is not None
            middle = (edges[1:] + edges[:-1]) / 2
            square = sum(s * ((m - made.shares @ middle) ** 2 + w**2 / 12) for s, m, w in zip(made.shares, middle, np.diff(edges), strict=True))  # fmt: skip  # noqa: E501
            spread.append(np.sqrt(square))
        assert one == pytest.approx(np.clip(wide / np.outer(spread, spread), -1, 1))


def test_the_order_of_answers_changes_nothing():
    draw = Chance(seed=2).generator()
    true = draw.integers(0, 100, 1500)
    values = [shown_numbers(q, true, Chance(seed=n)) for n, q in enumerate(NUMBERS[:2])]
    shown = {q.name: [q.write(int(v)) for v in one] for q, one in zip(NUMBERS, values, strict=False)}
    shown |= shown_of(np.full((3, 4), 1 / 12), KINDS, 1500, 3)
    spec = Specification(questions=(*NUMBERS[:2], *KINDS))
    turned = draw.permutation(1500)
    other = {name: [cells[place] for place in turned] for name, cells in shown.items()}
    made, again = (Reconstruction(cells=5)(spec, one).to_json()["pairs"] for one in (shown, other))
    assert made == again
    assert len(made) == 2


def test_groups_of_answers_vary_as_answers_do(monkeypatch: pytest.MonkeyPatch):
    """100 groups in place of 1,000 answers: the same width, but for what 100 groups tell of it (7 % by themselves)."""
    draw = Chance(seed=3).generator()
    true = np.clip(np.rint(draw.multivariate_normal([50, 50], [[300, 150], [150, 300]], 1000)), 0, 99)
    values = np.array([shown_numbers(q, true[:, n], Chance(seed=n)) for n, q in enumerate(NUMBERS[:2])])
    seen = [evidence(q, one, cells=5) for q, one in zip(NUMBERS, values, strict=False)]
    whole = Drawing(resamples=400).correlations(values, seen, [20, 20])[:, 0, 1].std()
    monkeypatch.setattr(joint_distribution, "GROUPS", 100)
    groups = Drawing(resamples=400).correlations(values, seen, [20, 20])[:, 0, 1].std()
    assert groups == pytest.approx(whole, rel=0.3)


def test_intervals_of_correlations_cover():
    """60 intervals at 95 %: fewer than 48 would hold once in 140,000 runs, were the coverage 0.95."""
    held, drawing = 0, Drawing(resamples=100)
    for seed in range(60):
        rho = (0.0, 0.5, 0.9)[seed % 3]
        wide = 225 * np.array([[1, rho], [rho, 1]])
        true = np.clip(np.rint(Chance(seed=seed).generator().multivariate_normal([50, 50], wide, 600)), 0, 99)
        values = np.array(
            [shown_numbers(q, true[:, n], Chance(seed=1000 + 2 * seed + n)) for n, q in enumerate(NUMBERS[:2])]
        )
        seen = [evidence(q, one, cells=5) for q, one in zip(NUMBERS, values, strict=False)]
        made = [reconstruct(one, stopping=FURTHER) for one in seen]
        one, other = (float(deviation(each.shares, each.channel.edges)) for each in made)
        estimate = float(np.clip(np.cov(values)[0, 1] / (one * other), -1, 1))
        drawn = drawing.correlations(values, seen, [each.rounds for each in made])
        low, high = drawing.percentiles(drawn[:, 0, 1], estimate)
        assert low <= estimate <= high
        held += low <= rho <= high
    assert held >= 48


@pytest.mark.parametrize("mixed", [0.0, 0.5])
@pytest.mark.parametrize("questions", [WARNER, KINDS], ids=["warner", "generalized"])
def test_intervals_of_association_cover(questions: Any, mixed: float):
    """30 intervals at 95 %: fewer than 23 would hold once in 11,000 runs, were the coverage 0.95."""
    sizes = tuple(len(q.values) for q in questions)
    alone = np.outer(*(np.arange(n, 0, -1) / (n * (n + 1) / 2) for n in sizes))
    along = np.zeros(sizes)
    along[np.arange(sizes[0]), np.arange(sizes[0])] = alone.sum(axis=1)
    table = (1 - mixed) * alone + mixed * along
    truth, held = cramers_v(table), 0
    assert truth is not None
    for seed in range(30):
        found = _categories(*questions, shown_of(table, questions, 1500, seed), Drawing())
        assert found.low is not None
        assert found.high is not None
        assert found.estimate is not None
        assert 0 <= found.low <= found.estimate <= found.high <= 1
        held += found.low <= truth + 1e-12 and truth <= found.high
    assert held >= 23


def test_one_answer_tells_nothing_of_a_pair():
    shown = {q.name: ["5"] for q in NUMBERS[:2]}
    (found,) = Reconstruction(cells=5)(Specification(questions=NUMBERS[:2]), shown).pairs
    assert (found.shown, found.estimate, found.low, found.high) == (None, 0.0, 0.0, 0.0)
