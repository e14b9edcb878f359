"""The first exchange of two parties: do they mean the same session? And the name that all parties give this run.

Two parties that have connected tell each other the digest of all terms and 32 fresh random bytes. If the digests differ
they exchange the digests of every key, and both name what differs. The session's name is the digest of the terms and of
all parties' random bytes: it never occurs again, and no message of an earlier run fits a later one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from sfumato.collaborate.exchange import Exchange, Seat, Talk, to_all
from sfumato.collaborate.wire.session_terms import MOST_TERMS, Terms, difference, digest_of, read_terms, terms_bytes
from sfumato.ground.errors import SessionError

_ABOUT = b"sfumato session 1\n"
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
    return hashlib.sha256(b"".join([_ABOUT, digest_of(terms), *nonces])).digest()


def ready(seat: Seat, names: Sequence[str]) -> Talk[None]:
    """Everybody has come, and all give this run the same name; before that nobody sends anything else."""
    came = yield to_all(seat, "session/ready", seat.session)
    for peer, content in came.items():
        if content != seat.session:
            raise SessionError(f"{names[peer]} gives this run another name: somebody sent different random bytes")


def done(seat: Seat) -> Talk[None]:
    """Everybody has a result; before that nobody writes one."""
    yield to_all(seat, DONE, b"")
