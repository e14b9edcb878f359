"""One table, released in parts by every engine that is there: CPU, peak memory, and the same rows.

    python benchmarks/engines.py [ENGINE ...] [ROWS ...]
    python benchmarks/engines.py --draw FILE

The second draws how cost grows with rows in DuckDB, from the lines that the first printed into a file.

CPU and memory are those of sfumato's process, of Spark's Java and of the server of PostgreSQL together; the server is a
private one in a temporary folder. Each release is a process of its own. Rows are drawn block by block, so that making
them takes no memory.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

BLOCK = 1_000_000
WIDTHS = {"age": 80, "sex": 2, "region": 10, "education": 8, "marital": 4, "work": 4}
"""The quasi-identifiers, each with how many values it has; combinations are skewed, so that many are rare."""
BESIDE = {"diagnosis": 12, "hours": 60, "visits": 40, "income": 2}
PLAN = {
    "columns": {
        "age": {"role": "quasi", "hierarchy": {"kind": "intervals", "widths": [5, 10, 20], "low": 0, "high": 80}},
        **{name: {"role": "quasi", "hierarchy": {"kind": "flat"}} for name in list(WIDTHS)[1:]},
        "diagnosis": {"role": "sensitive"},
    },
    "privacy": {"k_anonymity": 10, "l_diversity": {"kind": "distinct", "l": 2}},
    "algorithm": {"name": "optimal", "max_suppressed": 0.05},
    "attack": {"run": False},
    "output": {"format": "parts"},
}
WHERE = {
    "duckdb": {"path": "rows", "engine": "duckdb", "memory": "2GB"},
    "postgresql": {"engine": "postgresql", "connection": "WAREHOUSE", "table": "sfumato_people"},
    "spark": {"engine": "spark", "path": "rows"},
}
"""What a plan says about the input of each engine; of a table in memory, nothing."""
MOST_IN_MEMORY = 20_000_000
"""A larger table is not read into memory."""


def generate(folder: Path, rows: int, *, seed: int = 25) -> None:
    """Ten columns of so many people, in files of a million rows."""
    rng = np.random.default_rng(seed)
    for place, begin in enumerate(range(0, rows, BLOCK)):
        many = min(BLOCK, rows - begin)
        drawn = {n: (rng.beta(1.2, 3, many) * w).astype(np.int32) for n, w in {**WIDTHS, **BESIDE}.items()}
        texts = [pl.Series(name, [f"{name} {code}" for code in range(90)]) for name in drawn]
        columns = [
            pl.Series(name, codes) if name in ("age", "hours", "visits") else labels.gather(codes).alias(name)
            for (name, codes), labels in zip(drawn.items(), texts, strict=True)
        ]
        pl.DataFrame(columns).write_parquet(folder / f"part-{place:04}.parquet")


class Ends:
    """When each stage ended, in processor time."""

    def __init__(self) -> None:
        """Nothing has ended yet."""
        self.ends: dict[str, float] = {}

    def advance(self, stage: str, done: int, total: int) -> None:
        """Remember the last moment of a stage."""
        self.ends[stage] = time.process_time()


def released(folder: Path, engine: str) -> dict[str, Any]:
    """Make, write and verify one release in this process, and tell what that took."""
    import sfumato as sf
    from sfumato.core.run_context import Work

    plan = sf.Plan.parse({**PLAN, "input": WHERE.get(engine, {})}, folder=folder)
    began = time.process_time()
    heard = Ends()
    work = Work(progress=heard)
    rows = pl.read_parquet(folder / "rows" / "*.parquet") if engine == "memory" else None
    made = sf.release(plan, rows, work=work)
    spent = time.process_time() - began
    made.write(folder / f"{engine}-bundle", work=work)
    whole = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "engine": engine,
        "cpu until judged": round(spent, 1),
        "cpu with bundle": round(whole, 1),
        "cpu of search": round(heard.ends["search"] - heard.ends["count"], 2),
        "peak MB": round(peak),
        "rows": made.height,
        "digest": digest(folder / f"{engine}-bundle"),
    }


def digest(bundle: Path) -> str:
    """Of the sorted rows of a bundle, each different row once with its count."""
    rows = pl.scan_parquet(bundle / "data" / "*.parquet").select(pl.all().cast(pl.String))
    counted = rows.group_by(pl.all()).len().collect(engine="streaming").sort(pl.all())
    return hashlib.sha256(counted.hash_rows(seed=1).to_numpy().tobytes()).hexdigest()[:16]


class Watch:
    """What processes and their children take together: processor time, and the most memory at one moment."""

    def __init__(self, *roots: int) -> None:
        """Begin to look, four times a second; what they took before does not count."""
        self.roots, self.peak, self._over = roots, 0.0, threading.Event()
        self.before = self._processor()
        self.spent: dict[int, float] = {}
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> tuple[float, float]:
        """Seconds of processor time, and megabytes."""
        self._over.set()
        self._thread.join()
        return sum(max(now - self.before.get(pid, 0.0), 0.0) for pid, now in self.spent.items()), self.peak

    def _look(self) -> None:
        while not self._over.wait(0.25):
            self.spent |= self._processor()
            self.peak = max(self.peak, sum(map(_megabytes, self._processes())))

    def _processor(self) -> dict[int, float]:
        return {pid: _seconds(pid) for pid in self._processes()}

    def _processes(self) -> list[int]:
        found, new = [], list(self.roots)
        while new:
            found += new
            new = [child for pid in new for child in _children(pid)]
        return found


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    return found


def _seconds(pid: int) -> float:
    """Processor time of a process that lives, without that of its children."""
    with suppress(OSError):
        told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _megabytes(pid: int) -> float:
    """Memory of a process; what several share is divided among them."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0


