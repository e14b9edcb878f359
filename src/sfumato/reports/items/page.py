"""The page of paths and sets: its sentences, charts and sections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sfumato.core.claims import Claim
from sfumato.core.run_context import Work
from sfumato.reports.bars import Row, bars, changed, heads
from sfumato.reports.items.facts import ItemColumnFacts, ItemFacts, ItemUtilityFacts
from sfumato.reports.items.places import PlacePictures, place_pictures
from sfumato.reports.items.sequences import (
    MOST_BARS,
    MOST_PATHS,
    ShownSequence,
    bar_rows,
    flow_pictures,
    listed,
    set_bars,
    shown_sequences,
)
from sfumato.reports.language import apart, count, label, number, retold, share, translated
from sfumato.reports.pages import audit_shown, page
from sfumato.reports.sentences import counted, kept
from sfumato.reports.svg import AFTER, ALARM, BEFORE, TRACK, Picture
from sfumato.reports.table_facts import ClaimFacts

# Sentences about releases of paths and sets: what is promised, what was reached, what is not protected.


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
    title = translated(TITLES.get(claim.model, claim.model)).format_map(_spoken(claim.parameters))
    return ClaimFacts(claim=claim, title=title, meaning=meaning, limits=limits)


def explained(model: str, parameters: Mapping[str, Any]) -> tuple[str, str]:
    """What a model means and what it does not protect against; empty for models that are not known here."""
    spoken = _spoken(parameters)
    meaning, limits = MEANING.get(model, ("", ""))
    return translated(meaning).format_map(spoken), translated(limits).format_map(spoken)


def promised(facts: ClaimFacts) -> str:
    """What a claim promises, as the rest of a sentence."""
    claim = facts.claim
    words = PROMISES.get(claim.model)
    if words is None:
        limit = number(claim.limit)
        return translated(
            "{title}, which asks for {sense} {limit}", title=facts.title, sense=translated(claim.sense), limit=limit
        )
    return translated(words).format_map(_spoken(claim.parameters))


def reached(claim: Claim) -> str:
    """How far a claim is met, as the rest of a sentence."""
    text = apart(claim.reached, claim.limit)
    words = WORST.get((claim.model, claim.sense))
    failing = claim.classes_failing if not claim.holds else 0
    fail = counted(failing, translated("set fails"), translated("sets fail")) if failing else ""
    parts = [text if words is None else translated(words, n=text), retold(claim.note), fail]
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
            "of": translated(" of {column}", column=column) if column else "",
            "any_l": translated("any items") if bound is None else _upto(bound),
            "bounded": "" if bound is None else translated(" and at most {bound} known items", bound=bound),
            "beyond": ""
            if bound is None
            else translated("an adversary who knows more than {bound} items; ", bound=bound),
        }
    )


def _upto(value: object) -> str:
    """So many items at most.

    >>> _upto(1), _upto(3)
    ('1 item', 'up to 3 items')
    """
    return translated("1 item") if value == 1 else translated("up to {n} items", n="?" if value is None else value)


def _said(value: object) -> str:
    return number(value) if isinstance(value, int | float) else str(value)


# The pictures of a report about paths and sets, each with its words for those who cannot see it.


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPictures:
    """All drawings of one page."""

    places: tuple[tuple[ItemColumnFacts, PlacePictures | None], ...]
    """Of the path columns; nothing where nothing is left."""
    items: tuple[tuple[ItemColumnFacts, Picture | None], ...]
    """Of the other columns; nothing where nothing is left."""
    flow: tuple[Picture, Picture] | None
    """Sequences as lines, for a page and for a phone."""
    sets: Picture | None
    """Frequent sets as bars, where they are not lines."""
    fates: Picture | None
    """What became of the frequent sets."""
    errors: Picture | None
    """Errors of queries by the items that they name."""


def item_pictures(facts: ItemFacts, sequences: tuple[ShownSequence, ...]) -> ItemPictures:
    """Everything drawn."""
    paths = [column for column in facts.columns if column.kind == "trajectory"]
    other = [column for column in facts.columns if column.kind != "trajectory"]
    plain = tuple(sequence for sequence in sequences if not sequence.spots)
    return ItemPictures(
        places=tuple((column, place_pictures(column, inside=facts.inside)) for column in paths),
        items=tuple((column, item_bars(column, inside=facts.inside)) for column in other),
        flow=flow_pictures(facts, sequences),
        sets=set_bars(plain, inside=facts.inside),
        fates=None if facts.utility is None else fates(facts.utility),
        errors=None if facts.utility is None else errors(facts.utility),
    )


def item_bars(column: ItemColumnFacts, *, inside: bool) -> Picture | None:
    """The most frequent items of a column; outside only those of the release."""
    parts = [(label(name), old, new) for name, old, new in column.frequent if new or (inside and old)]
    parts.sort(key=lambda part: -((part[1] or part[2] or 0) if inside else part[2] or 0))
    rows = parts[:MOST_BARS]
    if not rows:
        return None
    svg = listed(bar_rows(rows, inside=inside, gone=translated("none")), heads(translated("records"), inside=inside))
    if inside:
        parts_said = "; ".join(changed(name, count(old or 0), count(new or 0)) for name, old, new in rows)
    else:
        parts_said = "; ".join(f"{name} {count(new or 0)}" for name, _, new in rows)
    return Picture(
        svg=svg, words=translated("{column}, records per item: {told}.", column=label(column.name), told=parts_said)
    )


def fates(utility: ItemUtilityFacts) -> Picture | None:
    """Which share of the frequent sets is kept, shown coarser and lost."""
    if not utility.frequent:
        return None
    kept = min(max(1 - utility.lost_share - utility.coarser_share, 0.0), 1.0)
    coarser, lost = utility.coarser_share, utility.lost_share
    parts = [
        (translated("kept"), kept, AFTER),
        (translated("shown coarser"), coarser, BEFORE),
        (translated("lost"), lost, ALARM),
    ]
    rows = [
        Row(label=name, back=1, front=part, figures=(share(part),), tone=tone, quiet=not part)
        for name, part, tone in parts
    ]
    parts_said = "; ".join(f"{name} {share(part)}" for name, part, _ in parts)
    sets = counted(utility.frequent, translated("frequent set"), translated("frequent sets"))
    words = translated("What became of {sets}. {told}.", sets=sets, told=parts_said)
    return Picture(svg=bars(rows, heads=(translated("share"),), back=TRACK), words=words)


def errors(utility: ItemUtilityFacts) -> Picture | None:
    """Relative errors of count queries by the number of items that they name: means as pale, medians as strong bars."""
    if not utility.by_size:
        return None
    most = max([mean for _, _, mean in utility.by_size] + [median for _, median, _ in utility.by_size])
    unit = most if most > 0 else 1.0
    rows = [
        Row(
            label=_known(size),
            back=mean / unit,
            front=median / unit,
            figures=(share(mean), share(median)),
        )
        for size, median, mean in utility.by_size
    ]
    parts_said = "; ".join(
        translated("{known}: median {median}, mean {mean}", known=_known(size), median=share(median), mean=share(mean))
        for size, median, mean in utility.by_size
    )
    words = translated("Relative errors of count queries. {told}.", told=parts_said)
    return Picture(svg=bars(rows, heads=(translated("mean"), translated("median"))), words=words)


def _known(size: int) -> str:
    return counted(size, translated("known item"), translated("known items"))


# The report of a release of paths, sets and mixed records, as one page that needs nothing else.


MOST_STEPS = 50
"""How many steps of the search are listed."""
MOST_SEQUENCES = 40
"""How many frequent sequences are listed."""

SECTIONS = (
    ("promises", "What the promises mean"),
    ("columns", "Columns"),
    ("attacks", "Attacks"),
    ("places", "Places and times"),
    ("items", "Most frequent items"),
    ("sequences", "Frequent sets"),
    ("loss", "Information lost"),
    ("search", "How it was found"),
    ("glossary", "How to read this report"),
)
"""The sections that the page can have, in order: anchor and name."""


def render(facts: ItemFacts, work: Work | None = None) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    sequences = shown_sequences(facts)
    (work or Work()).advance("report", 0, 1)
    return page(
        "items.html.j2",
        facts=facts,
        audit=audit_shown(facts.findings, {}),
        sections=sections(facts),
        pictures=item_pictures(facts, sequences),
        verdict=verdict(facts),
        claims=[(claim, promised(claim), reached(claim.claim)) for claim in facts.claims],
        entries=[
            sum(column.entries_before or 0 for column in facts.columns),
            sum(column.entries_after for column in facts.columns),
        ],
        sequences=sequences[:MOST_SEQUENCES],
        sequence_count=len(sequences),
        most_lines=MOST_PATHS,
        most_bars=MOST_BARS,
        steps=facts.steps[:MOST_STEPS] if facts.inside else (),
        kinds=KINDS,
        noun=ENTRIES,
        actions=ACTIONS,
    )


def sections(facts: ItemFacts) -> tuple[tuple[str, str], ...]:
    """The page's sections in order: anchor and name."""
    kinds = {column.kind for column in facts.columns}
    has_section = {"places": "trajectory" in kinds, "items": bool(kinds - {"trajectory"})}
    return tuple((anchor, name) for anchor, name in SECTIONS if has_section.get(anchor, True))
