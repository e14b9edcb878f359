"""The form of the manifest of a sanitized release."""

from __future__ import annotations

from sfumato.bundle.form import Exactly, Listed, Mapped, OneOf, Record
from sfumato.bundle.manifest_parts import (
    ATTACK,
    CLAIM,
    COMMON,
    DATA,
    DIGEST,
    MISSING,
    NAME,
    NUMBER,
    REPORT,
    ROLES,
    SENTENCE,
)

SANITIZED = Record(
    needed={
        **COMMON,
        "kind": Exactly("sanitized"),
        "data": Record(
            needed={
                **DATA,
                "columns": Listed(
                    of=Record(
                        needed={"name": NAME, "role": ROLES, "type": OneOf(("text", "set"))},
                        optional={"separator": NAME},
                    )
                ),
                "missing": MISSING,
            }
        ),
        "claims": Listed(of=CLAIM, most=0),
        "attacks": Listed(of=ATTACK, most=20_000),
        "attacks_not_made": Mapped(of=SENTENCE),
        "hiding": Record(
            needed={
                "min_support": NUMBER,
                "min_confidence": NUMBER,
                "margin": NUMBER,
                "commitments": Listed(of=DIGEST, most=100_000),
            }
        ),
        "recoding": Record(needed={"algorithm": NAME, "why": SENTENCE}, optional={"unknown": Exactly("?")}),
    },
    optional=REPORT,
)
"""Sets without what the steward wants to hide; that is committed to, and not told."""
