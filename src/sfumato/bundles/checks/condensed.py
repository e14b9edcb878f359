"""Verifies a condensed release, and the chain of all batches of a stream."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.bundles.checks.cells import missing_fits, near_unique_remarks
from sfumato.bundles.checks.consistency import algorithm_fits, attacks_fit, marks_fit
from sfumato.bundles.columns import Published
from sfumato.bundles.files import MANIFEST
from sfumato.bundles.manifest.document import load, plain
from sfumato.bundles.manifest.sections import CONDENSED_EPOCH, CONDENSED_KEY, CONDENSED_MODEL
from sfumato.bundles.provenance import Check, Remark, Verification, same
from sfumato.bundles.verify import DATA
from sfumato.core.claims import Claim
from sfumato.core.errors import BundleError, listed
from sfumato.tables.schema import Role
from sfumato.tables.table import Table, as_reals

# Verifying a condensed release: what its bytes show of groups of at least k, and what only the steward can see.
#
# Drawn records do not say which group they were drawn from. From the bytes follow their number, their form, declared
# bounds, and that the stated sizes of groups are at least k and make up as many records. That the records come from
# such groups of the original shows only beside the original: ``moments_fit`` compares means and products with what the
# groups give. Means and spreads of groups are repeated in every record of a group, so there groups are counted from
# the bytes.


SYNTHETIC = (
    "the records are synthetic: the claim is about the groups that they were drawn from, and no privacy model was "
    "verified on the records themselves"
)
UNCERTAIN = (
    "the records show means and spreads of groups: whoever knows all but one record of a group can work out the last"
)
"""The warning of every such release, by its output."""
STREAMED = (
    "a batch of a stream: it tells to within a batch when a record came, and somebody who sent several records is in "
    "several groups; the claim is about records"
)
"""The warning of every batch of a stream."""
FEW = 10
"""Groups of fewer records are small: docs/theory/condensation.md has the AUC of the nearest row for several k."""
SMALL = (
    "groups of {n} records are small: an attacker who knows a record can often tell by the nearest released row "
    "whether it was in the table; groups of 10 or more hide that better"
)
"""The warning of a release from small groups."""
SIGMAS = 8.0
"""Means and products differ where they are more standard deviations apart than this: of a thousand million honest
releases fewer than one does, by the normal law."""
_OPTIONS = {"groups": "mdav", "output": "rows", "variance": 1.0, "copies": 1, "per_class": False}
"""The options that a manifest repeats, with what stands where the plan says nothing."""


def warning(output: str) -> str:
    """What every reader must know about a release."""
    return UNCERTAIN if output == "distributions" else SYNTHETIC


def small_groups(k: int) -> list[str]:
    """The warning of a release from groups that are too small to hide who was in the table."""
    return [SMALL.format(n=k)] if k < FEW else []


def groups_claim(k: int, sizes: Iterable[tuple[int, int]]) -> Claim:
    """The claim about groups, from sizes with how many groups have each."""
    sorted_sizes = sorted(sizes)
    least = float(sorted_sizes[0][0]) if sorted_sizes else 0.0
    return Claim(
        model=CONDENSED_MODEL,
        parameters={"k": k},
        holds=least >= k,
        sense="at least",
        limit=float(k),
        reading="strict",
        as_value=least,
        as_wildcard=least,
        classes_failing=sum(many for size, many in sorted_sizes if size < k),
        note="groups of records of the original; not of released rows",
    )


def condensed_checks(
    folder: Path, manifest: Mapping[str, Any], tables: Mapping[str, Table]
) -> Iterable[Check | Remark]:
    """The checks of a condensed release."""
    table, data, stated = tables[DATA], manifest["data"], manifest["recoding"]
    published = Published.from_json(data)
    dealt = [name for name, how in stated["columns"].items() if how == "dealt"]
    roles = {name: role for name, role in published.schema.roles.items() if name in dealt}
    rare = list(near_unique_remarks(manifest, table, roles))
    yield from rare
    small = [
        mark
        for mark in small_groups(int(manifest["plan"]["privacy"].get(CONDENSED_KEY, FEW)))
        if mark in manifest["marks"]
    ]
    due = [
        warning(stated["output"]),
        *small,
        *([STREAMED] if "stream" in manifest else []),
        *(remark.detail for remark in rare),
    ]
    yield marks_fit(manifest, due, Check)
    yield algorithm_fits(manifest, Check)
    yield from _options(manifest)
    yield from _columns(manifest, published)
    yield from _cells(manifest, table)
    yield from missing_fits(manifest, [(table, dealt)])
    yield from _groups(manifest, table)
    yield from attacks_fit(manifest)


def batch_checks(manifest: Mapping[str, Any]) -> Iterable[Check]:
    """The first batch of a stream follows none, every other one does; drawn rows are all that a batch shows."""
    stream = manifest["stream"]
    yield same("batch before this one", stream["before"] is None, stream["batch"] == 1)
    yield same("output of a batch", manifest["recoding"]["output"], "rows")


def _options(manifest: Mapping[str, Any]) -> Iterable[Check]:
    """What is stated about the condensation is what the plan asks for."""
    options, stated = manifest["plan"]["algorithm"], manifest["recoding"]
    for name, default in _OPTIONS.items():
        yield same(f"{name} of the condensation", stated[name], options.get(name, default))
    bounds = {name: list(map(float, ends)) for name, ends in options.get("bounds", {}).items()}
    yield same("declared bounds", {name: list(map(float, ends)) for name, ends in stated["bounds"].items()}, bounds)


def _columns(manifest: Mapping[str, Any], published: Published) -> Iterable[Check]:
    """Every published column of the plan is there under its role, treated in one of the ways that the output has."""
    stated = manifest["recoding"]["columns"]
    drawn = {"rows": {"drawn", "dealt"}, "distributions": {"mean", "spread", "dealt"}}[manifest["recoding"]["output"]]
    planned = manifest["plan"]["columns"]
    hidden = (Role.IDENTIFIER, Role.DROP, Role.UNIT)
    roles = {c.name: str(c.role) for c in published.columns if stated.get(c.name) != "spread"}
    yield same("roles of the columns", roles, {n: s["role"] for n, s in planned.items() if s["role"] not in hidden})
    yield same("treated columns", list(stated), [column.name for column in published.columns])
    strange = [name for name, how in stated.items() if how not in drawn]
    words = {c.name for c in published.columns if c.kind == "text"}
    strange += [name for name, how in stated.items() if (how == "dealt") != (name in words)]
    yield same("columns that are not treated so", strange, [])
    yield same("columns of numbers", any(how != "dealt" for how in stated.values()), True)


def _cells(manifest: Mapping[str, Any], table: Table) -> Iterable[Check]:
    """Numbers are numbers of the stated type, and lie within declared bounds."""
    stated, wrong, beyond = manifest["recoding"], [], []
    for column in manifest["data"]["columns"]:
        name = column["name"]
        if stated["columns"].get(name) == "dealt":
            continue
        numbers = read_numbers(table.frame[name], column["type"])
        if numbers is None or (stated["columns"].get(name) == "spread" and bool((numbers < 0).any())):
            wrong.append(name)
        elif name in stated["bounds"] and len(numbers):
            low, high = stated["bounds"][name]
            beyond += [name] * bool(numbers.min() < low or numbers.max() > high)
    yield Check(what="types of the columns", holds=not wrong,
                detail=f"other values in {listed(wrong)}" if wrong else "as stated")  # fmt: skip
    yield same("numbers beyond their bounds", beyond, [])


def read_numbers(cells: pl.Series, kind: str) -> NDArray[np.float64] | None:
    """The numbers of a released column of a type, dates as day numbers; None where one cell is none."""
    if kind == "date":
        days = cells.cast(pl.String).str.to_date("%Y-%m-%d", strict=False)
        values = days.to_physical().cast(pl.Float64) + CONDENSED_EPOCH
    else:
        values = as_reals(cells)
    numbers = values.fill_null(np.nan).to_numpy()
    if not np.isfinite(numbers).all() or (kind == "integer" and bool((numbers != np.rint(numbers)).any())):
        return None
    return np.asarray(numbers, np.float64)


def _groups(manifest: Mapping[str, Any], table: Table) -> Iterable[Check]:
    """The claim is what the plan asks for and follows from the stated sizes, which make up the records there are."""
    stated, k = manifest["recoding"], manifest["plan"]["privacy"].get(CONDENSED_KEY)
    yield same("models that the plan asks for", list(manifest["plan"]["privacy"]), [CONDENSED_KEY])
    sizes = [(int(size), int(many)) for size, many in stated["sizes"]]
    yield same("sizes of groups, each once", len({size for size, _ in sizes}) == len(sizes) > 0, True)
    claim = groups_claim(int(k or 0), sizes)
    alike = plain([claim.to_json()]) == plain(list(manifest["claims"]))
    detail = f"required at least {k}, the smallest group has {int(claim.reached)}"
    yield Check(
        what=f"claim {CONDENSED_MODEL}",
        holds=claim.holds and alike,
        detail=detail + ("" if alike else "; stated otherwise"),
    )
    rows = sum(size * many for size, many in sizes) * int(stated["copies"])
    yield same("records of all groups together", rows, table.rows)
    if stated["output"] == "distributions":
        yield from _counted(manifest, table, int(k or 0), sum(many for _, many in sizes))


def _counted(manifest: Mapping[str, Any], table: Table, k: int, groups: int) -> Iterable[Check]:
    """Records with the same means and spreads, counted: at least k each, and no more groups than stated."""
    names = [name for name, how in manifest["recoding"]["columns"].items() if how != "dealt"]
    group_sizes = table.frame.group_by(names).len("\0rows")["\0rows"]
    least = int(group_sizes.min() or 0)  # type: ignore[arg-type]
    yield Check(what="records with the same means and spreads", holds=least >= k,
                detail=f"{least} at least, required {k}")  # fmt: skip
    yield Check(what="different means and spreads", holds=len(group_sizes) <= groups,
                detail=f"{len(group_sizes)} of at most {groups} groups")  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Expected:
    """What drawn records must have on average, for the steward: in standardized columns."""

    names: Sequence[str]
    """The columns."""
    mean: NDArray[np.float64]
    """Their means."""
    mean_spread: NDArray[np.float64]
    """The standard deviation of the means of so many drawn records."""
    product: NDArray[np.float64]
    """The mean product of every two columns."""
    product_spread: NDArray[np.float64]
    """At least its standard deviation."""
    slack: NDArray[np.float64]
    """By how much rounding may raise it."""


def moments_fit(points: NDArray[np.float64], expected: Expected) -> Iterable[Check]:
    """Whether records have the means and products that the groups give, but for chance: see ``SIGMAS``."""
    away = np.abs(points.mean(axis=0) - expected.mean)
    bad = away > SIGMAS * expected.mean_spread + 1e-9
    wrong = [name for name, is_off in zip(expected.names, bad.tolist(), strict=True) if is_off]
    yield Check(what="means of the groups", holds=not wrong,
                detail=f"others in {listed(wrong)}" if wrong else "those of the original, but for chance")  # fmt: skip
    product = points.T @ points / max(len(points), 1)
    far = np.abs(product - expected.product) > SIGMAS * expected.product_spread + expected.slack + 1e-9
    pairs = [f"{expected.names[i]} and {expected.names[j]}" for i, j in np.argwhere(np.triu(far)).tolist()]
    yield Check(what="products of the groups", holds=not pairs,
                detail=f"others of {pairs[0]}" if pairs else "those of the original, but for chance")  # fmt: skip


def values_kept(name: str, before: pl.Series, after: pl.Series, copies: int) -> Check:
    """Whether a column that was dealt out has the values of the original, each so many times."""
    counts, other = (
        cells.cast(pl.String).alias("value").value_counts().sort("value", nulls_last=True) for cells in (before, after)
    )
    alike = counts["value"].equals(other["value"]) and (counts["count"] * copies).equals(other["count"].cast(pl.UInt32))
    return Check(what=f"values of {name}", holds=alike,
                 detail="those of the original" if alike else "others than in the original")  # fmt: skip


# Verifying all batches of a stream: each by itself, and the chain that they form.
#
# Every manifest names the seal of the manifest before it. So a batch that was exchanged, left out or published again
# with other rows breaks the chain at the next one. Of a stream that goes on nobody can see from its batches whether
# the newest are there; the last batch of one that ended says that it is the last.


_BATCH = re.compile(r"batch-(\d{6,})")
_SAME = ("id", "every", "block")


def is_stream(folder: Path) -> bool:
    """Whether a folder is no bundle, and holds batches of a stream."""
    return folder.is_dir() and not (folder / MANIFEST).exists() and any(map(_number, folder.iterdir()))


def verify_stream(folder: Path, verify: Callable[[Path], Verification]) -> Verification:
    """Verify every batch of a stream with ``verify``, and the chain."""
    batches = sorted((path for path in folder.iterdir() if _number(path)), key=_number)
    strange = sorted(path.name for path in folder.iterdir() if not _number(path))
    verifications: list[Verification] = []
    manifests: list[dict[str, Any]] = []
    for path in batches:
        if path.is_symlink():
            raise BundleError(f"{path} is a link; the batches of a stream are folders")
        verifications.append(verify(path))
        manifests.append(load(path / MANIFEST, sealed=False))
    checks = [
        same("files that do not belong here", strange, []),
        *(verification.as_check(verification.folder) for verification in verifications),
    ]
    checks += _chain(manifests, [_number(path) for path in batches])
    ended = bool(manifests[-1].get("stream", {}).get("last"))
    message = "the stream ended with it" if ended else "whether later ones are missing cannot be seen from here"
    remarks = [Remark(what="last batch", detail=f"{batches[-1].name} is the last one here; {message}")]
    remarks += [remark for verification in verifications for remark in verification.placed_remarks]
    return Verification(
        folder=folder.name, checks=tuple(checks), stated=verifications[-1].stated, remarks=tuple(remarks),
        signature=verifications[-1].signature,
    )  # fmt: skip


def _number(path: Path) -> int:
    """The number of a batch by its name; 0 for everything else."""
    named = _BATCH.fullmatch(path.name)
    return int(named[1]) if named and path.is_dir() else 0


def _chain(manifests: list[dict[str, Any]], numbers: list[int]) -> Iterable[Check]:
    """Numbers without a gap, one stream, one plan, each naming the one before, and no more records than came."""
    strangers = [number for number, manifest in zip(numbers, manifests, strict=True) if "stream" not in manifest]
    yield same("bundles that are no batch of a stream", strangers, [])
    if strangers:
        return
    parts: list[Mapping[str, Any]] = [manifest["stream"] for manifest in manifests]
    yield same("numbers of the batches", [part["batch"] for part in parts], list(range(1, len(parts) + 1)))
    yield same("names of the batches", numbers, [part["batch"] for part in parts])
    seals = [None, *(manifest["sha256"] for manifest in manifests)]
    broken = [number for number, part, seal in zip(numbers, parts, seals, strict=False) if part["before"] != seal]
    detail = f"batch {broken[0]} does not follow the one before it" if broken else "each names the seal before it"
    yield Check(what="chain of the batches", holds=not broken, detail=detail)
    several = [key for key in _SAME if len({str(part[key]) for part in parts}) > 1]
    yield same("what differs between batches of one stream", several, [])
    yield same(
        "one plan for all batches", all(manifest["plan"] == manifests[0]["plan"] for manifest in manifests), True
    )
    early = [number for number, part in zip(numbers[:-1], parts[:-1], strict=True) if part["last"]]
    yield same("batches after the last one", early, [])
    yield from _came(manifests, parts)


def _came(manifests: list[dict[str, Any]], parts: list[Mapping[str, Any]]) -> Iterable[Check]:
    """Records come between batches, and no batch shows more of them than had arrived."""
    n_published, much = 0, []
    for manifest, part in zip(manifests, parts, strict=True):
        stated = manifest["recoding"]
        n_published += sum(int(size) * int(many) for size, many in stated["sizes"]) + int(stated.get("left_out", 0))
        much += [part["batch"]] * (n_published > part["read"])
    yield same("batches that show more records than had arrived", much, [])
    read = [part["read"] for part in parts]
    odd = [part["batch"] for part in parts if not part["last"] and part["read"] % part["every"]]
    yield same("batches that were cut elsewhere than the plan says", odd, [])
    yield same("records that had arrived, batch by batch", read, sorted(set(read)))
