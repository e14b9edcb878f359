"""What a session can be asked to do: protocols by name, each with its form, its leakage and its program.

A protocol is a `JointProtocol` in a module of its own; its place stands here, and it is loaded when a session names it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeVar

from sfumato.budget.events import Event
from sfumato.collaborate.conversation import UNUSABLE, Conversation, WrongNumbers, one_of
from sfumato.collaborate.leakage import Leakage
from sfumato.data.table import Table
from sfumato.ground.errors import SessionError, SfumatoError

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


@dataclass(frozen=True, slots=True, kw_only=True)
class JointPlace:
    """Where a protocol is found."""

    version: int
    """Parties must have the same; a change of messages or of meaning is a new version."""
    place: str
    """``module:name``."""


PLACES: Mapping[str, JointPlace] = {
    "counts": JointPlace(version=1, place="sfumato.collaborate.mining.summed_counts:COUNTS"),
    "rules": JointPlace(version=2, place="sfumato.collaborate.mining.rule_protocol:RULES"),
    "naive-bayes": JointPlace(version=1, place="sfumato.collaborate.mining.learning_protocols:BAYES"),
    "tree": JointPlace(version=1, place="sfumato.collaborate.mining.learning_protocols:TREE"),
    "vertical-rules": JointPlace(version=2, place="sfumato.collaborate.mining.vertical_protocols:VERTICAL_RULES"),
    "vertical-naive-bayes": JointPlace(version=2, place="sfumato.collaborate.mining.vertical_protocols:VERTICAL_BAYES"),
    "k-means": JointPlace(version=1, place="sfumato.collaborate.mining.cluster_protocol:MEANS"),
    "graded": JointPlace(version=1, place="sfumato.collaborate.mining.graded_agreement:GRADED"),
    "vertical-release": JointPlace(
        version=2, place="sfumato.workflow.joint_releases.vertical_release:VERTICAL_RELEASE"
    ),
    "private-release": JointPlace(version=1, place="sfumato.workflow.joint_private.private_protocol:PRIVATE_RELEASE"),
    "vertical-private-release": JointPlace(
        version=2, place="sfumato.workflow.joint_private.vertical_private:VERTICAL_PRIVATE"
    ),
    "release": JointPlace(version=1, place="sfumato.workflow.joint_releases.release_protocol:RELEASE"),
}
"""Every protocol."""


def joint_protocol(name: str) -> JointProtocol:
    """The protocol of a name that `PLACES` has.

    >>> joint_protocol("counts").least
    3
    """
    module, _, attribute = PLACES[name].place.partition(":")
    found: JointProtocol = getattr(import_module(module), attribute)
    return found


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
