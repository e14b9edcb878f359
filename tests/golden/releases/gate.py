"""Digests of every file of every golden bundle: a change of structure must leave all of them as they are.

    python -m tests.golden.releases.gate OUT            bytes as written, to compare before and after a change
    python -m tests.golden.releases.gate --record       the digests that the test compares (digests.txt)

The recorded digests survive another machine, another day and another version: figures of a manifest have 12
significant digits, and dates, versions and the digests that depend on them are taken out. Everything else is bytes:
names and order of keys, types, rows, and the report as a person sees it. A private plan has the digest of its rows,
with mechanisms that draw nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.version import __version__
from tests.golden.releases import adapter
from tests.golden.releases.comparing import HERE
from tests.golden.releases.plans import PLANS, PRIVATE

DIGESTS = HERE / "digests.txt"
DIGITS = 12
"""Sums of floats may differ in their last digits between processors."""


def rounded(value: Any) -> Any:
    """A JSON tree with every real number at ``DIGITS`` significant digits."""
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def lasting(path: Path) -> bytes:
    """The content of a file without what another day, version or processor would change."""
    if path.name == "manifest.json":
        content = json.loads(path.read_text(encoding="utf-8"))
        content |= {"made": "", "sfumato": "", "sha256": "", "report": "", "versions": [*content["versions"]]}
        content["data"]["sha256"] = ""  # parquet names the version of its writer; the data file has its own digest
        return json.dumps(rounded(content)).encode()
    if path.suffix == ".parquet":
        return pl.read_parquet(path).write_json().encode()
    if path.suffix == ".html":
        text = path.read_text(encoding="utf-8")
        return re.sub(r"\d{4}-\d\d-\d\d", "", text).replace(f"sfumato {__version__}", "sfumato").encode()
    return path.read_bytes()


def digests(name: str, folder: Path, *, exact: bool = False) -> Iterator[tuple[str, str]]:
    """Name and digest of every file of a golden plan's bundle, which is written into an empty folder."""
    plan = adapter.plan_of(PLANS[name], HERE)
    if name in PRIVATE:
        yield f"{name}/rows", _digest(adapter.private_rows(plan).write_csv().encode())
        return
    adapter.made(plan).write(folder)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        yield f"{name}/{path.relative_to(folder)}", _digest(path.read_bytes() if exact else lasting(path))


def recorded() -> dict[str, str]:
    """The digests that every version has to reproduce, by the file's name."""
    return dict(reversed(line.split(" ", 1)) for line in DIGESTS.read_text(encoding="utf-8").splitlines())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def main(argument: str) -> None:
    """Print the digests of the bytes, or record those that last."""
    record = argument == "--record"
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch if record else argument)
        lines = [f"{digest} {name}\n" for plan in PLANS for name, digest in digests(plan, out / plan, exact=not record)]
    (DIGESTS.write_text if record else sys.stdout.write)("".join(lines))


if __name__ == "__main__":
    main(sys.argv[1])
