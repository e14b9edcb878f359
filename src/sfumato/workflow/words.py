"""What models and metrics mean, in words for people who did not read the papers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MEANING: Mapping[str, tuple[str, str]] = {
    "k-anonymity": (
        "Every combination of quasi-identifiers is shared by at least {k} rows, so nobody fits fewer.",
        "It does not hide what a whole group has in common: if all {k} rows show the same diagnosis, it is learnt.",
    ),
    "distinct-l-diversity": (
        "Every group shows at least {l} different values of {column}.",
        "It does not stop good guesses: one of the values may be far more frequent than the others.",
    ),
    "entropy-l-diversity": (
        "In every group, {column} is as uncertain as if {l} values were equally likely.",
        "It does not see that different values can mean the same to an outsider, such as two kinds of ulcer.",
    ),
    "recursive-l-diversity": (
        "In every group, the most frequent {column} is rarer than {c} times the tail from the {l}-th value on.",
        "It does not protect values that are rare in the whole table but frequent in one group.",
    ),
    "simple-l-diversity": (
        "In every group, no {column} is more frequent than 1 in {l}.",
        "It does not see that different values can mean the same to an outsider.",
    ),
    "t-closeness": (
        "In every group, the distribution of {column} is within {t} ({distance}) of that of the whole table.",
        "It does not hide what the whole table says, nor who is in it.",
    ),
    "alpha-k-anonymity": (
        "Every group has at least {k} rows, and no protected value of {column} is more frequent than {alpha}.",
        "It does not protect values that were not named, nor meanings that several values share.",
    ),
    "confidence-bounding": (
        "Nobody can conclude a protected value from the named columns with more than the stated confidence.",
        "It protects only the named values, and only against the named columns.",
    ),
    "lkc-privacy": (
        "Whoever knows up to {l} quasi-identifiers of a person finds at least {k} rows, and infers a protected "
        "value of {column} with confidence at most {c}.",
        "It does not protect against an adversary who knows more than {l} of the columns.",
    ),
    "e-m-anonymity": (
        "In every group, at most 1 in {m} rows has a {column} close (within {e}) to any one value.",
        "It does not protect against guesses of a wider range than {e}.",
    ),
    "delta-presence": (
        "For every person of the population, the chance to be in this table lies between {low} and {high}.",
        "It does not protect the sensitive values of those who are known to be in the table.",
    ),
    "k-map": (
        "Every released combination of quasi-identifiers fits at least {k} people of the population.",
        "It does not protect people who are known to be in the table: there the class may be smaller.",
    ),
    "personalized-privacy": (
        "Nobody's sensitive value can be placed below the node that the person guards with a chance above {p}.",
        "It does not protect people who guard nothing, and guarding itself may say something.",
    ),
}

METRICS: Mapping[str, str] = {
    "loss": "the share of each domain that a cell no longer tells apart (LM)",
    "ncp": "the share of each domain that a cell's label covers (normalized certainty penalty)",
    "discernibility": "every row pays the size of its group, a suppressed row the size of the table",
    "discernibility-ratio": "discernibility as a share of its largest value",
    "classification": "the share of rows that are suppressed or not of their group's majority class",
    "height": "how many levels the columns climbed together",
    "precision": "one minus the average share of its hierarchy that a cell climbed",
    "entropy": "the share of bits about the original cells that is gone (non-uniform entropy)",
    "class-size": "the average group, in units of k",
}


def explained(name: str, parameters: Mapping[str, Any]) -> tuple[str, str]:
    """What a model means and what it does not protect against; empty for models we do not know."""
    meaning, limits = MEANING.get(name, ("", ""))
    return meaning.format_map(parameters), limits.format_map(parameters)
