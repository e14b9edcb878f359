"""Who made a release together, as the pages of all kinds show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def session_shown(stated: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """What a manifest states of a session, with the fingerprint of every party; None where one party made it."""
    if stated is None:
        return None
    return {**stated, "parties": {name: one["fingerprint"] for name, one in stated["parties"].items()}}
