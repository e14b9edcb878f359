"""Exact answers under audit: what a question costs as the history grows, and random histories that tell of nobody."""

from __future__ import annotations

import itertools
import os
import random
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import sfumato as sf
from measure import table
from sfumato.dp.answer_log import AnswerLog
from sfumato.queries.exact import auditor as width_rule
from sfumato.queries.exact.auditor import Auditor, Span
from sfumato.queries.exact.session import ExactRules, ExactSession
from sfumato.queries.exact.sums import error_bound
from sfumato.tables.frames import from_frame
from tests.brute.told import narrowest, sums_follow

ROWS, QUESTIONS = 30_000, 10_000
HISTORIES, PEOPLE, ASKED = 100_000, 5, 8
PUBLIC = ("age", "sex", "race", "education", "occupation", "hours-per-week")
WIDTH_HEADS = ["sums", "by definition", "by the rule", "by one way to move alone", "by sizes of atoms alone"]
GRID = np.array(list(itertools.product(range(-3, 6), repeat=4)))
"""Tables of four people near the true one: whoever differs among those that agree is not known."""


def statement(dice: random.Random, frame: object) -> str:
    """A question as somebody asks it: one to three conditions."""
    conditions = []
    for column in dice.sample(PUBLIC, dice.randint(1, 3)):
        if column in ("age", "hours-per-week"):
            low = dice.randint(17, 70)
            conditions.append(f'"{column}" BETWEEN {low} AND {low + dice.choice((0, 5, 10, 20, 40))}')
        else:
            conditions.append(f"{column} = '{dice.choice(frame[column])}'")  # type: ignore[index]
    figure = dice.choice(("SUM(fnlwgt)",) * 5 + ("AVG(fnlwgt)",) * 3 + ("MAX(fnlwgt)", "MIN(fnlwgt)"))
    return f"SELECT {figure} WHERE {' AND '.join(conditions)}"


def grown(place: Path) -> tuple[list[list[str]], list[list[str]]]:
    """The cost of questions, thousand by thousand, and of opening the log after them."""
    frame = sf.datasets.census(ROWS, seed=1)
    rules = ExactRules(values=("fnlwgt",), public=PUBLIC)
    whole = from_frame(frame)
    session = ExactSession(whole, rules=rules, log=AnswerLog.create(place / "log.db", rules.to_json(), whole))
    dice, rows = random.Random(7), []
    for begun in range(0, QUESTIONS, 1000):
        answered, began, worst = 0, time.process_time(), 0.0
        for _ in range(1000):
            before = time.process_time()
            answered += not session.ask(statement(dice, frame))[0].refused
            worst = max(worst, time.process_time() - before)
        each = (time.process_time() - began) / 1000
        (auditor,) = session._auditors.values()
        sums = auditor.sums
        rows.append(
            [
                f"{begun + 1:,} to {begun + 1000:,}",
                f"{answered:,}",
                f"{len(sums.atoms.sizes):,}",
                f"{sums.rank:,}",
                f"{1000 * each:.1f} ms",
                f"{1000 * worst:,.0f} ms",
                f"{error_bound(sums.rank):.0e}",
            ]
        )
        print(*rows[-1], file=sys.stderr)
    began = time.process_time()
    again = ExactSession(whole, rules=rules, log=AnswerLog(place / "log.db"))
    again.ask("SELECT COUNT(*)")
    took = time.process_time() - began
    size = (place / "log.db").stat().st_size / 1e6
    return rows, [[f"{QUESTIONS:,}", f"{size:.1f} MB", f"{took:.0f} s"]]


def histories(part: tuple[int, int]) -> tuple[int, int, int]:
    """Random histories: how many questions, answers, and people whose value is known at the end."""
    seed, many = part
    dice = np.random.default_rng(seed)
    asked = answered = known = 0
    for number in range(many):
        one = (sums_only if number % 2 else mixed)(dice, f"{seed} {number}")
        asked, answered, known = asked + ASKED, answered + one[0], known + one[1]
    return asked, answered, known


