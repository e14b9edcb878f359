"""Reports as pages: in the language of the plan, each with its first paragraph."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sfumato.bundle.manifest import load
from sfumato.bundle.staging import MANIFEST
from sfumato.ground.errors import ClaimRefuted, PlanError
from sfumato.ground.work import Work
from sfumato.report.base.language import speaking
from sfumato.report.base.page_opening import begun
from sfumato.report.base.page_outline import Outline
from sfumato.verification.verifying import tables_of
from sfumato.workflow.opening_words import opening_of

if TYPE_CHECKING:
    from sfumato.workflow.kinds.kind import Kind
    from sfumato.workflow.released import Release

Form = Literal["html", "text", "json"]


def public_page(kind: Kind, manifest: Mapping[str, Any], tables: Mapping[str, Any], work: Work) -> str:
    """The report of a bundle, made from its manifest and its tables and from nothing else."""
    with _begun(kind, manifest):
        return kind.public_page(manifest, tables, work)


def inside_page(made: Release, manifest: Mapping[str, Any], work: Work) -> str:
    """The steward's own report."""
    if made.kind.inside_page is None:
        raise PlanError(f"a {type(made).__name__} has no inside report: nothing would cover what it tells")
    with _begun(made.kind, manifest):
        return made.kind.inside_page(made, work)


def report_of(folder: Path, *, language: str | None = None, form: Form = "html") -> str:
    """The report of a bundle that verifies, made again from its bytes; in another language where one is asked for."""
    from sfumato.workflow.checking import verify
    from sfumato.workflow.kinds import kind_stated

    if (wrong := verify(folder).wrong) is not None:
        raise ClaimRefuted(f"{folder}: {wrong.what} does not hold ({wrong.detail}); no report is made of it")
    manifest = load(folder / MANIFEST)
    if language is not None:
        plan = manifest.get("plan", {})
        manifest["plan"] = {**plan, "about": {**plan.get("about", {}), "language": language}}
    page = public_page(kind_stated(manifest), manifest, tables_of(folder, manifest), Work())
    return in_form(page, form)


def in_form(page: str, form: Form) -> str:
    """A page as it is, as text or as JSON: the same content."""
    if form == "html":
        return page
    outline = Outline.of(page)
    return outline.text() if form == "text" else json.dumps(outline.to_json(), indent=2, ensure_ascii=False)


@contextmanager
def _begun(kind: Kind, manifest: Mapping[str, Any]) -> Iterator[None]:
    language = manifest.get("plan", {}).get("about", {}).get("language", "en")
    with speaking(language), begun(opening_of(kind, manifest)):
        yield
