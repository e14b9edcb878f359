"""The statements of section 4.4 of Mohammed 2012 about utility loss, each counted over all measured cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

Losses = dict[tuple[int, int, float, float, str], float]
"""Utility loss by L (0 for the longest path), K, C, support K' and score."""
GREEDY = ("ratio", "loss")
"""Score1 and Score3."""
SAME = 1e-12


def claims(found: Mapping[str, Losses], steps: Sequence[tuple[float, float]]) -> list[list[str]]:
    """A line for each statement and table: in how many cases it holds."""
    rows = []
    for name, losses in found.items():
        rows += _scores(name, losses)
        rows += [_steps(name, losses, 1, "K"), _steps(name, losses, 0, "L"), _supports(name, losses, steps)]
        rows += _whole(name, losses) + _confidence(name, losses)
    rows.append(_known(found["city"]))
    rows.append(_dimensions(found["city"], found["metro"]))
    return rows


def told(statement: str, name: str, cases: Sequence[bool]) -> list[str]:
    """One line; the statement holds where every case does."""
    held = sum(cases)
    verdict = "yes" if held == len(cases) else "no" if not held else "not always"
    return [statement, name, f"{held} of {len(cases)}", verdict]


def _scores(name: str, losses: Losses) -> list[list[str]]:
    rows = []
    for score, title in (("ratio", "Score1"), ("loss", "Score3")):
        pairs = [(value, losses[(*key[:4], "gain")]) for key, value in losses.items() if key[4] == score and key[0]]
        open_ = [(mine, other) for mine, other in pairs if mine + other > 0 and min(mine, other) < 1 - SAME]
        rows.append(told(f"{title} loses no more than Score2", name, [mine <= other + SAME for mine, other in pairs]))
        head = f"{title} loses less than Score2, where not both lose nothing or all"
        rows.append(told(head, name, [mine < other - SAME for mine, other in open_]))
    ours = [(value, key[:4]) for key, value in losses.items() if key[4] == "cheapest"]
    best = [value <= min(losses[(*key, one)] for one in ("ratio", "gain", "loss")) + SAME for value, key in ours]
    rows.append(told("not of the thesis: cheapest loses no more than any of the three", name, best))
    return rows


def _steps(name: str, losses: Losses, place: int, what: str) -> list[str]:
    """Whether the loss does not fall from one value to the next, the rest being equal."""
    lines: dict[tuple[Any, ...], list[tuple[Any, float]]] = {}
    for key, value in losses.items():
        if key[0] and key[4] in GREEDY:
            lines.setdefault((*key[:place], *key[place + 1 :]), []).append((key[place], value))
    cases = [b >= a - SAME for line in lines.values() for (_, a), (_, b) in pairwise(sorted(line))]
    return told(f"the loss of Score1 and Score3 does not fall from one {what} to the next", name, cases)


def _supports(name: str, losses: Losses, steps: Sequence[tuple[float, float]]) -> list[str]:
    cases = [
        losses[(*key[:3], high, key[4])] <= value + SAME
        for key, value in losses.items()
        for low, high in steps
        if key[3] == low and key[0] and key[4] in GREEDY
    ]
    return told("the loss of Score1 and Score3 does not grow from one support K' to the next", name, cases)


def _whole(name: str, losses: Losses) -> list[list[str]]:
    pairs = [(value, losses[(3, *key[1:])]) for key, value in losses.items() if not key[0] and (3, *key[1:]) in losses]
    if name == "metro":
        return [told("L = the longest path loses what L = 3 does", name, [abs(a - b) < 0.005 for a, b in pairs])]
    return [told("L = the longest path loses more than L = 3 (Score1)", name, [a > b + SAME for a, b in pairs])]


def _confidence(name: str, losses: Losses) -> list[list[str]]:
    here = {key: value for key, value in losses.items() if key[:2] == (3, 30) and key[4] in GREEDY}
    low = [value >= max(v for k, v in here.items() if k[3:] == key[3:]) for key, value in here.items() if key[2] == 0.2]
    high = [abs(value - here[(3, 30, 1.0, *key[3:])]) < 0.005 for key, value in here.items() if key[2] in (0.6, 0.8)]
    return [
        told("the loss is highest at C = 20 %", name, low),
        told("from C = 60 % on, C does not matter (by half a point)", name, high),
    ]


def _known(losses: Losses) -> list[str]:
    cases = {key: value for key, value in losses.items() if key[0] in (1, 2) and key[4] in GREEDY}
    line = told("no loss up to L = 2 (Score1 and Score3)", "city", [value == 0 for value in cases.values()])
    line[2] += f"; at most {max(cases.values()):.1%}"
    return line


def _dimensions(city: Losses, metro: Losses) -> list[str]:
    cases = [metro[key] >= value - SAME for key, value in city.items() if key in metro and key[0] >= 3]
    return told("more dimensions lose more: metro no less than city, from L = 3 on", "both", cases)
