"""The plateau and the triangle under uniform and Gaussian noise: what comes back, and how the error falls."""

from __future__ import annotations

from statistics import fmean

import numpy as np

from measure import table
from pictures import Panel, save
from sfumato.collection.channels import evidence, shown_numbers
from sfumato.collection.reconstruction import Method, reconstruct
from sfumato.collection.specification import number_question
from sfumato.core.randomness import Chance
from sfumato.reports.plots import Line, ticks_over

PRIVACY = (0.25, 0.5, 1.0, 2.0)
SIZES = (1_000, 10_000, 100_000)
CELLS, TRIALS = 20, 5
SHAPES = {
    "plateau": np.repeat([0.25, 1.75, 0.25], [25, 50, 25]),
    "triangle": 50.5 - np.abs(np.arange(100) - 49.5),
}


def measured(shape: str, law: str, privacy: float, many: int, seed: int, method: Method) -> tuple[np.ndarray, ...]:
    """The shares of the cells: true, shown, reconstructed."""
    weights = SHAPES[shape] / SHAPES[shape].sum()
    question = number_question("x", law, low=0, high=99, privacy=privacy)
    true = Chance(seed=seed).generator().choice(100, size=many, p=weights).astype(float)
    shown = shown_numbers(question, true, Chance(seed=seed + 1000))
    raw = np.bincount(np.clip(shown // 5, 0, CELLS - 1).astype(int), minlength=CELLS) / many
    return (
        weights.reshape(CELLS, -1).sum(axis=1),
        raw,
        reconstruct(evidence(question, shown, cells=CELLS), method=method).shares,
    )


def apart(one: np.ndarray, other: np.ndarray) -> float:
    """Half the sum of differences, in per cent: so many people lie in wrong cells."""
    return float(50 * np.abs(one - other).sum())


def main() -> str:
    """Draw the shapes at 100 % privacy, and tabulate errors by privacy and answers."""
    rows, errors = [], {}
    for shape in SHAPES:
        for law in ("uniform", "gaussian"):
            for privacy in PRIVACY:
                found = {}
                for many in SIZES:
                    for method in ("em", "bayes"):
                        each = [measured(shape, law, privacy, many, seed, method) for seed in range(TRIALS)]
                        found[many, method] = fmean(apart(one[0], one[2]) for one in each)
                        raw = fmean(apart(one[0], one[1]) for one in each)
                errors[shape, law, privacy] = [found[many, "em"] for many in SIZES]
                cells = [f"{found[many, method]:.1f}" for method in ("em", "bayes") for many in SIZES]
                rows.append([shape, law, f"{100 * privacy:g} %", f"{raw:.1f}", *cells])
    _draw(errors)
    heads = ["shape", "noise", "privacy", "as shown", *(f"{m}, {n:,}" for m in ("EM", "Bayes") for n in SIZES)]
    title = f"Shapes in {CELLS} cells: per cent of people in wrong cells, mean of {TRIALS} runs"
    return table(title, heads, rows)


def _draw(errors: dict[tuple[str, str, float], list[float]]) -> None:
    at, shapes = np.arange(CELLS) * 5 + 2.5, []
    for shape in SHAPES:
        row = []
        for law in ("uniform", "gaussian"):
            true, raw, found = (100 * one for one in measured(shape, law, 1.0, 100_000, 1, "em"))
            lines = [
                Line(name="as shown", points=list(zip(at, raw, strict=True)), tone=-1),
                Line(name="reconstructed", points=list(zip(at, found, strict=True)), tone=0),
                Line(name="true", points=list(zip(at, true, strict=True)), tone=1, dashed=True),
            ]
            heights = ticks_over([0.0, *true, *raw, *found])
            title = f"{shape}, {law} noise"
            axes = {"x": "value", "ticks": (0, 25, 50, 75, 100), "y": heights, "unit": " %"}
            row.append(Panel(title=title, lines=lines, log_x=False, log_y=False, **axes))
        shapes.append(row)
    save(shapes, "collect-shapes.svg")
    panels = [
        [
            Panel(
                title=f"error, {shape}, {law} noise",
                lines=[
                    Line(name=f"{100 * p:g} %", points=list(zip(SIZES, errors[shape, law, p], strict=True)), tone=n)
                    for n, p in enumerate(PRIVACY)
                ],
                x="answers",
                ticks=SIZES,
                y=ticks_over([0.0, *(e for p in PRIVACY for e in errors[shape, law, p])]),
                unit=" %",
                log_y=False,
            )
            for law in ("uniform", "gaussian")
        ]
        for shape in SHAPES
    ]
    save(panels, "collect-errors.svg")


if __name__ == "__main__":
    print(main())
