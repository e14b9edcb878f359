"""The noise audit of two-party mechanisms: sound ones stand, from outside and from a party's chair; twins fall.

Randomness of twins has fixed seeds. A sound mechanism is accused with a probability of at most 1e-6 in each audit.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from sfumato.attacks.noise_audit import NoiseAudit, audit_outputs
from sfumato.core.randomness import Chance
from sfumato.parties.diffgen.pair import WHOLE, CountNoise
from sfumato.parties.diffgen.polynomial_choice import scaled_floors
from sfumato.parties.scalar_product import Crossed, count_choosing, count_crossed
from sfumato.parties.simulation import together
from sfumato.pipeline.joint.noise_cases import Doors, two_party_cases
from sfumato.pipeline.noise_audit import CONFIDENCE, audit_mechanisms
from sfumato.pipeline.noise_cases import NoiseCase
from tests.parties.ready import Repeatable, ready_pair

RUNS = 2000


class Dice:
    """Random bits of one party with a seed."""

    def __init__(self, seed: int) -> None:
        self.dice = Chance(seed=seed).generator()

    def __call__(self, runs: int, bits: int) -> Any:
        return self.dice.integers(0, 2, (runs, bits), np.uint8)


def audits(doors: Doors, *names: str) -> dict[str, NoiseAudit]:
    cases = [case for case in two_party_cases(1, doors) if any(name in case.name for name in names)]
    assert cases
    return {case.name: audited(case) for case in cases}


def audited(case: NoiseCase, runs: int = RUNS) -> NoiseAudit:
    return audit_outputs(case.draw(0, runs), case.draw(1, runs), confidence=CONFIDENCE, declared=case.declared)


def test_sound_mechanisms_are_not_refuted():
    """All of them, as an outsider and as a party sees them, with real randomness."""
    found = audits(Doors(), "two parties")
    assert len(found) == 13
    assert {name for name, audit in found.items() if audit.refuted} == set()
    assert all(found[name].epsilon_low > 0.1 for name in found if "counts" in name)


def test_cases_know_how_many_runs_they_need():
    """Noise of half the size is found by as many runs as a case asks for."""
    for case in two_party_cases(1)[-2:]:
        assert 100 < case.runs(2.0, (1 - CONFIDENCE) / 2) < 100_000
    case = next(one for one in two_party_cases(1) if one.name.endswith("whole noise, seen by a party"))
    assert [one.audit.refuted for one in audit_mechanisms(cases=[case])] == [False]


def reused(seed: int) -> Any:
    """The known-bad twin: a party that uses the bits of its first choice in every choice."""

    def random(runs: int, bits: int) -> Any:
        return Dice(seed)(runs, 400)[:, -bits:]

    return random


def test_a_reused_random_value_is_refuted():
    """By both parties reused, two choices that differ tell more than each; fresh bits of one party are enough."""
    two = "two parties, two choices"
    assert audits(Doors(random=(reused(1), reused(2))), two)[two].refuted
    assert not audits(Doors(random=(reused(1), Dice(2))), two)[two].refuted


def half_noise(shape: Any, epsilon: Fraction, parties: int) -> Any:
    return WHOLE.draw(shape, 2 * epsilon, parties)


def nothing(shape: Any, epsilon: Fraction, parties: int) -> Any:
    return np.zeros(shape, np.int64)


def by_a_party(noise: CountNoise) -> NoiseAudit:
    name = f"counts with {noise.name} noise, seen by a party"
    return next(iter(audits(Doors(noises=(noise,)), name).values()))


def test_noise_that_only_the_reader_added_is_refuted():
    """Seen by the party that added it, the count is bare; an outsider would not notice."""

    class First:
        """Noise by whoever draws first, which is the party that looks."""

        drawn = False

        def __call__(self, shape: Any, epsilon: Fraction, parties: int) -> Any:
            self.drawn = not self.drawn
            return WHOLE.draw(shape, epsilon, parties) if self.drawn else nothing(shape, epsilon, parties)

    only = CountNoise(name="one-sided", draw=First(), whole=True)
    found = audits(Doors(noises=(only,)), "one-sided")
    seen = {name.rsplit("by ", 1)[1]: audit.refuted for name, audit in found.items()}
    assert seen == {"an outsider": False, "a party": True}


def test_too_little_noise_is_refuted():
    assert by_a_party(CountNoise(name="half", draw=half_noise, whole=True)).refuted
    assert by_a_party(CountNoise(name="no", draw=nothing, whole=True)).refuted
    assert not by_a_party(WHOLE).refuted


def test_shared_noise_does_not_give_epsilon_against_the_other_party():
    """Whoever promised the release's epsilon there would be refuted; `against_party` states what holds."""
    case = next(one for one in two_party_cases(1) if one.name.endswith("shared noise, seen by a party"))
    found = [audited(one, 6_000).refuted for one in (case, replace(case, declared=1.0))]
    assert found == [False, True]


