"""Verification with the catalog and the kinds of this installation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.bundle.linked_manifest import is_linked
from sfumato.bundle.manifest import load
from sfumato.bundle.signatures import Card
from sfumato.bundle.staging import MANIFEST
from sfumato.data.table import Table
from sfumato.ground.errors import BundleError
from sfumato.ground.work import Work
from sfumato.verification.checks import Verification
from sfumato.verification.verifying import Reader, tables_of, verify_bundle
from sfumato.workflow.bundling import Written
from sfumato.workflow.catalog.lookup import catalog
from sfumato.workflow.kinds import kind_stated
from sfumato.workflow.pages import public_page
from sfumato.workflow.plan.plan import Plan
from sfumato.workflow.plan_checks import plan_checks


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
        from sfumato.verification.stream_checks import verify_stream

        if rules is not None:
            raise BundleError(f"{folder}: the batches of a stream hide no rules; leave --rules out")
        return verify_stream(Path(folder), lambda batch: _verified(batch, _page, card))
    if is_linked(Path(folder) / MANIFEST):
        from sfumato.verification.linked_checks import verify_linked

        return verify_linked(Path(folder), lambda bundle: _verified(bundle, _page, card), catalog().model, card)
    found = _verified(Path(folder), _page, card)
    return found if rules is None else _opened(Path(folder), found, Path(rules))


def _opened(folder: Path, found: Verification, path: Path) -> Verification:
    """What was verified, and that the rules of a file are those that are hidden."""
    from sfumato.bundle.rule_commitments import HiddenRules
    from sfumato.verification.sanitized_checks import UNOPENED, opened

    rules = HiddenRules.load(path, where="--rules")
    manifest = load(folder / MANIFEST, sealed=False)
    if manifest["kind"] != "sanitized":
        raise BundleError(f"{folder}: hides no rules (it is of the kind {manifest['kind']}); leave --rules out")
    if not found.holds:
        return found
    more = tuple(opened(manifest, tables_of(folder, manifest)["data"], rules))
    remarks = tuple(one for one in found.remarks if one.what != UNOPENED)
    stated = tuple(one for one in found.stated if not one.path.startswith("hiding/"))
    return replace(found, checks=(*found.checks, *more), remarks=remarks, stated=stated)


def _has_batches(folder: Path) -> bool:
    """Whether a folder holds batches of a stream instead of a bundle."""
    if (folder / MANIFEST).exists() or not folder.is_dir():
        return False
    from sfumato.verification.stream_checks import is_stream

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
    from sfumato.workflow.remaking import made_again

    found = verify(folder, signer=signer)
    manifest = load(Path(folder) / MANIFEST, sealed=False)
    more = tuple(made_again(Path(folder), manifest, plan, original, work or Work()))
    return replace(found, checks=(*found.checks, *more), stated=())


def verify_written(folder: Path, read_back: Written | None, card: Card | None = None) -> Verification:
    """The same for a bundle that was just written, with what was made from its bytes; None: it has no report.

    The files are still those whose bytes were read back: their digests are compared.
    """
    if read_back is None:
        return _verified(folder, None, card)
    return _verified(folder, lambda *_: read_back.page, card, lambda *_: read_back.tables)


def _verified(folder: Path, page: Any, card: Card | None, tables: Any = tables_of) -> Verification:
    catalog()
    return verify_bundle(
        folder,
        Reader(
            checks=lambda manifest: kind_stated(manifest).checks, plan=plan_checks, page=page, tables=tables, card=card
        ),
    )


def _page(manifest: Mapping[str, Any], tables: Mapping[str, Table]) -> str:
    return public_page(kind_stated(manifest), manifest, tables, Work())
