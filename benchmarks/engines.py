"""One table, released in parts by every engine that is there: CPU, peak memory, and the same rows.

    WAREHOUSE=postgresql://... python benchmarks/engines.py [ROWS ...]

CPU and memory are those of sfumato's process: DuckDB works inside it, a server of PostgreSQL or Spark's Java does not.
Each release is a process of its own. Rows are drawn block by block, so that making them takes no memory.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
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
"""What each engine is told about its input; a table in memory is told nothing."""
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


def released(folder: Path, engine: str) -> dict[str, Any]:
    """Make, write and verify one release in this process, and tell what that took."""
    import sfumato as sf

    plan = sf.Plan.parse({**PLAN, "input": WHERE.get(engine, {})}, folder=folder)
    began = time.process_time()
    made = sf.release(plan, pl.read_parquet(folder / "rows" / "*.parquet") if engine == "memory" else None)
    spent = time.process_time() - began
    made.write(folder / f"{engine}-bundle")
    whole = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "engine": engine,
        "cpu until judged": round(spent, 1),
        "cpu with bundle": round(whole, 1),
        "peak MB": round(peak),
        "rows": made.height,
        "digest": digest(folder / f"{engine}-bundle"),
    }


def digest(bundle: Path) -> str:
    """Of the sorted rows of a bundle, each different row once with its count."""
    rows = pl.scan_parquet(bundle / "data" / "*.parquet").select(pl.all().cast(pl.String))
    counted = rows.group_by(pl.all()).len().collect(engine="streaming").sort(pl.all())
    return hashlib.sha256(counted.hash_rows(seed=1).to_numpy().tobytes()).hexdigest()[:16]


def measured(folder: Path, engine: str) -> dict[str, Any]:
    """The same in a process of its own, with the peak of its memory."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import engines; engines.child(sys.argv[2], sys.argv[3])"
    asked = [sys.executable, "-c", code, str(Path(__file__).parent), str(folder), engine]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def child(folder: str, engine: str) -> None:
    """Tell what one release took."""
    print(json.dumps(released(Path(folder), engine)))


def main() -> None:
    """Print a table for every number of rows that is asked for."""
    for rows in [int(one) for one in sys.argv[1:]] or [10_000_000]:
        with tempfile.TemporaryDirectory() as place:
            (Path(place) / "rows").mkdir()
            generate(Path(place) / "rows", rows)
            for engine in engines(rows):
                if engine == "postgresql":
                    load(Path(place) / "rows", os.environ["WAREHOUSE"])
                print(f"{rows:,}", measured(Path(place), engine), flush=True)


def engines(rows: int) -> list[str]:
    """Those that are there: PostgreSQL where WAREHOUSE holds the address of a server, Spark where it is installed."""
    found = ["duckdb"]
    found += ["memory"] if rows <= MOST_IN_MEMORY else []
    found += ["postgresql"] if "WAREHOUSE" in os.environ else []
    return found + (["spark"] if find_spec("pyspark") is not None else [])


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
