"""Reports as pages: in the language of the plan, each with its first paragraph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sfumato.ground.errors import PlanError
from sfumato.ground.work import Work
from sfumato.report.base.language import speaking
from sfumato.report.base.opening import begun
from sfumato.workflow.opening_words import opening_of

if TYPE_CHECKING:
    from sfumato.workflow.kinds.kind import Kind
    from sfumato.workflow.released import Release


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


@contextmanager
def _begun(kind: Kind, manifest: Mapping[str, Any]) -> Iterator[None]:
    language = manifest.get("plan", {}).get("about", {}).get("language", "en")
    with speaking(language), begun(opening_of(kind, manifest)):
        yield
