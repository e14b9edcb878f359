"""Condensation as a method: files, manifest, reports and figures."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import floor, log10
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.attacks.finding import Finding
from sfumato.bundles.checks.condensed import condensed_checks, read_numbers
from sfumato.bundles.manifest.sections import CONDENSED_KEY
from sfumato.core.run_context import Work
from sfumato.metrics.information_loss import correlations
from sfumato.pipeline.methods.condensed import release, stages
from sfumato.pipeline.methods.condensed.release import CondensedRelease, DrawnRelease
from sfumato.pipeline.methods.method import Method, Summary, refused, warned
from sfumato.pipeline.methods.supports import Supports
from sfumato.pipeline.release import unwritten, versions
from sfumato.reports.condensed import ColumnShown, CondensedFacts, PairShown, render
from sfumato.reports.language import count, figured, translated
from sfumato.tables.table import Table

# What the pages of a condensed release count: values of every column and correlations, of one table or of two.


Numbers = Mapping[str, NDArray[np.float64]]
_STEPS = 14
"""At most about so many bars for a column of numbers."""
_PAIRS = 30
"""At most so many pairs of columns, those that go together most."""


def number_bars(name: str, after: NDArray[np.float64], before: NDArray[np.float64] | None) -> ColumnShown:
    """Numbers counted in steps of 1, 2 or 5 times a power of ten."""
    both = after if before is None else np.concatenate([after, before])
    low, high = float(both.min(initial=0.0 if not len(both) else np.inf)), float(both.max(initial=-np.inf))
    step = _step((high - low) / _STEPS)
    start = floor(low / step)
    many = max(floor(high / step) - start + 1, 1)

    def counted(numbers: NDArray[np.float64]) -> list[int]:
        places = (np.floor(numbers / step) - start).astype(np.int64).clip(0, many - 1)
        return [int(each) for each in np.bincount(places, minlength=many)]

    after_counts = counted(after)
    were = [None] * many if before is None else counted(before)
    ends = [figured(f"{(start + place) * step:.10g}") for place in range(many + 1)]
    labels = [translated("{low} to {high}", low=low, high=high) for low, high in pairwise(ends)]
    return ColumnShown(name=name, parts=tuple(zip(labels, were, after_counts, strict=True)))


def word_bars(name: str, after: pl.Series, before: pl.Series | None) -> ColumnShown:
    """Rows per word, the most frequent first."""
    counts = _counted(after)
    were = None if before is None else dict(_counted(before))
    names = dict.fromkeys([*(value for value, _ in counts), *(were or {})])
    now = dict(counts)
    parts = tuple((value, None if were is None else were.get(value, 0), now.get(value, 0)) for value in names)
    return ColumnShown(name=name, parts=parts)


def pairs(after: Numbers, before: Numbers | None) -> tuple[PairShown, ...]:
    """The correlations of columns of numbers, strongest first."""
    names = list(after)
    now = correlations(np.stack([after[name] for name in names], axis=1))
    was = None if before is None else correlations(np.stack([before[name] for name in names], axis=1))
    all_pairs = [
        PairShown(
            first=names[i], second=names[j], before=None if was is None else float(was[i, j]), after=float(now[i, j])
        )
        for i in range(len(names))
        for j in range(i + 1, len(names))
    ]
    return tuple(sorted(all_pairs, key=lambda pair: -max(abs(pair.after), abs(pair.before or 0.0)))[:_PAIRS])


def _counted(cells: pl.Series) -> list[tuple[str, int]]:
    texts = cells.cast(pl.String).fill_null("").alias("value")
    counts = texts.value_counts().sort("count", "value", descending=[True, False])
    return [(str(value), int(many)) for value, many in counts.iter_rows()]


def _step(width: float) -> float:
    if not width > 0:
        return 1.0
    unit = 10.0 ** floor(log10(width))
    return next(lead * unit for lead in (1, 2, 5, 10) if lead * unit >= width * (1 - 1e-9))


# From a condensed release to its files, manifest, reports and summary.


Original = tuple[Mapping[str, NDArray[np.float64]], Mapping[str, pl.Series]]
"""For the steward: the numbers and the words of the original, by column."""


def manifest(release: DrawnRelease, files: Mapping[str, str]) -> dict[str, Any]:
    """What is stated: how records were drawn and how large groups were, and no statistic of any group."""
    condense = release.condense
    return {
        "claims": [claim.to_json() for claim in release.claims],
        "recoding": {
            "algorithm": release.algorithm,
            "why": release.why,
            "groups": condense.groups,
            "output": condense.output,
            "variance": float(condense.variance),
            "copies": condense.copies,
            "per_class": condense.per_class,
            "bounds": {name: [float(end) for end in ends] for name, ends in condense.bounds.items()},
            "columns": release.treated,
            "sizes": [list(pair) for pair in release.sizes],
            **({"left_out": release.left_out} if release.left_out else {}),
        },
        **release.beside,
        **release.audit.stated(),
        "versions": versions("numpy", "polars"),
    }


def promises(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What groups of records promise, and what they leave open."""
    k = count(manifest["claims"][0]["limit"])
    return [
        (
            translated("Every figure was worked out from a group of at least {k} records.", k=k),
            translated("Where all records of a group agree, what is published of it agrees too."),
        )
    ]


def public_page(manifest: Mapping[str, Any], tables: Mapping[str, Table], work: Work) -> str:
    """The report as one HTML page: a function of the manifest and the rows."""
    return render(_facts(manifest, tables["data"].frame, None), work)


