"""What a verification looks at, and how found and stated values are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sfumato.bundle.signatures import UNSIGNED, Signature
from sfumato.ground.brief import Brief
from sfumato.ground.errors import listed

if TYPE_CHECKING:
    from sfumato.verification.provenance import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    what: str
    """What was compared."""
    holds: bool
    """Whether it is as the manifest says."""
    detail: str
    """What was found, and what was claimed where they differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something that the written bytes show and that no claim is about: it neither holds nor fails."""

    what: str
    """What it is about."""
    detail: str
    """What a reader should know."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verification(Brief):
    """All checks of one bundle."""

    folder: str
    """The bundle."""
    checks: tuple[Check, ...]
    """What was looked at, in order."""
    signature: Signature = UNSIGNED
    """Who signed, and whether anybody vouches for them."""
    stated: tuple[Origin, ...] = ()
    """What the manifest says and nobody can compute again from the bundle, each with the reason."""
    remarks: tuple[Remark, ...] = ()
    """What a reader should know beside; the bundle holds or fails without them."""
    claimed: bool = True
    """Whether the bundle claims anything: where it does not, that it holds says nothing about privacy."""

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return all(check.holds for check in self.checks)

    @property
    def wrong(self) -> Check | None:
        """The first check that does not hold."""
        return next((check for check in self.checks if not check.holds), None)

    @property
    def placed_remarks(self) -> list[Remark]:
        """The remarks, each with the bundle that it is about."""
        return [Remark(what=one.what, detail=f"{self.folder}: {one.detail}") for one in self.remarks]

    def as_check(self, what: str) -> Check:
        """All checks as one, for what the bundle is a part of."""
        wrong, whole = self.wrong, f"all of {len(self.checks)} checks hold"
        return Check(what=what, holds=wrong is None, detail=whole if wrong is None else f"{wrong.what}: {wrong.detail}")

    def to_json(self) -> dict[str, Any]:
        """As the command line prints it."""
        shown = [{"what": c.what, "holds": c.holds, "detail": c.detail} for c in self.checks]
        unseen = [{"path": one.path, "why": one.why} for one in self.stated]
        noted = [{"what": r.what, "detail": r.detail} for r in self.remarks]
        told = {"bundle": self.folder, "holds": self.holds, "claimed": self.claimed}
        told |= {"signature": self.signature.to_json(), "checks": shown}
        return {**told, "remarks": noted, "not_recomputed": unseen}


def same(what: str, found: Any, stated: Any) -> Check:
    """Whether something is as the manifest states it."""
    holds = bool(found == stated)
    return Check(
        what=what, holds=holds, detail=shown(found) if holds else f"found {shown(found)}, stated {shown(stated)}"
    )


def rounded(value: Any) -> Any:
    """Numbers to twelve digits, so that the order of a sum does not matter."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return float(f"{value:.12g}")
    if isinstance(value, Mapping):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list | tuple) else value


def shown(value: Any) -> str:
    """A value in few words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return listed(value, most=6)
    text = str(value)
    return text if len(text) <= 120 else text[:117] + "..."
