"""A hash of many 128-bit blocks at once that keeps its promises although all blocks hide the same secret.

Claim: for one secret S and blocks x, the values H(x xor S, tweak) look random to whoever knows the x, even if they are
mixed with S itself (a tweakable circular correlation-robust hash), where AES under one public key is an ideal
permutation p. H(x, tweak) = p(p(x) xor tweak) xor p(x).

Source: Guo, Katz, Wang, Yu 2020, section 7.4 (TMMO). A tweak is never used twice with one secret. The key of p is made
from the session, so what somebody computes in advance helps against no session.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

Blocks = NDArray[np.uint64]
"""128-bit blocks, one a row of two words."""
BLOCK = 16
"""Bytes of a block."""
AT_ONCE = 1 << 13
"""Blocks that fit into a fast cache."""


class FixedKeyHash:
    """The hash of one session and purpose."""

    def __init__(self, session: bytes, purpose: str) -> None:
        """Both parties name the same session and purpose."""
        key = hashlib.sha256(f"sfumato {purpose} ".encode() + session).digest()[:BLOCK]
        self._cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
        self._out = bytearray(AT_ONCE * BLOCK + BLOCK - 1)

    def __call__(self, blocks: Blocks, tweaks: NDArray[np.uint64], part: int = 0) -> Blocks:
        """The hash of each block under its own tweak; ``part`` is the upper half of all tweaks."""
        found = np.empty_like(blocks, order="C")
        for at in range(0, len(blocks), AT_ONCE):
            chunk = slice(at, at + AT_ONCE)
            once = self.permuted(blocks[chunk])
            tweaked = once.copy()
            tweaked[:, 0] ^= tweaks[chunk]
            if part:
                tweaked[:, 1] ^= np.uint64(part)
            np.bitwise_xor(self.permuted(tweaked), once, out=found[chunk])
        return found

    def wide(self, blocks: Blocks, tweaks: NDArray[np.uint64], length: int) -> NDArray[np.uint8]:
        """So many bytes for each block, from as many hashes as that takes."""
        parts: Sequence[Blocks] = [self(blocks, tweaks, part) for part in range(-(-length // BLOCK))]
        if not parts:
            return np.empty((len(blocks), 0), np.uint8)
        return np.hstack(parts).view(np.uint8)[:, :length]

    def permuted(self, blocks: Blocks) -> Blocks:
        """AES of each block."""
        content = np.ascontiguousarray(blocks)
        size = content.nbytes
        out = self._out if size + BLOCK - 1 <= len(self._out) else bytearray(size + BLOCK - 1)
        self._cipher.update_into(content.tobytes(), out)
        return np.frombuffer(bytes(memoryview(out)[:size]), np.uint64).reshape(-1, 2)


class KeyStreams:
    """Endless random bits from many keys, row by row: AES in counter mode, each row read on from where it stopped."""

    def __init__(self, keys: Sequence[bytes]) -> None:
        """One row for every key of 16 bytes."""
        zero = bytes(BLOCK)
        self._rows = [Cipher(algorithms.AES(key), modes.CTR(zero)).encryptor() for key in keys]

    def read(self, length: int) -> NDArray[np.uint8]:
        """The next bytes of every row."""
        found = np.empty((len(self._rows), length), np.uint8)
        zeros = bytes(length)
        for at, row in enumerate(self._rows):
            found[at] = np.frombuffer(row.update(zeros), np.uint8)
        return found
