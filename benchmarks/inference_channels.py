"""Inference channels in real sets: found and repaired, against loops over sets; small ones by integer programs."""

from __future__ import annotations

import random
import sys
import time
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import sfumato as sf
from measure import table, timed
from sfumato.mining.channels import detection
from sfumato.mining.channels.bounds import complete_channels, derived
from sfumato.mining.channels.detection import find_channels
from sfumato.mining.channels.published_sets import ToldSets, of_frequent, told_sets
from sfumato.mining.channels.repair import raise_supports, withhold
from tests.shared_data import shared

DATA = (
    ("groceries", "groceries.csv", ",", 0.005),
    ("groceries", "groceries.csv", ",", 0.001),
    ("retail", "retail.dat.gz", " ", 0.005),
    ("retail", "retail.dat.gz", " ", 0.001),
    ("BMS-WebView-1", "BMS-WebView-1.dat", " ", 0.002),
    ("BMS-WebView-2", "BMS-WebView-2.dat", " ", 0.002),
)
KS = (5, 10, 20)


def naive(told: ToldSets, k: int) -> int:
    """Inclusion and exclusion as it is written down: every pair of sets, every set between."""
    supports = {(): told.records, **dict(told.each())}
    many = 0
    for whole in supports:
        for size in range(len(whole) + 1):
            for have in combinations(whole, size):
                rest = [item for item in whole if item not in have]
                number = 0
                for more in range(len(rest) + 1):
                    for some in combinations(rest, more):
                        number += (-1) ** more * supports[tuple(sorted((*have, *some)))]
                many += 0 < number < k
    return many


def real() -> tuple[list[list[str]], list[list[str]]]:
    """What is found and repaired, and the time of the search."""
    repaired, raced = [], []
    for name, file, separator, support in DATA:
        mined = sf.rules(shared("sets", file), lines=True, separator=separator, min_support=support, min_confidence=1.0)
        told = of_frequent(mined.itemsets)
        (many, _), quick = timed(lambda told=told: complete_channels(told, 10), repeat=3)
        slow, cost = timed(lambda told=told: naive(told, 10))
        assert slow == many
        begun = time.process_time()
        bounds = derived(told)
        spent = time.process_time() - begun
        raced.append(
            [name, f"{support:.1%}", f"{told.count:,}", f"{quick.cpu:.2f} s", f"{cost.cpu:.2f} s",
             f"{cost.cpu / quick.cpu:,.0f}", f"{spent:.2f} s", f"{bounds.many:,}"]
        )  # fmt: skip
        for k in KS:
            found, search = timed(lambda told=told, k=k: find_channels(told, k))
            fewer, withheld = timed(lambda told=told, k=k: withhold(told, k))
            more, raised = timed(lambda told=told, k=k: raise_supports(told, k))
            proven = "yes" if fewer.proven else f"at least {fewer.least:,}"
            repaired.append(
                [name, f"{support:.1%}", f"{told.count:,}", str(k), f"{found.many:,}", f"{search.cpu:.2f}",
                 f"{fewer.withheld:,}", proven, f"{withheld.cpu:.2f}", f"{more.added:,}", f"{raised.cpu:.2f}"]
            )  # fmt: skip
            print(*repaired[-1], file=sys.stderr)
    return repaired, raced


def small(many: int = 20) -> list[list[str]]:
    """How much the quick search overlooks: random databases of five items, some of their sets told."""
    rows = []
    for told_share in (1.0, 0.8, 0.5):
        dice, seen = random.Random(11), [0, 0, 0, 0]
        for _ in range(many):
            records = [[item for item in range(5) if dice.random() < 0.5] for _ in range(dice.randint(20, 60))]
            every = [one for size in range(1, 5) for one in combinations(range(5), size)]
            some = {one: sum(set(one) <= set(row) for row in records) for one in every if dice.random() < told_share}
            told = told_sets(len(records), tuple("abcde"), some)
            seen[0] += complete_channels(told, 5)[0]
            detection.MOST_WHOLE = 0
            seen[1] += find_channels(told, 5).many
            detection.MOST_WHOLE = 6
            exact = find_channels(told, 5)
            seen[2] += exact.many
            seen[3] += withhold(told, 5).proven
        rows.append([f"{told_share:.0%}", f"{seen[2]:,}", f"{seen[0] / seen[2]:.1%}", f"{seen[1] / seen[2]:.1%}",
                     f"{seen[3]} of {many}"])  # fmt: skip
    return rows


def main() -> str:
    """All tables."""
    repaired, raced = real()
    heads = [
        "data",
        "support",
        "sets",
        "k",
        "groups",
        "CPU s",
        "withheld",
        "fewest",
        "CPU s, withholding",
        "added",
        "CPU s, raising",
    ]
    race = ["data", "support", "sets", "vectors", "loops", "ratio", "bounds", "supports that bounds pin"]
    share = ["sets told", "groups", "by inclusion and exclusion", "with bounds", "withheld proven fewest"]
    return "\n".join(
        [
            table("Patterns without inference channels", heads, repaired),
            table("Inclusion and exclusion, k = 10, CPU", race, raced),
            table("What the quick search finds, five items, k = 5", share, small()),
        ]
    )


if __name__ == "__main__":
    print(main())
