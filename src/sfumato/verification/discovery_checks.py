"""Whether the domains of a private bundle are public: declared, confirmed by a person, or found and paid for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sfumato.describe.domains import DECLARING

DISCOVERED = "discover"
"""As a plan says that a domain is to be looked for."""
FOUND = "discovered"
"""As a manifest says that it was."""
FINDING = "finding the domains"
"""What the part of a ledger is called that paid for them."""
RANGE, VALUES = "range of {name}", "values of {name}"
"""What looking for one domain is called."""
PROFILE = "profile"
"""As a plan says that a domain was read off the rows."""
_PUBLISHED = ("quasi", "target")


def split(ledger: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, Mapping[str, Any]]:
    """What paid for finding domains, if anything did, and what paid for the rows."""
    parts = ledger.get("parts", ())
    if ledger["kind"] == "sequential" and len(parts) == 2 and parts[0].get("what") == FINDING:
        return parts[0], parts[1]
    return None, ledger


def domains_known(manifest: Mapping[str, Any], check: Callable[..., Any]) -> Iterable[Any]:
    """No domain was read off the rows; each is declared by the plan, or was found and paid for."""
    columns = manifest["plan"]["columns"]
    planned = [name for name, spec in columns.items() if spec["role"] in _PUBLISHED]
    read_off = [name for name in planned if columns[name].get("domain_from") == PROFILE]
    detail = "none" if not read_off else f"read off the rows and not confirmed: {', '.join(read_off)}"
    yield check(what="no domain is read off the rows", holds=not read_off, detail=detail)
    sought = {name for name in planned if columns[name].get("domain_from") == DISCOVERED}
    open_ones = [
        name for name in planned if name not in sought and not _declared(columns[name], name, manifest["domains"])
    ]
    detail = "all" if not open_ones else f"not declared: {', '.join(open_ones)}"
    yield check(what="domains that the plan declares", holds=not open_ones, detail=detail)
    wrong = sorted(sought ^ _found(manifest["domains"]) | _unpaid(manifest["ledger"], sought))
    detail = f"not found, or not paid for: {', '.join(wrong)}" if wrong else f"{len(sought)} columns"
    yield check(what="domains that were looked for are paid for", holds=not wrong, detail=detail)


def _found(domains: Mapping[str, Any]) -> set[str]:
    """The columns whose domain the manifest says was found."""
    found = {name for name, one in domains["columns"].items() if one.get("from") == FOUND}
    target = domains.get("target")
    return found | ({target["name"]} if target and target.get("from") == FOUND else set())


def _unpaid(ledger: Mapping[str, Any], sought: set[str]) -> set[str]:
    """Columns that were looked for and have no part in the ledger, and parts that no column asked for."""
    finding, _ = split(ledger)
    paid = [str(part["what"]) for part in (finding or {}).get("parts", ())]
    known = {text.format(name=name): name for name in sought for text in (RANGE, VALUES)}
    missing = sought - {known[what] for what in paid if what in known}
    return missing | {what for what in paid if what not in known} | {what for what in paid if paid.count(what) > 1}


def _declared(spec: Mapping[str, Any], name: str, domains: Mapping[str, Any]) -> bool:
    """Whether a column of the plan declares its domain: by a hierarchy that needs no rows, or by its values."""
    if spec["role"] == "target":
        target = domains["target"]
        listed = set(target["values"]) - {spec["other"]} if "other" in spec else set(target["values"])
        many = spec.get("values")
        return bool(target["name"] == name and many in (len(listed), len(target["values"])))
    if spec.get("hierarchy"):
        return spec["hierarchy"] in DECLARING
    return bool(spec.get("values"))