@pytest.mark.parametrize(("noise", "refuted"), [(nothing, True), (WHOLE.draw, False)])
def test_shares_that_are_sent_without_noise_are_refuted(noise: Any, refuted: bool):
    """A party adds the share that it got to its own, and has the count: of two or of three people, in one group."""
    draw, sides = Repeatable(b"shares"), []
    for people in (2, 3):
        rows = np.zeros(people * 400, np.int64)
        groups = np.repeat(np.arange(400), people)
        sending, receiving = ready_pair(draw)
        asked = Crossed(chooser=400, counter=1, kinds=rows, many=1)
        talks = [count_crossed(sending, asked, rows, draw=draw), count_choosing(receiving, asked, groups)]
        shares = [share.ravel() for share in together(talks)]
        came = (shares[0] + noise(shares[0].shape, Fraction(1), 2)).astype(np.int32)
        sides.append((came + shares[1]).astype(np.int32))
    found = audit_outputs(sides[0], sides[1], confidence=CONFIDENCE, declared=1.0)
    assert found.refuted == refuted


# Weights in floating point, and floors.


def by_floats(scores: list[int], runs: int, seed: int, kind: Any) -> Any:
    """Choices by prefix sums of floats: what is small beside the sum before it is lost."""
    sums = np.cumsum(np.exp(np.array(scores)).astype(kind), dtype=kind)
    return np.searchsorted(sums, Chance(seed=seed).generator().random(runs) * float(sums[-1]), side="right")


def by_weights(weights: list[int], runs: int, seed: int) -> Any:
    sums = np.cumsum(weights)
    return np.searchsorted(sums, Chance(seed=seed).generator().integers(0, sums[-1], runs), side="right")


BEFORE, AFTER, MANY = [8] + [0] * 40, [8] + [1] * 40, 20_000
"""One record raises all scores but the first."""


def test_weights_in_floating_point_are_refuted():
    """In half precision 1 is nothing beside 2981; the first candidate takes all until a record raises the others."""
    narrow = [by_floats(scores, MANY, at, np.float16) for at, scores in enumerate((BEFORE, AFTER))]
    assert audit_outputs(narrow[0] > 0, narrow[1] > 0, confidence=CONFIDENCE, declared=1.0).refuted
    wide = [by_floats(scores, MANY, at, np.float64) for at, scores in enumerate((BEFORE, AFTER))]
    assert not audit_outputs(wide[0] > 0, wide[1] > 0, confidence=CONFIDENCE, declared=1.0).refuted


def test_floors_of_the_thesis_are_refuted():
    """Weights of 0.9 become 0, and one record later 2: from never to often."""
    scores = [[2.2] + [-0.1] * 9, [2.2] + [0.9] * 9]
    found = [by_weights(scaled_floors(np.exp(one), 0), RUNS, at) for at, one in enumerate(scores)]
    assert audit_outputs(found[0] > 0, found[1] > 0, confidence=CONFIDENCE, declared=1.0).refuted
