"""The verdict in plain lines, for terminals and pipes."""

from __future__ import annotations

from sfumato.attacks.identity.risk import Risk
from sfumato.report.base.claim_facts import ClaimFacts
from sfumato.report.base.figures import count, label, number, odds, share
from sfumato.report.base.language import said
from sfumato.report.base.sentences import ROLES, promised, reached, searched, suppressed, verdict
from sfumato.report.table.table_facts import ReportFacts, UtilityFacts


def summary(facts: ReportFacts) -> str:
    """The report's first screen in about fifteen lines, without a trailing line break."""
    lines = [
        said(facts.title),
        *([said("INSIDE REPORT: contains figures of the original table. Do not publish.")] if facts.inside else []),
        *(f"! {_flat(mark)}" for mark in facts.marks),
        verdict(facts),
        *(line for claim in facts.claims for line in _claim(claim)),
        said("Rows: {old} before, {new} released.", old=count(facts.rows_before), new=count(facts.rows_after)),
        suppressed(facts),
        _people(facts),
        _smallest(facts),
        *_risks(facts.risk_before, facts.risk_after, facts.noun),
        *_sample(facts),
        *(_loss(one) for one in facts.utility if one.chosen),
        _columns(facts),
        said("Found by {algorithm}. {searched}", algorithm=facts.algorithm, searched=searched(facts)),
        *others(facts),
    ]
    return "\n".join(_flat(line) for line in lines if line)


def _claim(facts: ClaimFacts) -> list[str]:
    word = said("holds" if facts.claim.holds else "FAILS")
    told = said("Promised: {promised}. Reached: {reached}.", promised=promised(facts), reached=reached(facts.claim))
    return [f"  [{word}] {facts.title}", f"    {told}"]


def _smallest(facts: ReportFacts) -> str:
    if not facts.smallest_class:
        return ""
    parts = ", ".join(f"{count(rows)} ({reading})" for reading, rows in facts.smallest_class.items())
    return said("Smallest group, by reading of unknown cells: {parts}.", parts=parts)


def others(facts: ReportFacts) -> list[str]:
    """What other searches on the same table would lose, and how the plan takes one."""
    found = [one for one in facts.searches if not one.taken and one.value is not None]
    if not found:
        return []
    values = ", ".join(f"{one.algorithm} {number(one.value or 0.0)}" for one in found)
    own = next(number(one.value) for one in facts.searches if one.taken and one.value is not None)
    words = "By {metric}, this release has {own}; on the same table: {values}."
    lines = [said(words, metric=facts.metric, own=own, values=values)]
    if any(not one.alike for one in found):
        lines.append(
            said(
                "There a value may read differently in different rows; "
                '[utility] purpose = "least-loss" takes the search that loses least.'
            )
        )
    return lines


def _people(facts: ReportFacts) -> str:
    if facts.unit is None:
        return said("Groups are counted in rows; if one person can have several, name the column as [input] unit.")
    return said(
        "Groups are counted in people, told apart by {unit}: {people} of them, {lost} of whom lost a row.",
        unit=facts.unit,
        people=count(facts.people_before or 0),
        lost=count(facts.people_suppressed or 0),
    )


def _risks(before: Risk | None, after: Risk, noun: str) -> list[str]:
    highest, average = "Highest chance to pick a person's row:", "{noun} matched rightly on average:"
    was = (None, None) if before is None else (odds(before.prosecutor), share(before.marketer))
    return [
        f"{said(highest)} {_after(was[0], odds(after.prosecutor))}",
        f"{said(average, noun=noun.capitalize())} {_after(was[1], share(after.marketer))}",
    ]


def _sample(facts: ReportFacts) -> list[str]:
    """What weights tell, where there are any; for the steward alone."""
    if facts.sample is None:
        return []
    one = facts.sample
    return [
        said(
            "Individual risk by the weights in {column} ({shown}), at most: {before} before, {after} after; rows found "
            "again on average: {found} before, {left} after.",
            column=one.column,
            shown=said("published as it is") if one.published else said("not published"),
            before=share(one.before.individual),
            after=share(one.after.individual),
            found=share(one.before.share),
            left=share(one.after.share),
        ),
        said("Loss with rows counted by weight: {loss}.", loss=number(one.loss)),
    ]


def _after(old: str | None, new: str) -> str:
    return said("{new} after.", new=new) if old is None else said("{old} before, {new} after.", old=old, new=new)


def _loss(one: UtilityFacts) -> str:
    ends = {"low": number(one.low), "high": number(one.high), "better": said(one.better)}
    words = "Information loss by {metric}: {value} ({low} to {high}, {better} is better)."
    return said(words, metric=one.name, value=number(one.value), **ends)


def _columns(facts: ReportFacts) -> str:
    roles = [column.role for column in facts.columns]
    parts = [f"{roles.count(role)} {said(ROLES.get(role, role))}" for role in dict.fromkeys(roles)]
    return said("Columns: {parts}.", parts=", ".join(parts)) if parts else said("Columns: none.")


def _flat(line: str) -> str:
    """A line that a terminal can show as it is; its indentation stays."""
    indent = line[: len(line) - len(line.lstrip(" "))]
    return indent + label(line, most=400)
