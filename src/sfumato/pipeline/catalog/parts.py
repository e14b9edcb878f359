"""The form of every part that a package brings, and an algorithm called with a plan's options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Protocol

from sfumato.attacks.finding import Finding, Limit
from sfumato.attacks.guarantees import Reader, nothing
from sfumato.attacks.subject import Subject
from sfumato.bundles.provenance import Check
from sfumato.core.errors import ParameterError, PlanError, listed, nearest
from sfumato.core.randomness import Chance
from sfumato.core.records import decoded, record_of
from sfumato.counts.sources import Need
from sfumato.tables.files import Format

# What a package brings: the form of every part that a plan can name.
#
# A plugin offers a ``Parts`` record under the entry point group ``sfumato.parts``; ours come in by the same door.


Ancestors = Mapping[str, tuple[str, ...]]
Costs = tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a requirement may refer to."""

    quasi: tuple[str, ...]
    """The quasi-identifiers."""
    sensitive: tuple[str, ...]
    """The sensitive columns, those among them that are quasi-identifiers too."""
    published: tuple[str, ...]
    """Every column that is published."""
    paths: Callable[[str], Ancestors]
    """The hierarchy of a sensitive column, as value to labels above it."""
    costs: Callable[[str, str | None], Costs]
    """The cost matrix of a sensitive column, from a named file."""
    guarded: tuple[str, ...] = ()
    """The quasi-identifiers that are sensitive too."""
    tree: Callable[[str], Ancestors] | None = None
    """The declared tree of one of these."""


Builder = Callable[[Any, str, Context], Sequence[Any]]
"""From what a plan says under a key, and the key's path, to models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPart:
    """A privacy model, how a plan asks for it, and what is said about it."""

    make: type[Any]
    """The record."""
    key: str
    """The plan's key under [privacy]; models with one key share its builder."""
    build: Builder
    """Makes the models that the key asks for."""
    plan: str
    """How a plan writes it."""
    meaning: str
    """What it means if it holds, in one sentence; parameters stand in braces."""
    limits: str
    """What it does not protect against, in one sentence."""
    promises: Reader = nothing
    """What its claim promises about an adversary."""
    needs: tuple[str, ...] = ()
    """What it needs beside the table: ``population``."""
    judges: tuple[str, ...] = ("table",)
    """The kinds of release that it can be asked of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricPart:
    """A utility metric; the record itself declares what it reads (``needs``)."""

    make: type[Any]
    """The record."""
    meaning: str
    """What it measures, in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlgorithmPart:
    """An algorithm and what it needs."""

    name: str
    """As the plan names it."""
    run: Any = None
    """A function, or a record of options that can be called."""
    load: Callable[[], Any] | None = None
    """What imports it when it is asked for, where it is not given."""
    solves: str = "table"
    """The kind of release that it makes."""
    anytime: bool = False
    """Whether it gives its best so far when the time is over."""
    needs: tuple[Need, ...] = ("joint", "integers")
    """What the source of counts must offer: the full joint of all columns, whole numbers, single rows."""
    people: bool = False
    """Whether it leaves all judging to ``judge``, so that it can count people who have several rows."""

    @property
    def found(self) -> Any:
        """The function or record itself."""
        return self.run if self.load is None else self.load()


