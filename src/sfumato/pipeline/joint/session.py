"""Taking part in a session: what is asked is shown, a party agrees, and writes the result or nothing."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import structs

from sfumato.bundles.checks.joint import written
from sfumato.bundles.files import refuse_existing, refuse_file
from sfumato.core.errors import BudgetError, DataError, ParameterError, PlanError, SessionError
from sfumato.core.staging import refuse_secret, write_secret, write_whole
from sfumato.dp.events import Event, to_json
from sfumato.dp.ledger import Ledger
from sfumato.parties.conversation import Leakage, Seat, Talk, Transcript, to_all
from sfumato.parties.network.certificates import Address, refuse_key
from sfumato.parties.network.frames import WIRE_VERSION
from sfumato.parties.network.session import Session, digest_of
from sfumato.parties.network.tcp import NetworkConversation, with_names
from sfumato.parties.protocols import JointProtocol, JointResult, trusted
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.inputs import read_file
from sfumato.pipeline.methods.joint import write_joint
from sfumato.tables.table import Table

ANALYST = "release"
"""Whose budget in a ledger pays, where nobody is named."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A session file, understood."""

    session: Session
    """Who takes part, and on which terms."""
    protocol: JointProtocol
    """What they do."""
    parameters: Any
    """As the protocol reads them."""

    @cached_property
    def leakage(self) -> Leakage:
        """What will be told to whom."""
        return self.protocol.leakage(self.parameters, self.session.names)

    @property
    def cost(self) -> Event | None:
        """What taking part costs the people in a party's table, where a ledger counts it."""
        return None if self.protocol.cost is None else self.protocol.cost(self.parameters)

    def to_json(self) -> dict[str, Any]:
        """As the command line prints it."""
        places = self.session.places
        return {
            "protocol": self.protocol.name,
            "about": self.protocol.about,
            "terms": self.session.digest,
            "parties": {
                place.card.name: {"address": str(place.address), "fingerprint": place.card.fingerprint}
                for place in places
            },
            "parameters": self.session.parameters,
            "leakage": asdict(self.leakage),
            "limits": asdict(self.session.limits),
            **({} if self.cost is None else {"cost": to_json(self.cost)}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Taking:
    """A party that is about to take part: everything of its own is read and checked, and nothing is sent yet."""

    asked: Asked
    """The session."""
    me: int
    """The party's number."""
    own: Any
    """Its prepared input."""
    key: Path
    """The file of its key."""
    output: Path
    """Where the result goes."""
    listen: Address | None = None
    """Where it listens, if not where the others reach it."""
    force: bool = False
    """Whether an existing result is replaced."""
    record: Path | None = None
    """Where all messages go, if anywhere."""
    charge: tuple[Ledger, int] | None = None
    """The ledger of this party that was charged before its data was read, and the number of the charge."""

    @property
    def secret(self) -> Path | None:
        """Where the secret of the result goes, where it has one."""
        return self.output.with_name(f"{self.output.name}.secret") if self.asked.protocol.secret else None

    @property
    def name(self) -> str:
        """The party's name."""
        return self.asked.session.names[self.me]

    @property
    def given(self) -> str:
        """In words, what the party puts in."""
        return self.asked.protocol.given(self.asked.parameters, self.own)

    def session_of(self, conversation: NetworkConversation) -> dict[str, Any]:
        """What the bundle of the result says of the session: no address, and nothing of anybody's data."""
        session, meter = self.asked.session, conversation.meter
        return {
            "protocol": session.protocol,
            "version": session.protocol_version,
            "run": conversation.seat.session.hex(),
            "terms": digest_of(session.terms).hex(),
            "frames": WIRE_VERSION,
            "me": self.name,
            "parties": {place.card.name: {"fingerprint": place.card.fingerprint} for place in session.places},
            "parameters": session.parameters,
            "limits": {key: float(value) for key, value in asdict(session.limits).items()},
            "leakage": asdict(self.asked.leakage),
            "sent": meter.sent,
            "received": meter.received,
            "rounds": meter.rounds,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """What a party has after a session."""

    result: JointResult
    """What came out."""
    about: Mapping[str, Any]
    """The session, as its file in the folder says."""


def asked_by(path: Path) -> Asked:
    """A session file with its protocol."""
    session = Session.load(path, versions={name: entry.version for name, entry in catalog().protocols.items()})
    protocol = catalog().protocol(session.protocol)
    count = len(session.places)
    if count < protocol.least or count > (protocol.most or count):
        most = "" if protocol.most is None else f" and at most {protocol.most}"
        raise PlanError(f"{path}: {protocol.name} needs at least {protocol.least}{most} parties, not {count}")
    try:
        parameters = protocol.read(session.parameters, session.names)
    except ParameterError as error:
        raise PlanError(f"{path}: {error}") from None
    return Asked(session=session, protocol=protocol, parameters=parameters)


def take(
    request: Asked,
    name: str,
    data: Path,
    output: Path,
    *,
    key: Path | None = None,
    listen: str | None = None,
    force: bool = False,
    record: Path | None = None,
    ledger: Path | None = None,
    analyst: str = ANALYST,
) -> Taking:
    """Make ready to take part; whatever is wrong on this side is refused here, before anybody is called.

    Where taking part costs something, ``ledger`` is charged before the data is read. Whatever happens then, the charge
    stays, but for data of another table than the ledger's.
    """
    me = request.session.number(name)
    place = request.session.places[me]
    refuse_key(key or place.key, place.card)
    refuse_existing(output, force=force)
    if record is not None:
        refuse_file(record, force=force, sources=(data,))
    if not data.exists():
        raise DataError(f"{data} does not exist; name your data file with --input")
    charge = _charged(request, ledger, analyst)
    table = _read(request, data)
    if charge is not None:
        charge[0].refuse_other(table, charge[1])
    taking = Taking(
        asked=request,
        me=me,
        own=request.protocol.prepare(request.parameters, table),
        key=key or place.key,
        output=output,
        listen=None if listen is None else Address.parse(listen, what="--listen"),
        force=force,
        record=record,
        charge=charge,
    )
    if taking.secret is not None:
        refuse_secret(taking.secret)
    return taking


def _charged(request: Asked, ledger: Path | None, analyst: str) -> tuple[Ledger, int] | None:
    """What taking part costs, reserved in the party's own ledger."""
    if ledger is None:
        return None
    if request.cost is None:
        raise BudgetError(f"{request.protocol.name} costs nothing that a ledger counts; leave --ledger out")
    from sfumato.pipeline.payment import opened

    book = opened(ledger)
    return book, book.reserve(
        analyst, request.cost, what=f"{request.protocol.name} with {', '.join(request.session.names)}"
    )


def _read(request: Asked, data: Path) -> Table:
    """The party's table; where a ledger counts it may have no rows, for a refusal would tell that nobody is in it."""
    if request.protocol.cost is None:
        return read_file(data)
    from sfumato.pipeline.inputs import rows_or_none

    plan = request.parameters.plan
    return rows_or_none(replace(plan, input=structs.replace(plan.input, path=str(data.resolve()))), None)


def run_party(taking: Taking) -> Took:
    """Take part; when everybody has a result, write it. A session that fails leaves nothing."""
    request, notes, finishing = taking.asked, Transcript(), False
    try:
        with NetworkConversation(
            request.session,
            taking.me,
            taking.key,
            listen=taking.listen,
            transcript=None if taking.record is None else notes,
        ) as conversation:
            result = trusted(conversation, lambda: request.protocol.run(conversation, request.parameters, taking.own))
            text = trusted(conversation, lambda: written(result.document))
            conversation.run(same_result(conversation.seat, text))
            finishing = True
            conversation.finish()
    except SessionError as error:
        paid = "" if taking.charge is None else f"; what {taking.charge[0].path} was charged stays charged"
        # The last message says that everybody has a result. Once it is sent, others may write theirs.
        end = (
            "nothing was written here, but other parties may have written the result: ask them before you run it again"
            if finishing
            else "nothing was written, and the session can be run again"
        )
        raise SessionError(f"{with_names(str(error), request.session.names)}; {end}{paid}") from error
    about = taking.session_of(conversation)
    result = _settled(taking, result)
    if taking.record is not None:
        write_whole(taking.record, _recorded(notes, request.session.names), private=True)
    _written(taking, result, about)
    return Took(result=result, about=about)


def _settled(taking: Taking, result: JointResult) -> JointResult:
    """The charge is settled for what the release accounts for, which it cites."""
    if taking.charge is None:
        return result
    ledger, number = taking.charge
    ledger.settle(number, result.release.event)
    return replace(result, release=replace(result.release, charge=taking.charge))


def _written(taking: Taking, result: JointResult, about: Mapping[str, Any]) -> None:
    """The bundle, and its secret where it has one: both or none."""
    if taking.secret is None or result.secret is None:
        write_joint(taking.output, result, about, force=taking.force)
        return
    write_secret(taking.secret, result.secret)
    try:
        write_joint(taking.output, result, about, force=taking.force)
    except BaseException:
        taking.secret.unlink(missing_ok=True)
        raise


def same_result(seat: Seat, text: str) -> Talk[None]:
    """Everybody tells everybody the digest of the result; a difference ends the session."""
    digest = hashlib.sha256(text.encode()).digest()
    came = yield to_all(seat, "result/digest", digest)
    for peer, content in came.items():
        if content != digest:
            raise SessionError(f"party {peer} came to another result")


def _recorded(notes: Transcript, names: tuple[str, ...]) -> str:
    """One JSON object a line for every message that this party sent or received."""
    lines = [
        {
            "sent": message.sent,
            "peer": names[message.peer],
            "label": message.label,
            "bytes": len(message.content),
            "content": base64.b64encode(message.content).decode(),
        }
        for message in notes.messages
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)
