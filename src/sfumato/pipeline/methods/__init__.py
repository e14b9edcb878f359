"""The methods of release: how the rows of a plan are made, judged, attacked, written and verified."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.pipeline.catalog.catalog import catalog

if TYPE_CHECKING:
    from sfumato.bundles.provenance import Check, Remark
    from sfumato.bundles.verify import KindChecks
    from sfumato.pipeline.methods.method import Method
    from sfumato.pipeline.plan.plan import Plan
    from sfumato.tables.table import Table


def method_of(plan: Plan) -> Method:
    """The method that a plan asks for."""
    method: Method = catalog().method_of(plan)
    return method


def checks_stated(manifest: Mapping[str, Any]) -> KindChecks:
    """The checks of a release that a manifest describes: those of its method, and of every section that is there."""

    def checks(folder: Path, manifest: Mapping[str, Any], tables: Mapping[str, Table]) -> Iterable[Check | Remark]:
        yield from method_stated(manifest).checks(folder, manifest, tables)
        for part in catalog().sections.values():
            if part.name in manifest:
                yield from part.load()(manifest)

    return checks


def method_stated(manifest: Mapping[str, Any]) -> Method:
    """The method whose release a manifest describes."""
    method: Method = catalog().method_stated(manifest)
    return method
