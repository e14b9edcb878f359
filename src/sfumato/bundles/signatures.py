"""Signatures of bundles: whoever has the signer's card can tell that this signer made the bundle.

A bundle's seal shows that its parts belong together, and anybody can make one. A signature by Ed25519 (RFC 8032) over
the manifest, which names the digests of all other files, shows who did.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.bundles.files import MANIFEST, SIGNATURE
from sfumato.core.errors import BundleError
from sfumato.core.input_files import read_whole
from sfumato.core.staging import is_taken, write_secret, write_whole, write_with
from sfumato.core.strict_parsing import read_json

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_ABOUT = b"sfumato bundle signature 1\n"
"""What every signed message begins with, so that a signature of a bundle is good for nothing else."""
_FORM = {"schema", "algorithm", "key", "signature"}
_CARD = {"sfumato", "schema", "name", "key"}
_MOST = 4096
"""Longer cards and signatures are not read."""
_NAME = 200
"""Longer names of signers are refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """Who signs, and the public key by which their signatures are known."""

    name: str
    """Who it is, as the holder of the card was told."""
    key: bytes
    """The public key."""

    @property
    def fingerprint(self) -> str:
        """A few digits by which two people compare keys over the phone."""
        return fingerprint(self.key)

    @classmethod
    def load(cls, path: Path) -> Card:
        """Read a card, or refuse with what is wrong."""
        content = _read(path, "card")
        if not isinstance(content, dict) or set(content) != _CARD or content["sfumato"] != "card":
            raise BundleError(f"{path} is no signer's card; `sfumato key new NAME` writes one beside the key")
        name = content["name"]
        if content["schema"] != 1 or not isinstance(name, str) or not 0 < len(name) <= _NAME:
            raise BundleError(f"{path}: the card is of a form that this version does not read")
        return cls(name=name, key=_bytes(content["key"], 32, f"{path}: the key"))

    def text(self) -> str:
        """The card as its file has it."""
        document = {"sfumato": "card", "schema": 1, "name": self.name, "key": base64.b64encode(self.key).decode()}
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Signer:
    """Somebody who can sign."""

    card: Card
    """Who it is; the name is not written into bundles."""
    private: Ed25519PrivateKey
    """The private key."""

    def __repr__(self) -> str:
        return f"Signer({self.card.name!r}, {self.card.fingerprint})"

    @classmethod
    def new(cls, name: str) -> Signer:
        """A new key."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        if not 0 < len(name) <= _NAME or not name.isprintable():
            raise BundleError(f"the name of a signer must be 1 to {_NAME} printable characters, not {name!r}")
        return cls._of(name, Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: Path) -> Signer:
        """Read a private key, or refuse with what is wrong."""
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            key = load_pem_private_key(_content(path, "key"), password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise BundleError(f"{path} holds no private key that can be read: {error}") from error
        if not isinstance(key, Ed25519PrivateKey):
            raise BundleError(f"{path} holds another kind of key; `sfumato key new NAME` makes one for Ed25519")
        return cls._of(path.stem, key)

    @classmethod
    def _of(cls, name: str, private: Ed25519PrivateKey) -> Signer:
        return cls(card=Card(name=name, key=private.public_key().public_bytes_raw()), private=private)

    def write(self, key: Path) -> Path:
        """Write the private key, readable by its owner only, and its card; nothing is overwritten.

        A key without its card is what a killed run left: its card is written, and the key stays.
        """
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        card = key.with_suffix(".card")
        if is_taken(key) and not is_taken(card):
            known = Signer.load(key).card
            write_whole(card, Card(name=self.card.name, key=known.key).text())
            return card
        for path in (key, card):
            if is_taken(path):
                raise BundleError(f"{path} exists already; name another file, or keep this key")
        secret = self.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        write_secret(key, secret)
        write_with(key, lambda: write_whole(card, self.card.text()))
        return card

    def sign(self, manifest: bytes) -> bytes:
        """The signature of a manifest's bytes."""
        return self.private.sign(_message(manifest))


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """What is known about who signed a bundle."""

    told: str
    """In words."""
    holds: bool = True
    """Whether it is what it must be: good, and by the wanted signer."""
    checked: bool = False
    """Whether there was a signature, or a wanted signer."""
    vouched: bool = False
    """Whether it is by the wanted signer."""
    key: str | None = None
    """The fingerprint of the key."""

    def to_json(self) -> dict[str, Any]:
        """As the command line prints it."""
        return {"signed": self.key is not None, "key": self.key, "vouched": self.vouched, "told": self.told}


