"""Party cards, private keys, and mutual TLS with pinned certificates."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import json
import re
import ssl
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.core.errors import BundleError, SessionError
from sfumato.core.input_files import read_whole
from sfumato.core.staging import write_secret, write_whole, write_with
from sfumato.core.strict_parsing import read_json

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.x509 import Certificate


# A party's card: its name, where it is reached, and the certificate by which the others know it.
#
# Parties hand each other their cards before the first session and compare the fingerprints on another way, such as the
# telephone. In a session the certificate itself is compared, byte by byte: no authority vouches for anybody.


_FORM = {"sfumato", "schema", "name", "address", "certificate", "fingerprint"}
_MOST = 16_384
"""Longer cards are not read."""
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
"""What a party can be called: it stands in files, in tables of TOML and in messages."""
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:]{2,45}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a party listens."""

    host: str
    """A name of the domain name system, or a number."""
    port: int
    """A port of TCP."""

    @classmethod
    def parse(cls, text: str, *, what: str = "the address") -> Address:
        """An address as a person writes it.

        >>> Address.parse("north.example:7400").port, Address.parse("[::1]:7400").host
        (7400, '::1')
        """
        host, colon, port = text.rpartition(":")
        bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
        known = bool(_HOST.fullmatch(bare)) and (":" not in bare or bare != host)
        if not colon or not known or not re.fullmatch("[0-9]{1,5}", port) or not 0 < int(port) < 65_536:
            raise SessionError(f"{what} must be HOST:PORT, such as north.example:7400 or [::1]:7400, not {text!r}")
        return cls(host=bare, port=int(port))

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartyCard:
    """Who a party is, as the others know it."""

    name: str
    """What the party is called in sessions."""
    address: Address
    """Where it is reached, unless a session file says otherwise."""
    certificate: bytes
    """Its X.509 certificate (DER): nobody else has the key to it."""

    @property
    def fingerprint(self) -> str:
        """What two people compare over the telephone: the SHA-256 of the certificate, in groups of four digits."""
        return certificate_fingerprint(self.certificate)

    @classmethod
    def load(cls, path: Path) -> PartyCard:
        """Read a card, or refuse with what is wrong."""
        try:
            content = read_json(read_whole(path, most=_MOST).decode())
        except OSError as error:
            raise SessionError(f"the card {path} cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise SessionError(f"the card {path} is not valid JSON: {error}") from error
        return cls.parse(content, where=str(path))

    @classmethod
    def parse(cls, content: Any, *, where: str) -> PartyCard:
        """A card from its JSON content."""
        if not isinstance(content, dict) or set(content) != _FORM or content["sfumato"] != "party card":
            raise SessionError(f"{where} is no party's card; `sfumato party init NAME` writes one beside the key")
        if content["schema"] != 1 or not all(isinstance(content[key], str) for key in _FORM - {"schema"}):
            raise SessionError(f"{where}: the card is of a form that this version does not read")
        address = Address.parse(content["address"], what=f"{where}: the address")
        card = cls(name=party_name(content["name"]), address=address, certificate=_der(content["certificate"], where))
        if card.fingerprint != content["fingerprint"]:
            raise SessionError(f"{where}: the fingerprint on the card is not that of its certificate; ask for the card")
        return card

    def text(self) -> str:
        """The card as its file has it."""
        document = {
            "sfumato": "party card",
            "schema": 1,
            "name": self.name,
            "address": str(self.address),
            "certificate": base64.b64encode(self.certificate).decode(),
            "fingerprint": self.fingerprint,
        }
        return json.dumps(document, indent=2) + "\n"

    @property
    def ends(self) -> datetime:
        """Until when the certificate is good."""
        from cryptography.x509 import load_der_x509_certificate

        return load_der_x509_certificate(self.certificate).not_valid_after_utc

    def refuse_old(self) -> None:
        """Refuse a certificate that has ended."""
        if self.ends < datetime.now(UTC):
            raise SessionError(
                f"the certificate of {self.name} ended on {self.ends:%Y-%m-%d}; {self.name} makes a new one with "
                "`sfumato party init` and hands out its card"
            )


def party_name(name: str) -> str:
    """A name that a party can have, or a refusal.

    >>> party_name("north-hospital")
    'north-hospital'
    """
    if not NAME.fullmatch(name):
        raise SessionError(f"a party's name has 1 to 40 letters, digits, - and _, and begins with a letter: {name!r}")
    return name


def certificate_fingerprint(certificate: bytes) -> str:
    """The SHA-256 of a certificate, in groups.

    >>> certificate_fingerprint(b"")[:19]
    'e3b0 c442 98fc 1c14'
    """
    digits = hashlib.sha256(certificate).hexdigest()
    return " ".join(digits[at : at + 4] for at in range(0, 64, 4))


def _der(text: str, where: str) -> bytes:
    """A certificate whose key and dates can be read."""
    from cryptography.x509 import load_der_x509_certificate

    try:
        certificate = base64.b64decode(text, validate=True)
        load_der_x509_certificate(certificate).public_key()
    except Exception as error:  # whatever a library says of bytes from a stranger
        raise SessionError(f"{where}: the certificate cannot be read; ask for the card again") from error
    return certificate


# A party's private key and its certificate: made once, kept by the party, never handed out.
#
# The key is Ed25519. The certificate is signed by itself: it binds the key to nothing but the card that carries it.


YEARS = 5
"""How long a certificate is good."""
_EARLIER = timedelta(days=2)
"""A certificate is good a little earlier than it is made, for parties whose clocks are behind."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PartyKey:
    """A new identity: a card, and the secret to it."""

    card: PartyCard
    """What is handed out."""
    secret: bytes
    """The private key and the certificate, as PEM."""

    def __repr__(self) -> str:
        return f"PartyKey({self.card.name!r})"

    @classmethod
    def new(cls, name: str, address: Address) -> PartyKey:
        """A fresh key and its certificate."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        private = Ed25519PrivateKey.generate()
        certificate = _certificate(party_name(name), private)
        secret = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        card = PartyCard(name=name, address=address, certificate=certificate.public_bytes(Encoding.DER))
        return cls(card=card, secret=secret + certificate.public_bytes(Encoding.PEM))

    def write(self, folder: Path) -> tuple[Path, Path]:
        """Write the key, readable by its owner only, and the card; nothing is written over."""
        key, card = folder / f"{self.card.name}.key", folder / f"{self.card.name}.card"
        for path in (key, card):
            if path.exists() or path.is_symlink():
                raise SessionError(f"{path} exists already; name another folder with -o, or keep this key")
        try:
            write_secret(key, self.secret)
            write_with(key, lambda: write_whole(card, self.card.text()))
        except BundleError as error:
            raise SessionError(str(error)) from error
        return key, card


def refuse_key(path: Path, card: PartyCard) -> None:
    """Refuse a file that does not hold the key to a card's certificate."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

    try:
        content = read_whole(path, most=_MOST)
    except OSError as error:
        raise SessionError(
            f"the key {path} of {card.name} cannot be read: {error.strerror}; name its file with --key"
        ) from error
    try:
        private = load_pem_private_key(content, password=None)
        held = x509.load_pem_x509_certificate(content)
    except Exception as error:  # whatever a library says of bytes that are no key
        raise SessionError(f"{path} holds no key and certificate that `sfumato party init` wrote") from error
    encoding = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    same = private.public_key().public_bytes(*encoding) == held.public_key().public_bytes(*encoding)
    if not same or held.public_bytes(Encoding.DER) != card.certificate:
        raise SessionError(f"{path} is not the key to the card of {card.name}; name its file with --key")


def _certificate(name: str, private: Ed25519PrivateKey) -> Certificate:
    from cryptography import x509
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(
        subject_name=who,
        issuer_name=who,
        public_key=private.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=now - _EARLIER,
        not_valid_after=now + timedelta(days=365 * YEARS),
    )
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    builder = builder.add_extension(x509.ExtendedKeyUsage(both), critical=False)
    return builder.sign(private, None)


# TLS 1.3 between parties that know each other's certificates: both sides show one, and no other is accepted.


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
