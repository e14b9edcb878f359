"""The report of a release of paths, sets and mixed records, as one page that needs nothing else."""

from __future__ import annotations

from sfumato.ground.work import Work
from sfumato.report.base.layout import audit_shown, page
from sfumato.report.items import item_sentences
from sfumato.report.items.item_charts import item_pictures
from sfumato.report.items.item_facts import ItemFacts
from sfumato.report.items.sequences import MOST_BARS, MOST_PATHS, shown_sequences

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
    found = shown_sequences(facts)
    (work or Work()).advance("report", 0, 1)
    return page(
        "items.html.j2",
        facts=facts,
        audit=audit_shown(facts.findings, {}),
        sections=sections(facts),
        pictures=item_pictures(facts, found),
        verdict=item_sentences.verdict(facts),
        claims=[(one, item_sentences.promised(one), item_sentences.reached(one.claim)) for one in facts.claims],
        entries=[
            sum(one.entries_before or 0 for one in facts.columns),
            sum(one.entries_after for one in facts.columns),
        ],
        sequences=found[:MOST_SEQUENCES],
        sequence_count=len(found),
        most_lines=MOST_PATHS,
        most_bars=MOST_BARS,
        steps=facts.steps[:MOST_STEPS] if facts.inside else (),
        kinds=item_sentences.KINDS,
        noun=item_sentences.ENTRIES,
        actions=item_sentences.ACTIONS,
    )


def sections(facts: ItemFacts) -> tuple[tuple[str, str], ...]:
    """The page's sections in order: anchor and name."""
    kinds = {column.kind for column in facts.columns}
    shown = {"places": "trajectory" in kinds, "items": bool(kinds - {"trajectory"})}
    return tuple((anchor, name) for anchor, name in SECTIONS if shown.get(anchor, True))