UNSIGNED = Signature(told="sealed, not signed: consistent, but anyone could have made it")


def sign(folder: Path, signer: Signer) -> None:
    """Sign the manifest of a bundle."""
    signature = signer.sign((folder / MANIFEST).read_bytes())
    content = {"schema": 1, "algorithm": "Ed25519", "key": _text(signer.card.key), "signature": _text(signature)}
    (folder / SIGNATURE).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def checked_signature(folder: Path, card: Card | None) -> Signature:
    """Who signed a bundle; with a card, whether its holder did."""
    path = folder / SIGNATURE
    if not path.exists() and not path.is_symlink():
        if card is None:
            return UNSIGNED
        return Signature(told=f"not signed; {card.name} should have signed it", holds=False, checked=True)
    try:
        key, signature = _parsed(_read(path, "signature"), str(path))
    except BundleError as error:
        return Signature(told=str(error), holds=False, checked=True)
    mark = fingerprint(key)
    if not _good(key, signature, (folder / MANIFEST).read_bytes()):
        return Signature(told=f"the signature by key {mark} is not of this manifest", holds=False, checked=True)
    if card is None:
        message = f"signed with the key {mark}; give the signer's card (--signer) to learn whether it is theirs"
        return Signature(told=message, checked=True, key=mark)
    if key != card.key:
        message = f"signed with the key {mark}, and not with that of {card.name} ({card.fingerprint})"
        return Signature(told=message, holds=False, checked=True, key=mark)
    return Signature(told=f"signed by {card.name} ({mark})", checked=True, vouched=True, key=mark)


def fingerprint(key: bytes) -> str:
    """The first digits of a key's digest, in groups.

    >>> fingerprint(bytes(32))
    '6668 7aad f862 bd77'
    """
    digits = hashlib.sha256(key).hexdigest()[:16]
    return " ".join(digits[at : at + 4] for at in range(0, 16, 4))


def _parsed(content: Any, where: str) -> tuple[bytes, bytes]:
    if not isinstance(content, dict) or set(content) != _FORM:
        raise BundleError(f"{where} must have the keys {', '.join(sorted(_FORM))} and no others")
    if content["schema"] != 1 or content["algorithm"] != "Ed25519":
        raise BundleError(f"{where}: only signatures of schema 1 by Ed25519 are read")
    return _bytes(content["key"], 32, f"{where}: the key"), _bytes(content["signature"], 64, f"{where}: the signature")


def _good(key: bytes, signature: bytes, manifest: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, _message(manifest))
    except InvalidSignature:
        return False
    return True


def _message(manifest: bytes) -> bytes:
    return _ABOUT + hashlib.sha256(manifest).digest()


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _bytes(text: Any, size: int, what: str) -> bytes:
    try:
        content = base64.b64decode(text, validate=True)
    except (TypeError, ValueError):
        content = b""
    if len(content) != size:
        raise BundleError(f"{what} must be {size} bytes in base64")
    return content


def _content(path: Path, what: str) -> bytes:
    try:
        return read_whole(path, most=_MOST)
    except OSError as error:
        raise BundleError(f"the {what} {path} cannot be read: {error.strerror}") from error


def _read(path: Path, what: str) -> Any:
    try:
        return read_json(_content(path, what).decode())
    except ValueError as error:
        raise BundleError(f"the {what} {path} is not valid JSON: {error}") from error
