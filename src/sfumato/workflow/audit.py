"""What attacks found, all together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sfumato.attacks.frame.trials import Finding, Outcome
from sfumato.bundle.attack_titles import is_named
from sfumato.bundle.manifest import plain
from sfumato.ground.errors import ClaimRefuted
from sfumato.ground.work import Work

_HIDDEN = "made, and refutes no claim; its figures depend on exact values that the release does not show"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Audit:
    """What all attacks found, and which could not be made."""

    findings: tuple[Finding, ...] = ()
    """One for each attack that was made."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """The others, with the reason."""

    def __post_init__(self) -> None:
        """Tell figures to four digits: they are sums over the people behind a release, and it may be published."""
        object.__setattr__(self, "findings", tuple(one.rounded() for one in self.findings))

    def __repr__(self) -> str:
        worst = max((one.risk for one in self.findings), default=0.0)
        made = f"{len(self.findings)} attacks, gain at most {worst:.3g}, {len(self.refuted)} claims refuted"
        return f"Audit({made}, {len(self.skipped)} not made)"

    @property
    def refuted(self) -> tuple[Finding, ...]:
        """Findings that refute a claim of the release or of the plan."""
        return tuple(one for one in self.findings if one.limit is not None and one.outcome is Outcome.REFUTED)

    def above(self, max_risk: float) -> tuple[Finding, ...]:
        """Findings whose excess over guessing is surely above a limit; not of who knows more than others may know."""
        return tuple(one for one in self.findings if not one.beyond and one.risk_interval[0] > max_risk)

    def to_json(self) -> list[dict[str, Any]]:
        """All findings, for programs."""
        return _plain(self.findings)

    def stated(self) -> dict[str, Any]:
        """What a manifest states: figures that depend on values the release hides are left to the steward's report.

        A claim that was refuted is stated all the same: the plan has accepted that, and readers must know.
        """
        hidden = {one.attack: _HIDDEN for one in self.findings if one.exact and one not in self.refuted}
        told = [one for one in self.findings if one.attack not in hidden]
        return {"attacks": _plain(told), "attacks_not_made": {**self.skipped, **hidden}}

    def refuse(self, max_risk: float | None, accept: Sequence[str] = ()) -> None:
        """Refuse what gives away too much, or breaks a claim; the named attacks may refute one."""
        broken = [one for one in self.refuted if not any(is_named(one.attack, name) for name in accept)]
        if broken:
            raise ClaimRefuted(_refuted(broken))
        if max_risk is not None and (high_risk := self.above(max_risk)):
            worst = max(high_risk, key=lambda one: one.risk)
            low, high = worst.risk_interval
            raise ClaimRefuted(
                f"attack.max_risk = {max_risk:g}: attack {worst.attack} gains {worst.risk:.1%} over guessing "
                f"({low:.1%} to {high:.1%}); ask for a stronger model, fewer quasi-identifiers, or allow more. "
                "Nothing was written"
            )


def _plain(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = plain([one.to_json() for one in findings])
    return found


def over(work: Work, seconds: float) -> str:
    """Why no further attack begins; empty while there is time. ``seconds`` is what the plan gives to attacks."""
    if not work.expired:
        return ""
    if work.seconds != seconds:
        return "the time was over"
    return f"the time for attacks was over: [attack] seconds = {seconds:g}"


def _refuted(broken: Sequence[Finding]) -> str:
    """Which attack refutes which claim, and the ways out."""
    worst, others = broken[0], [one.attack for one in broken[1:]]
    limit = f"the {worst.limit.why}, which allows {worst.limit.value:.1%}" if worst.limit else "a claim"
    more = f" (so do {', '.join(others)})" if others else ""
    return (
        f"attack {worst.attack} refutes {limit}: it works in {worst.rate.value:.1%} of {worst.rate.trials} trials "
        f"(at least {worst.rate.low:.1%}){more}; nothing was written. Ask for a stronger parameter or another "
        "algorithm; or, if the claim is to be read without this adversary, name the attack under [attack] accept, and "
        "the report will say that the claim was refuted"
    )
