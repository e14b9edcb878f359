"""The report of a table: the page, its charts, and the summary for terminals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from sfumato.algorithms.problem import Trail
from sfumato.attacks.risk import Risk
from sfumato.core.run_context import Work
from sfumato.reports import sentences
from sfumato.reports.bars import (
    Distribution,
    Histogram,
    Row,
    bars,
    changed,
    columns,
    heads,
    histogram,
    joined,
    size_bins,
    top,
)
from sfumato.reports.language import count, label, number, odds, share, translated
from sfumato.reports.pages import audit_shown, page
from sfumato.reports.sentences import ROLES, counted, promised, reached, searched, suppressed, verdict
from sfumato.reports.svg import AFTER, ALARM, BEFORE, MUTED, TRACK, Picture, dashed
from sfumato.reports.table_facts import ClaimFacts, ColumnFacts, ReportFacts, UtilityFacts

if TYPE_CHECKING:
    from sfumato.reports.plots import How

# The verdict in plain lines, for terminals and pipes.


def summary(facts: ReportFacts) -> str:
    """The report's first screen in about fifteen lines, without a trailing line break."""
    lines = [
        translated(facts.title),
        *(
            [translated("INSIDE REPORT: contains figures of the original table. Do not publish.")]
            if facts.inside
            else []
        ),
        *(f"! {_flat(mark)}" for mark in facts.marks),
        verdict(facts),
        *(line for claim in facts.claims for line in _claim(claim)),
        translated("Rows: {old} before, {new} released.", old=count(facts.rows_before), new=count(facts.rows_after)),
        suppressed(facts),
        _people(facts),
        _smallest(facts),
        *_risks(facts.risk_before, facts.risk_after, facts.noun),
        *_sample(facts),
        *(_loss(utility) for utility in facts.utility if utility.chosen),
        _columns_text(facts),
        translated("Found by {algorithm}. {searched}", algorithm=facts.algorithm, searched=searched(facts)),
        *others(facts),
    ]
    return "\n".join(_flat(line) for line in lines if line)


def _claim(facts: ClaimFacts) -> list[str]:
    word = translated("holds" if facts.claim.holds else "FAILS")
    summary = translated(
        "Promised: {promised}. Reached: {reached}.", promised=promised(facts), reached=reached(facts.claim)
    )
    return [f"  [{word}] {facts.title}", f"    {summary}"]


def _smallest(facts: ReportFacts) -> str:
    if not facts.smallest_class:
        return ""
    parts = ", ".join(f"{count(rows)} ({reading})" for reading, rows in facts.smallest_class.items())
    return translated("Smallest group, by reading of unknown cells: {parts}.", parts=parts)


def others(facts: ReportFacts) -> list[str]:
    """What other searches on the same table would lose, and how the plan takes one."""
    searches = [search for search in facts.searches if not search.taken and search.value is not None]
    if not searches:
        return []
    values = ", ".join(f"{search.algorithm} {number(search.value or 0.0)}" for search in searches)
    own = next(number(search.value) for search in facts.searches if search.taken and search.value is not None)
    words = "By {metric}, this release has {own}; on the same table: {values}."
    lines = [translated(words, metric=facts.metric, own=own, values=values)]
    if any(not search.alike for search in searches):
        lines.append(
            translated(
                "There a value may read differently in different rows; "
                '[utility] purpose = "least-loss" takes the search that loses least.'
            )
        )
    return lines


def _people(facts: ReportFacts) -> str:
    if facts.unit is None:
        return translated(
            "Groups are counted in rows; if one person can have several, name the column as [input] unit."
        )
    return translated(
        "Groups are counted in people, told apart by {unit}: {people} of them, {lost} of whom lost a row.",
        unit=facts.unit,
        people=count(facts.people_before or 0),
        lost=count(facts.people_suppressed or 0),
    )


def _risks(before: Risk | None, after: Risk, noun: str) -> list[str]:
    highest, average = "Highest chance to pick a person's row:", "{noun} matched rightly on average:"
    was = (None, None) if before is None else (odds(before.prosecutor), share(before.marketer))
    return [
        f"{translated(highest)} {_after(was[0], odds(after.prosecutor))}",
        f"{translated(average, noun=noun.capitalize())} {_after(was[1], share(after.marketer))}",
    ]


