"""Oblivious polynomial evaluation with Paillier's encryption."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sfumato.core.errors import ParameterError, SessionError
from sfumato.core.extras import extra
from sfumato.core.randomness import fresh_key
from sfumato.parties.conversation import Exchange, Leakage, Talk, Told

# Paillier's encryption: sums under encryption, of numbers modulo n.
#
# Claim: without the private key, encryptions of any two numbers look alike, if telling n-th residues modulo n^2 from
#     other numbers is hard. The product of two encryptions is one of the sum; a power is one of a multiple.
# Source: Paillier 1999. Primes come from the RSA key generation of ``cryptography``; powers from gmpy2.


BITS = 2048
"""Bits of n."""


@dataclass(frozen=True, slots=False, kw_only=True)
class PublicKey:
    """What everybody may know: it encrypts, adds and multiplies."""

    n: int
    """The product of two secret primes."""

    @property
    def number_length(self) -> int:
        """Bytes of a number modulo n."""
        return (self.n.bit_length() + 7) // 8

    @property
    def length(self) -> int:
        """Bytes of an encryption."""
        return 2 * self.number_length

    @cached_property
    def _square(self) -> Any:
        return extra("gmpy2", "Paillier's encryption").mpz(self.n) ** 2

    def encrypt(self, number: int) -> int:
        """A fresh encryption of a number modulo n."""
        powmod = extra("gmpy2", "Paillier's encryption").powmod
        hidden = powmod(drawn_below(self.n - 1) + 1, self.n, self._square)
        return int((1 + (number % self.n) * self.n) * hidden % self._square)

    def add(self, ciphertext: int, other: int) -> int:
        """An encryption of the sum."""
        return int(ciphertext * other % self._square)

    def times(self, ciphertext: int, factor: int) -> int:
        """An encryption of a multiple."""
        return int(extra("gmpy2", "Paillier's encryption").powmod(ciphertext, factor % self.n, self._square))

    def written(self, encrypted: int) -> bytes:
        """An encryption as bytes."""
        return encrypted.to_bytes(self.length, "big")

    def read(self, content: bytes) -> int:
        """An encryption from bytes; what cannot be one is refused."""
        ciphertext = int.from_bytes(content, "big")
        if not 0 < ciphertext < self._square or extra("gmpy2", "Paillier's encryption").gcd(ciphertext, self.n) != 1:
            raise SessionError("a party sent a number that is no encryption")
        return ciphertext


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PrivateKey:
    """Who has it reads what was encrypted."""

    public: PublicKey
    """The key for everybody else."""
    order: int
    """(p - 1) (q - 1)."""
    inverse: int
    """The inverse of ``order`` modulo n."""

    @classmethod
    def new(cls, bits: int = BITS) -> PrivateKey:
        """A fresh key."""
        from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

        primes = generate_private_key(65537, bits).private_numbers()
        n, order = primes.p * primes.q, (primes.p - 1) * (primes.q - 1)
        return cls(public=PublicKey(n=n), order=order, inverse=pow(order, -1, n))

    def decrypt(self, encrypted: int) -> int:
        """The number, from 0 to n - 1."""
        gmpy2 = extra("gmpy2", "Paillier's encryption")
        raised = gmpy2.powmod(encrypted, self.order, gmpy2.mpz(self.public.n) ** 2)
        return int((raised - 1) // self.public.n * self.inverse % self.public.n)


def drawn_below(limit: int) -> int:
    """A number from 0 to ``limit`` - 1, each as likely as the others but for 2^-128."""
    if limit < 1:
        raise ParameterError(f"a number is drawn below a limit of at least 1, not {limit}")
    return int.from_bytes(fresh_key((limit.bit_length() + 7) // 8 + 16), "big") % limit


# Oblivious polynomial evaluation: one party has a polynomial, the other a point; the value comes out as two shares.
#
# Claim: among semi-honest parties the owner of the polynomial learns nothing about the point, as long as Paillier's
#     encryption hides it, and the owner of the point learns nothing about the polynomial but its degree: its share is
#     uniform. Only both shares together, modulo the receiver's n, are the value.
# How: the receiver sends the powers of its point encrypted; the sender puts the encrypted value together and
#     subtracts a random number, its own share.
# Source: Naor and Pinkas 1999 (the task); 003 section 7.5 uses it for the exponential. Powers under Paillier's
#     encryption instead of noisy points: fewer transfers, another assumption.


LEAKAGE = Leakage(
    protocol="oblivious polynomial evaluation",
    result=(Told(to="both parties", what="a random share of the polynomial's value, useless without the other share"),),
    beyond=(Told(to="both parties", what="the degree of the polynomial"),),
    withstands="either of the two parties by itself",
    limits="a receiver that encrypts other numbers than the powers of one point",
)
_LENGTH = BITS // 8


@dataclass(frozen=True, slots=True, kw_only=True)
class PolynomialShare:
    """One party's share of a value: the shares add up to it modulo ``modulus``."""

    share: int
    """The share."""
    modulus: int
    """The receiver's n."""


def receive_polynomial(peer: int, point: int, degree: int, key: PrivateKey | None = None) -> Talk[PolynomialShare]:
    """The side of the party with the point; a key that it made itself serves any number of polynomials."""
    if degree < 0:
        raise ParameterError(f"degree must be at least 0, not {degree}")
    key = key or PrivateKey.new()
    public = key.public
    powers = [public.written(public.encrypt(pow(point, exponent, public.n))) for exponent in range(1, degree + 1)]
    message = public.n.to_bytes(_LENGTH, "big") + b"".join(powers)
    yield Exchange(label="polynomial/powers", send={peer: message})
    came = yield Exchange(label="polynomial/value", expect={peer: public.length})
    return PolynomialShare(share=key.decrypt(public.read(came[peer])), modulus=public.n)


def send_polynomial(peer: int, coefficients: Sequence[int]) -> Talk[PolynomialShare]:
    """The side of the party with the polynomial; the constant comes first. Coefficients may be negative."""
    if not coefficients:
        raise ParameterError("a polynomial has at least one coefficient")
    degree = len(coefficients) - 1
    came = yield Exchange(label="polynomial/powers", expect={peer: _LENGTH * (1 + 2 * degree)})
    content = came[peer]
    public = PublicKey(n=int.from_bytes(content[:_LENGTH], "big"))
    if public.n.bit_length() != BITS or not public.n % 2:
        raise SessionError("a party sent a Paillier key of another size")
    share = drawn_below(public.n)
    value = public.encrypt(coefficients[0] - share)
    for place, factor in enumerate(coefficients[1:]):
        start = _LENGTH * (1 + 2 * place)
        power = public.read(content[start : start + 2 * _LENGTH])
        value = public.add(value, public.times(power, factor))
    yield Exchange(label="polynomial/value", send={peer: public.written(value)})
    return PolynomialShare(share=share, modulus=public.n)
