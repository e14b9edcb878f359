"""All parts by name, the catalog as tables, and the models that a plan's [privacy] requires."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from sfumato.attacks.guarantees import Reader
from sfumato.attacks.risk import risk
from sfumato.bundles.manifest.document import plain
from sfumato.bundles.manifest.sections import CONDENSED_KEY
from sfumato.core.errors import BundleError, ParameterError, PlanError, listed, nearest
from sfumato.counts.classes import Classes
from sfumato.metrics.metric import Metric
from sfumato.models.confidence import Template
from sfumato.models.guarded import Guarded, refuse_unfit
from sfumato.models.personalized import PersonalizedPrivacy
from sfumato.pipeline.catalog import BUILT_IN
from sfumato.pipeline.catalog.parts import (
    AlgorithmPart,
    AttackPart,
    Builder,
    Context,
    MethodPart,
    MetricPart,
    ModelPart,
    Parts,
    ProtocolPart,
    SectionPart,
)
from sfumato.pipeline.plan.keys import Keys
from sfumato.reports.language import number, translated
from sfumato.tables.files import Format

# All parts by name: the built-in ones and those of installed plugins.


TABLE = "table"
"""The method of every plan that asks for no other."""
GROUP = "sfumato.parts"
"""The entry point group of plugins."""
GUARDED = "guarded"
"""Among a claim's parameters: the column that is a quasi-identifier and sensitive, and its declared tree."""
RESERVED = ("reading", "epsilon", "delta", "rho", "domains", "discovery", "ledger", "analyst", "auto", "all",
            CONDENSED_KEY)  # fmt: skip