def _sample(facts: ReportFacts) -> list[str]:
    """What weights tell, where there are any; for the steward alone."""
    if facts.sample is None:
        return []
    sample = facts.sample
    return [
        translated(
            "Individual risk by the weights in {column} ({shown}), at most: {before} before, {after} after; rows found "
            "again on average: {found} before, {left} after.",
            column=sample.column,
            shown=translated("published as it is") if sample.published else translated("not published"),
            before=share(sample.before.individual),
            after=share(sample.after.individual),
            found=share(sample.before.share),
            left=share(sample.after.share),
        ),
        translated("Loss with rows counted by weight: {loss}.", loss=number(sample.loss)),
    ]


def _after(old: str | None, new: str) -> str:
    return (
        translated("{new} after.", new=new)
        if old is None
        else translated("{old} before, {new} after.", old=old, new=new)
    )


def _loss(utility: UtilityFacts) -> str:
    ends = {"low": number(utility.low), "high": number(utility.high), "better": translated(utility.better)}
    words = "Information loss by {metric}: {value} ({low} to {high}, {better} is better)."
    return translated(words, metric=utility.name, value=number(utility.value), **ends)


def _columns_text(facts: ReportFacts) -> str:
    roles = [column.role for column in facts.columns]
    parts = [f"{roles.count(role)} {translated(ROLES.get(role, role))}" for role in dict.fromkeys(roles)]
    return translated("Columns: {parts}.", parts=", ".join(parts)) if parts else translated("Columns: none.")


def _flat(line: str) -> str:
    """A line that a terminal can show as it is; its indentation stays."""
    indent = line[: len(line) - len(line.lstrip(" "))]
    return indent + label(line, most=400)


# The report's pictures: static SVG, coloured by the page, each with its words for those who cannot see it.


RISKS = (
    ("prosecutor", "prosecutor"),
    ("journalist", "journalist"),
    ("marketer", "marketer"),
    ("unique", "unique {noun}"),
    ("at_risk", "{noun} above 1 in 5"),
)
"""The risks in the order of the page, with their labels, in which what is counted has a place."""


def class_sizes(sizes: Sequence[tuple[int, int]], limit: int | None, noun: str = "rows") -> Picture | None:
    """How many classes have about which size, with the limit as a line between too small and large enough."""
    bins = size_bins(sizes, limit)
    if not bins:
        return None
    most = max(each.classes for each in bins)
    rows = []
    for each in bins:
        if limit and each.low == limit > 1:
            rows.append(Row(label=translated("limit {limit}", limit=count(limit)), rule=True, figures=("", "")))
        tone = ALARM if limit and each.low < limit else AFTER
        figures = (count(each.classes), count(each.rows))
        rows.append(
            Row(label=each.label, front=each.classes / most, figures=figures, tone=tone, quiet=not each.classes)
        )
    summary = "; ".join(
        f"{each.label} {noun}: {counted(each.classes, translated('group'), translated('groups'))}"
        for each in bins
        if each.classes
    )
    return Picture(
        svg=bars(rows, heads=(translated("groups"), noun), back=TRACK),
        words=translated("Groups by size. {told}.", told=summary),
    )


def risks(before: Risk | None, after: Risk, noun: str = "rows") -> Picture:
    """The five risks, before (where that may be told) and after."""
    rows, summaries = [], []
    for field, called in RISKS:
        name, new = translated(called, noun=noun), getattr(after, field)
        if before is None:
            rows.append(Row(label=name, back=1, front=new, figures=(share(new),)))
            summaries.append(f"{name} {share(new)}")
        else:
            old = getattr(before, field)
            rows.append(Row(label=name, back=old, front=new, figures=(share(old), share(new))))
            summaries.append(changed(name, share(old), share(new)))
    known, words = before is not None, translated("Re-identification risks. {told}.", told="; ".join(summaries))
    svg = bars(rows, heads=heads(translated("after"), inside=known), back=BEFORE if known else TRACK)
    return Picture(svg=svg, words=words)


def losses(columns: Sequence[ColumnFacts]) -> Picture | None:
    """What each column lost, the largest first, on a scale from 0 to 100 %."""
    known = [(label(column.name), column.loss) for column in columns if column.loss is not None]
    if not known:
        return None
    known.sort(key=lambda pair: -pair[1])
    rows = [Row(label=name, back=1, front=loss, figures=(share(loss),)) for name, loss in known]
    summary = "; ".join(f"{name} {share(loss)}" for name, loss in known)
    return Picture(
        svg=bars(rows, heads=(translated("lost"),), back=TRACK),
        words=translated("Information lost per column. {told}.", told=summary),
    )


