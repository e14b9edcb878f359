"""Hiding rules on real sets: side effects and CPU of every method, and the greedy ones on 500,000 transactions."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from measure import table, timed
from sfumato.algorithms.sanitize.border_hiding import BorderHiding
from sfumato.algorithms.sanitize.exact_hiding import ExactHiding, choice
from sfumato.algorithms.sanitize.problem import HidingProblem
from sfumato.algorithms.sanitize.removal import Blocking, ItemRemoval, TransactionRemoval
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.counts.frequent_itemsets import frequent_itemsets, least_rows
from sfumato.counts.sensitive_patterns import Pattern, Thresholds
from sfumato.counts.transactions import Transactions
from sfumato.mining.association_rules import side_effects
from tables import ROOT

DATA = (
    ("groceries", "groceries.csv", ",", 0.005),
    ("retail", "retail.dat.gz", None, 0.005),
    ("BMS-WebView-1", "BMS-WebView-1.dat", None, 0.002),
    ("BMS-WebView-2", "BMS-WebView-2.dat", None, 0.004),
)
MANY = (1, 5, 20, 50)
GREEDY = (ItemRemoval(), TransactionRemoval(), Blocking())
CONFIDENCE, SECONDS, LARGE = 0.5, 30.0, 500_000
HEADS = (
    "data", "hidden", "method", "auto", "items out", "lost sets", "lost rules", "ghosts", "dissimilarity", "proven",
    "CPU s",
)  # fmt: skip


def main() -> str:
    """Two tables."""
    rows = [line for name, file, mark, support in DATA for line in _lines(name, _read(file, mark), support)]
    small = table("Hiding sets in real sets, 1 to 50 at random", HEADS, rows)
    return small + NOTE + table(f"Hiding sets in {LARGE:,} transactions", HEADS, _large())


NOTE = f"""
Hidden are frequent sets of two items or more, drawn at random, at the least support of the data (groceries and retail
0.5 %, BMS-WebView-1 0.2 %, BMS-WebView-2 0.4 %); rules have a confidence of {CONFIDENCE:.0%} or more. `auto` marks the
method that it chooses. The exact search has {SECONDS:g} s for each of its two programs: where it was cut short,
"within" bounds by how many lost sets another choice could be better. Hiding failure is 0 everywhere. CPU is that of the
method, without counting the frequent sets.
"""


def _read(file: str, mark: str | None) -> Transactions:
    path: Path = ROOT / "sets" / file
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return Transactions.of([[i.strip() for i in line.split(mark)] for line in text.splitlines() if line.strip()])


def _problem(records: Transactions, support: float, many: int) -> tuple[HidingProblem, list[Pattern]]:
    found = frequent_itemsets(records, least_rows(support, records.rows))
    large = [items for items, _ in found.each() if len(items) > 1]
    drawn = Chance(seed=21).generator().choice(len(large), many, replace=False)
    patterns = [Pattern.of(found.named(large[place])) for place in drawn.tolist()]
    limits = Thresholds(min_support=support, min_confidence=CONFIDENCE)
    return HidingProblem.of(records, patterns, limits), patterns


def _lines(name: str, records: Transactions, support: float) -> list[list[str]]:
    rows = []
    for many in MANY:
        problem, patterns = _problem(records, support, many)
        for method in (*GREEDY, BorderHiding(), ExactHiding()):
            if isinstance(method, ExactHiding) and many > 5:
                continue
            rows.append(_line(name, method, problem, patterns))
    return rows


def _line(name: str, method: Any, problem: HidingProblem, patterns: list[Pattern]) -> list[str]:
    found, cost = timed(lambda: method(problem, Work(seconds=2 * SECONDS, chance=Chance(seed=1))))
    after = side_effects(problem.transactions, found.shown, patterns, problem.thresholds)
    if after.hiding_failure:
        raise SystemExit(f"{method.name} left a sensitive set in {name}")
    gap = "" if found.gap is None else f"within {found.gap:.0f}"
    return [
        name,
        str(len(patterns)),
        method.name,
        "yes" if choice(problem).name == method.name else "",
        f"{found.erased:,}",
        f"{after.lost_sets:,} of {after.sets:,}",
        f"{after.lost_rules:,} of {after.rules:,}",
        f"{after.ghost_rules:,}",
        f"{after.dissimilarity:.2%}",
        "yes" if found.proven else gap,
        f"{cost.cpu:.2f}",
    ]


def _large() -> list[list[str]]:
    """Retail again and again, up to the number of transactions."""
    once = _read("retail.dat.gz", None).records()
    records = Transactions.of((once * (LARGE // len(once) + 1))[:LARGE])
    rows = []
    for many in (5, 50):
        problem, patterns = _problem(records, 0.005, many)
        rows += [_line("retail, repeated", method, problem, patterns) for method in GREEDY]
    return rows


if __name__ == "__main__":
    print(main())
