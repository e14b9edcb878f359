"""The session file: who takes part, in which protocol, on which public terms.

Every party has one, with the same content but for the paths of the cards. Parties are numbered by their names in
alphabetical order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from sfumato.collaborate.conversation import MAX_RECORDS
from sfumato.collaborate.wire.framing import WIRE_VERSION
from sfumato.collaborate.wire.party_cards import Address, PartyCard, party_name
from sfumato.collaborate.wire.session_terms import digest_of, terms_of
from sfumato.ground.arguments import above, at_least
from sfumato.ground.errors import ParameterError, PlanError, listed, nearest
from sfumato.ground.opening import read_text
from sfumato.ground.strict_toml import read_toml
from sfumato.version import __version__

_KEYS = ("schema", "protocol", "parties", "parameters", "limits")
MOST_PARTIES = 64
"""More parties are refused: everybody has a connection to everybody."""
MOST_RECORDS = 2**31
"""No session may allow more records of a party: sums of all parties stay far below 64 bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long parties wait for each other, in seconds, and how much one may put in; all must have the same."""

    join: float = 300.0
    """From the start until everybody has come."""
    silence: float = 30.0
    """How long a party may be silent; one that is alive gives a sign more often."""
    step: float = 900.0
    """How long one message may take, even of a party that gives signs of life."""

    records: int = MAX_RECORDS
    """How many records one party may put in. Larger sums of all parties are refused as wrong."""

    def __post_init__(self) -> None:
        for one in fields(self):
            above(one.name, getattr(self, one.name), 0)
        at_least("records", self.records, 1)
        if self.records > MOST_RECORDS:
            raise ParameterError(f"records must be at most {MOST_RECORDS:,}, not {self.records:,}")

    @property
    def beat(self) -> float:
        """How often a party gives a sign of life."""
        return min(2.0, self.silence / 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A party as a session file names it."""

    card: PartyCard
    """Who it is."""
    address: Address
    """Where it is reached in this session."""
    key: Path
    """Where its own key lies, by default: beside the card."""


@dataclass(frozen=True, kw_only=True)
class Session:
    """What is agreed before anybody connects."""

    protocol: str
    """The name of the protocol."""
    protocol_version: int = 1
    """The version of the protocol in this sfumato."""
    places: tuple[Place, ...]
    """The parties, in the order of their names."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """What the protocol is asked to do; public among the parties. Keys stand in alphabetical order, for everybody."""
    limits: Limits = field(default_factory=Limits)
    """How long parties wait."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", _sorted(self.parameters))

    @property
    def names(self) -> tuple[str, ...]:
        """The parties' names; a party's number is its place here."""
        return tuple(one.card.name for one in self.places)

    def number(self, name: str) -> int:
        """The number of a party, or a refusal."""
        if name not in self.names:
            raise PlanError(f"--as {name}: no such party{nearest(name, self.names)} There are {listed(self.names)}")
        return self.names.index(name)

    @cached_property
    def terms(self) -> dict[str, str]:
        """The digest of everything that the parties must agree on, by key."""
        tree = {
            "sfumato": __version__,
            "frames": WIRE_VERSION,
            "protocol": self.protocol,
            "protocol version": self.protocol_version,
            "parties": {one.card.name: one.card.fingerprint for one in self.places},
            "parameters": self.parameters,
            "limits": {one.name: float(getattr(self.limits, one.name)) for one in fields(self.limits)},
        }
        return terms_of(tree)

    @property
    def digest(self) -> str:
        """A few digits by which people see that their session files say the same."""
        digits = digest_of(self.terms).hex()[:16]
        return " ".join(digits[at : at + 4] for at in range(0, 16, 4))

    @classmethod
    def load(cls, path: Path, *, versions: Mapping[str, int]) -> Session:
        """Read a session file; ``versions`` has every known protocol with its version."""
        try:
            return cls.parse(read_toml(read_text(path)), folder=path.parent, where=str(path), versions=versions)
        except FileNotFoundError:
            raise PlanError(f"{path}: there is no such file; the guide to working together shows one") from None
        except OSError as error:
            raise PlanError(f"{path} cannot be read: {error.strerror}") from error
        except ValueError as error:
            if isinstance(error, ParameterError):
                raise PlanError(f"{path}: {error}") from None
            raise PlanError(f"{path} is not valid TOML: {error}") from None

    @classmethod
    def parse(cls, tree: Mapping[str, Any], *, folder: Path, where: str, versions: Mapping[str, int]) -> Session:
        """A session from what its file says; every key that is not known is refused with its path."""
        _refuse_strange(where, tree, _KEYS)
        if tree.get("schema") != 1:
            raise PlanError(f"{where}: schema must be 1, not {tree.get('schema')!r}")
        protocol = tree.get("protocol")
        if not isinstance(protocol, str) or protocol not in versions:
            hint = nearest(protocol, versions) if isinstance(protocol, str) else "."
            raise PlanError(f"{where}: protocol must be one of {listed(versions)}, not {protocol!r}{hint}")
        return cls(
            protocol=protocol,
            protocol_version=versions[protocol],
            places=_places(tree.get("parties"), folder, where),
            parameters=_table(tree, "parameters", where),
            limits=_limits(_table(tree, "limits", where), where),
        )


