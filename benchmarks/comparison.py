"""Every partition-based algorithm on Adult: loss, class sizes, suppression, classification accuracy and time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from comparison_measure import (
    K_SERIES,
    REQUIREMENTS,
    SECONDS,
    SHARES,
    Contender,
    Key,
    Measured,
    Refused,
    Requirement,
    Results,
    contenders,
    measure_all,
)
from measure import table
from pictures import GREY, TONES, Line, Panel, joined, save

MAIN = SHARES[-1]
"""The suppression limit of the tables that have only one."""
TONE = {
    **dict.fromkeys(("optimal", "incognito", "greedy"), TONES[0]),
    **dict.fromkeys(("samarati", "datafly"), TONES[5]),
    "k-optimize": TONES[3],
    "cell-suppression": GREY,
    "mondrian": TONES[2],
    "local": TONES[4],
    "hilbert": TONES[1],
}
"""Colours by family; an algorithm of a plugin is drawn in grey."""


class Notes:
    """Footnotes: each reason once, in the order of its first use."""

    def __init__(self) -> None:
        self.reasons: list[str] = []

    def mark(self, reason: str) -> str:
        """The sign of a refusal."""
        if reason not in self.reasons:
            self.reasons.append(reason)
        return f"- ({self.reasons.index(reason) + 1})"

    def lines(self) -> str:
        """All of them."""
        return "".join(f"({i}) {reason}\n\n" for i, reason in enumerate(self.reasons, start=1))


def matrix(results: Results, notes: Notes, title: str, share: float, write: Callable[[Measured], str]) -> str:
    """A line for each algorithm and a column for each requirement."""
    rows = []
    for one in contenders():
        cells = []
        for asked in REQUIREMENTS:
            found = results[Key(one.title, asked.title, share)]
            cells.append(notes.mark(found.reason) if isinstance(found, Refused) else write(found))
        rows.append([one.title, *cells])
    return table(title, ["algorithm", *(asked.title for asked in REQUIREMENTS)], rows)


def tables(results: Results) -> list[str]:
    """One matrix for each measure, and the reasons of refusals."""
    notes, limit = Notes(), f"{MAIN:.0%} may be suppressed"
    first = f"Loss on Adult, nothing may be suppressed (k: 9 quasi-identifiers; l, t: 8, sensitive {_sensitive()})"
    baseline = " and ".join(sorted({f"{m.original:.4f}" for m in _made(results) if m.original is not None}))
    majority = max(m.majority or 0.0 for m in _made(results))
    accuracy = f"Accuracy of predicting salary-class, {limit} (salary-class is no quasi-identifier here; the original "
    accuracy += f"rows reach {baseline}, the majority class {majority:.4f})"
    return [
        matrix(results, notes, first, SHARES[0], lambda m: f"{m.loss:.4f}"),
        matrix(results, notes, f"Loss on Adult, {limit}", MAIN, lambda m: f"{m.loss:.4f}"),
        matrix(results, notes, "NCP on Adult, nothing may be suppressed", SHARES[0], lambda m: f"{m.ncp:.4f}"),
        matrix(results, notes, f"Discernibility in millions, {limit}", MAIN, lambda m: f"{m.discernibility / 1e6:.3f}"),
        matrix(results, notes, f"Average class size in rows, {limit}", MAIN, lambda m: f"{m.average:,.1f}"),
        matrix(results, notes, f"Suppressed records of 30,162, {limit}", MAIN, lambda m: f"{m.suppressed:,}"),
        matrix(results, notes, accuracy, MAIN, lambda m: "-" if m.accuracy is None else f"{m.accuracy:.4f}"),
        matrix(results, notes, f"Seconds to count and search, {limit}", MAIN, lambda m: f"{m.search:.2f}"),
        matrix(results, notes, f"Seconds of the whole release in memory, {limit}", MAIN, lambda m: f"{m.whole:.2f}"),
        notes.lines(),
    ]


def aims(results: Results) -> str:
    """What is to hold between the algorithms, and whether it did."""
    rows = [
        _ordering(results, "mondrian below optimal", "mondrian", ("optimal",), strict=True),
        _ordering(results, "local below optimal", "local", ("optimal",), strict=True),
        _ordering(
            results,
            "optimal at most samarati, datafly, greedy",
            "optimal",
            ("samarati", "datafly", "greedy"),
            strict=False,
        ),
        _least_ncp(results),
        *(_half(results, share) for share in SHARES),
        _verified(results),
    ]
    return table("Aims", ["aim", "measured", "holds"], rows)


def _ordering(results: Results, title: str, low: str, high: Sequence[str], *, strict: bool) -> list[str]:
    kept, asked = 0, 0
    for share in SHARES:
        for requirement in REQUIREMENTS:
            mine = results[Key(low, requirement.title, share)]
            for name in high:
                other = results[Key(name, requirement.title, share)]
                if isinstance(mine, Measured) and isinstance(other, Measured):
                    asked += 1
                    kept += mine.loss < other.loss if strict else mine.loss <= other.loss + 1e-12
    return [title, f"{kept} of {asked} cases", "yes" if kept == asked else "no"]


def _least_ncp(results: Results) -> list[str]:
    best, name = min(
        (found.ncp, key.algorithm)
        for key, found in results.items()
        if isinstance(found, Measured) and key.requirement == "k = 5" and key.share == 0.0 and found.form == "hierarchy"
    )
    return ["NCP of hierarchy values, k = 5, at most 0.05", f"{best:.4f} by {name}", "yes" if best <= 0.05 else "no"]


def _half(results: Results, share: float) -> list[str]:
    best, local = (results[Key(name, "t = 0.2", share)] for name in ("optimal", "local"))
    if isinstance(best, Refused) or isinstance(local, Refused):
        return ["local at t = 0.2", "-", "-"]
    ratio = local.loss / best.loss
    told = f"{local.loss:.4f} / {best.loss:.4f} = {ratio:.3f}, searched in {local.search:.1f} s"
    title = f"local at t = 0.2 loses less than half of optimal, {share:.0%} may be suppressed"
    return [title, told, "yes" if ratio < 0.5 else "no"]


def _verified(results: Results) -> list[str]:
    made = _made(results)
    kept = sum(one.verified for one in made)
    return ["every release verified from its bytes", f"{kept} of {len(made)}", "yes" if kept == len(made) else "no"]


def _made(results: Results) -> list[Measured]:
    return [found for found in results.values() if isinstance(found, Measured)]


def _sensitive() -> str:
    return " ".join(sorted({asked.sensitive for asked in REQUIREMENTS if asked.sensitive}))


def picture(results: Results) -> None:
    """Loss against k by algorithm; what cannot be told apart is one line."""
    lines = [line for one in contenders() if (line := _line(results, one)).points]
    ticks = [*K_SERIES]
    one = Panel(
        title=f"Loss against k, Adult, 9 quasi-identifiers, {MAIN:.0%} of the rows may be suppressed",
        lines=joined(lines),
        x="k",
        ticks=ticks,
        y=(0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
    )
    save([[one]], "loss-against-k.svg", width=760, height=420)


def _line(results: Results, one: Contender) -> Line:
    points = []
    for k in K_SERIES:
        found = results[Key(one.title, Requirement.of_k(k).title, MAIN)]
        if isinstance(found, Measured):
            points.append((float(k), found.loss))
    return Line(name=one.title, points=points, tone=TONE.get(one.name, GREY), dashed=not one.plain)


def main() -> str:
    """All tables, and the picture of the docs."""
    results = measure_all()
    picture(results)
    note = "".join(f"{name} was stopped after {most:.0f} s.\n" for name, most in SECONDS.items())
    return "\n".join([aims(results), *tables(results), note])


if __name__ == "__main__":
    print(main())
