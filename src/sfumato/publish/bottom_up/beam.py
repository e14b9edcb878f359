"""Several trails at once, so that a step that looked best and led nowhere can be left behind."""

from __future__ import annotations

from sfumato.publish.bottom_up.climb import Climb, State


def beam(climb: Climb, start: State, width: int) -> State:
    """Follow the best step of the paper's trail, and beside it the ``width - 1`` trails that lost least so far.

    From every trail the ``width`` best steps are tried. Trails that came to the same labels are one. A trail ends when
    it is final; the one that loses least wins, of equals the first. So none loses more than the paper's trail alone.
    """
    done: list[State] = []
    leading, going = True, [start]
    while going and not (done and climb.work.expired):
        final = [climb.over(state) for state in going]
        done += [state for state, over in zip(going, final, strict=True) if over]
        leading = leading and not final[0]
        grown = _grown(climb, [state for state, over in zip(going, final, strict=True) if not over], width)
        going = grown[:leading] + sorted(grown[leading:], key=lambda state: state.loss)[: width - leading]
    return min(done, key=lambda state: state.loss)


def _grown(climb: Climb, going: list[State], width: int) -> list[State]:
    """The trails one step on, each table once; the best step of the first trail comes first."""
    grown: dict[bytes, State] = {}
    for state in going:
        for offer, score in climb.ranked(state, width):
            other = state.copied()
            climb.take(other, offer, score)
            grown.setdefault(b"".join(column.now.tobytes() for column in other.table.columns), other)
    return list(grown.values())
