"""Paillier's encryption: sums under encryption, of numbers modulo n.

Claim: without the private key, encryptions of any two numbers look alike, if telling n-th residues modulo n^2 from
    other numbers is hard. The product of two encryptions is one of the sum; a power is one of a multiple.
Source: Paillier 1999. Primes come from the RSA key generation of ``cryptography``; powers from gmpy2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sfumato.ground.errors import ParameterError, SessionError
from sfumato.ground.extras import extra
from sfumato.ground.secret_key import fresh_key

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

    def add(self, one: int, other: int) -> int:
        """An encryption of the sum."""
        return int(one * other % self._square)

    def times(self, one: int, factor: int) -> int:
        """An encryption of a multiple."""
        return int(extra("gmpy2", "Paillier's encryption").powmod(one, factor % self.n, self._square))

    def written(self, encrypted: int) -> bytes:
        """An encryption as bytes."""
        return encrypted.to_bytes(self.length, "big")

    def read(self, content: bytes) -> int:
        """An encryption from bytes; what cannot be one is refused."""
        found = int.from_bytes(content, "big")
        if not 0 < found < self._square or extra("gmpy2", "Paillier's encryption").gcd(found, self.n) != 1:
            raise SessionError("a party sent a number that is no encryption")
        return found


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
