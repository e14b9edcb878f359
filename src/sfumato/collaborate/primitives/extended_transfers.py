"""Random, chosen and correlated transfers, from the blocks of an extension.

Claim: with H a correlation-robust hash, transfer i has the keys H(i, q_i) and H(i, q_i xor S), where q_i is the
sender's block; the receiver's t_i is the one of the two that it chose.

* random: both parties use the keys;
* chosen: the sender masks two messages of any length with them;
* correlated: the sender ends with r_i, the receiver with r_i + c_i d_i modulo 2^64 (or xor, for blocks and for bits):
  one message instead of two, since r_i is a key itself.

Source: Ishai et al. 2003; Asharov, Lindell, Schneider, Zohner 2013, section 5.4. Leakage: as of the extension.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.collaborate.exchange import Exchange, Talk
from sfumato.collaborate.primitives.bit_matrix import packed, unpacked
from sfumato.collaborate.primitives.fixed_key_hash import BLOCK, Blocks
from sfumato.collaborate.primitives.transfer_extension import Receiving, Sending, extend_receiving, extend_sending
from sfumato.ground.errors import ParameterError

Words = NDArray[np.uint64]
"""Numbers modulo 2^64."""
Rows = NDArray[np.uint8]
"""Messages of one length, one a row."""


def send_random(ready: Sending, count: int) -> Talk[tuple[Blocks, Blocks]]:
    """Two random blocks for each transfer."""
    first = ready.done
    blocks = yield from extend_sending(ready, count)
    indices = _tweaks(first, count)
    return ready.hash(blocks, indices), ready.hash(blocks ^ ready.secret, indices)


def receive_random(ready: Receiving, choices: ArrayLike) -> Talk[Blocks]:
    """Of each two random blocks the one that was chosen."""
    chosen, first = as_choices(choices), ready.done
    blocks = yield from extend_receiving(ready, chosen)
    return ready.hash(blocks, _tweaks(first, len(chosen)))


def send_chosen(ready: Sending, zeros: Rows, ones: Rows) -> Talk[None]:
    """The receiver gets row i of ``zeros`` or of ``ones``, as it chooses."""
    if zeros.shape != ones.shape or zeros.ndim != 2:
        raise ParameterError(f"the messages of a transfer have one shape, not {zeros.shape} and {ones.shape}")
    first, (count, length) = ready.done, zeros.shape
    blocks = yield from extend_sending(ready, count)
    indices = _tweaks(first, count)
    masked = [ready.hash.wide(blocks, indices, length) ^ zeros]
    masked.append(ready.hash.wide(blocks ^ ready.secret, indices, length) ^ ones)
    yield Exchange(label="transfer/chosen", send={ready.peer: b"".join(part.tobytes() for part in masked)})


def receive_chosen(ready: Receiving, choices: ArrayLike, length: int) -> Talk[Rows]:
    """For each choice a message of so many bytes."""
    chosen, first = as_choices(choices), ready.done
    count = len(chosen)
    blocks = yield from extend_receiving(ready, chosen)
    came = yield Exchange(label="transfer/chosen", expect={ready.peer: 2 * count * length})
    masked = np.frombuffer(came[ready.peer], np.uint8).reshape(2, count, length)
    found: Rows = ready.hash.wide(blocks, _tweaks(first, count), length) ^ masked[chosen, np.arange(count)]
    return found


def send_correlated(ready: Sending, differences: Words) -> Talk[Words]:
    """Random r_i, where the receiver gets r_i or r_i + d_i modulo 2^64."""
    first, count = ready.done, len(differences)
    blocks = yield from extend_sending(ready, count)
    indices = _tweaks(first, count)
    own = ready.hash(blocks, indices)[:, 0]
    step = own - ready.hash(blocks ^ ready.secret, indices)[:, 0] + differences
    yield Exchange(label="transfer/correlated", send={ready.peer: step.tobytes()})
    return own


def receive_correlated(ready: Receiving, choices: ArrayLike) -> Talk[Words]:
    """For each choice r_i or r_i + d_i modulo 2^64."""
    chosen, first = as_choices(choices), ready.done
    blocks = yield from extend_receiving(ready, chosen)
    came = yield Exchange(label="transfer/correlated", expect={ready.peer: 8 * len(chosen)})
    own = ready.hash(blocks, _tweaks(first, len(chosen)))[:, 0]
    found: Words = own + np.frombuffer(came[ready.peer], np.uint64) * chosen
    return found


def send_offset(ready: Sending, count: int, offset: Blocks) -> Talk[Blocks]:
    """Random blocks w_i, where the receiver gets w_i or w_i xor the offset: the labels of a garbled circuit."""
    first = ready.done
    blocks = yield from extend_sending(ready, count)
    indices = _tweaks(first, count)
    own = ready.hash(blocks, indices)
    step = own ^ ready.hash(blocks ^ ready.secret, indices) ^ offset
    yield Exchange(label="transfer/offset", send={ready.peer: step.tobytes()})
    return own


def receive_offset(ready: Receiving, choices: ArrayLike) -> Talk[Blocks]:
    """For each choice w_i or w_i xor the offset."""
    chosen, first = as_choices(choices), ready.done
    blocks = yield from extend_receiving(ready, chosen)
    came = yield Exchange(label="transfer/offset", expect={ready.peer: BLOCK * len(chosen)})
    own = ready.hash(blocks, _tweaks(first, len(chosen)))
    step = np.frombuffer(came[ready.peer], np.uint64).reshape(-1, 2)
    found: Blocks = own ^ np.where(chosen[:, None] == 1, step, np.uint64(0))
    return found


def send_bits(ready: Sending, differences: NDArray[np.uint8]) -> Talk[NDArray[np.uint8]]:
    """Random bits r_i, where the receiver gets r_i or r_i xor d_i: shares of the product of two bits."""
    first, count = ready.done, len(differences)
    blocks = yield from extend_sending(ready, count)
    indices = _tweaks(first, count)
    own = _lowest(ready.hash(blocks, indices))
    step = own ^ _lowest(ready.hash(blocks ^ ready.secret, indices)) ^ differences
    yield Exchange(label="transfer/bits", send={ready.peer: packed(step).tobytes()})
    return own


def receive_bits(ready: Receiving, choices: ArrayLike) -> Talk[NDArray[np.uint8]]:
    """For each choice r_i or r_i xor d_i."""
    chosen, first = as_choices(choices), ready.done
    count = len(chosen)
    blocks = yield from extend_receiving(ready, chosen)
    came = yield Exchange(label="transfer/bits", expect={ready.peer: -(-count // 8)})
    return _lowest(ready.hash(blocks, _tweaks(first, count))) ^ (unpacked(came[ready.peer], count) & chosen)


def as_choices(choices: ArrayLike) -> NDArray[np.uint8]:
    """Choices as an array of 0 and 1; anything else is refused."""
    found = np.asarray(choices)
    if found.ndim != 1 or (found.size and not np.isin(found, (0, 1)).all()):
        raise ParameterError("choices are a row of 0 and 1")
    return found.astype(np.uint8)


def _lowest(blocks: Blocks) -> NDArray[np.uint8]:
    return (blocks[:, 0] & np.uint64(1)).astype(np.uint8)


def _tweaks(first: int, count: int) -> NDArray[np.uint64]:
    return np.arange(first, first + count, dtype=np.uint64)
