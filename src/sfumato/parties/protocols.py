"""The protocols a session can request, by name, and the columns that session files declare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sfumato.core.errors import ParameterError, SessionError, SfumatoError, listed, nearest
from sfumato.dp.events import Event
from sfumato.mining.attributes import Attribute
from sfumato.parties.conversation import UNUSABLE, Conversation, Leakage, WrongNumbers, one_of
from sfumato.tables.schema import Categories, Domain, Numbers
from sfumato.tables.table import Table

# What a session can be asked to do: protocols by name, each with its form, its leakage and its program.
#
# A protocol is a `JointProtocol` in a module of its own; the catalog of the pipeline loads it when a session names it.


Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class JointResult:
    """What a party has at the end of a session."""

    document: Mapping[str, Any]
    """The result, as JSON has it."""
    columns: tuple[str, ...] = ()
    """The columns of the result as a table, for people."""
    rows: Sequence[Sequence[Any]] = ()
    """Its rows."""
    secret: str | None = None
    """What only the parties may hold: a file beside the result, which its owner alone may read."""
    release: Any = None
    """Where the result is a release of rows, that release: it is written as a bundle of its own kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JointProtocol:
    """A protocol that a session file can name.

    Nothing is sent before ``prepare`` has accepted the party's own input, so nobody learns why one was refused.
    """

    name: str
    """As the session file names it."""
    about: str
    """What comes out, as one sentence."""
    least: int = 2
    """With fewer parties it tells too much, and is refused."""
    most: int | None = None
    """With more parties it does not work."""
    read: Callable[[Mapping[str, Any], Sequence[str]], Any]
    """The parameters from what the session file says and the parties' names; bad ones are refused with their key."""
    leakage: Callable[[Any, Sequence[str]], Leakage]
    """What it tells whom, with these parameters and parties."""
    prepare: Callable[[Any, Table], Any]
    """A party's own input from its table, or a refusal that only this party reads."""
    given: Callable[[Any, Any], str]
    """In words, what of its own table a party puts in: parameters and prepared input to the end of a sentence."""
    run: Callable[[Conversation, Any, Any], JointResult]
    """Take part: conversation, parameters and prepared input to the result."""
    secret: bool = False
    """Whether its result has a secret."""
    cost: Callable[[Any], Event] | None = None
    """What taking part costs the people in a party's table, by the parameters: a ledger is charged for it before the
    table is read. None: there is nothing that a ledger counts."""


def trusted(conversation: Conversation, work: Callable[[], Value]) -> Value:
    """What a party computes from what others sent: whatever they sent, it comes out or is refused."""
    others = one_of(conversation.seat.others)
    try:
        return work()
    except WrongNumbers as error:
        raise SessionError(f"{error}: {others} put in other numbers than it counted") from error
    except SfumatoError:
        raise
    except UNUSABLE as error:
        if not conversation.meter.received:  # no message has come yet: the error is our own
            raise
        raise SessionError(f"{others} sent numbers that cannot be computed with ({type(error).__name__})") from error


# What a session file says of columns: their declared domains, which nobody takes from a table.


_RANGE = ("low", "high", "grid")


def refuse_strange(tree: Mapping[str, Any], known: Iterable[str], where: str = "parameters") -> None:
    """Refuse a key that a protocol does not know."""
    names = list(known)
    for key in tree:
        if key not in names:
            raise ParameterError(f"{where}.{key} is not known{nearest(key, names)} Known are {listed(names)}")


def read_domains(tree: Mapping[str, Any], key: str = "columns") -> dict[str, Domain]:
    """The columns of a session file: a list of texts, or a range with the width of its grid.

    >>> read_domains({"columns": {"ward": ["A", "B"], "age": {"low": 0, "high": 100, "grid": 5}}})["age"].grid
    5
    """
    columns = tree.get(key)
    if not isinstance(columns, Mapping) or not columns:
        raise ParameterError(
            f'parameters.{key} must name columns, such as ward = ["A", "B"], or age = {{ low = 0, high = 9, grid = 1 }}'
        )
    return {name: _domain(declaration, f"parameters.{key}.{name}") for name, declaration in columns.items()}


def _domain(declaration: Any, where: str) -> Domain:
    if isinstance(declaration, Mapping):
        refuse_strange(declaration, _RANGE, where)
        for key in _RANGE:
            if not isinstance(declaration.get(key), int | float) or isinstance(declaration.get(key), bool):
                raise ParameterError(f"{where}.{key} must be a number, not {declaration.get(key)!r}")
        try:
            return Numbers(**declaration)
        except ParameterError as error:
            raise ParameterError(f"{where}: {error}") from None
    if not isinstance(declaration, list) or not declaration or not all(isinstance(text, str) for text in declaration):
        raise ParameterError(
            f"{where} must be a list of texts, or a range with low, high and grid, not {declaration!r}"
        )
    if len(set(declaration)) < len(declaration):
        raise ParameterError(f"{where} names a value twice")
    return Categories(values=tuple(declaration))


def categories(domains: Mapping[str, Domain], name: str, where: str) -> Categories:
    """The declared values of a column that must have such."""
    domain = domains.get(name)
    if not isinstance(domain, Categories):
        raise ParameterError(f"{where} must be one of parameters.columns that lists its values, not {name!r}")
    return domain


def attributes_of(domains: Mapping[str, Domain], target: str) -> tuple[Attribute, ...]:
    """Every column but the target, as learners know it."""
    return tuple(
        Attribute(name=name, domain=domain, declared=True) for name, domain in domains.items() if name != target
    )
