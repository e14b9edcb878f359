"""Releases that parties make together on Adult: CPU beside the central release, and a million rows on loopback."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import sfumato as sf
from measure import table
from sfumato.papers.lkc import SECRET, requirement
from sfumato.papers.setup import CLASS, RANGES, adult_data
from sfumato.parties.protocols import joint_protocol
from sfumato.parties.simulation import ThreadConversation, in_threads
from sfumato.pipeline.joint.release import declared_rows
from sfumato.pipeline.plan.hierarchies import builder, builder_tree
from sfumato.tables.table import Table
from tables import ROOT

LEFT_OUT = "fnlwgt"
"""A million and a half values: no grid that rows lie on is short."""
TAXATION = ("hours-per-week", "capital-gain", "capital-loss", "workclass", "occupation")
"""The columns of the thesis's second party (table 5.5)."""
MILLION = 1_000_000


def main() -> str:
    """Two tables."""
    frame = adult_data().frame.drop(LEFT_OUT)
    heads = ("release", "rows", "parties", "equal to central", "CPU, central", "CPU, all parties", "sent", "rounds")
    lines = [_horizontal(frame, 3), _horizontal(frame, 6), _two(frame), _two_in_the_dark(frame), _vertical(frame)]
    first = table("Releases made together, L = 4, K = 50, C = 20 %", heads, lines)
    heads = ("release", "rows", "parties", "wall", "CPU, all parties", "sent by one", "rounds")
    return first + NOTE + table("A million rows on loopback", heads, [_loopback(frame)]) + AFTER


NOTE = """
All parties run in one process. CPU of all parties has their reading, counting, the session, and judging and integrating
the rows, which each of them does; sent are one party's bytes without frames and TLS. Two parties have five
quasi-identifiers and L = 2: once they choose by discernibility among declared intervals, once by information gain among
intervals that they grow, whose groups are compared with the central ones (an edge may be at another number). The
vertical release has the columns of document 003, table 5.5, at two parties.
"""
AFTER = """
Three processes of this machine run `sfumato party run`, from their CSV files to verified bundles; the rows of Adult are
drawn with replacement.
"""


def parameters(frame: pl.DataFrame, l: int = 4, *, k: int = 50, grown: bool = True, **options: Any) -> dict[str, Any]:
    """What the parties agree on."""
    columns: dict[str, Any] = {
        CLASS: {"role": "target", "values": sorted(frame[CLASS].unique().to_list())},
        SECRET: {"role": "sensitive", "values": sorted(frame[SECRET].unique().to_list())},
    }
    for name in frame.columns:
        if name in RANGES:
            low, high = RANGES[name][0], min(RANGES[name][1], 99_999)
            width = (high - low) / 16
            tree: dict[str, Any] = {"kind": "grown", "low": low, "high": high}
            if not grown:
                cuts = [low + round(width * n) for n in range(1, 16)]
                tree = {"kind": "intervals", "cuts": [cuts, cuts[1::2], cuts[3::4]], "low": low, "high": high}
            columns[name] = {"role": "quasi", "hierarchy": tree}
        elif name not in columns:
            made = builder(adult_data().tree(name), name, Path())
            columns[name] = {"role": "quasi", "hierarchy": builder_tree(made)}
    return {
        "columns": columns,
        "privacy": requirement(l, k, 0.2),
        "algorithm": options,
        "attack": {"run": False},
    }


def _horizontal(frame: pl.DataFrame, parties: int) -> list[Any]:
    return _measured("horizontal", "release", parameters(frame), frame, [frame[n::parties] for n in range(parties)])


FEW = ("age", "sex", "race", "education", "hours-per-week")


def _two(frame: pl.DataFrame) -> list[Any]:
    few = frame.select(*FEW, SECRET, CLASS)
    asked = parameters(few, 2, grown=False, score="discernibility")
    return _measured("horizontal, two", "release", asked, few, [few[n::2] for n in range(2)])


def _two_in_the_dark(frame: pl.DataFrame) -> list[Any]:
    few = frame.select(*FEW, SECRET, CLASS)
    parts = [few[n::2] for n in range(2)]
    return _measured("horizontal, two, gain and grown", "release", parameters(few, 2), few, parts, seen=_groups)