"""Words that a plan uses for something else: no part and no key of [privacy] can be called so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """All parts by name."""

    methods: Mapping[str, MethodPart]
    """Methods of release, in the order in which they are asked whether a plan is theirs."""
    models: Mapping[str, ModelPart]
    """Privacy models."""
    metrics: Mapping[str, MetricPart]
    """Utility metrics."""
    algorithms: Mapping[str, AlgorithmPart]
    """Algorithms, for every kind of release."""
    attacks: Mapping[str, AttackPart]
    """Attacks on releases."""
    formats: Mapping[str, Format]
    """File formats."""
    protocols: Mapping[str, ProtocolPart]
    """Protocols of several parties."""
    sections: Mapping[str, SectionPart]
    """Sections of manifests."""
    built_in: Parts
    """The parts among them that sfumato itself brings."""

    def method_of(self, plan: Any) -> Any:
        """The method that a plan asks for."""
        return next((part for part in self.methods.values() if part.requested(plan)), self.methods[TABLE]).load()

    def method_stated(self, manifest: Mapping[str, Any]) -> Any:
        """The method whose release a manifest describes."""
        stated = manifest["kind"]
        if stated not in self.methods:
            known = listed(self.methods, most=30)
            raise BundleError(f"the manifest's kind {stated!r} is not known; this version reads {known}")
        return self.methods[stated].load()

    def model(self, name: str, parameters: Mapping[str, Any]) -> Any:
        """A model from its name and its parameters as the manifest has them."""
        part = named(name, self.models, "model")
        if GUARDED in parameters:
            inner = self.model(name, {key: value for key, value in parameters.items() if key != GUARDED})
            return Guarded(model=inner, **_revived(GUARDED, parameters[GUARDED]))
        known = {field.name for field in fields(part.make)}
        if set(parameters) - known:
            raise ParameterError(f"{name} has no parameter {listed(sorted(set(parameters) - known))}")
        try:
            return part.make(**{key: _revived(key, value) for key, value in parameters.items()})
        except TypeError as error:
            raise ParameterError(f"{name}: {error}") from error

    def builders(self, kind: str) -> dict[str, Builder]:
        """The keys of [privacy] that a kind of release can have, with what builds their models."""
        return {part.key: part.build for part in self.models.values() if kind in part.judges}

    def part_of(self, model: Any) -> ModelPart:
        """The part that a model is an instance of."""
        part: ModelPart = named(model.name, self.models, "model")
        return part

    @property
    def readers(self) -> dict[str, Reader]:
        """How the claims of each model are read by attackers."""
        return {name: part.promises for name, part in self.models.items()}

    def metric(self, name: str, *, k: int = 1) -> Metric:
        """A metric by name."""
        make = named(name, self.metrics, "utility.metric").make
        metric: Metric = make(k=k) if any(field.name == "k" for field in fields(make)) else make()
        return metric

    def stated(self, *, target: bool) -> list[str]:
        """The built-in metrics, which every manifest states where they are public."""
        metrics = (part.make for part in self.built_in.metrics)
        return [metric.name for metric in metrics if target or "target" not in metric.needs]

    def risk(self, classes: Classes) -> dict[str, Any]:
        """Re-identification risks of classes, with their population where there is one."""
        classes = classes.by_people()
        return risk(classes.sizes, classes.population_sizes()[0] if classes.population else None).to_json()

    def solving(self, kind: str) -> dict[str, AlgorithmPart]:
        """The algorithms that make a kind of release."""
        return {name: part for name, part in self.algorithms.items() if part.solves == kind}

    def protocol(self, name: str) -> Any:
        """The protocol of a name that there is."""
        return self.protocols[name].load()

    def attacking(self, kind: str) -> dict[str, AttackPart]:
        """The attacks on a kind of release."""
        return {name: part for name, part in self.attacks.items() if part.on(kind)}

    def chosen_attacks(self, names: Iterable[str], kind: str = TABLE) -> dict[str, AttackPart]:
        """The attacks of these names; the quick ones where none is named, and every one for ``all``."""
        known = self.attacking(kind)
        self.refuse_attacks(names, kind)
        wanted = tuple(names) or tuple(name for name, part in known.items() if part.always(kind))
        return {name: known[name] for name in (known if "all" in wanted else wanted)}

    def refuse_attacks(self, names: Iterable[str], kind: str, *, key: str = "attacks") -> None:
        """Refuse names that there are not; ``all`` stands for every attack that is to be made."""
        known = self.attacking(kind)
        every = ("all", *known) if key == "attacks" else tuple(known)
        for name in names:
            if name not in every:
                known_names = listed(every, most=30)
                raise PlanError(f"attack.{key}: {name!r} is not known{nearest(name, known)} Known: {known_names}")

    def explained(self, name: str, parameters: Mapping[str, Any], *, people: bool = False) -> tuple[str, str]:
        """What a model means and what it does not protect against, with its parameters; of rows, or of people."""
        part = named(name, self.models, "model")
        arguments = {key: number(value) if isinstance(value, float) else value for key, value in parameters.items()}
        words = [
            _counting(translated(text), people=people).format_map(arguments) for text in (part.meaning, part.limits)
        ]
        if GUARDED in parameters:
            column = parameters[GUARDED]["column"]
            words = [
                f"{sentence} {translated(more, column=column)}"
                for sentence, more in zip(words, _OF_GUARDED, strict=True)
            ]
        return words[0], words[1]


_OF_GUARDED = (
    "Here a group is all rows that agree in the other quasi-identifiers, and a label of {column} counts evenly for "
    "every value that it covers.",
    "It does not hold against somebody who knows which of the values below a label of {column} are frequent.",
)
"""What is added where the sensitive column is a quasi-identifier too."""


def _counting(text: str, *, people: bool) -> str:
    """Words about rows, as they are said where people are counted."""
    rows, persons = translated(" rows"), translated(" people")
    return text.replace(rows, persons) if people else text


def named(name: str, known: Mapping[str, Any], where: str) -> Any:
    """The part of a name, or a refusal with the nearest one."""
    if name not in known:
        raise PlanError(f"{where}: {name!r} is not known{nearest(name, known)} Known: {listed(known, most=30)}")
    return known[name]


def parameters(model: Any) -> dict[str, Any]:
    """A model's parameters as the manifest has them; of a guarded column also the tree that they are judged by."""
    if isinstance(model, Guarded):
        return {**parameters(model.model), GUARDED: plain({"column": model.column, "paths": dict(model.paths)})}
    result: dict[str, Any] = plain(asdict(model))
    return result


@cache
def catalog() -> Catalog:
    """The built-in parts and those of installed plugins."""
    every = [
        *(("sfumato", load()) for load in BUILT_IN),
        *((entry.name, _loaded(entry)) for entry in entry_points(group=GROUP)),
    ]
    _refuse_keys(every)
    _collected(
        every, lambda parts: [(end, file_format) for file_format in parts.formats for end in file_format.extensions]
    )
    return Catalog(
        methods=_collected(every, lambda parts: [(part.name, part) for part in parts.methods]),
        models=_collected(every, lambda parts: [(part.make.name, part) for part in parts.models]),
        metrics=_collected(every, lambda parts: [(part.make.name, part) for part in parts.metrics]),
        algorithms=_collected(every, lambda parts: [(part.name, part) for part in parts.all_algorithms]),
        attacks=_collected(every, lambda parts: [(part.name, part) for part in parts.all_attacks]),
        protocols=_collected(every, lambda parts: [(part.name, part) for part in parts.protocols]),
        formats=_collected(every, lambda parts: [(file_format.name, file_format) for file_format in parts.formats]),
        sections=_collected(every, lambda parts: [(part.name, part) for part in parts.sections]),
        built_in=every[0][1],
    )


