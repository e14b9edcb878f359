"""A program: processes ask at once, or one is killed while it asks; what was told is printed as JSON."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from pathlib import Path

import polars as pl

from sfumato.dp.answer_log import AnswerLog
from sfumato.queries.exact import session as exact_session
from sfumato.queries.exact.session import ExactRules, ExactSession
from sfumato.tables.table import Table

RULES = ExactRules(values=("income",), public=("age", "sex"))
FIGURES = ("SUM(income)", "AVG(income)", "MAX(income)", "MIN(income)")


def people() -> Table:
    """Forty people."""
    dice = random.Random(5)
    rows = [(20 + n // 2, "FM"[n % 2], dice.randint(10, 99)) for n in range(40)]
    return Table(frame=pl.DataFrame(rows, schema=["age", "sex", "income"], orient="row"))


def questions(seed: int, many: int) -> list[str]:
    """Random questions."""
    dice, found = random.Random(seed), []
    for _ in range(many):
        low, wide = dice.randint(20, 38), dice.randint(1, 12)
        more = dice.choice(("", " AND sex = 'F'"))
        found.append(f"SELECT {dice.choice(FIGURES)} WHERE age BETWEEN {low} AND {low + wide}{more}")
    return found


def asking(path: Path, seed: int, many: int) -> None:
    """One process: every answer is printed as soon as it is there."""
    session = ExactSession(people(), rules=RULES, log=AnswerLog(path))
    for sql in questions(seed, many):
        (answer,) = session.ask(sql, analyst=f"analyst {seed}")
        sys.stdout.write(json.dumps([sql, str(answer.value), answer.refused]) + "\n")
        sys.stdout.flush()


def main() -> None:
    """Fork before anything is computed, and wait for all; what was worked out is kept often."""
    exact_session.EVERY = 7
    path, processes, many, killed = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    children = []
    for seed in range(processes):
        child = os.fork()
        if child == 0:
            asking(path, seed, many)
            os._exit(0)
        children.append(child)
    if killed:
        sys.stdin.readline()  # the parent has read some answers
        os.kill(children[0], signal.SIGKILL)
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
