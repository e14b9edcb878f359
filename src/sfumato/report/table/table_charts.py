"""The report's pictures: static SVG, coloured by the page, each with its words for those who cannot see it."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.attacks.identity.risk import Risk
from sfumato.report.base.bins import Distribution, Histogram, histogram, joined, size_bins, top
from sfumato.report.base.drawing import Row, bars, columns
from sfumato.report.base.figures import count, label, number, share
from sfumato.report.base.language import said
from sfumato.report.base.picture import Picture
from sfumato.report.base.sentences import counted
from sfumato.report.base.shapes import AFTER, ALARM, BEFORE, TRACK
from sfumato.report.base.value_bars import changed, heads
from sfumato.report.table.table_facts import ColumnFacts

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
    found = size_bins(sizes, limit)
    if not found:
        return None
    most = max(each.classes for each in found)
    rows = []
    for each in found:
        if limit and each.low == limit > 1:
            rows.append(Row(label=said("limit {limit}", limit=count(limit)), rule=True, figures=("", "")))
        tone = ALARM if limit and each.low < limit else AFTER
        figures = (count(each.classes), count(each.rows))
        rows.append(
            Row(label=each.label, front=each.classes / most, figures=figures, tone=tone, quiet=not each.classes)
        )
    told = "; ".join(
        f"{each.label} {noun}: {counted(each.classes, said('group'), said('groups'))}" for each in found if each.classes
    )
    return Picture(
        svg=bars(rows, heads=(said("groups"), noun), back=TRACK), words=said("Groups by size. {told}.", told=told)
    )


def risks(before: Risk | None, after: Risk, noun: str = "rows") -> Picture:
    """The five risks, before (where that may be told) and after."""
    rows, told = [], []
    for field, called in RISKS:
        name, new = said(called, noun=noun), getattr(after, field)
        if before is None:
            rows.append(Row(label=name, back=1, front=new, figures=(share(new),)))
            told.append(f"{name} {share(new)}")
        else:
            old = getattr(before, field)
            rows.append(Row(label=name, back=old, front=new, figures=(share(old), share(new))))
            told.append(changed(name, share(old), share(new)))
    known, words = before is not None, said("Re-identification risks. {told}.", told="; ".join(told))
    shown = bars(rows, heads=heads(said("after"), inside=known), back=BEFORE if known else TRACK)
    return Picture(svg=shown, words=words)


def losses(found: Sequence[ColumnFacts]) -> Picture | None:
    """What each column lost, the largest first, on a scale from 0 to 100 %."""
    known = [(label(column.name), column.loss) for column in found if column.loss is not None]
    if not known:
        return None
    known.sort(key=lambda pair: -pair[1])
    rows = [Row(label=name, back=1, front=loss, figures=(share(loss),)) for name, loss in known]
    told = "; ".join(f"{name} {share(loss)}" for name, loss in known)
    return Picture(
        svg=bars(rows, heads=(said("lost"),), back=TRACK), words=said("Information lost per column. {told}.", told=told)
    )


def suppression(part: float, limit: float) -> Picture | None:
    """The suppressed share beside the share that was allowed; none where neither is above 0."""
    most = max(part, limit)
    if most <= 0:
        return None
    rows = [
        Row(label=said("suppressed"), front=part / most, figures=(share(part),), tone=ALARM if part > limit else AFTER),
        Row(label=said("allowed"), back=limit / most, figures=(share(limit),), quiet=True),
    ]
    words = said("Suppressed rows: {part}; allowed: {limit}.", part=share(part), limit=share(limit))
    return Picture(svg=bars(rows, heads=(said("of all rows"),)), words=words)


def distributions(column: ColumnFacts, *, inside: bool) -> list[Picture]:
    """A column before and after: on the same rows where the labels are the same, otherwise one above the other.

    Original values under labels of their own are drawn in an inside report only, whatever was handed in.
    """
    if column.same_labels and column.before and column.after:
        return [_paired(column)]
    shown = []
    if column.before and (inside or column.same_labels):
        found = histogram(column.before)
        shown.append(_columns(column, found) if found else _single(column.before, "before"))
    if column.after:
        shown.append(_single(column.after, "after"))
    return shown


def _paired(column: ColumnFacts) -> Picture:
    parts = top(joined(column.before, column.after))
    most = max([1, *(max(old, new) for _, old, new in parts)])
    rows = [
        Row(label=name, back=old / most, front=new / most, figures=(count(old), count(new))) for name, old, new in parts
    ]
    told = "; ".join(changed(name, count(old), count(new)) for name, old, new in parts)
    return Picture(svg=bars(rows, heads=(said("before"), said("after"))), words=f"{label(column.name)}: {told}.")


def _single(parts: Distribution, when: str) -> Picture:
    found = top([(name, rows, 0) for name, rows in parts])
    most = max([1, *(rows for _, rows, _ in found)])
    old = when == "before"
    lengths = [(each / most, 0.0) if old else (0.0, each / most) for _, each, _ in found]
    rows = [
        Row(label=name, back=back, front=front, figures=(count(each),))
        for (name, each, _), (back, front) in zip(found, lengths, strict=True)
    ]
    told = "; ".join(f"{name} {count(each)}" for name, each, _ in found)
    return Picture(svg=bars(rows, heads=(said("rows"),)), words=f"{said(when)}: {told}.", caption=said(when))


def _columns(column: ColumnFacts, found: Histogram) -> Picture:
    high = found.start + found.step * len(found.counts)
    low, step = number(found.start), number(found.step)
    apart = said(", {n} rows without a number", n=count(found.apart)) if found.apart else ""
    counts = ", ".join(map(count, found.counts))
    told = said("{column} before: {low} to {high} in steps of {step}: {counts}", column=label(column.name), low=low,
                high=number(high), step=step, counts=counts)  # fmt: skip
    svg = columns(found.counts, low=low, high=number(high))
    return Picture(svg=svg, words=f"{told}{apart}.", caption=said("before, in steps of {step}", step=step) + apart)