def _loaded(entry: Any) -> Parts:
    """What a plugin brings; one that cannot be loaded is named."""
    try:
        parts = entry.load()
    except Exception as error:  # whatever somebody else's package does when it is imported
        raise PlanError(f"the plugin {entry.name!r} cannot be loaded: {error!r}; repair or uninstall it") from error
    if not isinstance(parts, Parts):
        raise PlanError(f"the plugin {entry.name!r} must offer a Parts record, not a {type(parts).__name__}")
    return parts


def _collected(
    every: Iterable[tuple[str, Parts]], read: Callable[[Parts], Iterable[tuple[str, Any]]]
) -> dict[str, Any]:
    """The parts of one sort by name; no name comes twice, and none is a word that plans use for something else."""
    registry: dict[str, tuple[str, Any]] = {}
    for package, parts in every:
        for name, part in read(parts):
            if name in RESERVED:
                raise PlanError(f"the plugin {package!r} brings {name!r}, which means something else in a plan")
            if name in registry:
                first = registry[name][0]
                raise PlanError(f"the plugin {package!r} brings {name!r}, which {first!r} has already; uninstall one")
            registry[name] = (package, part)
    return {name: part for name, (_, part) in registry.items()}


def _refuse_keys(every: Iterable[tuple[str, Parts]]) -> None:
    """Refuse two builders for one key of [privacy], and a key that asks for no model."""
    keys: dict[str, tuple[str, Builder]] = {}
    for package, parts in every:
        for part in parts.models:
            owner, build = keys.setdefault(part.key, (package, part.build))
            if build is not part.build or part.key in RESERVED:
                owner = "sfumato" if part.key in RESERVED else owner
                raise PlanError(
                    f"the plugin {package!r} brings the key privacy.{part.key}, which {owner!r} has already; "
                    "uninstall one"
                )


def _revived(key: str, value: Any) -> Any:
    """A parameter from JSON: lists become tuples, templates become records."""
    if key == "templates" and isinstance(value, list):
        return tuple(Template(**{name: _revived(name, item) for name, item in spec.items()}) for spec in value)
    if isinstance(value, list):
        return tuple(_revived("", item) for item in value)
    if isinstance(value, dict):
        return {name: _revived("", item) for name, item in value.items()}
    return value


# The catalog as tables: for the command line and for the reference pages.


def model_rows() -> list[list[str]]:
    """Model, what holds, how a plan asks for it."""
    return [[part.make.name, first_line(part.make), part.plan] for part in catalog().models.values()]


def algorithm_rows() -> list[list[str]]:
    """Algorithm, what it does."""
    return [[name, first_line(part.found)] for name, part in catalog().algorithms.items()]


def metric_rows() -> list[list[str]]:
    """Metric, what it measures, which side is better, its range."""
    return [
        [name, first_line(part.make), part.make.direction, f"{part.make.low:g} to {part.make.high:g}"]
        for name, part in catalog().metrics.items()
    ]


def attack_rows() -> list[list[str]]:
    """Attack, threat, the adversary, whether every release is put through it."""
    attacks = {name: (part.make(20), part) for name, part in catalog().attacks.items()}
    return [
        [name, attack.threat, first_line(type(attack)), "yes" if part.quick else ", ".join(part.also)]
        for name, (attack, part) in attacks.items()
    ]


def first_line(thing: object) -> str:
    """The first line of a docstring; nothing where there is none."""
    return (thing.__doc__ or "").strip().partition("\n")[0].replace("``", "")


# From the plan's [privacy] table to privacy models.


def requirement(
    privacy: Mapping[str, Any],
    context: Context,
    parts: Catalog,
    *,
    kind: str = "table",
    other_keys: Sequence[str] = (),
    otherwise: str = "unknown key",
) -> tuple[Any, ...]:
    """Every model that the [privacy] table asks for, in the catalog's order.

    ``other_keys`` are keys that ask for no model; ``otherwise`` is what is said about a key that this kind does not
    have.
    """
    keys, builders = Keys.of(privacy, "privacy"), parts.builders(kind)
    refuse_keys(privacy, (*builders, *other_keys), otherwise)
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
