"""Three made-up hospitals count together, as three processes of one machine; what each of them saw."""

from __future__ import annotations

import base64
import json
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.bundles.staging import staged
from sfumato.core.errors import SessionError
from sfumato.parties.network.certificates import Address, PartyKey
from sfumato.pipeline.inputs import read_file
from sfumato.pipeline.joint.session import asked_by
from sfumato.pipeline.methods.joint import DATA
from sfumato.tables.datasets.synthetic_patients import DIAGNOSES, patients
from sfumato.tables.files import rendered

PARTIES = ("north", "south", "west")
_SHOWN = 4
"""So many counts are shown."""
_SECONDS = 50.0
"""The longest that the processes may take."""
_VALUES = ", ".join(f'"{diagnosis}"' for diagnosis in DIAGNOSES)
SESSION = f"""\
# Three hospitals count their patients by sex and diagnosis. All have the same file.
schema = 1
protocol = "counts"

[parties]
{chr(10).join(f'{name} = {{ card = "{name}.card" }}' for name in PARTIES)}

[parameters.columns]
sex = ["Female", "Male"]
diagnosis = [{_VALUES}]

[limits]
join = 30
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one party saw."""

    number: int
    """The step of the tour."""
    name: str
    """The party."""
    peers: tuple[str, ...]
    """The others."""
    rows: tuple[tuple[str, ...], ...]
    """For every count that is shown: its own, what came from each other, the sum."""
    messages: int
    """How many messages it received."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstration:
    """What the demonstration showed."""

    parties: tuple[str, ...]
    """Who took part."""
    leakage: tuple[str, ...]
    """What was told to whom."""
    cells: tuple[str, ...]
    """Which counts are shown."""
    seen: tuple[Seen, ...]
    """What each party saw of them."""
    right: bool
    """Whether the sums are those of the tables put together."""
    seconds: float
    """How long the three processes ran."""

    def to_json(self) -> dict[str, Any]:
        """As the command line prints it."""
        return asdict(self)


def demonstrate(folder: Path, *, rows: int = 2_000) -> Demonstration:
    """Make three parties, let them count, and look into what each of them received; the folder is new or nothing."""
    with staged(folder, force=False) as place:
        for number, name in enumerate(PARTIES):
            (place / name).mkdir()
            table = patients(rows, seed=40 + number)
            (place / name / "patients.csv").write_bytes(rendered(table, "patients.csv"))
            (place / name / "session.toml").write_text(SESSION, encoding="utf-8")
        _introduce(place)
        began = time.monotonic()
        _run([place / name for name in PARTIES])
        seconds = time.monotonic() - began
        return _looked(place, seconds)


def _introduce(place: Path) -> None:
    """Everybody has a key, and the cards of all."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in PARTIES]
        for free in sockets:
            free.bind(("127.0.0.1", 0))
        ports = [free.getsockname()[1] for free in sockets]
    party_keys = [
        PartyKey.new(name, Address(host="127.0.0.1", port=port)) for name, port in zip(PARTIES, ports, strict=True)
    ]
    for party_key in party_keys:
        party_key.write(place / party_key.card.name)
        for other in party_keys:
            if other is not party_key:
                (place / party_key.card.name / f"{other.card.name}.card").write_text(
                    other.card.text(), encoding="utf-8"
                )


def _run(folders: Sequence[Path]) -> None:
    """One process for each party, all at once; the first that is refused says why."""
    running = []
    try:
        for folder in folders:
            command = [sys.executable, "-m", "sfumato", "party", "run", str(folder / "session.toml")]
            command += ["--as", folder.name, "--input", str(folder / "patients.csv"), "-o", str(folder / "result")]
            command += ["--record", str(folder / "seen.jsonl"), "--yes", "--json"]
            running.append(subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL))
        outputs = [process.communicate(timeout=_SECONDS)[0] for process in running]
    except subprocess.TimeoutExpired:
        raise SessionError(f"the three processes did not come to an end within {_SECONDS:g} seconds") from None
    finally:
        for process in running:
            if process.poll() is None:
                process.kill()
                process.communicate()
    for folder, process, output in zip(folders, running, outputs, strict=True):
        if process.returncode:
            raise SessionError(f"{folder.name}: {_error(output)}")


def _error(output: bytes) -> str:
    try:
        return str(json.loads(output)["error"])
    except (ValueError, KeyError, TypeError):
        return "its process ended without a result"


def _looked(place: Path, seconds: float) -> Demonstration:
    request = asked_by(place / PARTIES[0] / "session.toml")
    own = {
        name: request.protocol.prepare(request.parameters, read_file(place / name / "patients.csv")) for name in PARTIES
    }
    results = [json.loads((place / name / "result" / DATA).read_text(encoding="utf-8")) for name in PARTIES]
    sums = np.array([row[-1] for row in results[0]["rows"]])
    most = np.argsort(-sums, kind="stable")[:_SHOWN]
    seen = []
    for number, name in enumerate(PARTIES):
        lines = (place / name / "seen.jsonl").read_text(encoding="utf-8").splitlines()
        came = [message for message in map(json.loads, lines) if not message["sent"]]
        masked = {message["peer"]: _words(message["content"]) for message in came if message["label"] == "sum/masked"}
        peers = tuple(masked)
        rows = tuple(
            (f"{own[name][at]:,}", *(f"{int(masked[peer][at]):,}" for peer in peers), f"{sums[at]:,}") for at in most
        )
        seen.append(Seen(number=number + 3, name=name, peers=peers, rows=rows, messages=len(came)))
    return Demonstration(
        parties=PARTIES,
        leakage=tuple(request.leakage.lines()),
        cells=tuple(" ".join(map(str, results[0]["rows"][at][:-1])) for at in most),
        seen=tuple(seen),
        right=all(result == results[0] for result in results) and bool((sum(own.values()) == sums).all()),
        seconds=seconds,
    )


def _words(content: str) -> NDArray[np.uint64]:
    return np.frombuffer(base64.b64decode(content), "<u8")
