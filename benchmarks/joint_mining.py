"""Mining together on Adult and retail: CPU, bytes and rounds by parties and rows, beside the central computation."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from measure import table
from sfumato.counts.frequent_itemsets import frequent_itemsets, least_rows
from sfumato.counts.transactions import Transactions
from sfumato.mining.association_rules import Rules, association_rules
from sfumato.mining.naive_bayes import CountedBayes
from sfumato.mining.records import Records, read_records
from sfumato.mining.tree_learning import TreeLearner
from sfumato.parties.conversation import Meter
from sfumato.parties.mining.classifiers import joint_bayes, joint_tree
from sfumato.parties.mining.clusters import UNIT, joint_means, units
from sfumato.parties.mining.rules import joint_rules
from sfumato.parties.simulation import ThreadConversation, in_threads
from sfumato.parties.summed_counts import SummedNumbers
from sfumato.tables.datasets import adult
from sfumato.tables.schema import Numbers
from tables import ROOT

PARTIES, SIZES = (3, 10), (0.1, 1.0)
SUPPORT, CONFIDENCE, LONGEST = 0.01, 0.5, 8
RANGES = {"age": (0, 100), "education-num": (0, 20), "hours-per-week": (0, 100)}
COLUMNS = (
    "age", "workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "hours-per-week",
    "native-country",
)  # fmt: skip


@dataclass(frozen=True)
class Job:
    """Something that is computed by one, and by several."""

    name: str
    rows: int
    alone: Callable[[], Any]
    parts: Callable[[int], Sequence[Any]]
    program: Callable[[SummedNumbers, Any], Any]
    same: Callable[[Any, Any], bool]
    each: int = 1
    """How much one record adds to a sum at most."""


def main() -> str:
    """One table."""
    rows = [line for share in SIZES for job in _jobs(share) for line in _lines(job)]
    heads = (
        "learner", "rows", "parties", "equal to central", "CPU, central", "CPU per party", "sent per party", "rounds",
    )  # fmt: skip
    return table("Mining together, in one process", heads, rows) + NOTE


NOTE = """
CPU per party is that of all parties divided by their number, with the counting of each party's own records. Sent are
the bytes of one party's messages, without frames and TLS. Adult: class income, ten columns, numbers on a grid of 1.
Retail: support 1 %, confidence 50 %. k-means: three columns, 5 clusters, 2 starts.
"""


def _lines(job: Job) -> list[list[object]]:
    begin = time.process_time()
    central = job.alone()
    alone = time.process_time() - begin
    lines: list[list[object]] = []
    for parties in PARTIES:
        parts = job.parts(parties)
        begin = time.process_time()
        found = in_threads([partial(_takes_part, job, own) for own in parts], seconds=600)
        each = (time.process_time() - begin) / parties
        equal = "yes" if all(job.same(one, central) for one, _ in found) else "NO"
        meter = found[0][1]
        cost = [f"{alone:.2f} s", f"{each:.2f} s", f"{meter.sent:,} bytes", meter.rounds]
        lines.append([job.name, f"{job.rows:,}", parties, equal, *cost])
    return lines


def _takes_part(job: Job, own: Any, talk: ThreadConversation) -> tuple[Any, Meter]:
    return job.program(SummedNumbers(talk, each=job.each), own), talk.meter


def _jobs(share: float) -> list[Job]:
    records, points = _adult(share)
    lines = _retail(share)
    whole = Transactions.of(lines)
    domains = tuple(Numbers(low=low, high=high) for low, high in RANGES.values())
    means = {"clusters": 5, "starts": 2}
    return [
        Job(
            "naive Bayes", records.count, lambda: CountedBayes.learnt(records), lambda n: _dealt(records, n),
            joint_bayes, lambda one, other: all(map(np.array_equal, one.tables, other.tables)),
        ),
        Job(
            "tree", records.count, lambda: TreeLearner()(records), lambda n: _dealt(records, n),
            lambda sums, own: joint_tree(sums, own, TreeLearner()),
            lambda one, other: np.array_equal(one.counts, other.counts) and np.array_equal(one.parent, other.parent),
        ),
        Job(
            "k-means", len(points), lambda: joint_means(lambda own: own, points, domains, **means),
            lambda n: [points[one::n] for one in range(n)],
            lambda sums, own: joint_means(sums, own, domains, **means),
            lambda one, other: np.array_equal(one.centres, other.centres), UNIT * len(domains),
        ),
        Job(
            "rules (retail)", len(lines), lambda: _central_rules(whole),
            lambda n: [Transactions.of(lines[one::n]) for one in range(n)],
            lambda sums, own: joint_rules(sums, own, min_support=SUPPORT, min_confidence=CONFIDENCE, longest=LONGEST),
            lambda one, other: _told(one) == _told(other),
        ),
    ]  # fmt: skip


def _adult(share: float) -> tuple[Records, np.ndarray]:
    frame = adult().select(*COLUMNS, "education-num", "income")
    frame = frame[: int(frame.height * share)]
    domains = {name: Numbers(low=low, high=high, grid=1) for name, (low, high) in RANGES.items()}
    records = read_records(
        frame.select(*COLUMNS, "income"), target="income", domains={n: d for n, d in domains.items() if n in COLUMNS}
    )
    columns = tuple(frame[name].cast(float).to_numpy() for name in RANGES)
    return records, units(columns, tuple(domains.values()))


def _dealt(records: Records, parties: int) -> list[Records]:
    return [records.take(np.arange(one, records.count, parties)) for one in range(parties)]


def _retail(share: float) -> list[list[str]]:
    text = gzip.decompress((ROOT / "sets" / "retail.dat.gz").read_bytes()).decode()
    lines = [line.split() for line in text.splitlines() if line.strip()]
    return lines[: int(len(lines) * share)]


def _central_rules(whole: Transactions) -> Rules:
    sets = frequent_itemsets(whole, least_rows(SUPPORT, whole.rows), longest=LONGEST)
    return association_rules(sets, CONFIDENCE)


def _told(rules: Rules) -> set[Any]:
    return {(frozenset(a), frozenset(b), rows) for a, b, rows, *_ in rules.frame().rows()}


if __name__ == "__main__":
    print(main())
