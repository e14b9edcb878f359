"""The attacks that a manifest tells of: they need the original, but what they state must be possible and agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sfumato.verify.checks import Check

OUTCOMES = ("refuted", "not refuted", "inconclusive")
_RUNS = ("target", "naive")
_KEYS = {"attack", "knows", "does", "target", "naive", "control", "risk", "limit", "outcome"}


def attacks_fit(attacks: list[Mapping[str, Any]]) -> Iterable[Check]:
    """Rates lie in their intervals, outcomes follow from them, and none refutes what the release claims."""
    wrong = [str(one.get("attack")) for one in attacks if not _KEYS <= one.keys() or not _possible(one)]
    told = ", ".join(str(one.get("attack")) for one in attacks) or "none"
    yield Check(what="attacks", holds=not wrong, detail=f"impossible: {', '.join(wrong)}" if wrong else told)


def _possible(one: Mapping[str, Any]) -> bool:
    runs = [one[name] for name in _RUNS] + ([one["control"]] if one["control"] is not None else [])
    if not all(_rate(run) for run in runs) or one["outcome"] not in OUTCOMES:
        return False
    if one["limit"] is None:
        return True
    beyond = one["target"]["low"] > one["limit"]["value"] and one["target"]["trials"] >= 20
    return not beyond and one["outcome"] != "refuted"


def _rate(run: Mapping[str, Any]) -> bool:
    low, rate, high = float(run["low"]), float(run["rate"]), float(run["high"])
    return 0 <= low <= rate + 1e-9 and rate <= high + 1e-9 and high <= 1 and 0 <= run["failed"] <= run["trials"]
