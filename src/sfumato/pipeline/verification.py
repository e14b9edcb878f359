"""Verifies bundles from their bytes, and for the steward by making them again from the original and the plan.

Of a bundle that is made again, rows and figures must be the same; only chance may differ. Rows come in another order,
numbers that tell people apart are drawn anew, and attacks pick other people. An attack differs where the two rates are
more than five standard deviations and a fiftieth apart: of a million honest ones, fewer than one does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import sqrt
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.bundles.files import MANIFEST, part_files
from sfumato.bundles.manifest.document import load
from sfumato.bundles.manifest.linked import is_linked
from sfumato.bundles.provenance import Check, Verification, leaves, rounded, same
from sfumato.bundles.signatures import Card
from sfumato.bundles.verify import DATA, Reader, tables_of, verify_bundle
from sfumato.core.errors import BundleError, ClaimRefuted
from sfumato.core.run_context import Work
from sfumato.core.scratch import temporary
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.methods import checks_stated, method_stated
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.plan_checks import plan_checks
from sfumato.pipeline.release import Form, in_form, public_page, release, write_data
from sfumato.tables.schema import Role

_OTHER_DAY = (
    "made",
    "sfumato",
    "versions",
    "sha256",
    "report",
    "data/sha256",
    "data/parts",
    "data/apart/sha256",
    "paid",
)
"""What a release states that is made on another day, by another version, or with its rows in another order."""
_AUDIT = ("attacks", "attacks_not_made")
_SPREAD, _APART = 5.0, 0.02


# Verification with the catalog and the kinds of this installation.


def verify(
    folder: str | Path, *, signer: Card | str | Path | None = None, rules: str | Path | None = None
) -> Verification:
    """Re-read a bundle's files, check every claim and make the report again; a broken plugin is no fault of a bundle.

    ``signer`` is the card of whoever must have signed the bundle. A folder of batches is verified with all of them,
    and so is one of linked tables.
    ``rules`` is the file of the rules that a sanitized
    release hides: the commitments are opened, and the rules are looked for in the written records.
    """
    card = signer if signer is None or isinstance(signer, Card) else Card.load(Path(signer))
    if _has_batches(Path(folder)):
        from sfumato.bundles.checks.condensed import verify_stream

        if rules is not None:
            raise BundleError(f"{folder}: the batches of a stream hide no rules; leave --rules out")
        return verify_stream(Path(folder), lambda batch: _verified(batch, card))
    if is_linked(Path(folder) / MANIFEST):
        from sfumato.bundles.checks.linked import verify_linked

        return verify_linked(Path(folder), lambda bundle: _verified(bundle, card), catalog().model, card)
    verification = _verified(Path(folder), card)
    return verification if rules is None else _opened(Path(folder), verification, Path(rules))


def _opened(folder: Path, verification: Verification, path: Path) -> Verification:
    """What was verified, and that the rules of a file are those that are hidden."""
    from sfumato.bundles.checks.sanitized import UNOPENED, HiddenRules, opened

    rules = HiddenRules.load(path, where="--rules")
    manifest = load(folder / MANIFEST, sealed=False)
    if manifest["kind"] != "sanitized":
        raise BundleError(f"{folder}: hides no rules (it is of the kind {manifest['kind']}); leave --rules out")
    if not verification.holds:
        return verification
    more = tuple(opened(manifest, tables_of(folder, manifest)["data"], rules))
    remarks = tuple(remark for remark in verification.remarks if remark.what != UNOPENED)
    stated = tuple(origin for origin in verification.stated if not origin.path.startswith("hiding/"))
    return replace(verification, checks=(*verification.checks, *more), remarks=remarks, stated=stated)


def _has_batches(folder: Path) -> bool:
    """Whether a folder holds batches of a stream instead of a bundle."""
    if (folder / MANIFEST).exists() or not folder.is_dir():
        return False
    from sfumato.bundles.checks.condensed import is_stream

    return is_stream(folder)


def verify_again(
    folder: str | Path,
    *,
    plan: Plan,
    original: object = None,
    signer: Card | str | Path | None = None,
    work: Work | None = None,
) -> Verification:
    """Verify a bundle and make it again from the original and the plan; for the steward, who has both."""
    verification = verify(folder, signer=signer)
    manifest = load(Path(folder) / MANIFEST, sealed=False)
    more = tuple(made_again(Path(folder), manifest, plan, original, work or Work()))
    return replace(verification, checks=(*verification.checks, *more), stated=())


def _verified(folder: Path, card: Card | None) -> Verification:
    catalog()  # a broken plugin is no fault of the bundle
    reader = Reader(
        checks=checks_stated,
        plan=plan_checks,
        page=lambda manifest, tables: public_page(method_stated(manifest), manifest, tables, Work()),
        tables=tables_of,
        card=card,
    )
    return verify_bundle(folder, reader)


def report_of(folder: Path, *, language: str | None = None, form: Form = "html") -> str:
    """The report of a bundle that verifies, made again from its bytes; in another language where one is asked for."""
    if (wrong := verify(folder).wrong) is not None:
        raise ClaimRefuted(f"{folder}: {wrong.what} does not hold ({wrong.detail}); no report is made of it")
    manifest = load(folder / MANIFEST)
    if language is not None:
        plan = manifest.get("plan", {})
        manifest["plan"] = {**plan, "about": {**plan.get("about", {}), "language": language}}
    page = public_page(method_stated(manifest), manifest, tables_of(folder, manifest), Work())
    return in_form(page, form)


# What a release is when it is made again.


def made_again(folder: Path, manifest: Mapping[str, Any], plan: Plan, original: object, work: Work) -> Iterable[Check]:
    """The plan is the one that the manifest states, and with the original it gives what the bundle states."""
    yield _differing("plan of the steward", plan.public(), manifest["plan"])
    yield from (method_stated(manifest).again or same_release)(folder, manifest, plan, original, work)


def same_release(
    folder: Path, manifest: Mapping[str, Any], plan: Plan, original: object, work: Work
) -> Iterable[Check]:
    """A release that is made again has the same rows and states the same."""
    new_release = release(plan, original, work=work)
    with temporary("verify") as place:
        body = write_data(new_release, place)
        if "parts" in body["data"] and "parts" in manifest["data"]:
            yield _same_parts((place, body), (folder, manifest))
            now = then = dict[str, pl.DataFrame]()
        else:
            now, then = _frames(place, body), _frames(folder, manifest)
    yield same("files of the release", sorted(now), sorted(then))
    for stem in sorted({*now} & {*then}):
        mine, theirs = (_comparable(rows, manifest) for rows in (now[stem], then[stem]))
        detail = f"{theirs.height:,} rows, as the original gives them"
        alike = mine.columns == theirs.columns and mine.equals(theirs)
        if not alike:
            detail = "the original and the plan give other rows"
        yield Check(what=f"rows of {stem}", holds=alike, detail=detail)
    yield _differing("what is stated about the release", _lasting(body), _lasting(manifest))
    yield from _audits(body, manifest)


def _same_parts(*bundles: tuple[Path, Mapping[str, Any]]) -> Check:
    """Whether two releases in many files have the same rows, in any order; DuckDB counts them in bounded memory."""
    from sfumato.bundles.part_counts import uneven_rows

    (mine, body), (folder, manifest) = bundles
    apart = uneven_rows(part_files(mine, body["data"]), part_files(folder, manifest["data"]), manifest["data"])
    rows = manifest["data"]["rows"]
    detail = "the original and the plan give other rows" if apart else f"{rows:,} rows, as the original gives them"
    return Check(what=f"rows of {DATA}", holds=not apart, detail=detail)


def _frames(folder: Path, manifest: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """The rows of a bundle's tables; those of many parts are brought together, as one bundle lies beside the other."""
    if "parts" in manifest["data"]:
        return {DATA: pl.concat([pl.read_parquet(path, glob=False) for path in part_files(folder, manifest["data"])])}
    return {stem: table.frame for stem, table in tables_of(folder, manifest).items()}


