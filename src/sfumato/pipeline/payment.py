"""Which ledger pays, and whether it still holds what bundles say it paid for: an old copy of it does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sfumato.bundles.files import MANIFEST, sealed_manifest
from sfumato.core.errors import BundleError, LedgerError, ParameterError, PlanError
from sfumato.dp.accounting import Unit
from sfumato.dp.chain import Head
from sfumato.dp.ledger import Ledger
from sfumato.dp.ledger_file import Account
from sfumato.pipeline.plan.plan import Plan

MOST_FOLDERS = 1000
"""So many folders beside the known bundles are looked into."""


def opened(ledger: Ledger | str | Path) -> Ledger:
    """A ledger that holds every event that the bundles cite which it knows, and those beside them."""
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    refuse_rolled_back(book, [folder for folder, _ in citing(book)])
    return book


def granted(
    place: Path,
    limit: Any,
    *,
    analyst: str | None = None,
    unit: Unit | None = None,
    delta: Any = None,
    witness: Path | None = None,
) -> Account:
    """Set what an analyst may spend, or without one everybody together; a ledger that does not exist yet is made."""
    if place.exists():
        if unit is not None:
            raise ParameterError(f"--unit is chosen when a ledger is made; {place} exists already")
        if witness is not None:
            raise ParameterError(f"{place} exists already; name a witness with `sfumato budget witness {place} FILE`")
        book = opened(place)
        if delta is not None and analyst is not None:
            raise ParameterError("--delta is granted to everybody together; leave --analyst out")
        given = book.grant(analyst, limit)
    elif analyst is not None:
        raise ParameterError(f"{place} does not exist; first grant a limit for everybody together, without --analyst")
    else:
        book = Ledger.create(place, total=limit, unit=unit or "epsilon")
        given = book.accounts()[0]
        if witness is not None:
            book.watch(witness)
    if delta is not None:
        book.grant_delta(delta)
    return given


def pinned(plan: Plan, named: Ledger | str | Path | None = None) -> Ledger | None:
    """The ledger that the plan names, or where it names none the one that was named beside it; None without both.

    A plan pins its ledger: naming another one is refused, also a copy, for charges would go past the steward's.
    """
    if "ledger" not in plan.privacy:
        return None if named is None else opened(named)
    place = plan.folder / str(plan.privacy["ledger"])
    if named is not None:
        other = named.path if isinstance(named, Ledger) else Path(named)
        if not other.exists() or not place.exists() or not other.samefile(place):
            raise PlanError(f"privacy.ledger: the plan pays from {place} and from no other ledger; leave {other} out")
    return opened(named if isinstance(named, Ledger) else place)


def payer(plan: Plan, named: str | None = None, default: str | None = None) -> str:
    """Who pays: whoever was named, or the plan's analyst."""
    analyst = named if named is not None else plan.privacy.get("analyst", default)
    if analyst is None:
        raise PlanError("privacy.analyst is missing; name who pays in the plan or with --analyst")
    return str(analyst)


def citing(ledger: Ledger) -> Iterator[tuple[Path, Head]]:
    """The bundles that cite a ledger, among those that it noted when they were made and the folders beside them."""
    candidates = (
        candidate
        for parent in dict.fromkeys(bundle.parent for bundle in ledger.bundles())
        for candidate in _folders(parent)
    )
    for _, folder in zip(range(MOST_FOLDERS), candidates, strict=False):
        if _names(folder, ledger.head.ledger):
            try:
                cited = cited_by(folder)
            except BundleError:
                continue
            if cited is not None and cited.ledger == ledger.head.ledger:
                yield folder, cited


def cited_by(folder: Path) -> Head | None:
    """The event that a bundle says it was paid by; None where it cites no ledger."""
    try:
        paid = sealed_manifest(folder).get("paid")
        return None if paid is None else Head.from_json(paid)
    except (OSError, ValueError) as error:
        raise BundleError(f"{folder} is no bundle of sfumato: {error}") from error


def refuse_rolled_back(ledger: Ledger, bundles: Iterable[Path], *, must_cite: bool = False) -> list[tuple[Path, Head]]:
    """Refuse a ledger that does not hold what a bundle cites; gives the bundles that cite it."""
    citations = []
    for folder in bundles:
        cited = cited_by(folder)
        if cited is None or cited.ledger != ledger.head.ledger:
            if must_cite:
                whom = "no ledger" if cited is None else "another ledger"
                raise LedgerError(f"{folder} cites {whom}: {ledger.path} did not pay for it")
            continue
        if not ledger.holds(cited):
            raise LedgerError(
                f"the ledger was rolled back: {folder} cites event {cited.event}, which {ledger.path} does not hold; "
                "put its newer copy back, for this one has forgotten charges"
            )
        citations.append((folder, cited))
    return citations


def _folders(parent: Path) -> list[Path]:
    try:
        return sorted(path for path in parent.iterdir() if (path / MANIFEST).is_file())
    except OSError:
        return []


def _names(folder: Path, ledger: str) -> bool:
    """Whether a manifest mentions the ledger at all: most do not, and need not be read as JSON."""
    try:
        return ledger.encode() in (folder / MANIFEST).read_bytes()
    except OSError:
        return False
