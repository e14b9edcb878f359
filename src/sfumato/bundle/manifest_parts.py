"""The parts of a manifest's form that several kinds of release share."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sfumato.bundle.form import (
    LONG,
    Either,
    Exactly,
    Flag,
    Form,
    Listed,
    Mapped,
    Maybe,
    OneOf,
    Real,
    Record,
    Row,
    Text,
    Value,
    Whole,
)
from sfumato.data.date_forms import ORDERS
from sfumato.data.table import KINDS
from sfumato.describe.roles import Role

SCHEMA = 2
"""The version of the form."""

NAME, SENTENCE, DIGEST = Text(), Text(most=LONG), Text(like="[0-9a-f]{64}")
FILE = Text(most=100, like=r"[a-z]+\.[a-z]+")
NUMBER, REACHED = Real(), Real(infinite=True)
ROLES = OneOf(tuple(Role))

COLUMN_PLAN = Record(
    needed={"role": Either((Listed(of=ROLES, most=2), ROLES))},
    optional={
        "type": OneOf((*KINDS, "set", "trajectory")),
        "separator": NAME,
        "mark": NAME,
        "record": Exactly("window"),
        "pseudonym": Exactly("keyed"),
        "hierarchy": NAME,
        "base": Whole(low=1),
        "time_hierarchy": NAME,
        "values": Whole(),
        "domain_from": OneOf(("public", "profile", "discover")),
        "outside": OneOf(("clamp", "drop", "refuse")),
        "other": NAME,
        "within": Row((NUMBER, NUMBER)),
        "format": OneOf(ORDERS),
        "pivot": Whole(low=1),
        "shift": Record(needed={"days": Whole(low=1)}, optional={"period": Row((NAME, NAME)), "weeks": Flag()}),
    },
)
_ABOUT: Mapping[str, Form] = MappingProxyType(
    {
        "language": OneOf(("de",)),
        **dict.fromkeys(
            ("data_set", "purpose", "recipient", "legal_basis", "responsible", "contact", "date", "version"), SENTENCE
        ),
    }
)
"""What a plan says for whoever signs the report."""
PLAN = Record(
    needed={
        "input": Record(
            needed={"missing": Listed(of=NAME, most=1000), "on_missing": OneOf(("keep", "drop"))},
            optional={"unit": NAME, "rows_per_unit": Whole(low=1)},
        ),
        "columns": Mapped(of=COLUMN_PLAN),
        "privacy": Mapped(of=Value()),
        "utility": Record(needed={"metric": NAME}, optional={"purpose": Exactly("least-loss")}),
        "algorithm": Mapped(of=Value()),
        "attack": Record(
            needed={
                "run": Flag(),
                "attacks": Listed(of=NAME, most=1000),
                "trials": Whole(),
                "max_risk": Maybe(NUMBER),
                "seconds": NUMBER,
                "accept": Listed(of=NAME, most=1000),
                "earlier": Whole(),
            }
        ),
    },
    optional={
        "output": Record(needed={"escape_formulas": Exactly(True)}),
        "about": Record(needed={}, optional=_ABOUT),
        "collection": Record(needed={"study": Flag()}),
        "tree": Record(
            needed={"told": OneOf(("counts", "hits")), "form": OneOf(("tree", "rules")), "structure": Flag()}
        ),
    },
)
CLAIM = Record(
    needed={
        "model": NAME,
        "parameters": Mapped(of=Value()),
        "holds": Flag(),
        "reached": REACHED,
        "sense": OneOf(("at least", "at most", "above", "below")),
        "limit": REACHED,
        "reading": OneOf(("strict", "value", "wildcard")),
        "readings": Record(needed={"value": REACHED, "wildcard": REACHED}),
        "classes_failing": Whole(),
        "note": SENTENCE,
    }
)
RATE = Record(
    needed={
        "rate": Maybe(NUMBER),
        "low": NUMBER,
        "high": NUMBER,
        "trials": Whole(),
        "failed": Whole(),
        "confidence": NUMBER,
    }
)
ATTACK = Record(
    needed={
        "attack": NAME,
        "threat": NAME,
        "knows": SENTENCE,
        "does": SENTENCE,
        "target": RATE,
        "naive": RATE,
        "control": Maybe(RATE),
        "risk": Record(needed={"value": Maybe(NUMBER), "low": NUMBER, "high": NUMBER}),
        "limit": Maybe(Record(needed={"value": NUMBER, "why": SENTENCE})),
        "worst": Maybe(NUMBER),
        "figures": Mapped(of=NUMBER),
        "outcome": OneOf(("refuted", "not refuted", "inconclusive", "not tried")),
        "note": SENTENCE,
    },
    optional={"beyond": Exactly(True)},
)
JUDGED: Mapping[str, Form] = MappingProxyType(
    {
        "claims": Listed(of=CLAIM),
        "attacks": Listed(of=ATTACK, most=20_000),
        "attacks_not_made": Mapped(of=SENTENCE),
    }
)
"""What claims say that rows meet, and what attacks found."""
COMMON: Mapping[str, Form] = MappingProxyType(
    {
        "sfumato": Text(most=40, like=r"[0-9A-Za-z.+-]+"),
        "schema": Exactly(SCHEMA),
        "kind": OneOf(
            (
                "table",
                "items",
                "private",
                "observed",
                "swapped",
                "graded",
                "collected",
                "condensed",
                "sanitized",
                "tree",
                "joint",
            )
        ),
        "made": Text(like=r"\d{4}-\d{2}-\d{2}"),
        "marks": Listed(of=SENTENCE, most=20_000),
        "plan": PLAN,
        "versions": Mapped(of=Text(most=80)),
        "sha256": DIGEST,
    }
)
REPORT: Mapping[str, Form] = MappingProxyType(
    {"report": Record(needed={"file": Exactly("report.html"), "sha256": DIGEST})}
)
DATA: Mapping[str, Form] = MappingProxyType({"file": FILE, "sha256": DIGEST, "rows": Whole()})
PARTS: Mapping[str, Form] = MappingProxyType(
    {
        "file": Exactly("data"),
        "sha256": DIGEST,
        "rows": Whole(),
        "parts": Listed(
            of=Record(needed={"file": Text(most=100, like=r"data/part-[0-9]{5}\.parquet"), "sha256": DIGEST}),
            most=100_000,
        ),
    }
)
"""Data in many files of one folder."""
MISSING = Listed(of=NAME, most=1000)
RULE = Record(
    needed={"type": OneOf(KINDS)},
    optional={"values": Mapped(of=NAME), "intervals": Exactly(True), "above": Mapped(of=Value(2))},
)
STEP = Record(
    needed={
        "column": NAME,
        "coarse": NAME,
        "fine": Listed(of=NAME),
        "score": NUMBER,
        "anonymity": Whole(),
        "loss": Maybe(NUMBER),
    }
)
TRAIL = Record(
    needed={
        "direction": OneOf(("down", "up")),
        "score": NAME,
        "anonymity": Whole(),
        "loss": Maybe(NUMBER),
        "steps": Listed(of=STEP),
        "enough": Maybe(Whole()),
    }
)
STREAM = Record(
    needed={
        "id": Text(like="[0-9a-f]{32}"),
        "batch": Whole(low=1),
        "before": Maybe(DIGEST),
        "every": Whole(low=1),
        "read": Whole(low=1),
        "block": Whole(low=1),
        "last": Flag(),
    }
)
"""Which batch of which stream it is, and the seal of the batch before it."""
_SHARES = Listed(of=NUMBER, most=1_000)
COLLECTION: Mapping[str, Form] = MappingProxyType(
    {
        "specification": Record(
            needed={
                "sfumato": Exactly("collect"),
                "form": Exactly(1),
                "repeats": OneOf(("memoize", "charge")),
                "questions": Listed(of=Mapped(of=Either((NAME, Listed(of=NAME, most=1_000)))), most=1_000),
                "promises": Record(
                    needed={
                        "epsilon": Mapped(of=Maybe(NAME)),
                        "lasting": Mapped(of=Maybe(NAME)),
                        "everything": Maybe(NAME),
                    }
                ),
            },
            optional={"most": Whole(low=1)},
        ),
        "claims": Listed(
            of=Record(
                needed={
                    "model": OneOf(("local-privacy", "interval-privacy")),
                    "parameters": Record(
                        needed={"question": NAME},
                        optional={"epsilon": NAME, "of": NAME, "confidence": NUMBER, "width": NUMBER},
                    ),
                }
            )
        ),
        "reconstruction": Record(
            needed={
                "questions": Listed(
                    of=Record(
                        needed={
                            "question": NAME,
                            "method": OneOf(("em", "inversion")),
                            "rounds": Whole(),
                            "cells": Listed(of=NAME, most=1_000),
                            **dict.fromkeys(("shown", "share", "low", "high", "outside"), _SHARES),
                        }
                    )
                ),
                "pairs": Listed(
                    of=Record(
                        needed={
                            "questions": Row((NAME, NAME)),
                            "measure": OneOf(("correlation", "cramers-v")),
                            **dict.fromkeys(("shown", "estimate", "low", "high"), Maybe(NUMBER)),
                        }
                    ),
                    most=1_000,
                ),
            }
        ),
    }
)
"""What a bundle of randomized answers states: the specification, what it promises, what is estimated."""


def columns_form(types: tuple[str, ...], **optional: Form) -> Form:
    """The published columns, with what else may be said about one."""
    return Listed(of=Record(needed={"name": NAME, "role": ROLES, "type": OneOf(types)}, optional=optional))


WHOLE = Record(needed={**DATA, "columns": columns_form(KINDS), "missing": MISSING, "exempt_suppressed": Exactly(False)})
"""A data file in which no row is suppressed."""
