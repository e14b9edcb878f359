"""Sentences about releases of paths and sets: what is promised, what was reached, what is not protected."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sfumato.bundle.claims import Claim
from sfumato.report.base.claim_facts import ClaimFacts
from sfumato.report.base.figures import apart, number
from sfumato.report.base.language import retold, said
from sfumato.report.base.sentences import counted, kept
from sfumato.report.items.item_facts import ItemFacts

TITLES: Mapping[str, str] = MappingProxyType(
    {
        "lkc-privacy": "LKC-privacy with L = {l}, K = {k}, C = {c}{of}",
        "km-anonymity": "k^m-anonymity with k = {k}, m = {m}",
        "rho-uncertainty": "rho-uncertainty with rho = {rho}{bounded}",
    }
)
"""The models' names with their parameters."""

PROMISES: Mapping[str, str] = MappingProxyType(
    {
        "lkc-privacy": "whoever knows {upto_l} of a record finds at least {k} records, and among them no guarded "
        "value{of} has a share above {c}",
        "km-anonymity": "whoever knows {upto_m} of a record finds at least {k} records",
        "rho-uncertainty": "whoever knows {any_l} of a record infers another sensitive item with a confidence of at "
        "most {rho}",
    }
)
"""How a promise is said, as the rest of a sentence."""

WORST: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("lkc-privacy", "at most"): "a largest share of {n}",
        ("lkc-privacy", "at least"): "{n} records",
        ("km-anonymity", "at least"): "{n} records",
        ("rho-uncertainty", "at most"): "a largest confidence of {n}",
    }
)
"""How a reached figure is said, by model and sense; every other one is said as it is."""

MEANING: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "lkc-privacy": (
            "Whoever knows {upto_l} of a person, such as places and when they were there, finds at least {k} records "
            "that may be theirs, and infers a guarded value{of} with a confidence of at most {c}.",
            "An adversary who knows more than {l} items of a person, or that they were not at some place; values that "
            "are not guarded; what a place itself tells, such as a clinic; other releases about the same people.",
        ),
        "km-anonymity": (
            "Whoever knows {upto_m} of a person finds at least {k} records that may be theirs.",
            "An adversary who knows more than {m} items, or that an item is not there; what the {k} records have in "
            "common, which is then learnt about everybody among them; other releases about the same people.",
        ),
        "rho-uncertainty": (
            "Whoever knows {any_l} of a person, sensitive ones or not, infers another sensitive item with a confidence "
            "of at most {rho}.",
            "Finding somebody's record, which may be the only one with these items; items that are not named as "
            "sensitive; {beyond}other releases about the same people.",
        ),
    }
)
"""What a model means for a person, and what it does not protect against."""

KINDS: Mapping[str, str] = MappingProxyType({"trajectory": "paths", "set": "sets of items", "table": "single values"})
"""Kinds of columns as a reader knows them."""

ENTRIES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"trajectory": ("reading", "readings"), "set": ("item in a set", "items in sets"), "table": ("cell", "cells")}
)
"""What an entry of a column is called."""

ACTIONS: Mapping[str, str] = MappingProxyType(
    {
        "suppress": "left out everywhere",
        "generalize": "shown coarser",
        "strip": "left out of some records",
        "specialize": "shown finer",
    }
)
"""What a step of the search does."""


def claimed(claim: Claim) -> ClaimFacts:
    """A claim about paths or sets with its words; a model that is not known here keeps its name."""
    meaning, limits = explained(claim.model, claim.parameters)
    title = said(TITLES.get(claim.model, claim.model)).format_map(_spoken(claim.parameters))
    return ClaimFacts(claim=claim, title=title, meaning=meaning, limits=limits)


def explained(model: str, parameters: Mapping[str, Any]) -> tuple[str, str]:
    """What a model means and what it does not protect against; empty for models that are not known here."""
    spoken = _spoken(parameters)
    meaning, limits = MEANING.get(model, ("", ""))
    return said(meaning).format_map(spoken), said(limits).format_map(spoken)


def promised(facts: ClaimFacts) -> str:
    """What a claim promises, as the rest of a sentence."""
    claim = facts.claim
    words = PROMISES.get(claim.model)
    if words is None:
        limit = number(claim.limit)
        return said("{title}, which asks for {sense} {limit}", title=facts.title, sense=said(claim.sense), limit=limit)
    return said(words).format_map(_spoken(claim.parameters))


def reached(claim: Claim) -> str:
    """How far a claim is met, as the rest of a sentence."""
    shown = apart(claim.reached, claim.limit)
    words = WORST.get((claim.model, claim.sense))
    failing = claim.classes_failing if not claim.holds else 0
    fail = counted(failing, said("set fails"), said("sets fail")) if failing else ""
    parts = [shown if words is None else said(words, n=shown), retold(claim.note), fail]
    return "; ".join(part for part in parts if part)


def verdict(facts: ItemFacts) -> str:
    """Whether all promises hold, in one sentence."""
    return kept(facts.claims, facts.near_unique, "records")


class _Known(dict[str, str]):
    """Parameters as words; one that is missing is a question mark."""

    def __missing__(self, key: str) -> str:
        return "?"


def _spoken(parameters: Mapping[str, Any]) -> _Known:
    plain = _Known({name: _said(value) for name, value in parameters.items()})
    bound, column = parameters.get("l"), parameters.get("column")
    return _Known(
        plain
        | {f"upto_{name}": _upto(parameters.get(name)) for name in ("l", "m")}
        | {
            "of": said(" of {column}", column=column) if column else "",
            "any_l": said("any items") if bound is None else _upto(bound),
            "bounded": "" if bound is None else said(" and at most {bound} known items", bound=bound),
            "beyond": "" if bound is None else said("an adversary who knows more than {bound} items; ", bound=bound),
        }
    )


def _upto(value: object) -> str:
    """So many items at most.

    >>> _upto(1), _upto(3)
    ('1 item', 'up to 3 items')
    """
    return said("1 item") if value == 1 else said("up to {n} items", n="?" if value is None else value)


def _said(value: object) -> str:
    return number(value) if isinstance(value, int | float) else str(value)