def _groups(rows: pl.DataFrame) -> Counter[Any]:
    """The released groups with all that they hold, whatever their intervals are called."""
    groups = rows.group_by(FEW).agg(pl.struct(SECRET, CLASS).alias("rows"))
    named = ("sex", "race", "education")
    return Counter(
        (*(one[name] for name in named), frozenset(Counter(map(str, one["rows"])).items())) for one in groups.to_dicts()
    )


def _rows(rows: pl.DataFrame) -> Counter[Any]:
    return Counter(rows.rows())


def _vertical(frame: pl.DataFrame) -> list[Any]:
    named = frame.with_columns(pl.Series("id", [f"{n:06}" for n in range(frame.height)]))
    mine = [name for name in frame.columns if name not in (*TAXATION, CLASS, SECRET)]
    asked = {
        **parameters(frame),
        "identifier": "id",
        "shared": [CLASS],
        "holds": {"a": [*mine, SECRET], "b": list(TAXATION)},
    }
    parts = [named.select("id", *mine, SECRET, CLASS), named.select("id", *TAXATION, CLASS)]
    return _measured("vertical", "vertical-release", asked, frame, parts)


def _measured(
    name: str,
    protocol: str,
    asked: dict[str, Any],
    whole: pl.DataFrame,
    parts: list[pl.DataFrame],
    seen: Callable[[pl.DataFrame], Counter[Any]] = _rows,
) -> list:
    one = joint_protocol(protocol)
    read = one.read(asked, tuple("abcdef"[: len(parts)]))
    begin = time.process_time()
    central = sf.release(
        read.plan, declared_rows(read.plan, Table(frame=whole), getattr(read, "release", read).domains)
    )
    alone = time.process_time() - begin
    begin = time.process_time()
    own = [one.prepare(read, Table(frame=part)) for part in parts]
    found = in_threads([partial(_takes_part, one, read, mine) for mine in own], seconds=1800)
    cpu = time.process_time() - begin
    rows = seen(central.rows)
    equal = "yes" if all(seen(result.release.rows) == rows for result, _ in found) else "NO"
    meter = found[0][1]
    cost = [f"{alone:.1f} s", f"{cpu:.1f} s", f"{meter.sent / 1e6:,.1f} MB", f"{meter.rounds:,}"]
    return [name, f"{whole.height:,}", len(parts), equal, *cost]


def _takes_part(one: Any, read: Any, mine: Any, talk: ThreadConversation) -> tuple[Any, Any]:
    return one.run(talk, read, mine), talk.meter


def _loopback(frame: pl.DataFrame) -> list[Any]:
    drawn = np.random.default_rng(1).integers(0, frame.height, MILLION)
    whole = frame[drawn]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for n, name in enumerate("abc"):
            whole[n::3].write_csv(folder / f"{name}.csv")
            _sfumato("party", "init", name, "--address", f"127.0.0.1:{7461 + n}", "-o", place).wait()
        cards = "".join(f'{name} = {{ card = "{name}.card" }}\n' for name in "abc")
        said = "".join(f"{key} = {_toml(value)}\n" for key, value in parameters(frame).items())
        (folder / "session.toml").write_text(
            f'schema = 1\nprotocol = "release"\n[parties]\n{cards}[parameters]\n{said}[limits]\nsilence = 120\n'
        )
        wall, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        running = [
            _sfumato("party", "run", str(folder / "session.toml"), "--as", name, "--input", str(folder / f"{name}.csv"),
                     "-o", str(folder / f"out-{name}"), "--yes")
            for name in "abc"
        ]  # fmt: skip
        ended = [one.wait() for one in running]
        if any(ended):
            raise RuntimeError("a party failed")
        took, after = time.perf_counter() - wall, resource.getrusage(resource.RUSAGE_CHILDREN)
        about = json.loads((folder / "out-a" / "manifest.json").read_text())["session"]
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return ["horizontal", f"{MILLION:,}", 3, f"{took:.0f} s", f"{cpu:.0f} s", f"{about['sent'] / 1e6:,.1f} MB",
            f"{about['rounds']:,}"]  # fmt: skip


def _sfumato(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "sfumato", *words], stdout=subprocess.DEVNULL, cwd=ROOT)


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


if __name__ == "__main__":
    print(main())
