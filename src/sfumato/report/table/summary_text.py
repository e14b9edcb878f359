"""The verdict in plain lines, for terminals and pipes."""

from __future__ import annotations

from sfumato.attacks.identity.risk import Risk
from sfumato.report.base.claim_facts import ClaimFacts
from sfumato.report.base.figures import count, label, number, odds, share
from sfumato.report.base.sentences import ROLES, promised, reached, searched, suppressed, verdict
from sfumato.report.table.table_facts import ReportFacts, UtilityFacts


def summary(facts: ReportFacts) -> str:
    """The report's first screen in about fifteen lines, without a trailing line break."""
    lines = [
        facts.title,
        *(["INSIDE REPORT: contains figures of the original table. Do not publish."] if facts.inside else []),
        *(f"! {_flat(mark)}" for mark in facts.marks),
        verdict(facts),
        *(line for claim in facts.claims for line in _claim(claim)),
        f"Rows: {count(facts.rows_before)} before, {count(facts.rows_after)} released.",
        suppressed(facts),
        _people(facts),
        _smallest(facts),
        *_risks(facts.risk_before, facts.risk_after, facts.noun),
        *_sample(facts),
        *(_loss(one) for one in facts.utility if one.chosen),
        _columns(facts),
        f"Found by {facts.algorithm}. {searched(facts)}",
        *others(facts),
    ]
    return "\n".join(_flat(line) for line in lines if line)


def _claim(facts: ClaimFacts) -> list[str]:
    word = "holds" if facts.claim.holds else "FAILS"
    return [f"  [{word}] {facts.title}", f"    Promised: {promised(facts)}. Reached: {reached(facts.claim)}."]


def _smallest(facts: ReportFacts) -> str:
    if not facts.smallest_class:
        return ""
    parts = ", ".join(f"{count(rows)} ({reading})" for reading, rows in facts.smallest_class.items())
    return f"Smallest group, by reading of unknown cells: {parts}."


def others(facts: ReportFacts) -> list[str]:
    """What other searches on the same table would lose, and how the plan takes one."""
    found = [one for one in facts.searches if not one.taken and one.value is not None]
    if not found:
        return []
    values = ", ".join(f"{one.algorithm} {number(one.value or 0.0)}" for one in found)
    own = next(number(one.value) for one in facts.searches if one.taken and one.value is not None)
    lines = [f"By {facts.metric}, this release has {own}; on the same table: {values}."]
    if any(not one.alike for one in found):
        lines.append(
            "There a value may read differently in different rows; "
            '[utility] purpose = "least-loss" takes the search that loses least.'
        )
    return lines


def _people(facts: ReportFacts) -> str:
    if facts.unit is None:
        return "Groups are counted in rows; if one person can have several, name the column as [input] unit."
    return (
        f"Groups are counted in people, told apart by {facts.unit}: {count(facts.people_before or 0)} of them, "
        f"{count(facts.people_suppressed or 0)} of whom lost a row."
    )


def _risks(before: Risk | None, after: Risk, noun: str) -> list[str]:
    was = ("", "") if before is None else (f"{odds(before.prosecutor)} before, ", f"{share(before.marketer)} before, ")
    return [
        f"Highest chance to pick a person's row: {was[0]}{odds(after.prosecutor)} after.",
        f"{noun.capitalize()} matched rightly on average: {was[1]}{share(after.marketer)} after.",
    ]


def _sample(facts: ReportFacts) -> list[str]:
    """What weights tell, where there are any; for the steward alone."""
    if facts.sample is None:
        return []
    one, shown = facts.sample, "published as it is" if facts.sample.published else "not published"
    return [
        f"Individual risk by the weights in {one.column} ({shown}), at most: {share(one.before.individual)} before, "
        f"{share(one.after.individual)} after; rows found again on average: {share(one.before.share)} before, "
        f"{share(one.after.share)} after.",
        f"Loss with rows counted by weight: {number(one.loss)}.",
    ]


def _loss(one: UtilityFacts) -> str:
    scale = f"{number(one.low)} to {number(one.high)}, {one.better} is better"
    return f"Information loss by {one.name}: {number(one.value)} ({scale})."


def _columns(facts: ReportFacts) -> str:
    roles = [column.role for column in facts.columns]
    parts = [f"{roles.count(role)} {ROLES.get(role, role)}" for role in dict.fromkeys(roles)]
    return f"Columns: {', '.join(parts)}." if parts else "Columns: none."


def _flat(line: str) -> str:
    """A line that a terminal can show as it is; its indentation stays."""
    indent = line[: len(line) - len(line.lstrip(" "))]
    return indent + label(line, most=400)
