"""The same step with every other party at once, instead of one party after the other."""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.collaborate.exchange import Exchange, Result, Talk
from sfumato.ground.errors import SessionError


def side_by_side(talks: Mapping[int, Talk[Result]]) -> Talk[dict[int, Result]]:
    """What each talk returns, by the party that it is with; all have the same steps, and none another party."""
    results: dict[int, Result] = {}
    answers: dict[int, Mapping[int, bytes] | None] = dict.fromkeys(talks)
    while len(results) < len(talks):
        steps: dict[int, Exchange] = {}
        for peer, answer in answers.items():
            try:
                steps[peer] = talks[peer].send(answer)  # type: ignore[arg-type]  # None starts a generator
            except StopIteration as over:
                results[peer] = over.value
        if steps:
            came = yield _merged(steps)
        answers = {peer: {one: came[one] for one in step.expect} for peer, step in steps.items()}
    return results


def _merged(steps: Mapping[int, Exchange]) -> Exchange:
    labels = sorted({step.label for step in steps.values()})
    if len(labels) > 1:
        raise SessionError(f"talks side by side are at different steps: {', '.join(labels)}")
    return Exchange(
        label=labels[0],
        send={peer: content for step in steps.values() for peer, content in step.send.items()},
        expect={peer: length for step in steps.values() for peer, length in step.expect.items()},
    )