class Attack(Protocol):
    """An attack on a release."""

    name: ClassVar[str]
    """As the catalog lists it."""
    threat: ClassVar[str]
    """What it threatens."""

    def fits(self, subject: Subject) -> str:
        """Why it cannot be made on this subject; empty if it can."""

    def run(self, subject: Subject, chance: Chance, limit: Limit | None = None) -> Finding:
        """Make it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackPart:
    """An attack on a whole release."""

    make: Callable[[int], Any]
    """Makes it, a frozen record, given how many people are to be attacked."""
    name: str
    """As the plan names it."""
    quick: bool = False
    """Whether every release is put through it where the plan names no attack."""
    by_distance: bool = False
    """Whether it looks for the nearest rows, and need not know whom a label covers."""
    attacks: str = "table"
    """The kind of release that it attacks."""
    also: tuple[str, ...] = ()
    """Other kinds that it attacks; every release of these is put through it."""

    def on(self, kind: str) -> bool:
        """Whether it attacks a kind of release."""
        return kind == self.attacks or kind in self.also

    def always(self, kind: str) -> bool:
        """Whether every release of a kind is put through it."""
        return kind in self.also or (self.quick and kind == self.attacks)


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodPart:
    """A method of release, and which plans ask for it."""

    name: str
    """As the manifest names it."""
    load: Callable[[], Any]
    """Its record; the module is imported when the method is first needed."""
    requested: Callable[[Any], bool] = lambda plan: False
    """Whether a plan asks for it; the first method that is asked for makes the release."""
    algorithms: tuple[str, ...] = ()
    """Algorithms that its record brings, which need single rows and solve this method alone."""
    attacks: tuple[str, ...] = ()
    """Attacks that its record brings; every one of its releases is put through them."""

    @property
    def algorithm_parts(self) -> tuple[AlgorithmPart, ...]:
        """The algorithms of its record as parts."""
        return tuple(
            AlgorithmPart(name=name, load=lambda name=name: self.load().runs[name], solves=self.name, needs=("rows",))  # type: ignore[misc]
            for name in self.algorithms
        )

    @property
    def attack_parts(self) -> tuple[AttackPart, ...]:
        """The attacks of its record as parts."""
        return tuple(
            AttackPart(
                name=name,
                make=lambda trials, name=name: self.load().adversaries[name](trials=trials),  # type: ignore[misc]
                quick=True,
                attacks=self.name,
            )
            for name in self.attacks
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolPart:
    """A protocol that a session of several parties can name."""

    name: str
    """As the session file names it."""
    version: int
    """Parties must have the same; a change of messages or of meaning is a new version."""
    load: Callable[[], Any]
    """Its record; the module is imported when a session names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionPart:
    """A section that manifests of several methods may have, with its checks."""

    name: str
    """The key of the manifest."""
    load: Callable[[], Callable[[Mapping[str, Any]], Iterable[Check]]]
    """Its checks; the module is imported when a manifest has the section."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything that a package brings."""

    methods: tuple[MethodPart, ...] = ()
    """Methods of release."""

    models: tuple[ModelPart, ...] = ()
    """Privacy models."""
    metrics: tuple[MetricPart, ...] = ()
    """Utility metrics."""
    algorithms: tuple[AlgorithmPart, ...] = ()
    """Algorithms, for every kind of release."""
    attacks: tuple[AttackPart, ...] = ()
    """Attacks."""
    formats: tuple[Format, ...] = ()
    """File formats."""
    sections: tuple[SectionPart, ...] = ()
    """Sections of manifests."""
    protocols: tuple[ProtocolPart, ...] = ()
    """Protocols of several parties."""

    @property
    def all_algorithms(self) -> tuple[AlgorithmPart, ...]:
        """The algorithms, with those that the records of methods bring."""
        return (*self.algorithms, *(part for method in self.methods for part in method.algorithm_parts))

    @property
    def all_attacks(self) -> tuple[AttackPart, ...]:
        """The attacks, with those that the records of methods bring."""
        return (*self.attacks, *(part for method in self.methods for part in method.attack_parts))


# The one place that turns an algorithm's name and options into something that can be called.


COMMON = ("name", "max_suppressed", "suppressed", "exempt_suppressed", "seconds", "seed")
"""The keys of [algorithm] that every plan may have."""


def configured(
    part: AlgorithmPart,
    options: Mapping[str, Any],
    *,
    fixed: Mapping[str, Any] | None = None,
    other_keys: Sequence[str] = COMMON,
) -> Any:
    """The algorithm with its options; one that it does not have is refused by its path.

    ``fixed`` are fields that the plan gives elsewhere; ``other_keys`` are keys that are no options but may stand there.
    """
    set_elsewhere = dict(fixed or {})
    known = [name for name in option_names(part) if name not in set_elsewhere]
    for key in options:
        if key not in known:
            every = (*known, *other_keys)
            hint, all_known = nearest(key, every), listed(every, most=20)
            raise PlanError(f"algorithm.{key}: unknown key{hint} Known here, with {part.name}: {all_known}")
    if not isinstance(part.found, type):
        return part.found
    for field in fields(part.found):
        if (
            field.default is MISSING
            and field.default_factory is MISSING
            and field.name not in {*set_elsewhere, *options}
        ):
            raise PlanError(f"algorithm.{field.name} is missing; {part.name} needs it")
    decoded(options, record_of(part.found, without=tuple(set_elsewhere)), "algorithm")
    try:
        return part.found(**set_elsewhere, **options)
    except ParameterError as error:
        raise PlanError(f"algorithm.{error}") from error


def option_names(part: AlgorithmPart) -> tuple[str, ...]:
    """The options of an algorithm; a plain function has none."""
    return tuple(field.name for field in fields(part.found)) if isinstance(part.found, type) else ()
