"""TLS 1.3 between parties that know each other's certificates: both sides show one, and no other is accepted."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterable
from pathlib import Path


def listening(key: Path, peers: Iterable[bytes], knocked: Callable[[], None]) -> ssl.SSLContext:
    """For the side that listens: whoever connects must have one of the peers' certificates.

    ``knocked`` is called for everybody who begins a handshake.
    """

    def hello(*_: object) -> None:
        knocked()

    context = _context(ssl.PROTOCOL_TLS_SERVER, key, peers)
    context.num_tickets = 0  # no connection is ever resumed
    context.sni_callback = hello
    return context


def dialling(key: Path, peer: bytes) -> ssl.SSLContext:
    """For the side that dials: whoever answers must have this certificate."""
    return _context(ssl.PROTOCOL_TLS_CLIENT, key, [peer])


def _context(side: int, key: Path, peers: Iterable[bytes]) -> ssl.SSLContext:
    context = ssl.SSLContext(side)
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False  # the certificate itself is compared
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(key)
    context.load_verify_locations(cadata=b"".join(peers))
    return context


def shown_certificate(connection: ssl.SSLObject | None) -> bytes:
    """The certificate (DER) that the other side has shown and holds the key to."""
    return b"" if connection is None else connection.getpeercert(binary_form=True) or b""
