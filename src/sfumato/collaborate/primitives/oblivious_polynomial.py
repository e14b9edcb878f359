"""Oblivious polynomial evaluation: one party has a polynomial, the other a point; the value comes out as two shares.

Claim: among semi-honest parties the owner of the polynomial learns nothing about the point, as long as Paillier's
    encryption hides it, and the owner of the point learns nothing about the polynomial but its degree: its share is
    uniform. Only both shares together, modulo the receiver's n, are the value.
How: the receiver sends the powers of its point encrypted; the sender puts the encrypted value together and subtracts a
    random number, its own share.
Source: Naor and Pinkas 1999 (the task); 003 section 7.5 uses it for the exponential. Powers under Paillier's encryption
    instead of noisy points: fewer transfers, another assumption.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.collaborate.exchange import Exchange, Talk
from sfumato.collaborate.leakage import Leakage, Told
from sfumato.collaborate.primitives.paillier import BITS, PrivateKey, PublicKey, drawn_below
from sfumato.ground.errors import ParameterError, SessionError

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
