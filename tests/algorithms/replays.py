"""Replays: what a private algorithm asks its mechanisms, written down, and the same answers on a neighbouring table.

If an adaptive algorithm gets the same answers it must ask the same questions, on whichever neighbour it runs, and what
it hands to a mechanism may differ by no more than it says. Then its cost is the sum of the parts. ``recording`` writes
down a run; ``replaying`` answers a second run with the answers of the first; ``faults`` says what differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.algorithms.private_table import Mechanisms, Scores
from sfumato.dp.accounting import Cost

ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Asked:
    """One question: what is public about it, and what is not."""

    kind: str
    cost: Cost
    public: tuple[Any, ...]
    """What a neighbour must ask alike: shapes, sensitivities, candidates."""
    private: Any
    """The scores or counts; of things that are named, by their names."""
    answer: Any


def recording(found: list[Asked], mechanisms: Mechanisms) -> Mechanisms:
    """Mechanisms that write down what they are asked and what they answer."""

    def choose(scores: Scores, cost: Cost) -> int:
        answer = mechanisms.choose(scores, cost)
        found.append(Asked(kind="choose", cost=cost, public=_of(scores), private=scores.values.copy(), answer=answer))
        return answer

    def count(counts: Any, cost: Cost) -> Any:
        answer = mechanisms.count(counts, cost)
        found.append(Asked(kind="count", cost=cost, public=counts.shape, private=counts.copy(), answer=answer))
        return answer

    return Mechanisms(choose=choose, count=count, waits=mechanisms.waits)


def replaying(found: list[Asked], answers: Sequence[Asked]) -> Mechanisms:
    """Mechanisms that answer as they did before, as long as the same kind of question comes."""

    def next_answer(kind: str) -> Any:
        before = answers[len(found)] if len(found) < len(answers) else None
        assert before is not None, f"question {len(found)} is one too many: {kind}"
        assert before.kind == kind, f"question {len(found)} is another one: {kind}"
        return before.answer

    def choose(scores: Scores, cost: Cost) -> int:
        answer = next_answer("choose")
        found.append(Asked(kind="choose", cost=cost, public=_of(scores), private=scores.values.copy(), answer=answer))
        return int(answer)

    def count(counts: Any, cost: Cost) -> Any:
        answer = next_answer("count")
        found.append(Asked(kind="count", cost=cost, public=counts.shape, private=counts.copy(), answer=answer))
        return answer

    return Mechanisms(choose=choose, count=count)


def _of(scores: Scores) -> tuple[Any, ...]:
    return (*scores.values.shape, scores.sensitivity, scores.monotonic)


def faults(fewer: Sequence[Asked], more: Sequence[Asked]) -> list[str]:
    """What two runs ask differently, where the second table has one record more."""
    found = [f"{len(fewer)} questions, {len(more)} questions"] if len(fewer) != len(more) else []
    for place, (a, b) in enumerate(zip(fewer, more, strict=False)):
        if (a.kind, a.cost, a.public) != (b.kind, b.cost, b.public):
            found.append(f"question {place} is another one: {a.kind, a.cost, a.public} {b.kind, b.cost, b.public}")
        elif a.kind == "choose":
            found += [f"question {place}: {fault}" for fault in _moved(a, b)]
        else:
            found += [f"question {place}: counts differ by more than one record"] * (
                not _one_more(a.private, b.private)
            )
    return found


def _moved(a: Asked, b: Asked) -> list[str]:
    """Whether scores differ by more than their sensitivity, or up and down where they are said to be monotonic."""
    *_, sensitivity, monotonic = a.public
    moved = b.private - a.private
    wrong = ["scores move too far"] * bool((np.abs(moved) > sensitivity + ROUNDING).any())
    apart = bool((moved > ROUNDING).any() and (moved < -ROUNDING).any())
    return wrong + ["scores move in both directions"] * (monotonic and apart)


def _one_more(fewer: Any, more: Any) -> bool:
    """Whether one of some disjoint counts is larger by one at most; counts by name may lack those that are 0."""
    if isinstance(fewer, dict):
        moved = [more.get(name, 0) - fewer.get(name, 0) for name in {*fewer, *more}]
    else:
        moved = (more - fewer).ravel().tolist()
    return sorted(one for one in moved if one) in ([], [1])
