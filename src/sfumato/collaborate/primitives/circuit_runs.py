"""Many runs of one circuit in the open, side by side: for audits and simulations, not for parties.

Eight runs share a byte of every wire, so a thousand runs take little longer than one.
"""

from __future__ import annotations

import numpy as np

from sfumato.collaborate.primitives.bit_matrix import packed, unpacked
from sfumato.collaborate.primitives.circuit import CONSTANTS, ONE, ZERO, Bits, Circuit

AT_ONCE = 1 << 12
"""So many runs are held in memory."""


def evaluated_runs(circuit: Circuit, garbler: Bits, evaluator: Bits) -> Bits:
    """Runs x outputs: what the evaluator learns in each run, from runs x inputs of both parties."""
    circuit.check_inputs(garbler.shape[1], evaluator.shape[1])
    inputs = np.concatenate([garbler, evaluator], axis=1)
    parts = [_some(circuit, inputs[at : at + AT_ONCE]) for at in range(0, len(inputs), AT_ONCE)]
    return np.concatenate([np.empty((0, len(circuit.evaluator_outputs)), np.uint8), *parts])


def _some(circuit: Circuit, inputs: Bits) -> Bits:
    runs = len(inputs)
    values = np.empty((circuit.wires, -(-runs // 8)), np.uint8)
    values[ZERO], values[ONE] = 0, 255
    values[CONSTANTS : circuit.inputs] = packed(np.ascontiguousarray(inputs.T))
    for layer, xors, ands in circuit.steps():
        values[xors] = values[layer.xor_left] ^ values[layer.xor_right]
        values[ands] = values[layer.and_left] & values[layer.and_right]
    return np.ascontiguousarray(unpacked(values[circuit.evaluator_outputs], runs).T)