def inside_page(release: CondensedRelease, work: Work) -> str:
    """The steward's own report: every column and every correlation before and after."""
    body, tables = unwritten(release)
    prepared = release.prepared
    numbers = {
        number_column.name: column
        for number_column, column in zip(prepared.condensed, prepared.problem.numbers.T, strict=True)
    }
    original = numbers, {name: prepared.cells(name) for name in prepared.dealt}
    return render(_facts(body, tables["data"].frame, original, release.utility["covariance compatibility"]), work)


def _facts(
    manifest: Mapping[str, Any], rows: pl.DataFrame, original: Original | None, compatible: float | None = None
) -> CondensedFacts:
    stated = manifest["recoding"]
    kinds = {column["name"]: column["type"] for column in manifest["data"]["columns"]}
    drawn = {
        name: _read(rows[name], kinds[name]) for name, how in stated["columns"].items() if how in ("drawn", "mean")
    }
    columns: list[ColumnShown] = []
    for name, how in stated["columns"].items():
        if name in drawn:
            columns.append(number_bars(name, drawn[name], None if original is None else original[0][name]))
        elif how == "dealt" and not rows[name].dtype.is_nested() and rows[name].dtype != pl.Binary:
            columns.append(word_bars(name, rows[name], None if original is None else original[1][name]))
    sizes = [(int(size), int(many)) for size, many in stated["sizes"]]
    return CondensedFacts(
        made=str(manifest["made"]),
        version=str(manifest["sfumato"]),
        inside=original is not None,
        rows=rows.height,
        k=int(manifest["plan"]["privacy"][CONDENSED_KEY]),
        groups=sum(many for _, many in sizes),
        smallest=min(size for size, _ in sizes),
        largest=max(size for size, _ in sizes),
        grouping=str(stated["groups"]),
        output=str(stated["output"]),
        variance=float(stated["variance"]),
        copies=int(stated["copies"]),
        per_class=bool(stated["per_class"]),
        bounds=tuple((name, float(low), float(high)) for name, (low, high) in stated["bounds"].items()),
        left_out=int(stated.get("left_out", 0)),
        batch=int(manifest["stream"]["batch"]) if "stream" in manifest else None,
        last=bool(manifest.get("stream", {}).get("last", False)),
        treated=tuple((name, str(how)) for name, how in stated["columns"].items()),
        marks=tuple(manifest["marks"]),
        columns=tuple(columns),
        pairs=pairs(drawn, None if original is None else original[0]),
        compatible=compatible,
        findings=tuple(map(Finding.from_json, manifest["attacks"])),
        skipped=dict(manifest["attacks_not_made"]),
    )


def _read(cells: pl.Series, kind: str) -> NDArray[np.float64]:
    """Released numbers; none where a cell is not one, which verification refuses."""
    numbers = read_numbers(cells, kind)
    return np.zeros(0) if numbers is None else numbers


def summary(release: CondensedRelease) -> Summary:
    """What was drawn from how many groups, how well covariances are kept, and how attacks went."""
    condense, sizes = release.condense, release.sizes
    many, least = sum(count for _, count in sizes), sizes[0][0]
    what = "drawn records" if condense.output == "rows" else "records with means and spreads"
    findings = [finding for finding in release.audit.findings if finding.rate.carried_out]
    risks = tuple(
        f"{finding.attack}: works in {finding.rate.value:.1%} of {finding.rate.trials:,} trials, "
        f"{finding.baseline.value:.1%} without "
        "the release."
        for finding in findings
    )
    compatible = release.utility["covariance compatibility"]
    return Summary(
        lines=(
            f"Condensed: {release.rows.height:,} {what} from {many:,} groups of at least {least:,} (asked: "
            f"{condense.k}).",
        ),
        heads=("column", "how"),
        cells=tuple(release.treated.items()),
        after=(f"Covariance compatibility {compatible:.4f}.", *risks, *warned(release.marks)),
        changes=(("rows", release.prepared.source.rows, release.rows.height), ("smallest group", 1, least)),
    )


def figures(release: CondensedRelease) -> dict[str, Any]:
    """What was made, for programs."""
    return {
        "rows": release.rows.height,
        "algorithm": release.algorithm,
        "claims": [claim.to_json() for claim in release.claims],
        "groups": sum(many for _, many in release.sizes),
        "smallest_group": release.sizes[0][0],
        "columns": release.treated,
        "utility": dict(release.utility),
        "attacks": release.audit.to_json(),
    }


# Records drawn from groups of at least k as a kind of release.


METHOD = Method(
    name="condensed",
    attacks="condensed",
    supports=Supports(title="a condensed release", models=(CONDENSED_KEY,), control=True, group=False),
    check=release.check,
    read=stages.read,
    prepare=stages.prepare,
    notes=stages.notes,
    search=stages.search,
    recode=stages.recode,
    judge=stages.judge,
    attack=stages.attack,
    manifest=manifest,
    checks=condensed_checks,
    again=stages.again,
    subject=stages.bundle_subject,
    public_page=public_page,
    done=lambda manifest: translated(
        "The released rows were drawn from averages and spreads of groups of records: none is a person's own row."
    ),
    promises=promises,
    inside_page=inside_page,
    summary=summary,
    figures=figures,
    comparison=refused(
        "algorithm.name: a frontier compares losses of labels, and condense draws new records; make releases one by one"
    ),
)