def _places(tree: Any, folder: Path, where: str) -> tuple[Place, ...]:
    if not isinstance(tree, Mapping) or not 2 <= len(tree) <= MOST_PARTIES:
        raise PlanError(f"{where}: parties must be 2 to {MOST_PARTIES} tables, such as [parties.north]")
    found = tuple(_place(name, one, folder, f"{where}: parties.{name}") for name, one in sorted(tree.items()))
    holders: dict[bytes, str] = {}
    for one in found:
        other = holders.setdefault(one.card.certificate, one.card.name)
        if other != one.card.name:
            raise PlanError(f"{where}: {other} and {one.card.name} have the same certificate")
    return found


def _place(name: str, tree: Any, folder: Path, path: str) -> Place:
    party_name(name)
    if not isinstance(tree, Mapping) or not isinstance(tree.get("card"), str):
        raise PlanError(f'{path}.card is missing; name the file of the card, such as card = "{name}.card"')
    _refuse_strange(path, tree, ("card", "address"))
    place = folder / tree["card"]
    card = PartyCard.load(place)
    if card.name != name:
        raise PlanError(f"{path}.card: {place} is the card of {card.name}, not of {name}")
    card.refuse_old()
    address = tree.get("address", str(card.address))
    if not isinstance(address, str):
        raise PlanError(f"{path}.address must be a text, not {address!r}")
    return Place(card=card, address=Address.parse(address, what=f"{path}.address"), key=place.with_suffix(".key"))


def _limits(tree: Mapping[str, Any], where: str) -> Limits:
    _refuse_strange(f"{where}: limits", tree, tuple(one.name for one in fields(Limits)))
    try:
        return Limits(**tree)
    except ParameterError as error:
        raise PlanError(f"{where}: limits.{error}") from None


def _table(tree: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    found = tree.get(key, {})
    if not isinstance(found, Mapping):
        raise PlanError(f"{where}: {key} must be a table, not {found!r}")
    try:
        terms_of(found)
    except (TypeError, ValueError):
        raise PlanError(f"{where}: {key} may hold texts, finite numbers, true and false, lists and tables") from None
    return found


def _sorted(value: Any) -> Any:
    """Tables with their keys in order: their order in a file means nothing, and nobody can rely on it."""
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(one) for one in value] if isinstance(value, list) else value


def _refuse_strange(where: str, tree: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in tree:
        if key not in known:
            raise PlanError(f"{where}: {key!r} is not known{nearest(key, known)} Known are {listed(known)}")
