"""Small streams for tests: a plan, lines, and sources that give bytes as a test wants them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import sfumato as sf
from sfumato.core.randomness import Chance
from sfumato.core.run_context import Work
from sfumato.pipeline.stream_batches import checked
from sfumato.pipeline.streams import StreamKeeper, StreamRun, Told
from sfumato.streaming.sources import GrowingFile
from sfumato.streaming.state import CHECKPOINT, StreamState, opened_state

K = 5
HEADER = "age,pay,town,kind\n"
COLUMNS = {
    "age": {"role": "quasi"},
    "pay": {"role": "sensitive"},
    "town": {"role": "keep"},
    "kind": {"role": "target"},
}
TEXT = """
[columns.age]
role = "quasi"
[columns.pay]
role = "sensitive"
[columns.town]
role = "keep"
[columns.kind]
role = "target"
[privacy]
indistinguishable_groups = 5
[algorithm]
name = "condense"
seed = 7
[stream]
batch = 100
block = 20
checkpoint = 40
state = "state"
"""
"""The same as a file, with its state beside the output."""


def plan(**more: Any) -> sf.Plan:
    """A plan of a stream: 5 records to a group, 20 to a block, 100 to a batch."""
    stream = {"batch": 100, "block": 20, "checkpoint": 40, **more.pop("stream", {})}
    tree = {
        "columns": more.pop("columns", COLUMNS),
        "privacy": {"indistinguishable_groups": more.pop("k", K)},
        "algorithm": {"name": "condense", "seed": 7, **more.pop("algorithm", {})},
        "stream": stream,
    }
    return sf.Plan.parse({**tree, **more}, folder=Path())


def lines(rows: int, seed: int = 1) -> list[str]:
    """Records: two numbers that go together, and two words."""
    draw = Chance(seed=seed).generator()
    age = draw.integers(18, 90, rows)
    pay = np.round(age * 10 + draw.normal(size=rows) * 40, 2)
    towns, kinds = draw.integers(0, 4, rows), draw.integers(0, 2, rows)
    return [f"{a},{p},{'abcd'[t]}burg,{'xy'[c]}\n" for a, p, t, c in zip(age, pay, towns, kinds, strict=True)]


def numbers(records: Sequence[str]) -> np.ndarray:
    """The two numbers of every record."""
    return np.array([[float(cell) for cell in line.split(",")[:2]] for line in records])


class Pieces:
    """Standard input that gives its bytes in pieces."""

    where, size = "standard input", 0

    def __init__(self, data: bytes, cuts: Sequence[int] = (1 << 20,)) -> None:
        self.data, self.cuts, self.turn = data, cuts, 0

    def more(self) -> bytes | None:
        many = self.cuts[self.turn % len(self.cuts)]
        self.turn += 1
        found, self.data = self.data[:many], self.data[many:]
        return found or None

    def seek(self, progress: Any, header: int) -> bool:
        return False

    def tail(self, offset: int) -> str:
        return ""

    def look(self) -> None:
        pass

    def close(self) -> None:
        pass


def run(
    asked: sf.Plan, source: Path | Pieces, place: Path, *, finish: bool = True, follow: bool = False, after: int = 0
) -> Told:
    """One run of a stream with its batches in ``place/out``."""
    opened = GrowingFile(source) if isinstance(source, Path) else source
    kind = "a file" if isinstance(source, Path) else "standard input"
    try:
        with opened_state(place / "state", place / "out") as folder:
            keeper = StreamKeeper(asked, folder, source=kind, signer=None, work=Work())
            return StreamRun(keeper, opened).run(follow=follow, finish=finish, after=after)
    finally:
        opened.close()


def state(asked: sf.Plan, place: Path) -> StreamState:
    """The last checkpoint."""
    return StreamState.loaded((place / "state" / CHECKPOINT).read_bytes(), where="checkpoint", condense=checked(asked))


def digests(folder: Path) -> dict[str, str]:
    """The digest of every published file."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def manifests(folder: Path) -> list[dict[str, Any]]:
    """The manifests of all batches."""
    return [json.loads((path / "manifest.json").read_text()) for path in sorted(folder.iterdir())]
