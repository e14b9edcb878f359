"""Reconstruction of a million answers on 100 cells, against the same rounds answer by answer."""

from __future__ import annotations

import numpy as np

from measure import table, timed
from sfumato.collection.channels import evidence, shown_numbers
from sfumato.collection.reconstruction import reconstruct
from sfumato.collection.specification import number_question
from sfumato.core.randomness import Chance

ANSWERS, CELLS, FEW = 1_000_000, 100, 20_000


def naive(codes: list[int], kernel: np.ndarray, rounds: int) -> np.ndarray:
    """Formula (20.5) as it is written, with an array of cells for every answer."""
    shares = np.full(kernel.shape[1], 1 / kernel.shape[1])
    for _ in range(rounds):
        found = np.zeros_like(shares)
        for z in codes:
            each = kernel[z] * shares
            found += each / each.sum()
        shares = found / len(codes)
    return shares


def main() -> str:
    """Read, count and reconstruct all answers; a few of them answer by answer."""
    rows = []
    for law in ("uniform", "gaussian", "laplace"):
        question = number_question("x", law, low=0, high=9999, privacy=1)
        true = Chance(seed=1).generator().triangular(0, 5000, 9999, ANSWERS)
        shown = shown_numbers(question, true, Chance(seed=2))
        evidence(question, shown[:10], cells=CELLS)  # the matrix is made once, and the compiled parts are loaded
        reconstruct(evidence(question, shown[:1000], cells=CELLS))
        found, ours = timed(lambda q=question, s=shown: reconstruct(evidence(q, s, cells=CELLS)), repeat=3)
        seen = evidence(question, shown[:FEW], cells=CELLS)
        _, slow = timed(lambda e=seen: naive(e.codes.tolist(), e.channel.matrix, 1))
        literal = slow.cpu * found.rounds * ANSWERS / FEW
        rows.append([law, found.rounds, f"{ours.cpu:.2f} s", f"{literal:,.0f} s", f"{literal / ours.cpu:,.0f}"])
    heads = ["noise", "rounds", "CPU", f"CPU answer by answer, from one round of {FEW:,}", "ratio"]
    return table(f"Reconstruction of {ANSWERS:,} answers on {CELLS} cells", heads, rows)


if __name__ == "__main__":
    print(main())
