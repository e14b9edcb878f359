"""Checks on private mechanisms: public domains, ledger and steps, noise by stated cost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import isclose, sinh
from typing import Any

from sfumato.tables.labels import read_interval
from sfumato.tables.schema import DECLARING
from sfumato.tables.taxonomy import TOP

# Whether the domains of a private bundle are public: declared, confirmed by a person, or found and paid for.


DISCOVERED = "discover"
"""As a plan says that a domain is to be looked for."""
FOUND = "discovered"
"""As a manifest says that it was."""
FINDING = "finding the domains"
"""What the part of a ledger is called that paid for them."""
RANGE, VALUES = "range of {name}", "values of {name}"
"""What looking for one domain is called."""
PROFILE = "profile"
"""As a plan says that a domain was read off the rows."""
_PUBLISHED = ("quasi", "target")


def split(ledger: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, Mapping[str, Any]]:
    """What paid for finding domains, if anything did, and what paid for the rows."""
    parts = ledger.get("parts", ())
    if ledger["kind"] == "sequential" and len(parts) == 2 and parts[0].get("what") == FINDING:
        return parts[0], parts[1]
    return None, ledger


def domains_known(manifest: Mapping[str, Any], check: Callable[..., Any]) -> Iterable[Any]:
    """No domain was read off the rows; each is declared by the plan, or was found and paid for."""
    columns = manifest["plan"]["columns"]
    planned = [name for name, spec in columns.items() if spec["role"] in _PUBLISHED]
    read_off = [name for name in planned if columns[name].get("domain_from") == PROFILE]
    detail = "none" if not read_off else f"read off the rows and not confirmed: {', '.join(read_off)}"
    yield check(what="no domain is read off the rows", holds=not read_off, detail=detail)
    sought = {name for name in planned if columns[name].get("domain_from") == DISCOVERED}
    open_ones = [
        name for name in planned if name not in sought and not _declared(columns[name], name, manifest["domains"])
    ]
    detail = "all" if not open_ones else f"not declared: {', '.join(open_ones)}"
    yield check(what="domains that the plan declares", holds=not open_ones, detail=detail)
    wrong = sorted(sought ^ _found(manifest["domains"]) | _unpaid(manifest["ledger"], sought))
    detail = f"not found, or not paid for: {', '.join(wrong)}" if wrong else f"{len(sought)} columns"
    yield check(what="domains that were looked for are paid for", holds=not wrong, detail=detail)


def _found(domains: Mapping[str, Any]) -> set[str]:
    """The columns whose domain the manifest says was found."""
    names = {name for name, domain in domains["columns"].items() if domain.get("from") == FOUND}
    target = domains.get("target")
    return names | ({target["name"]} if target and target.get("from") == FOUND else set())


def _unpaid(ledger: Mapping[str, Any], sought: set[str]) -> set[str]:
    """Columns that were looked for and have no part in the ledger, and parts that no column asked for."""
    finding, _ = split(ledger)
    paid = [str(part["what"]) for part in (finding or {}).get("parts", ())]
    known = {text.format(name=name): name for name in sought for text in (RANGE, VALUES)}
    missing = sought - {known[what] for what in paid if what in known}
    return missing | {what for what in paid if what not in known} | {what for what in paid if paid.count(what) > 1}


def _declared(spec: Mapping[str, Any], name: str, domains: Mapping[str, Any]) -> bool:
    """Whether a column of the plan declares its domain: by a hierarchy that needs no rows, or by its values."""
    if spec["role"] == "target":
        target = domains["target"]
        listed = set(target["values"]) - {spec["other"]} if "other" in spec else set(target["values"])
        many = spec.get("values")
        return bool(target["name"] == name and many in (len(listed), len(target["values"])))
    if spec.get("hierarchy"):
        return spec["hierarchy"] in DECLARING
    return bool(spec.get("values"))


# Whether the ledger, the steps and the figures of a private mechanism tell one story.
#
# Each mechanism buys its parts by name. A ledger that adds up and names other parts, or none, is no account of what
# was done: a reader could not tell which counts the noise is in.


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
    workload = manifest["plan"]["algorithm"].get("workload", [])
    if not all(isinstance(pair, list) and set(map(str, pair)) <= {*columns} for pair in workload):
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


# How noisy published counts are, by what the ledger of a private bundle says they cost.


_SHARP = 100.0
"""For more epsilon than this there is no noise to speak of ..."""
NOISES = "noises in a count"
"""As the figures of a search name how many whole noises a count has: more than one where several parties add some."""
SMALLEST = 1e-12
"""... and a variance is told as this."""


def noise_fits(manifest: Mapping[str, Any], parts: Sequence[Mapping[str, Any]], check: Callable[..., Any]) -> Any:
    """Where a column was measured by itself, its deviations are those of the noise that its parts of the ledger buy."""
    recoding = manifest["recoding"]
    stated = [
        (name, f"marginal of {name}", column.get("deviations", {})) for name, column in recoding["columns"].items()
    ]
    stated.append(("the class", "rows of every class", recoding.get("classes", {})))
    draws = float(manifest["search"].get(NOISES, 1))
    wrong = []
    for name, what, deviations in stated:
        bought = [1 / (draws * variance(part)) for part in parts if part["what"] == what]
        if bought and any(
            not isclose(deviation, sum(bought) ** -0.5, rel_tol=1e-6) for deviation in deviations.values()
        ):
            wrong.append(name)
    detail = f"not that of the ledger: {', '.join(wrong)}" if wrong else "as the ledger buys it"
    return check(what="noise of the published labels", holds=not wrong, detail=detail)


def variance(part: Mapping[str, Any]) -> float:
    """Of the noise of a count that is bought for this: discrete Laplace for epsilon, Gaussian for rho.

    >>> round(variance({"epsilon": "1/10"})), variance({"rho": "1/200"})
    (200, 100.0)
    """
    if "rho" in part:
        return 1 / (2 * float(Fraction(part["rho"])))
    epsilon = float(Fraction(part["epsilon"]))
    return 0.5 / sinh(epsilon / 2) ** 2 if epsilon < _SHARP else SMALLEST