def measured(folder: Path, engine: str, server: int | None) -> dict[str, Any]:
    """The same in a process of its own, with what it, its children and the server took."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import engines; engines.child(sys.argv[2], sys.argv[3])"
    asked = [sys.executable, "-c", code, str(Path(__file__).parent), str(folder), engine]
    with subprocess.Popen(asked, stdout=subprocess.PIPE, text=True) as process:
        watch = Watch(process.pid, *([] if server is None else [server]))
        told = process.communicate()[0]
    cpu, peak = watch.stop()
    found: dict[str, Any] = json.loads(told.splitlines()[-1])
    return {**found, "cpu of all processes": round(cpu, 1), "peak MB of all processes": round(peak)}


def child(folder: str, engine: str) -> None:
    """Tell what one release took."""
    print(json.dumps(released(Path(folder), engine)))


def picture(lines: list[str]) -> None:
    """Draw processor time and memory by rows: of the whole, and of the search, which sees cells and no rows."""
    from pictures import Panel, save
    from sfumato.reports.plots import Line

    told = [line.partition(" ") for line in lines]
    said = [(int(rows.replace(",", "")) / 1e6, ast.literal_eval(one)) for rows, _, one in told]
    found = sorted((rows, one) for rows, one in said if one["engine"] == "duckdb")
    ticks = [rows for rows, _ in found]
    spent = [
        Line(name="file to verified bundle", points=[(rows, one["cpu with bundle"]) for rows, one in found]),
        Line(name="search", points=[(rows, one["cpu of search"]) for rows, one in found], tone=1),
    ]
    held = [
        Line(name="peak", points=[(rows, one["peak MB"] / 1024) for rows, one in found]),
        Line(name="4 GB", points=[(rows, 4.0) for rows in ticks], tone=-1, dashed=True),
    ]
    shown = {"x": "million rows", "ticks": ticks}
    cpu = Panel(title="Processor time", lines=spent, y=[0.01, 0.1, 1, 10, 100, 1000], unit=" s", **shown)
    memory = Panel(title="Memory", lines=held, y=[0, 1, 2, 3, 4, 5], unit=" GB", log_y=False, **shown)
    save([[cpu, memory]], "engines-growth.svg")


def main() -> None:
    """Print a table for every number of rows that is asked for."""
    if sys.argv[1:2] == ["--draw"]:
        picture(Path(sys.argv[2]).read_text().splitlines())
        return
    numbers = [int(one) for one in sys.argv[1:] if one.isdigit()] or [10_000_000]
    wanted = [one for one in sys.argv[1:] if not one.isdigit()] or engines()
    with ExitStack() as stack:
        server = stack.enter_context(warehouse()) if "postgresql" in wanted else None
        for rows in numbers:
            place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            (place / "rows").mkdir()
            generate(place / "rows", rows)
            for engine in wanted:
                if engine == "postgresql":
                    load(place / "rows", os.environ["WAREHOUSE"])
                if engine != "memory" or rows <= MOST_IN_MEMORY:
                    print(f"{rows:,}", measured(place, engine, server if engine == "postgresql" else None), flush=True)


def engines() -> list[str]:
    """Those that are there."""
    known = {"duckdb": "duckdb", "memory": "polars", "postgresql": "adbc_driver_postgresql", "spark": "pyspark"}
    return [name for name, module in known.items() if find_spec(module) is not None]


@contextmanager
def warehouse() -> Iterator[int]:
    """A private PostgreSQL, whose address is in WAREHOUSE; gives the number of its process."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.tables.engines.private_postgres import started

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sfumato-postgres-")))
        os.environ["WAREHOUSE"] = stack.enter_context(started(folder, "shared_buffers=256MB", "max_wal_size=8GB"))
        yield int((folder / "data" / "postmaster.pid").read_text().splitlines()[0])


def load(folder: Path, address: str) -> None:
    """Put the rows into PostgreSQL; that is no part of what is measured."""
    import adbc_driver_postgresql.dbapi as driver

    with driver.connect(address, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS sfumato_people")
        for place, file in enumerate(sorted(folder.iterdir())):
            mode = "append" if place else "create"
            cursor.adbc_ingest("sfumato_people", pl.read_parquet(file).to_arrow(), mode=mode)


if __name__ == "__main__":
    main()
