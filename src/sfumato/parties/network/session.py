"""The session file, the terms on which all parties must agree, and the greeting that compares them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from sfumato.core.arguments import above, at_least
from sfumato.core.errors import ParameterError, PlanError, SessionError, listed, nearest
from sfumato.core.input_files import read_text
from sfumato.core.strict_parsing import read_json, read_toml
from sfumato.parties.conversation import MAX_RECORDS, Exchange, Seat, Talk, to_all
from sfumato.parties.network.certificates import Address, PartyCard, party_name
from sfumato.parties.network.frames import WIRE_VERSION
from sfumato.version import __version__

# What all parties of a session must agree on, key by key, so that a difference can be named.


_ABOUT = b"sfumato session terms 1\n"
MOST_TERMS = 1_000_000
"""How many bytes the digests of all keys may have."""

Terms = Mapping[str, str]
"""The key of every term, and the digest of its value."""


def terms_of(tree: Mapping[str, Any]) -> dict[str, str]:
    """The digest of every leaf of a tree, by the path that a person would write.

    >>> sorted(terms_of({"protocol": "counts", "parameters": {"columns": {"ward": ["A", "B"]}}}))
    ['parameters.columns.ward', 'protocol']
    """
    return {path: _digest([path, value]) for path, value in _leaves(tree, "")}


def digest_of(terms: Terms) -> bytes:
    """One digest of all terms, 32 bytes: equal for equal terms, whatever their order."""
    return hashlib.sha256(_ABOUT + _canonical(dict(terms))).digest()


def terms_bytes(terms: Terms) -> bytes:
    """The terms as they are sent: keys and digests, no values."""
    return _canonical(dict(terms))


def read_terms(content: bytes) -> dict[str, str]:
    """Another party's terms, or a refusal."""
    try:
        terms = read_json(content.decode())
    except ValueError as error:
        raise SessionError(f"sent terms that are not valid JSON: {error}") from error
    if not isinstance(terms, dict) or not all(isinstance(digest, str) for digest in terms.values()):
        raise SessionError("sent terms that are no digests by key")
    return terms


def difference(mine: Terms, theirs: Terms, *, me: str, peer: str) -> str:
    """In words that both parties can be told, what differs between their session files."""
    changed = sorted(key for key in mine.keys() & theirs.keys() if mine[key] != theirs[key])
    parts = [f"they differ at {listed(changed)}"] if changed else []
    if only := sorted(mine.keys() - theirs.keys()):
        parts.append(f"only that of {me} has {listed(only)}")
    if only := sorted(theirs.keys() - mine.keys()):
        parts.append(f"only that of {peer} has {listed(only)}")
    return f"the sessions of {me} and {peer} are not the same: {'; '.join(parts)}"


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def _digest(value: Any) -> str:
    return hashlib.sha256(_canonical(value)).hexdigest()


def _canonical(value: Any) -> bytes:
    """JSON with sorted keys and no blanks: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


# The session file: who takes part, in which protocol, on which public terms.
#
# Every party has one, with the same content but for the paths of the cards. Parties are numbered by their names in
# alphabetical order.


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
        for limit in fields(self):
            above(limit.name, getattr(self, limit.name), 0)
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
        return tuple(place.card.name for place in self.places)

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
            "parties": {place.card.name: place.card.fingerprint for place in self.places},
            "parameters": self.parameters,
            "limits": {limit.name: float(getattr(self.limits, limit.name)) for limit in fields(self.limits)},
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
    places = tuple(_place(name, entry, folder, f"{where}: parties.{name}") for name, entry in sorted(tree.items()))
    holders: dict[bytes, str] = {}
    for place in places:
        other = holders.setdefault(place.card.certificate, place.card.name)
        if other != place.card.name:
            raise PlanError(f"{where}: {other} and {place.card.name} have the same certificate")
    return places


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
    _refuse_strange(f"{where}: limits", tree, tuple(limit.name for limit in fields(Limits)))
    try:
        return Limits(**tree)
    except ParameterError as error:
        raise PlanError(f"{where}: limits.{error}") from None


def _table(tree: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    table = tree.get(key, {})
    if not isinstance(table, Mapping):
        raise PlanError(f"{where}: {key} must be a table, not {table!r}")
    try:
        terms_of(table)
    except (TypeError, ValueError):
        raise PlanError(f"{where}: {key} may hold texts, finite numbers, true and false, lists and tables") from None
    return table


def _sorted(value: Any) -> Any:
    """Tables with their keys in order: their order in a file means nothing, and nobody can rely on it."""
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _refuse_strange(where: str, tree: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in tree:
        if key not in known:
            raise PlanError(f"{where}: {key!r} is not known{nearest(key, known)} Known are {listed(known)}")


# The first exchange of two parties: do they mean the same session? And the name that all parties give this run.
#
# Two parties that have connected tell each other the digest of all terms and 32 fresh random bytes. If the digests
# differ they exchange the digests of every key, and both name what differs. The session's name is the digest of the
# terms and of all parties' random bytes: it never occurs again, and no message of an earlier run fits a later one.


_GREETING = b"sfumato session 1\n"
_HELLO = 32 + 32 + 4
DONE = "session/done"
"""The label of the last message: everybody has a result."""


def greeting(terms: Terms, nonce: bytes, *, peer: int, names: Sequence[str], me: int) -> Talk[bytes]:
    """Make sure that a peer means the same session; its random bytes."""
    own, name = terms_bytes(terms), names[peer]
    hello = digest_of(terms) + nonce + len(own).to_bytes(4, "big")
    came = (yield Exchange(label="session/hello", send={peer: hello}, expect={peer: _HELLO}))[peer]
    if came[:32] != hello[:32]:
        length = int.from_bytes(came[64:], "big")
        if length > MOST_TERMS:
            raise SessionError(f"{name} announces terms of {length} bytes; at most {MOST_TERMS} are read")
        theirs = (yield Exchange(label="session/terms", send={peer: own}, expect={peer: length}))[peer]
        raise SessionError(difference(terms, read_terms(theirs), me=names[me], peer=name))
    if came[32:64] == nonce:
        raise SessionError(f"{name} sent back our own random bytes")
    return came[32:64]


def session_name(terms: Terms, nonces: Sequence[bytes]) -> bytes:
    """The 32 bytes that name a run, from the terms and every party's random bytes in the order of parties."""
    return hashlib.sha256(b"".join([_GREETING, digest_of(terms), *nonces])).digest()


def ready(seat: Seat, names: Sequence[str]) -> Talk[None]:
    """Everybody has come, and all give this run the same name; before that nobody sends anything else."""
    came = yield to_all(seat, "session/ready", seat.session)
    for peer, content in came.items():
        if content != seat.session:
            raise SessionError(f"{names[peer]} gives this run another name: somebody sent different random bytes")


def done(seat: Seat) -> Talk[None]:
    """Everybody has a result; before that nobody writes one."""
    yield to_all(seat, DONE, b"")
