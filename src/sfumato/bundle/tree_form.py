"""The form of the manifest of published trees."""

from __future__ import annotations

from sfumato.bundle.form import Exactly, Listed, Maybe, OneOf, Record, Value, Whole
from sfumato.bundle.manifest_parts import COMMON, DATA, DIGEST, JUDGED, NAME, NUMBER, REPORT, SENTENCE

TREE = Record(
    needed={
        **COMMON,
        "kind": Exactly("tree"),
        "data": Record(
            needed={
                **DATA,
                "columns": Listed(
                    of=Record(needed={"name": Exactly("document"), "role": Exactly("keep"), "type": Exactly("text")})
                ),
            }
        ),
        **JUDGED,
        "trees": Listed(of=Record(needed={"leaves": Whole(low=1), "depth": Whole(), "records": Whole()}), most=1_000),
        "recoding": Record(needed={"algorithm": NAME, "why": SENTENCE}, optional={"left_out": Whole(low=1)}),
    },
    optional={
        **REPORT,
        "ledger": Value(8),
        "paid": Maybe(Record(needed={"ledger": NAME, "event": Whole(), "head": DIGEST})),
        "noise": Record(needed={"law": OneOf(("laplace", "gaussian")), "scale": NUMBER}),
    },
)
"""Trees or rules, one document a line; with a ledger, noisy counts in a declared structure."""