def suppression(part: float, limit: float) -> Picture | None:
    """The suppressed share beside the share that was allowed; none where neither is above 0."""
    most = max(part, limit)
    if most <= 0:
        return None
    rows = [
        Row(
            label=translated("suppressed"),
            front=part / most,
            figures=(share(part),),
            tone=ALARM if part > limit else AFTER,
        ),
        Row(label=translated("allowed"), back=limit / most, figures=(share(limit),), quiet=True),
    ]
    words = translated("Suppressed rows: {part}; allowed: {limit}.", part=share(part), limit=share(limit))
    return Picture(svg=bars(rows, heads=(translated("of all rows"),)), words=words)


def distributions(column: ColumnFacts, *, inside: bool) -> list[Picture]:
    """A column before and after: on the same rows where the labels are the same, otherwise one above the other.

    Original values under labels of their own are drawn in an inside report only, whatever was handed in.
    """
    if column.same_labels and column.before and column.after:
        return [_paired(column)]
    pictures = []
    if column.before and (inside or column.same_labels):
        bins = histogram(column.before)
        pictures.append(_columns(column, bins) if bins else _single(column.before, "before"))
    if column.after:
        pictures.append(_single(column.after, "after"))
    return pictures


def _paired(column: ColumnFacts) -> Picture:
    parts = top(joined(column.before, column.after))
    most = max([1, *(max(old, new) for _, old, new in parts)])
    rows = [
        Row(label=name, back=old / most, front=new / most, figures=(count(old), count(new))) for name, old, new in parts
    ]
    summary = "; ".join(changed(name, count(old), count(new)) for name, old, new in parts)
    return Picture(
        svg=bars(rows, heads=(translated("before"), translated("after"))), words=f"{label(column.name)}: {summary}."
    )


def _single(parts: Distribution, when: str) -> Picture:
    top_parts = top([(name, rows, 0) for name, rows in parts])
    most = max([1, *(rows for _, rows, _ in top_parts)])
    old = when == "before"
    lengths = [(each / most, 0.0) if old else (0.0, each / most) for _, each, _ in top_parts]
    rows = [
        Row(label=name, back=back, front=front, figures=(count(each),))
        for (name, each, _), (back, front) in zip(top_parts, lengths, strict=True)
    ]
    summary = "; ".join(f"{name} {count(each)}" for name, each, _ in top_parts)
    return Picture(
        svg=bars(rows, heads=(translated("rows"),)), words=f"{translated(when)}: {summary}.", caption=translated(when)
    )


def _columns(column: ColumnFacts, bins: Histogram) -> Picture:
    high = bins.start + bins.step * len(bins.counts)
    low, step = number(bins.start), number(bins.step)
    apart = translated(", {n} rows without a number", n=count(bins.apart)) if bins.apart else ""
    counts = ", ".join(map(count, bins.counts))
    summary = translated(
        "{column} before: {low} to {high} in steps of {step}: {counts}",
        column=label(column.name),
        low=low,
        high=number(high),
        step=step,
        counts=counts,
    )
    svg = columns(bins.counts, low=low, high=number(high))
    return Picture(
        svg=svg, words=f"{summary}{apart}.", caption=translated("before, in steps of {step}", step=step) + apart
    )


# The picture of a trail: what is lost, and how small the smallest class is, after every step.


SIZE = (452, 190)
MOST = 60
"""How many steps are listed one by one."""


def trail_pictures(trail: Trail, metric: str, limit: int | None) -> list[Picture]:
    """Loss by step, where it may be told, and smallest class by step; a limit on class sizes is drawn as a line."""
    losses = [loss for loss in (trail.loss, *(step.loss for step in trail.steps)) if loss is not None]
    sizes = [float(trail.anonymity), *(float(step.anonymity) for step in trail.steps)]
    if len(sizes) < 2:
        return []
    drawn = [_picture(translated("lost ({metric})", metric=metric), "number", losses, None, trail)] if losses else []
    return [*drawn, _picture(translated("smallest class"), "count", sizes, limit, trail)]


