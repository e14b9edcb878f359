"""The form of the manifest of pseudonymized rows."""

from __future__ import annotations

from sfumato.bundle.form import Either, Exactly, Listed, Mapped, Record, Whole
from sfumato.bundle.manifest_parts import ATTACK, CLAIM, COMMON, DIGEST, NAME, REPORT, SENTENCE, WHOLE

GRADED = Record(
    needed={
        **COMMON,
        "kind": Exactly("graded"),
        "data": WHOLE,
        "claims": Listed(of=CLAIM, most=0),
        "attacks": Listed(of=ATTACK, most=20_000),
        "attacks_not_made": Mapped(of=SENTENCE),
        "recoding": Record(
            needed={
                "algorithm": NAME,
                "why": SENTENCE,
                "agreement": DIGEST,
                "columns": Mapped(
                    of=Either(
                        (
                            Record(needed={"form": Exactly("codes"), "digits": Whole(low=1)}),
                            Record(needed={"form": Exactly("aliases"), "aliases": Whole(low=1)}),
                        )
                    )
                ),
            }
        ),
    },
    optional=REPORT,
)
"""Rows with codes and aliases that sites agreed on: nothing is claimed."""
