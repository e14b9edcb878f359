"""How often values occur, as bars with rows and shares, and in words."""

from __future__ import annotations

from sfumato.report.base.bins import Distribution, top
from sfumato.report.base.drawing import Row, bars
from sfumato.report.base.figures import count, share
from sfumato.report.base.language import said


def value_bars(found: Distribution, whole: int, head: str) -> tuple[str, str]:
    """The most frequent of some values, of ``whole`` in all, as a drawing and in words; ``head`` is what is counted."""
    parts = [(words, each) for words, each, _ in top([(words, each, 0) for words, each in found])]
    most = max([1, *(each for _, each in parts)])
    rows = [
        Row(label=words, front=each / most, figures=(count(each), share(each / max(whole, 1)))) for words, each in parts
    ]
    return bars(rows, heads=(head, said("share"))), "; ".join(f"{words} {count(each)}" for words, each in parts)


def heads(alone: str, *, inside: bool) -> tuple[str, ...]:
    """The heads of bars of a release: before and after where the original may be shown, else one."""
    return (said("before"), said("after")) if inside else (alone,)


def changed(name: str, old: str, new: str) -> str:
    """What a pair of bars shows, in words."""
    return said("{name} {old} before, {new} after", name=name, old=old, new=new)
