"""The form of a manifest, key by key, for each kind of release."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sfumato.bundle.form import Either, Exactly, Flag, Form, Listed, Mapped, Maybe, OneOf, Record, Row, Text, Whole
from sfumato.bundle.graded_form import GRADED
from sfumato.bundle.joint_form import JOINT, SESSION
from sfumato.bundle.manifest_parts import (
    ATTACK,
    CLAIM,
    COLLECTION,
    COMMON,
    DATA,
    DIGEST,
    FILE,
    JUDGED,
    MISSING,
    NAME,
    NUMBER,
    PARTS,
    REACHED,
    REPORT,
    RULE,
    SENTENCE,
    STREAM,
    TRAIL,
    WHOLE,
    columns_form,
)
from sfumato.bundle.sanitized_form import SANITIZED
from sfumato.bundle.tree_form import TREE
from sfumato.data.table import KINDS

_SHOWN: Mapping[str, Form] = MappingProxyType(
    {"columns": columns_form(KINDS, guarded=Exactly(True)), "missing": MISSING, "exempt_suppressed": Flag()}
)
_POPULATION: Mapping[str, Form] = MappingProxyType({"population": Listed(of=Listed(of=Either((NAME, Whole()))))})
_APART = Record(needed={"group": NAME, "column": NAME, "type": OneOf(KINDS), "file": FILE, "sha256": DIGEST})


class _TableData:
    """One file, or many in a folder."""

    def fault(self, value: Any, path: str) -> str | None:
        """As every form."""
        if isinstance(value, dict) and "parts" in value:
            return Record(needed={**PARTS, **_SHOWN}, optional=_POPULATION).fault(value, path)
        return Record(needed={**DATA, **_SHOWN}, optional={"apart": _APART, **_POPULATION}).fault(value, path)


TABLE = Record(
    needed={
        **COMMON,
        "kind": Exactly("table"),
        "data": _TableData(),
        **JUDGED,
        "smallest_class": Record(needed={"value": Whole(), "wildcard": Whole()}),
        "recoding": Record(
            needed={
                "algorithm": NAME,
                "why": SENTENCE,
                "columns": Mapped(
                    of=Record(
                        needed={"of": Whole(), "labels": Mapped(of=Maybe(NUMBER))},
                        optional={
                            "level": Whole(),
                            "form": OneOf(("boxes", "means", "nodes", "intervals", "distributions")),
                            "rule": RULE,
                            "sizes": Mapped(of=NUMBER),
                            "total": NUMBER,
                            "continuous": Flag(),
                        },
                    )
                ),
            }
        ),
        "suppression": Record(
            needed={"rows": Whole(), "of": Whole(), "how": OneOf(("remove", "star")), "limit": NUMBER},
            optional={"people": Whole(), "people_of": Whole(), "left_out": Whole(low=1)},
        ),
        "utility": Mapped(of=REACHED),
        "risk": Record(
            needed={
                **dict.fromkeys(("prosecutor", "journalist", "marketer", "unique", "at_risk"), NUMBER),
                "population_known": Flag(),
            }
        ),
        "search": Record(needed={"proven_optimal": Flag()}),
        "trail": Maybe(TRAIL),
    },
    optional={**REPORT, "session": SESSION},
)
"""A release of a table."""

ITEMS = Record(
    needed={
        **COMMON,
        "kind": Exactly("items"),
        "data": Record(
            needed={
                **DATA,
                "columns": columns_form(("text", "set", "trajectory"), separator=NAME, mark=NAME),
                "missing": MISSING,
            }
        ),
        **JUDGED,
        "recoding": Record(
            needed={
                "algorithm": NAME,
                "why": SENTENCE,
                "columns": Mapped(
                    of=Record(
                        needed={
                            "kind": OneOf(("trajectory", "set", "table")),
                            "shown": Whole(),
                            "entries": Whole(),
                            "coarser": Listed(of=NAME),
                        },
                        optional={"within": Mapped(of=NAME)},
                    )
                ),
            },
            optional={"left_out": Whole(low=1)},
        ),
    },
    optional=REPORT,
)
"""A release of paths and sets."""


class _Event:
    """Where epsilon went: an amount, or parts that are events again."""

    def fault(self, value: Any, path: str) -> str | None:
        """As every form."""
        kind = value.get("kind") if isinstance(value, dict) else None
        amount, parts = Text(most=200, like=r"[0-9]+(/[0-9]+)?"), Listed(of=self)
        rest: Mapping[str, Mapping[str, Form]] = {
            "pure": {"epsilon": amount},
            "concentrated": {"rho": amount},
            "approximate": {"epsilon": amount, "delta": amount},
            "grouped": {"part": self, "rows": Whole(low=1)},
            "sequential": {"parts": parts},
            "parallel": {"parts": parts},
        }
        head: Mapping[str, Form] = {"kind": OneOf(tuple(rest)), "what": NAME}
        return Record(needed={**head, **rest.get(str(kind), {})}).fault(value, path)


_FOUND: Mapping[str, Form] = MappingProxyType({"from": Exactly("discovered")})
"""Said of a domain that was found and paid for."""
_DOMAIN = Either(
    (
        Record(needed={"kind": Exactly("number"), "low": NUMBER, "high": NUMBER, "grid": NUMBER}, optional=_FOUND),
        Record(
            needed={"kind": OneOf(("tree", "set")), "nodes": Listed(of=Row((NAME, Whole(low=-1))))}, optional=_FOUND
        ),
    )
)
_NOISY: Mapping[str, Form] = MappingProxyType(
    {
        **COMMON,
        "data": Record(
            needed={
                **DATA,
                "columns": Listed(
                    of=Record(
                        needed={
                            "name": NAME,
                            "role": OneOf(("quasi", "target", "count")),
                            "type": OneOf(("integer", "text")),
                        }
                    )
                ),
            }
        ),
        "domains": Record(
            needed={"columns": Mapped(of=_DOMAIN)},
            optional={"target": Maybe(Record(needed={"name": NAME, "values": Listed(of=NAME)}, optional=_FOUND))},
        ),
        "ledger": _Event(),
        "paid": Maybe(Record(needed={"ledger": NAME, "event": Whole(), "head": DIGEST})),
        "recoding": Record(
            needed={
                "algorithm": NAME,
                "why": SENTENCE,
                "columns": Mapped(
                    of=Record(
                        needed={"labels": Mapped(of=Exactly(0.0))},
                        optional={"rule": RULE, "deviations": Mapped(of=NUMBER)},
                    ),
                ),
                "steps": Listed(of=SENTENCE),
            },
            optional={"classes": Mapped(of=NUMBER)},
        ),
        "search": Mapped(of=Either((NUMBER, NAME))),
        "attacks": Listed(of=ATTACK, most=0),
    }
)
"""What every release of noisy rows states."""
_PROMISED = Record(needed={"neighbours": NAME}, optional={"epsilon": NAME, "delta": NAME, "rho": NAME})
PRIVATE = Record(
    needed={
        **_NOISY,
        "kind": Exactly("private"),
        "claims": Listed(of=Record(needed={"model": NAME, "parameters": _PROMISED})),
    },
    optional={**REPORT, "session": SESSION},
)
"""A differentially private release."""

OBSERVED = Record(needed={**_NOISY, "kind": Exactly("observed"), "claims": Listed(of=CLAIM, most=0)}, optional=REPORT)
"""Noisy rows over domains that were read off the table: nothing is claimed."""

SWAPPED = Record(
    needed={
        **COMMON,
        "kind": Exactly("swapped"),
        "data": WHOLE,
        "claims": Listed(of=CLAIM, most=0),
        "attacks": Listed(of=ATTACK, most=20_000),
        "attacks_not_made": Mapped(of=SENTENCE),
        "recoding": Record(
            needed={
                "algorithm": NAME,
                "why": SENTENCE,
                "rate": NUMBER,
                "columns": Listed(of=NAME),
                "within": Mapped(of=Whole()),
            },
            optional={"left_out": Whole(low=1)},
        ),
    },
    optional=REPORT,
)
"""Rows with exchanged values: nothing is claimed."""

COLLECTED = Record(
    needed={
        **COMMON,
        "kind": Exactly("collected"),
        "data": WHOLE,
        **COLLECTION,
        "attacks": Listed(of=ATTACK, most=20_000),
        "attacks_not_made": Mapped(of=SENTENCE),
        "recoding": Record(needed={"algorithm": NAME, "why": SENTENCE}, optional={"left_out": Whole(low=1)}),
    },
    optional=REPORT,
)
"""Answers that were randomized at the source."""

CONDENSED = Record(
    needed={
        **COMMON,
        "kind": Exactly("condensed"),
        "data": WHOLE,
        **JUDGED,
        "recoding": Record(
            needed={
                "algorithm": NAME,
                "why": SENTENCE,
                "groups": OneOf(("mdav", "k-means")),
                "output": OneOf(("rows", "distributions")),
                "variance": NUMBER,
                "copies": Whole(low=1),
                "per_class": Flag(),
                "bounds": Mapped(of=Row((NUMBER, NUMBER))),
                "columns": Mapped(of=OneOf(("drawn", "dealt", "mean", "spread"))),
                "sizes": Listed(of=Row((Whole(low=1), Whole(low=1)))),
            },
            optional={"left_out": Whole(low=1)},
        ),
    },
    optional={**REPORT, "stream": STREAM},
)
"""Records drawn from groups, or the groups' means and spreads; perhaps a batch of a stream."""

FORMS = (TABLE, ITEMS, PRIVATE, OBSERVED, SWAPPED, GRADED, COLLECTED, CONDENSED, SANITIZED, TREE, JOINT)
"""One for each kind."""


def fault_of(manifest: Mapping[str, Any]) -> str | None:
    """What is wrong with the form of a manifest; None where nothing is."""
    if "kind" not in manifest:
        return "the manifest has no 'kind'"
    fault = COMMON["kind"].fault(manifest["kind"], "kind")
    return fault or next(form.fault(manifest, "") for form in FORMS if form.needed["kind"] == Exactly(manifest["kind"]))
