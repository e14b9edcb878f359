"""The form of the manifest of a joint result."""

from __future__ import annotations

from sfumato.bundle.form import Exactly, Listed, Mapped, Record, Text, Value, Whole
from sfumato.bundle.manifest_parts import CLAIM, COMMON, DATA, DIGEST, NAME, NUMBER, REPORT, SENTENCE

_TOLD = Listed(of=Record(needed={"to": NAME, "what": SENTENCE}), most=1_000)
SESSION = Record(
    needed={
        "protocol": NAME,
        "version": Whole(low=1),
        "run": DIGEST,
        "terms": DIGEST,
        "frames": Whole(low=1),
        "me": NAME,
        "parties": Mapped(of=Record(needed={"fingerprint": Text(most=200)})),
        "parameters": Mapped(of=Value(20)),
        "limits": Mapped(of=NUMBER),
        "leakage": Record(
            needed={"protocol": NAME, "result": _TOLD, "beyond": _TOLD, "withstands": SENTENCE, "limits": SENTENCE}
        ),
        "sent": Whole(),
        "received": Whole(),
        "rounds": Whole(),
    }
)
"""Who took part, in what, on which terms, and what it told whom."""
JOINT = Record(
    needed={
        **{key: form for key, form in COMMON.items() if key != "plan"},
        "kind": Exactly("joint"),
        "data": Record(
            needed={
                **DATA,
                "columns": Listed(
                    of=Record(needed={"name": Exactly("document"), "role": Exactly("keep"), "type": Exactly("text")})
                ),
            }
        ),
        "claims": Listed(of=CLAIM, most=0),
        "session": SESSION,
    },
    optional=REPORT,
)
"""What several parties computed together: one document, and nothing claimed about people."""
