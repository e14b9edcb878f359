"""A party's private key and its certificate: made once, kept by the party, never handed out.

The key is Ed25519. The certificate is signed by itself: it binds the key to nothing but the card that carries it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.bundle.secret_files import write_secret, write_with
from sfumato.bundle.staging import write_whole
from sfumato.collaborate.wire.party_cards import Address, PartyCard, party_name
from sfumato.ground.errors import BundleError, SessionError
from sfumato.ground.opening import read_whole

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.x509 import Certificate

YEARS = 5
"""How long a certificate is good."""
_EARLIER = timedelta(days=2)
"""A certificate is good a little earlier than it is made, for parties whose clocks are behind."""
_MOST = 16_384


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
        made = _certificate(party_name(name), private)
        secret = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        card = PartyCard(name=name, address=address, certificate=made.public_bytes(Encoding.DER))
        return cls(card=card, secret=secret + made.public_bytes(Encoding.PEM))

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
    shown = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    same = private.public_key().public_bytes(*shown) == held.public_key().public_bytes(*shown)
    if not same or held.public_bytes(Encoding.DER) != card.certificate:
        raise SessionError(f"{path} is not the key to the card of {card.name}; name its file with --key")


def _certificate(name: str, private: Ed25519PrivateKey) -> Certificate:
    from cryptography import x509
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(
        subject_name=who,
        issuer_name=who,
        public_key=private.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=now - _EARLIER,
        not_valid_after=now + timedelta(days=365 * YEARS),
    )
    made = made.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    made = made.add_extension(x509.ExtendedKeyUsage(both), critical=False)
    return made.sign(private, None)