def _comparable(rows: pl.DataFrame, manifest: Mapping[str, Any]) -> pl.DataFrame:
    """Rows as sorted texts; numbers that are drawn at random are replaced by what they hold together, or left out."""
    missing = next(iter(manifest["data"].get("missing", ())), "")
    cells = [
        pl.col(name).list.join("|") if isinstance(kind, pl.List) else pl.col(name).cast(pl.String)
        for name, kind in rows.schema.items()
    ]
    texts = rows.select(cells).fill_null(missing)
    apart = manifest["data"].get("apart")
    unit = next((column["name"] for column in manifest["data"]["columns"] if column["role"] == Role.UNIT), None)
    if apart is not None:
        texts = texts.drop(apart["group"])
        if apart["column"] in texts.columns:
            texts = texts.group_by(apart["column"]).agg(pl.all().cast(pl.Int64).sum())
    elif unit is not None:
        others = [name for name in texts.columns if name != unit]
        whole = pl.concat_str(others, separator="\x1f").sort().str.join("\x1e").over(unit)
        texts = texts.with_columns(whole.alias(unit))
    return texts.sort(texts.columns)


def _lasting(body: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest states, path by path, but for what differs from day to day and what attacks found."""
    left_out = (*_OTHER_DAY, *_AUDIT)
    return {
        path: value
        for path, value in leaves(body)
        if not any(path == name or path.startswith(f"{name}/") for name in left_out)
    }


def _differing(what: str, rebuilt_tree: Any, stated_tree: Any) -> Check:
    mine, theirs = (dict(leaves(tree)) for tree in (rebuilt_tree, stated_tree))
    apart = [path for path in {**mine, **theirs} if rounded(mine.get(path)) != rounded(theirs.get(path))]
    if not apart:
        return Check(what=what, holds=True, detail=f"{len(theirs)} values, all the same")
    path = apart[0]
    detail = f"{path or 'it'} is {mine.get(path, 'nothing')!r}, and the bundle states {theirs.get(path, 'nothing')!r}"
    more = f"; {len(apart) - 1} more differ" if len(apart) > 1 else ""
    return Check(what=what, holds=False, detail=detail[:400] + more)


def _audits(body: Mapping[str, Any], manifest: Mapping[str, Any]) -> Iterable[Check]:
    """The same attacks were made or not made, with rates that only chance sets apart."""
    now, then = ({attack["attack"]: attack for attack in each["attacks"]} for each in (body, manifest))
    yield same(
        "attacks of the release",
        sorted({*then, *manifest["attacks_not_made"]}),
        sorted({*now, *body["attacks_not_made"]}),
    )
    wrong = [name for name in then if name in now and _far(now[name], then[name])]
    left_out = manifest["attacks_not_made"]
    wrong += [name for name in now if name in left_out and not left_out[name].startswith("the time")]
    detail = f"other rates: {', '.join(wrong)}" if wrong else f"{len(then)} attacks, each as often right as stated"
    yield Check(what="rates of the attacks", holds=not wrong, detail=detail)


def _far(attack: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if any(attack[key] != other[key] for key in ("threat", "knows", "does", "limit")):
        return True
    for run in ("target", "naive"):
        here, there = attack[run]["rate"], other[run]["rate"]
        if here is None or there is None:
            if here != there:
                return True
            continue
        mean = (here + there) / 2
        spread = sqrt(mean * (1 - mean) * sum(1 / max(each[run]["trials"], 1) for each in (attack, other)))
        if abs(here - there) > _SPREAD * spread + _APART:
            return True
    return False