def sums_only(dice: np.random.Generator, key: str) -> tuple[int, int]:
    """Sums: a person is known just where their unit vector is its own projection on the answered questions."""
    auditor, lines = Auditor(PEOPLE, key), []
    for _ in range(ASKED):
        mask = dice.random(PEOPLE) < 0.6
        if not auditor.decide("sum", mask):
            auditor.told("sum", mask, 0)
            lines.append(mask.astype(float))
    if not lines:
        return 0, 0
    projection = np.linalg.pinv(np.array(lines)) @ np.array(lines)
    return len(lines), int((np.diag(projection) > 1 - 1e-9).sum())


def mixed(dice: np.random.Generator, key: str) -> tuple[int, int]:
    """Sums, minima and maxima: a person is known where all tables that agree have one value."""
    auditor, values, agree, many = Auditor(4, key), dice.integers(0, 3, 4), GRID, 0
    for _ in range(ASKED):
        mask, kind = dice.random(4) < 0.6, ("sum", "minimum", "maximum")[dice.integers(3)]
        if not mask.any() or auditor.decide(kind, mask):  # type: ignore[arg-type]
            continue
        run = {"sum": np.sum, "minimum": np.min, "maximum": np.max}[kind]
        told = int(run(values[mask]))
        auditor.told(kind, mask, told)  # type: ignore[arg-type]
        agree, many = agree[run(agree[:, mask], axis=1) == told], many + 1
    return many, int((agree == agree[0]).all(axis=0).sum())


def widths(histories: int = 40, people: int = 4) -> list[list[str]]:
    """How many sums are refused for a declared width: by definition, and by what is decided."""
    dice, found = np.random.default_rng(5), dict.fromkeys(("new", "definition", "corners", "moved", "sizes"), 0)
    for number in range(histories):
        span = Span(low=0, high=12, width=float(dice.choice([3, 5, 7])), means=(4, 8))
        auditor, told = Auditor(people, f"width {number}", span=span), []
        for _ in range(4):
            mask = dice.random(people) < 0.6
            seen = auditor.sums.foresee(mask)
            if mask.sum() < 2 or not seen.new or sums_follow([*told, mask], 2):
                continue
            lines, sizes = np.vstack([auditor.sums.over(seen), seen.cutting.inside]), seen.cutting.sizes
            refused = auditor.decide("sum", mask) == "width"
            found["new"] += 1
            found["definition"] += narrowest([*told, mask], (0, 12), (4, 8)) < span.width - 1e-6
            found["corners"] += refused
            width_rule.FEW_ATOMS = 0
            found["moved"] += not width_rule.wide(span, 2, lines, sizes)
            width_rule.FEW_ATOMS = 6
            found["sizes"] += bool((sizes[sizes > 0] < span.least(2)).any())
            if not refused:
                auditor.told("sum", mask, 0)
                told.append(mask)
    return [[f"{one:,}" for one in found.values()]]


def main() -> str:
    """All tables."""
    step = 1000
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = np.sum(list(pool.map(histories, [(at, step) for at in range(0, HISTORIES, step)])), axis=0)
    with tempfile.TemporaryDirectory() as name:
        cost, opened = grown(Path(name))
    heads = ["questions", "answered", "atoms", "rank", "CPU of each", "CPU of the dearest", "error bound"]
    told = [[f"{HISTORIES:,}", *(f"{int(one):,}" for one in found)]]
    return "\n".join(
        [
            table(f"Exact answers about {ROWS:,} rows", heads, cost),
            table("Opening a log of exact answers", ["questions", "size", "CPU until the first answer"], opened),
            table("Random histories of exact answers", ["histories", "questions", "answered", "people known"], told),
            table("Sums refused for a declared width", WIDTH_HEADS, widths()),
        ]
    )


if __name__ == "__main__":
    print(main())
