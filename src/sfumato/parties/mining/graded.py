"""Sites agree on the secret of graded grouping: each adds random bytes, and nobody else learns what comes out.

Claim: the key follows from 32 random bytes of every site. As long as one site draws its own at random, nobody chooses
the key: each is bound to its bytes by a digest before it sees another's. Whoever is not connected learns nothing of it,
because bytes travel between sites over their own TLS connections only.
Source: document 002, section 3.1 ("each site communicates with the other sites to discuss the transformation
parameters"), which leaves open how.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.core.errors import DataError, ParameterError, SessionError
from sfumato.core.randomness import fresh_key
from sfumato.parties.conversation import Conversation, Leakage, Seat, Talk, Told, to_all
from sfumato.parties.protocols import JointProtocol, JointResult, refuse_strange
from sfumato.parties.ristretto import Draw
from sfumato.tables.graded_grouping import CategoryTerm, Terms, read_terms, terms_json
from sfumato.tables.graded_secret import KEY_BYTES, GradedSecret, translated
from sfumato.tables.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedAsked:
    """What the sites agree on."""

    terms: Terms
    """The columns that are transformed."""
    missing: tuple[str, ...] = ()
    """The texts that mean a missing value."""


def read_graded(tree: Mapping[str, Any], names: Sequence[str]) -> GradedAsked:
    """What the session file asks for."""
    refuse_strange(tree, ("columns", "missing"))
    missing = tree.get("missing", [])
    if not isinstance(missing, list) or not all(isinstance(text, str) for text in missing):
        raise ParameterError(f"parameters.missing must list texts, not {missing!r}")
    return GradedAsked(terms=read_terms(tree.get("columns"), "parameters.columns"), missing=tuple(missing))


def fitting_rows(request: GradedAsked, table: Table) -> int:
    """How many rows a site has; a value outside the terms is refused here, and only this site reads why."""
    if not table.rows:
        raise DataError(f"{table.source} has no rows")
    columns = GradedSecret(key=bytes(KEY_BYTES), terms=request.terms).columns
    for name, column in columns.items():
        translated(table.require(name, where=table.source), column.shown, request.missing, table.source)
    return table.rows


def agreed_key(seat: Seat, *, draw: Draw = fresh_key) -> Talk[bytes]:
    """The key of all sites: everybody is bound by a digest, then everybody shows their bytes."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    own = draw(KEY_BYTES)
    bound = yield to_all(seat, "graded/bound", _digest(seat, seat.me, own))
    shares = {seat.me: own, **(yield to_all(seat, "graded/share", own))}
    for peer, digest in bound.items():
        if _digest(seat, peer, shares[peer]) != digest:
            raise SessionError(f"party {peer} showed other random bytes than it was bound to")
    whole = b"".join(shares[party] for party in range(seat.count))
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=seat.session, info=b"sfumato graded key").derive(whole)


def _digest(seat: Seat, party: int, share: bytes) -> bytes:
    return hashlib.sha256(seat.session + party.to_bytes(4) + share).digest()


def run_graded(conversation: Conversation, request: GradedAsked, own: int) -> JointResult:
    """The agreement: a public commitment and the terms for the bundle, the secret for its own file."""
    secret = GradedSecret(key=conversation.run(agreed_key(conversation.seat)), terms=request.terms)
    columns = terms_json(request.terms)
    rows = [[name, _told(request.terms, name)] for name in columns]
    return JointResult(
        document={"agreement": secret.agreement, "columns": columns},
        columns=("column", "what becomes of it"),
        rows=rows,
        secret=secret.text(),
    )


def _told(terms: Terms, name: str) -> str:
    term = terms[name]
    if isinstance(term, CategoryTerm):
        return f"{len(term.values)} values get aliases"
    return f"numbers get codes by {len(term.limits) - 1} ranges"


def leakage_of(request: GradedAsked, names: Sequence[str]) -> Leakage:
    """Everybody has the secret, and nobody sees a row."""
    columns = ", ".join(request.terms)
    return Leakage(
        protocol="graded",
        result=(Told(to="everybody", what=f"the common secret by which {columns} are transformed and read back"),),
        withstands="everybody who does not take part",
        limits="a site that hands the secret on: whoever has it reads back what every site transformed",
    )


GRADED = JointProtocol(
    name="graded",
    about="A common secret for graded grouping and mapping tables, which only the sites hold.",
    least=2,
    read=read_graded,
    leakage=leakage_of,
    prepare=fitting_rows,
    given=lambda request, own: f"32 random bytes, and nothing of your {own:,} rows, which fit the terms",
    run=run_graded,
    secret=True,
)
