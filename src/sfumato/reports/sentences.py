"""Sentences about a release, the same ones on the page and in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from sfumato.core.claims import Claim
from sfumato.reports.language import apart, count, number, share, translated
from sfumato.reports.table_facts import ClaimFacts

if TYPE_CHECKING:
    from sfumato.counts.near_unique import NearUnique
    from sfumato.reports.table_facts import ReportFacts

PROMISES: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("k-anonymity", "at least"): "every group has at least {limit} {rows}",
        ("alpha-k-anonymity", "at least"): "every group has at least {limit} {rows}",
        ("alpha-k-anonymity", "at most"): "no guarded value{of} has a share above {limit} in any group",
        ("k-map", "at least"): "every group stands for at least {limit} people of the population",
        ("distinct-l-diversity", "at least"): "every group has at least {limit} different values{of}",
        (
            "entropy-l-diversity",
            "at least",
        ): "the values{of} in every group are as mixed as {limit} equally frequent ones",
        ("simple-l-diversity", "at most"): "no value{of} has a share above {limit} in any group",
        ("t-closeness", "at most"): "the distribution{of} in every group is within {limit} of the whole table's",
        ("confidence-bounding", "at most"): "no guarded value can be inferred with a confidence above {limit}",
        (
            "divergence-bounding",
            "below",
        ): "no value{of} that is far from somebody's own has a share of {limit} or more in any group",
        ("personalized-privacy", "at most"): "nobody's guarded value is given away with a chance above {limit}",
    }
)
"""How a promise is said, by model and sense; every other one is said by its title."""


def sentence(words: str) -> str:
    """Words as a sentence of their own; what ends like one is one, and may begin with the name of a column.

    >>> sentence("made with a fixed seed"), sentence("income is near-unique.")
    ('Made with a fixed seed.', 'income is near-unique.')
    """
    return words if words.endswith(".") else f"{words[:1].upper()}{words[1:]}."


ROLES: Mapping[str, str] = MappingProxyType(
    {
        "identifier": "identifier",
        "unit": "tells people apart",
        "quasi": "quasi-identifier",
        "guarded": "quasi-identifier and sensitive",
        "sensitive": "sensitive",
        "target": "target",
        "keep": "kept",
        "drop": "dropped",
    }
)
"""Roles as a reader knows them."""

READINGS: Mapping[str, str] = MappingProxyType(
    {
        "value": "own value",
        "wildcard": "any value",
        "strict": "both",
    }
)
"""What an unknown cell is taken for where a promise is decided."""


def promised(facts: ClaimFacts) -> str:
    """What a claim promises, as the rest of a sentence."""
    claim, limit = facts.claim, number(facts.claim.limit)
    words = PROMISES.get((claim.model, claim.sense))
    if words is None:
        return translated(
            "{title}, which asks for {sense} {limit}", title=facts.title, sense=translated(claim.sense), limit=limit
        )
    column = claim.parameters.get("column")
    of = translated(" of {column}", column=column) if column else ""
    return translated(words, limit=limit, of=of, rows=noun(claim.limit, people=facts.people))


def noun(count: float, *, people: bool) -> str:
    """What is counted."""
    if people:
        return translated("person" if count == 1 else "people")
    return translated("row" if count == 1 else "rows")


def reached(claim: Claim) -> str:
    """How far a claim is met, as the rest of a sentence."""
    text = apart(claim.reached, claim.limit)
    if claim.holds or not claim.classes_failing:
        return text
    return f"{text}; {counted(claim.classes_failing, translated('group fails'), translated('groups fail'))}"


def verdict(facts: ReportFacts) -> str:
    """Whether all promises hold, in one sentence."""
    return kept(facts.claims, facts.near_unique, "rows")


_KEPT = {
    ("rows", True): "The promise holds on the released rows{still}.",
    ("rows", False): "All {total} promises hold on the released rows{still}.",
    ("records", True): "The promise holds on the released records{still}.",
    ("records", False): "All {total} promises hold on the released records{still}.",
}
"""That all promises hold: on what, and whether it is one promise."""


def kept(claims: Sequence[ClaimFacts], near_unique: Sequence[NearUnique], what: str) -> str:
    """Whether all promises hold on the released rows or records, in one sentence."""
    total, broken = len(claims), sum(not claim.claim.holds for claim in claims)
    if not total:
        return translated("This release makes no promise.")
    if broken:
        return _unkept(broken, total)
    return translated(_KEPT[what, total == 1], total=total, still=still(near_unique))


def _unkept(broken: int, total: int) -> str:
    """How many promises do not hold."""
    if total == 1:
        return translated("The promise does not hold.")
    if broken == 1:
        return translated("{broken} of {total} promises does not hold.", broken=broken, total=count(total))
    return translated("{broken} of {total} promises do not hold.", broken=count(broken), total=count(total))


def still(near_unique: Sequence[NearUnique]) -> str:
    """What must follow wherever promises are said to hold; nothing where no column is near-unique."""
    names = [finding.column for finding in near_unique]
    if not names:
        return ""
    if len(names) == 1:
        return translated(", and still {column} nearly singles people out", column=names[0])
    return translated(
        ", and still {columns} and {last} nearly single people out", columns=", ".join(names[:-1]), last=names[-1]
    )


def suppressed(facts: ReportFacts) -> str:
    """How many rows were suppressed, how, and whether that was allowed."""
    part, limit = suppressed_share(facts), share(facts.suppressed_limit)
    if not facts.rows_suppressed:
        return translated("No row was suppressed; up to {limit} of the rows might have been.", limit=limit)
    words = _SUPPRESSED[facts.suppressed_how == "remove", facts.rows_suppressed == 1]
    many, before = count(facts.rows_suppressed), count(facts.rows_before)
    text = translated(words, many=many, before=before, part=share(part), limit=limit)
    over = part > facts.suppressed_limit + 1e-12
    return f"{text} {translated('That is more than the plan allows.')}" if over else text


_SUPPRESSED = {
    (True, True): "{many} row of {before} ({part}) was removed; the plan allows up to {limit}.",
    (True, False): "{many} rows of {before} ({part}) were removed; the plan allows up to {limit}.",
    (False, True): (
        "{many} row of {before} ({part}) was kept, with its quasi-identifiers replaced by *; the plan allows up to "
        "{limit}."
    ),
    (False, False): (
        "{many} rows of {before} ({part}) were kept, with their quasi-identifiers replaced by *; the plan allows up to "
        "{limit}."
    ),
}
"""How rows were suppressed: whether they were removed, and whether it is one."""


def suppressed_share(facts: ReportFacts) -> float:
    """The share of the original's rows that were suppressed."""
    return facts.rows_suppressed / facts.rows_before if facts.rows_before else 0.0


def searched(facts: ReportFacts) -> str:
    """Whether the release is proven to lose least, in one sentence."""
    by = translated(" (measured by {metric})", metric=facts.metric) if facts.metric else ""
    if facts.proven:
        return translated("Proven: no other choice of levels within the plan loses less{by}.", by=by)
    return translated(
        "Best so far: a choice of levels that loses less{by} may exist; the search did not rule it out.", by=by
    )


def counted(value: int, singular: str, many: str) -> str:
    """A number with its noun.

    >>> counted(1, "row", "rows"), counted(2000, "row", "rows")
    ('1 row', '2,000 rows')
    """
    return f"{count(value)} {singular if value == 1 else many}"
