"""From the plan's [privacy] table to the models of paths and sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sfumato.ground.errors import ParameterError, PlanError, listed, nearest
from sfumato.models.item_model import ItemModel
from sfumato.models.km_anonymity import KMAnonymity
from sfumato.models.lkc import LKCPrivacy
from sfumato.models.rho_uncertainty import RhoUncertainty
from sfumato.workflow.keys import Keys
from sfumato.workflow.parts import ModelPart

ITEM_PARTS = (
    ModelPart(make=KMAnonymity, plan="km = { k = 5, m = 2 }"),
    ModelPart(make=RhoUncertainty, plan='rho_uncertainty = { rho = 0.3, sensitive = ["pregnancy test"], l = 2 }'),
)
"""The models that are for paths and sets only."""
ITEM_MODELS: Mapping[str, type[Any]] = {
    LKCPrivacy.name: LKCPrivacy,
    **{part.make.name: part.make for part in ITEM_PARTS},
}
"""All models of paths and sets by name."""


def item_requirement(privacy: Mapping[str, Any], sensitive: Sequence[str]) -> tuple[ItemModel, ...]:
    """Every model that the [privacy] table asks for; ``sensitive`` are the sensitive columns."""
    keys = Keys.of(privacy, "privacy")
    for key in privacy:
        if key not in BUILDERS:
            raise PlanError(
                f"privacy.{key}: paths and sets are judged by what somebody knows of them{nearest(key, BUILDERS)} "
                f"Use one or more of {listed(BUILDERS)}"
            )
    models: list[ItemModel] = []
    for key, build in BUILDERS.items():
        value = privacy.get(key)
        many = value if isinstance(value, list) else [] if value is None else [value]
        for place, spec in enumerate(many):
            path = keys.at(key) if not isinstance(value, list) else f"{keys.at(key)}[{place}]"
            try:
                models.extend(build(Keys.of(spec, path), sensitive))
            except ParameterError as error:
                raise PlanError(f"{path}: {error}") from error
    if not models:
        raise PlanError(f"privacy: no requirement is named; paths and sets can have {listed(BUILDERS)}")
    return tuple(models)


def _lkc(keys: Keys, sensitive: Sequence[str]) -> list[ItemModel]:
    keys.only("l", "k", "c", "values", "column")
    named = keys.text("column")
    if named is not None and named not in sensitive:
        raise PlanError(
            f"{keys.at('column')}: {named!r} is not a sensitive column{nearest(named, sensitive)} "
            f"Sensitive are {listed(sensitive)}"
        )
    columns = sensitive if named is None else (named,)
    if not columns:
        raise PlanError(f"{keys.path} needs a sensitive column; give one the role 'sensitive', or ask for km instead")
    get: Any = keys.table.get
    return [
        LKCPrivacy(l=get("l"), k=get("k"), c=get("c", 1.0), column=column, values=keys.texts("values"))
        for column in columns
    ]


def _km(keys: Keys, sensitive: Sequence[str]) -> list[ItemModel]:
    keys.only("k", "m")
    get: Any = keys.table.get
    return [KMAnonymity(k=get("k"), m=get("m"))]


def _rho(keys: Keys, sensitive: Sequence[str]) -> list[ItemModel]:
    keys.only("rho", "sensitive", "l")
    get: Any = keys.table.get
    return [RhoUncertainty(rho=get("rho"), sensitive=keys.texts("sensitive"), l=get("l"))]


BUILDERS: Mapping[str, Callable[[Keys, Sequence[str]], list[ItemModel]]] = {
    "lkc": _lkc,
    "km": _km,
    "rho_uncertainty": _rho,
}


def item_model(name: str, parameters: Mapping[str, Any]) -> ItemModel:
    """A model from its name and its parameters as the manifest has them."""
    if name not in ITEM_MODELS:
        raise PlanError(f"model: {name!r} is not known{nearest(name, ITEM_MODELS)} Known: {listed(ITEM_MODELS)}")
    given = {key: tuple(value) if isinstance(value, list) else value for key, value in parameters.items()}
    try:
        made: ItemModel = ITEM_MODELS[name](**given)
    except TypeError as error:
        raise ParameterError(f"{name}: {error}") from error
    return made
