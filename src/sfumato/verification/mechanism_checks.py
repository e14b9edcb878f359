"""Whether the ledger, the steps and the figures of a private mechanism tell one story.

Each mechanism buys its parts by name. A ledger that adds up and names other parts, or none, is no account of what was
done: a reader could not tell which counts the noise is in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from sfumato.describe.spans import read_interval
from sfumato.describe.taxonomy import TOP

Parts = Sequence[Mapping[str, Any]]
_WITH_CLASS = re.compile(r"(?P<names>.*) in (?P<sizes>[0-9]+(?: x [0-9]+)*) groups, measured with (?P<target>.*)", re.S)
_TOGETHER = ", measured together"
_CLASS_ROWS = "rows of every class"
_CHOICES = ("choice of an attribute of the core", "choice of an attribute", "choice of a pair")
_FIGURES: Mapping[str, tuple[str, ...]] = {
    "marginals": (
        "attributes", "in the core", "measured with the class", "pairs measured", "groups",
        "rows that each drawn row stands for",
    ),
    "diffgen": ("specializations", "groups", "scale of the noise of a count"),
}  # fmt: skip


def mechanism_faults(manifest: Mapping[str, Any], rows: Mapping[str, Any], distinct_rows: int) -> list[str]:
    """What contradicts the ledger of the rows in steps and figures, in words; nothing is known of other mechanisms.

    ``distinct_rows`` is how many different combinations of labels are published.
    """
    name, search = manifest["recoding"]["algorithm"], manifest["search"]
    if name not in _FIGURES:
        return []
    event = rows["part"] if rows["kind"] == "grouped" else rows
    wrong = [f"no figure {key!r}" for key in _FIGURES[name] if key not in search]
    if wrong:
        return wrong
    for column, stated in manifest["recoding"]["columns"].items():
        wrong += [f"deviations of {column}"] * (stated.get("deviations", {}).keys() != stated["labels"].keys())
    wrong += (_marginals if name == "marginals" else _diffgen)(manifest, event.get("parts", ()))
    if search["groups"] < distinct_rows:  # groups whose noisy counts are all 0 are not published
        wrong.append(f"{search['groups']} groups, where {distinct_rows} different rows are published")
    return wrong


def _marginals(manifest: Mapping[str, Any], parts: Parts) -> Iterable[str]:
    """Every column is measured alone, the class too; every step is bought, and nothing else."""
    search, steps = manifest["search"], manifest["recoding"]["steps"]
    columns = list(manifest["recoding"]["columns"])
    with_class = [match for step in steps if (match := _WITH_CLASS.fullmatch(step))]
    together = [step.replace(_TOGETHER, "") for step in steps if _TOGETHER in step]
    due = Counter([f"marginal of {match['names']} with {match['target']}" for match in with_class])
    due.update(f"marginal of {pair}" for pair in together)
    alone = {f"marginal of {name}" for name in columns}
    alone |= {_CLASS_ROWS} if len(manifest["domains"].get("target", {}).get("values", ())) > 1 else set()
    bought = Counter(str(part["what"]) for part in parts if part["what"] not in _CHOICES)
    rest = Counter({what: times for what, times in bought.items() if what not in alone})
    yield from (f"the ledger has no {what!r}" for what in sorted(alone - bought.keys()))
    yield from (f"the ledger and the steps differ in {what!r}" for what in sorted((rest - due) | (due - rest)))
    core = len(with_class[0]["sizes"].split(" x ")) if with_class and search["in the core"] else 0
    figures = {
        "attributes": len(columns),
        "in the core": core,
        "measured with the class": len(with_class) - bool(core),
        "pairs measured": len(together),
    }
    yield from (f"{key}: {search[key]} instead of {value}" for key, value in figures.items() if search[key] != value)
    asked = manifest["plan"]["algorithm"].get("workload", [])
    if not all(isinstance(pair, list) and set(map(str, pair)) <= {*columns} for pair in asked):
        yield "the workload names other columns"
    if core and not any(part["what"] == _CHOICES[0] for part in parts):
        yield "no attribute of the core was chosen"
    if search["rows that each drawn row stands for"] < 1:
        yield "a drawn row stands for less than one"


def _diffgen(manifest: Mapping[str, Any], parts: Parts) -> Iterable[str]:
    """The ledger has one part for each step in its order and one for the counts, and figures name its amounts."""
    search, steps = manifest["search"], manifest["recoding"]["steps"]
    named = [str(part["what"]) for part in parts if str(part["what"]).startswith("specialization ")]
    due = [f"specialization {number}: {step}" for number, step in enumerate(steps, start=1)]
    if named != [step for step in due if step in named]:  # a step without a choice costs nothing
        yield "the ledger and the steps differ"
    figures = {str(search.get(f"{unit} of the counts")) for unit in ("epsilon", "rho")} - {"None"}
    counts = [part.get("epsilon", part.get("rho")) for part in parts if part["what"] == "counts of the groups"]
    if counts != list(figures):
        yield "the counts of the groups are not bought for what is stated"
    figures = {str(search.get(f"{unit} of one choice")) for unit in ("epsilon", "rho")} - {"None"}
    choices = {str(part.get("epsilon", part.get("rho"))) for part in _inner(parts) if _is_choice(part)}
    if len(figures) != 1 or choices - figures:
        yield "a choice is not bought for what is stated"


def _is_choice(part: Mapping[str, Any]) -> bool:
    return str(part["what"]).startswith("which value") or str(part["what"]).endswith(": where to split")


def _inner(parts: Parts) -> Iterable[Mapping[str, Any]]:
    for part in parts:
        if "parts" not in part:
            yield part
        yield from _inner(part.get("parts", ()))


def overlapping(labels: Iterable[str], domain: Mapping[str, Any]) -> list[str]:
    """Labels of one column of which one covers the other: a cut through a tree or a range has none."""
    if domain["kind"] == "number":
        spans = sorted((span.low, span.high, label) for label in labels if (span := read_interval(label)) is not None)
        return [label for (_, high, _), (low, _, label) in pairwise(spans) if low < high]
    if domain["kind"] != "tree":
        return []
    nodes = domain["nodes"]
    stated = set(labels)
    return [name for name, above in nodes if name in stated and name != TOP and _over(nodes, above) & stated]


def _over(nodes: Sequence[tuple[str, int]], position: int) -> set[str]:
    names = set[str]()
    while position >= 0:
        names.add(nodes[position][0])
        position = nodes[position][1]
    return names
