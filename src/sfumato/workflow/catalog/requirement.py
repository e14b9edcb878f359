"""From the plan's [privacy] table to privacy models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.ground.errors import ParameterError, PlanError, listed, nearest
from sfumato.models.guarded import Guarded, refuse_unfit
from sfumato.models.personalized import PersonalizedPrivacy
from sfumato.workflow.catalog.lookup import Catalog
from sfumato.workflow.catalog.parts import Context
from sfumato.workflow.plan.plan_table import Keys


def requirement(
    privacy: Mapping[str, Any],
    context: Context,
    parts: Catalog,
    *,
    kind: str = "table",
    beside: Sequence[str] = (),
    otherwise: str = "unknown key",
) -> tuple[Any, ...]:
    """Every model that the [privacy] table asks for, in the catalog's order.

    ``beside`` are keys that ask for no model; ``otherwise`` is what is said about a key that this kind does not have.
    """
    keys, builders = Keys.of(privacy, "privacy"), parts.builders(kind)
    refuse_keys(privacy, (*builders, *beside), otherwise)
    models: list[Any] = []
    for key, build in builders.items():
        for spec, path in _several(privacy.get(key), keys.at(key)):
            try:
                models.extend(_guarded(model, context) for model in build(spec, path, context))
            except ParameterError as error:
                raise PlanError(f"{path}: {error}") from error
    if not models:
        raise PlanError(f"privacy: no requirement is named; use one or more of {listed(builders, most=20)}")
    return tuple(models)


def _guarded(model: Any, context: Context) -> Any:
    """The model about what other columns tell, where it names a column that is a quasi-identifier too."""
    named = [column for column in model.columns if column in context.guarded]
    if not named or context.tree is None:
        return model
    refuse_unfit(model, named[0])
    return Guarded(model=model, column=named[0], paths=context.tree(named[0]))


def as_claimed(model: Any, published: Sequence[str]) -> Any:
    """The model as the release claims it: without wishes where these are not published."""
    return model.without_wishes(published) if isinstance(model, PersonalizedPrivacy) else model


def refuse_keys(privacy: Mapping[str, Any], known: Sequence[str], otherwise: str) -> None:
    """Refuse keys of [privacy] that the kind of release does not know, with the nearest one that it does."""
    for key in privacy:
        if key not in known:
            every = listed(known, most=30)
            raise PlanError(f"privacy.{key}: {otherwise}{nearest(key, known)} Known here: {every}")


def _several(value: Any, path: str) -> list[tuple[Any, str]]:
    """One specification, or each of a list."""
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return [(item, f"{path}[{place}]") for place, item in enumerate(value)]
    return [(value, path)]
