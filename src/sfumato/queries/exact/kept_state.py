"""What auditors worked out of a log, kept in a file beside it, so that a long log opens quickly.

The log alone says what was told; the file only saves going through it again. It names an event of the log and its hash,
and carries a digest under the log's own key. A file that is missing, cut off, changed, or of another log or version is
not used, and neither is one whose event the log does not hold; the history is gone through instead.
"""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.budget.chain import Head
from sfumato.bundle.staging import write_whole
from sfumato.ground.errors import BundleError
from sfumato.ground.opening import read_whole

EVERY = 100
"""The file is written anew when so many questions are not in it."""
FORM = 1
"""Files of another form, or of auditors that work in another way, are not used."""
MOST_KEPT = 2_000_000_000
"""A file has at most so many bytes; what is larger is not kept."""
State = Mapping[str, NDArray[Any]]
_DIGEST = 32
_HEAD = "head"


def state_file(log: Path) -> Path:
    """Where the file of a log lies."""
    return log.with_name(f"{log.name}.state")


def keep(log: Path, key: str, head: Head, states: Mapping[str, State]) -> None:
    """Write what auditors, each with a name, worked out up to an event; where it cannot be written there is none."""
    names = sorted(states)
    held = {f"{place}/{part}": array for place, name in enumerate(names) for part, array in states[name].items()}
    told = {"form": FORM, "names": names, **head.to_json()}
    held[_HEAD] = np.frombuffer(json.dumps(told).encode(), np.uint8)
    made = io.BytesIO()
    np.savez(made, **held)
    data = made.getvalue()
    if len(data) > MOST_KEPT:
        return
    with suppress(BundleError):
        write_whole(state_file(log), _digest(key, data) + data, private=True)


def recall(log: Path, key: str) -> tuple[Head, dict[str, dict[str, NDArray[Any]]]] | None:
    """What was kept, and up to which event; None where nothing that can be used lies there."""
    try:
        whole = read_whole(state_file(log), most=MOST_KEPT + _DIGEST)
    except OSError:
        return None
    digest, data = whole[:_DIGEST], memoryview(whole)[_DIGEST:]
    if not hmac.compare_digest(digest, _digest(key, data)):
        return None
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as held:
            told = json.loads(held[_HEAD].tobytes())
            if told.pop("form") != FORM:
                return None
            names = told.pop("names")
            found: dict[str, dict[str, NDArray[Any]]] = {name: {} for name in names}
            for part in held.files:
                if part != _HEAD:
                    place, _, what = part.partition("/")
                    found[names[int(place)]][what] = held[part]
            return Head.from_json(told), found
    except (ValueError, LookupError, zipfile.BadZipFile):
        return None


def _digest(key: str, data: bytes | memoryview) -> bytes:
    return hashlib.blake2b(data, key=hashlib.sha256(f"state {key}".encode()).digest(), digest_size=_DIGEST).digest()
