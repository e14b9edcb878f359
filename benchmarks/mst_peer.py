"""MST of SmartNoise on a table of codes: ``python mst_peer.py TABLE.npz EPSILON OUT.npy``, in its own environment.

It needs ``pip install --no-deps smartnoise-synth`` and ``pip install "mbi<2" "disjoint-set<0.10" networkx pandas``
with smartnoise-sql. Rows are drawn by sampling: its default rounds the counts of every clique up or down together.
"""

from __future__ import annotations

import sys

import numpy as np
from mbi import Dataset, Domain
from snsynth.mst import MSTSynthesizer

DELTA = 1e-9


def main(source: str, epsilon: float, target: str) -> None:
    """Read a table, draw rows, write them."""
    given = np.load(source)
    codes, sizes = given["codes"], [int(size) for size in given["sizes"]]
    made = MSTSynthesizer(epsilon=epsilon, delta=DELTA)
    made.MST(Dataset(codes.T, domain=Domain([f"c{n}" for n in range(len(sizes))], sizes)), epsilon, DELTA)
    rows = made.synthesizer.synthetic_data(rows=codes.shape[1], method="sample")
    np.save(target, made.undo_compress_fn(rows).df.values.T.astype(np.int32))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), sys.argv[3])
