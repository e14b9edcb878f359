"""Every term is explained where it stands: the glossary's words, and the way to a page of theory."""

from __future__ import annotations

from functools import cache
from itertools import count

from markupsafe import Markup, escape

from sfumato.studio.doc_pages import place

PAGES = {
    "quasi-identifier": "k-anonymity",
    "class": "k-anonymity",
    "unique row": "k-anonymity",
    "risk": "k-anonymity",
    "sensitive": "l-diversity",
    "lattice": "optimal-search",
    "node": "optimal-search",
    "level": "optimal-search",
    "suppress": "optimal-search",
    "algorithm": "comparison",
    "metric": "metrics",
    "loss": "metrics",
    "utility": "metrics",
    "target": "classification",
    "local recoding": "local",
    "trail": "top-down",
    "ledger": "differential-privacy",
    "session": "joint-mining",
}
"""The theory page of each term that has one; the others lead to the glossary."""
_NUMBER = count(1)


@cache
def glossary() -> dict[str, str]:
    """What every word of the glossary means."""
    lines = (place() / "glossary.md").read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ", 1) for line in lines if line.startswith("| ") and not line.startswith("| -")]
    return {
        word.strip(): meaning.replace("`", "").replace("*", "")
        for words, meaning in rows[1:]
        for word in words.split(",")
    }


def term(word: str, shown: str | None = None) -> Markup:
    """A word that says what it means when somebody asks it to."""
    name, page = f"term-{next(_NUMBER)}", PAGES.get(word, "glossary")
    meaning = glossary()[word]
    more = Markup('<a href="/theory/{}" target="_blank" rel="noopener">More</a>').format(page)
    return Markup(
        '<button type="button" class="term" popovertarget="{0}">{1}</button>'
        '<span popover id="{0}" class="meaning"><strong>{2}</strong>: {3}. {4}</span>'
    ).format(name, escape(shown or word), escape(word), escape(meaning), more)