def _picture(name: str, how: How, values: Sequence[float], limit: int | None, trail: Trail) -> Picture:
    from sfumato.reports.plots import LEFT, TOP, Plot, Scale

    plot = Plot(
        across=Scale(low=-0.5, high=len(values) - 0.5, log=False, falling=False),
        along=Scale.of([*values, *([] if limit is None else [float(limit)])]),
        size=SIZE,
    )
    parts = plot.axes(("count", how), (8, 5))
    parts += [plot.segment(n - 0.5, value, n + 0.5, value, AFTER, width=1.6) for n, value in enumerate(values)]
    parts += [plot.segment(n + 0.5, a, n + 0.5, b, AFTER, width=1.6) for n, (a, b) in enumerate(pairwise(values))]
    if limit is not None:
        parts.append(dashed(LEFT, plot.y(limit), LEFT + plot.wide, plot.y(limit), ALARM))
    if trail.enough is not None:
        parts.append(dashed(plot.x(trail.enough), TOP, plot.x(trail.enough), TOP + plot.tall, MUTED))
    first, last = (number(v) if how == "number" else count(v) for v in (values[0], values[-1]))
    steps = len(values) - 1
    words = translated(
        "{name} after each of {steps} steps: from {first} to {last}.", name=name, steps=steps, first=first, last=last
    )
    return Picture(svg=plot.drawn(parts), words=words, caption=translated("{name}, by step", name=name))


# The report as one page that needs nothing else: no network, no script, no font.


SECTIONS = (
    ("promises", "What the promises mean"),
    ("readings", "Unknown cells"),
    ("risk", "Risk"),
    ("groups", "Sizes of the groups"),
    ("attacks", "Attacks"),
    ("columns", "Columns"),
    ("loss", "Information lost"),
    ("suppressed", "Suppressed records"),
    ("search", "How it was found"),
    ("glossary", "How to read this report"),
)
"""The page's sections in order: anchor and name."""

_BY_SIZE = ("k-anonymity", "alpha-k-anonymity")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pictures:
    """All drawings of one page."""

    risks: Picture
    """Before and after."""
    sizes: Picture | None
    """Of the classes."""
    losses: Picture | None
    """By quasi-identifier."""
    suppression: Picture | None
    """Beside what was allowed."""
    columns: tuple[tuple[ColumnFacts, tuple[Picture, ...]], ...]
    """The columns that have a distribution."""
    trail: tuple[Picture, ...]
    """Step by step, where there are steps."""


def render(facts: ReportFacts, work: Work | None = None) -> str:
    """One self-contained HTML page; the same facts give the same bytes."""
    sizes = facts.class_sizes
    return page(
        "report.html.j2",
        facts=facts,
        pictures=_pictures(facts, work or Work()),
        audit=audit_shown(facts.findings, facts.skipped_attacks),
        sections=_sections(facts),
        most_steps=MOST,
        part=sentences.suppressed_share(facts),
        limit=limit_on_size(facts),
        groups=sum(many for _, many in sizes),
        grouped=sum(size * many for size, many in sizes),
        smallest=sizes[0][0] if sizes else 0,
        largest=sizes[-1][0] if sizes else 0,
    )


def _sections(facts: ReportFacts) -> tuple[tuple[str, str], ...]:
    together = () if facts.session is None else (("session", "Who made it together"),)
    return (*SECTIONS[:-1], *together, SECTIONS[-1])


def limit_on_size(facts: ReportFacts) -> int | None:
    """The largest class size that is promised, if any is."""
    sizes = [claim.claim.parameters.get("k") for claim in facts.claims if claim.claim.model in _BY_SIZE]
    return max((k for k in sizes if isinstance(k, int)), default=None)


def _pictures(facts: ReportFacts, work: Work) -> Pictures:
    drawn = []
    for place, column in enumerate(facts.columns):
        work.advance("report", place, len(facts.columns))
        drawn.append((column, tuple(distributions(column, inside=facts.inside))))
    return Pictures(
        risks=risks(facts.risk_before, facts.risk_after, facts.noun),
        sizes=class_sizes(facts.class_sizes, limit_on_size(facts), facts.noun),
        losses=losses(facts.columns),
        suppression=suppression(sentences.suppressed_share(facts), facts.suppressed_limit),
        columns=tuple((column, pictures) for column, pictures in drawn if pictures),
        trail=() if facts.trail is None else tuple(trail_pictures(facts.trail, _chosen(facts), limit_on_size(facts))),
    )


def _chosen(facts: ReportFacts) -> str:
    return facts.metric or translated("by the metric")
