"""From what a plan says under our keys to models, and what these promise about an adversary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.attacks.guarantees import Promise
from sfumato.core.errors import PlanError
from sfumato.pipeline.catalog.parts import Context
from sfumato_sample.sample_items import ItemSupport
from sfumato_sample.sample_models import Crowd, PSensitive


def p_sensitive(spec: Any, path: str, context: Context) -> Sequence[PSensitive]:
    if not isinstance(spec, Mapping) or set(spec) - {"p", "k", "column"}:
        raise PlanError(f"{path}: write it as {{ p = 2, k = 5 }}, not as {spec!r}")
    columns = (spec["column"],) if "column" in spec else context.sensitive
    if not columns:
        raise PlanError(f"{path} needs a sensitive column")
    return [PSensitive(p=spec.get("p"), k=spec.get("k"), column=column) for column in columns]


def p_sensitive_promises(given: Mapping[str, Any]) -> Sequence[Promise]:
    return (Promise(find=1 / float(given["k"])), Promise(spare=int(given["p"]) - 1))


def crowd(spec: Any, path: str, context: Context) -> Sequence[Crowd]:
    return [Crowd(k=_number(spec))]


def item_support(spec: Any, path: str, context: Context) -> Sequence[ItemSupport]:
    return [ItemSupport(k=_number(spec))]


def item_support_promises(given: Mapping[str, Any]) -> Sequence[Promise]:
    return (Promise(find=1 / float(given["k"]), known=1),)


def _number(spec: Any) -> Any:
    """A number alone, or the fields of the record as an object in a plan writes them."""
    return spec["k"] if isinstance(spec, Mapping) else spec
