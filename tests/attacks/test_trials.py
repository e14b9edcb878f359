"""The frame: intervals cover, outcomes follow, failed trials never speak for a release."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sfumato.attacks.finding import FEWEST, Finding, Limit, Outcome, Rate
from sfumato.core.errors import ParameterError
from sfumato.core.randomness import Chance


def finding(hits: float, trials: int, *, failed: int = 0, naive: float = 0.0, **more) -> Finding:
    return Finding(
        attack="a",
        threat="re-identification",
        knows="k",
        does="d",
        rate=Rate(hits=hits, trials=trials, failed=failed),
        naive=Rate(hits=naive * 1000, trials=1000),
        **more,
    )


def test_the_interval_is_that_of_wilson():
    """Wilson 1927 by hand: 10 of 50 at 95 %: (0.2 + 0.0384) / 1.0768 around, 0.112 to 0.330."""
    found = Rate(hits=10, trials=50)
    assert (round(found.low, 3), round(found.high, 3)) == (0.112, 0.330)
    assert Rate(hits=0, trials=0).low == 0.0
    assert Rate(hits=0, trials=0).high == 1.0
    assert Rate(hits=0, trials=50).low == pytest.approx(0.0)
    assert Rate(hits=50, trials=50).high == pytest.approx(1.0)


@pytest.mark.parametrize("truth", [0.02, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("trials", [50, 500])
def test_the_interval_covers(truth, trials):
    """Wilson's interval covers 95 % on average, and never below 92 % here; 4,000 repetitions.

    A coverage of 0.94 would be counted below 0.92 with probability below 1e-6 (normal, 5.3 standard errors).
    """
    counts = Chance(seed=5).generator().binomial(trials, truth, size=4000)
    ends = {
        hits: (Rate(hits=hits, trials=trials).low, Rate(hits=hits, trials=trials).high) for hits in set(counts.tolist())
    }
    covered = np.mean([ends[hits][0] <= truth <= ends[hits][1] for hits in counts.tolist()])
    assert 0.92 <= covered <= 0.985


@pytest.mark.parametrize(
    ("found", "outcome"),
    [
        (finding(900, 1000), Outcome.REFUTED),
        (finding(900, 1000, limit=Limit(value=0.95, why="plan")), Outcome.NOT_REFUTED),
        (finding(900, 1000, limit=Limit(value=0.90, why="plan")), Outcome.INCONCLUSIVE),
        (finding(900, 1000, naive=0.9, limit=Limit(value=0.95, why="plan")), Outcome.INCONCLUSIVE),
        (finding(FEWEST - 1, FEWEST - 1), Outcome.INCONCLUSIVE),
        (finding(100, 1000, failed=900, limit=Limit(value=0.05, why="plan")), Outcome.REFUTED),
        (finding(0, 1000, failed=1000, limit=Limit(value=0.05, why="plan")), Outcome.NOT_TRIED),
        (finding(10, 1000, failed=990, limit=Limit(value=0.05, why="plan")), Outcome.INCONCLUSIVE),
        (finding(0, 0), Outcome.NOT_TRIED),
    ],
)
def test_outcomes(found, outcome):
    assert found.outcome is outcome


def test_more_failures_never_speak_for_a_release():
    """With the same hits, an attack that failed more often is never "not refuted" where it was inconclusive."""
    for hits in (0, 5, 50):
        seen = [finding(hits, 200, failed=failed, limit=Limit(value=0.5, why="plan")).outcome for failed in range(151)]
        first = seen.index(Outcome.INCONCLUSIVE) if Outcome.INCONCLUSIVE in seen else len(seen)
        assert Outcome.NOT_REFUTED not in seen[first:]


def test_the_risk_is_the_excess_over_the_better_of_guesser_and_control():
    found = finding(600, 1000, naive=0.2, control=Rate(hits=200, trials=1000))
    assert found.risk == pytest.approx((0.6 - 0.2) / 0.8)
    low, high = found.risk_interval
    assert low < found.risk < high
    better = finding(600, 1000, naive=0.2, control=Rate(hits=500, trials=1000))
    assert better.baseline is better.control
    assert better.risk == pytest.approx(0.2)
    assert finding(1, 1000, naive=0.5).risk == 0.0
    assert finding(1000, 1000, naive=1.0).risk == 0.0
    assert finding(1000, 1000, naive=1.0).risk_interval[0] == 0.0


def test_impossible_counts_are_refused():
    for hits, trials, failed in ((5, 4, 0), (-1, 4, 0), (1, 4, 5), (1, 4, -1)):
        with pytest.raises(ParameterError, match="impossible"):
            Rate(hits=hits, trials=trials, failed=failed)


def test_json_says_all():
    posterior = finding(
        6, 30, failed=3, limit=Limit(value=0.5, why="2-anonymity"), control=Rate(hits=1, trials=30)
    ).to_json()
    assert json.loads(json.dumps(posterior)) == posterior
    assert posterior["target"]["failed"] == 3
    assert posterior["limit"] == {"value": 0.5, "why": "2-anonymity"}
    assert posterior["outcome"] in set(Outcome)
    assert posterior["control"]["trials"] == 30
    assert finding(6, 30).to_json()["control"] is None
