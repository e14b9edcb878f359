"""What a careful forger tries, by name: the bundle they start from, and what they change in its manifest or files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.attacks.finding import Finding

Manifest = dict[str, Any]
RAW = [["Alice", "1970-01-01", "HIV"], ["Bob", "1971-02-02", "flu"]]


def data(folder: Path, change: Callable[[pl.DataFrame], pl.DataFrame], name: str = "data.csv") -> int:
    """Change the released rows; how many there are then."""
    frame = change(pl.read_csv(folder / name, infer_schema=False).fill_null(""))
    frame.write_csv(folder / name)
    return frame.height


def _first(**cells: str) -> Callable[[pl.DataFrame], pl.DataFrame]:
    first = pl.int_range(pl.len()) == 0
    return lambda frame: frame.with_columns(
        pl.when(first).then(pl.lit(value)).otherwise(pl.col(name)).alias(name) for name, value in cells.items()
    )


def _swapped(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with the incomes of two people exchanged who agree in nothing else but their labels."""
    order = rows.sort(rows.columns)
    for group in order.partition_by("sex", "race", "age", maintain_order=True):
        for one in group.iter_rows(named=True):
            for other in group.iter_rows(named=True):
                if one["income"] != other["income"] and one["occupation"] != other["occupation"]:
                    kept = order.rows()
                    mine, theirs = tuple(one.values()), tuple(other.values())
                    kept.remove(mine)
                    kept.remove(theirs)
                    new = [tuple({**a, "income": b["income"]}.values()) for a, b in ((one, other), (other, one))]
                    return pl.DataFrame([*kept, *new], schema=rows.schema, orient="row")
    raise ValueError("no group has two such people")


def _swapped_rule(m: Manifest) -> None:
    """Two values of one column that read as different words read as each other's."""
    values = m["recoding"]["columns"]["education"]["rule"]["values"]
    one = next(iter(values))
    other = next(value for value in values if values[value] != values[one])
    values[one], values[other] = values[other], values[one]


def _raised(m: Manifest, **more: Any) -> None:
    m["claims"][0].update(more)


def _zeroed(m: Manifest) -> None:
    for one in m["attacks"]:
        high = 3.8415 / (one["target"]["trials"] + 3.8415)
        low_high = {"rate": 0.0, "low": 0.0, "high": high, "failed": 0, "confidence": 0.95}
        one["target"].update(low_high)
        one.update(worst=0.0, figures={})
        told = Finding.from_json(one)
        low, high = told.risk_interval
        one["risk"].update(value=told.risk, low=low, high=high)
        one.update(outcome=str(told.outcome))


def _other(outcome: str) -> str:
    return "inconclusive" if outcome == "not refuted" else "not refuted"


def _without_claim(m: Manifest) -> None:
    m["claims"].pop()
    m["plan"]["privacy"].pop("l_diversity")


def _open_name(m: Manifest) -> None:
    m["data"]["columns"][-1]["role"] = "identifier"
    m["plan"]["columns"]["income"] = {"role": "identifier", "pseudonym": "keyed"}


def _lower_epsilon(m: Manifest) -> None:
    def less(event: dict[str, Any]) -> None:
        if "epsilon" in event:
            over = event["epsilon"].split("/")
            event["epsilon"] = f"{over[0]}/{int(over[1]) * 10 if len(over) > 1 else 10}"
        for part in event.get("parts", ()):
            less(part)

    less(m["ledger"])
    m["plan"]["privacy"]["epsilon"] = "1/10"
    m["claims"][0]["parameters"]["epsilon"] = "1/10"


MANIFEST: Mapping[str, tuple[str, Callable[[Manifest], Any]]] = {
    # what does not belong there
    "raw rows under an unknown key": ("table", lambda m: m.update(rows=RAW)),
    "raw rows in the data part": ("table", lambda m: m["data"].update(raw=RAW)),
    "raw rows in the plan": ("table", lambda m: m["plan"].update(raw=RAW)),
    "raw rows as a privacy key": ("table", lambda m: m["plan"]["privacy"].update(raw=RAW)),
    "raw rows as an algorithm's option": ("table", lambda m: m["plan"]["algorithm"].update(raw=RAW)),
    "raw rows as a column of the plan": (
        "table",
        lambda m: m["plan"]["columns"].update(raw={"role": "drop", "x": RAW}),
    ),
    "raw rows as a model's parameter": ("table", lambda m: m["claims"][0]["parameters"].update(raw=RAW)),
    "raw rows in a claim": ("table", lambda m: m["claims"][0].update(raw=RAW)),
    "raw rows in an attack": ("table", lambda m: m["attacks"][0].update(raw=RAW)),
    "raw rows as figures of an attack": ("table", lambda m: m["attacks"][0]["figures"].update(raw=RAW)),
    "raw rows in the recoding": ("table", lambda m: m["recoding"]["columns"]["sex"].update(raw=RAW)),
    "raw rows in the suppression": ("table", lambda m: m["suppression"].update(raw=RAW)),
    "raw rows as a metric": ("table", lambda m: m["utility"].update(raw=RAW)),
    "raw rows in the risk": ("table", lambda m: m["risk"].update(raw=RAW)),
    "raw rows in the search": ("table", lambda m: m["search"].update(raw=RAW)),
    "raw rows in the trail": ("top-down", lambda m: m["trail"].update(raw=RAW)),
    "raw rows in a step": ("top-down", lambda m: m["trail"]["steps"][0].update(raw=RAW)),
    "raw rows among the versions": ("table", lambda m: m["versions"].update(raw=RAW)),
    "raw rows among the marks": ("table", lambda m: m["marks"].append(RAW)),
    "raw rows in a bundle of paths": ("items", lambda m: m.update(rows=RAW)),
    "raw rows in a column of paths": ("items", lambda m: m["recoding"]["columns"]["path"].update(raw=RAW)),
    "raw rows in a private bundle": ("private", lambda m: m.update(rows=RAW)),
    "raw rows in the ledger": ("private", lambda m: m["ledger"].update(raw=RAW)),
    "raw rows in a domain": ("private", lambda m: m["domains"]["columns"]["sex"].update(raw=RAW)),
    "raw rows as effort": ("private", lambda m: m["search"].update(raw=RAW)),
    "raw rows as a privacy key of a private bundle": ("private", lambda m: m["plan"]["privacy"].update(raw=RAW)),
    "raw rows in a rule for new records": (
        "keyed",
        lambda m: m["recoding"]["columns"]["sex"]["rule"].update(above={"kind": "flat", "raw": RAW}),
    ),
    # what a plan cannot say
    "a negative time for attacks": ("table", lambda m: m["plan"]["attack"].update(seconds=-5)),
    "a negative share of suppressed rows": ("items", lambda m: m["plan"]["algorithm"].update(max_suppressed=-5)),
    "an unknown kind of hierarchy": ("table", lambda m: m["plan"]["columns"]["sex"].update(hierarchy="secret")),
    "an unknown metric": ("items", lambda m: m["plan"]["utility"].update(metric="beauty")),
    # figures that rows or ledger contradict
    "a metric that nobody can compute": ("table", lambda m: m["utility"].update(entropy=0.01)),
    "a ledger of one entry": (
        "private",
        lambda m: m.update(ledger={"kind": "pure", "epsilon": "1", "what": "noisy marginals"}),
    ),
    "fewer groups than the rows show": ("private", lambda m: m["search"].update(groups=1)),
    "more attributes than columns": ("private", lambda m: m["search"].update(attributes=9)),
    "an attack reported twice": ("table", lambda m: m["attacks"].append(m["attacks"][0])),
    "another interval of the excess": ("table", lambda m: m["attacks"][0]["risk"].update(high=0.0001)),
    # wrong types and versions
    "schema true": ("table", lambda m: m.update(schema=True)),
    "schema as a text": ("table", lambda m: m.update(schema="2")),
    "an old schema": ("table", lambda m: m.update(schema=1)),
    "an unknown kind": ("table", lambda m: m.update(kind="anonymous")),
    "another kind": ("table", lambda m: m.update(kind="private")),
    "a kind that is a list": ("table", lambda m: m.update(kind=["table"])),
    "k as a text": ("table", lambda m: m["claims"][0]["parameters"].update(k="5")),
    "holds as a number": ("table", lambda m: _raised(m, holds=1)),
    "rows as a real number": ("table", lambda m: m["data"].update(rows=float(m["data"]["rows"]))),
    "claims as a table": ("table", lambda m: m.update(claims={"0": m["claims"][0]})),
    "a day that is none": ("table", lambda m: m.update(made="yesterday")),
    "a plan without columns": ("table", lambda m: m["plan"].pop("columns")),
    "a manifest without attacks": ("table", lambda m: m.pop("attacks")),
    # claims
    "a larger k": ("table", lambda m: m["claims"][0]["parameters"].update(k=50)),
    "a larger k in plan and claim": (
        "table",
        lambda m: (m["claims"][0]["parameters"].update(k=50), m["plan"]["privacy"].update(k_anonymity=50)),
    ),
    "a better value reached": ("table", lambda m: _raised(m, reached=99.0)),
    "a claim left out": ("table", lambda m: m["claims"].pop()),
    "a claim added": ("table", lambda m: m["claims"].append(m["claims"][0])),
    "a claim left out, and its line in the plan": ("table", _without_claim),
    "another reading": ("table", lambda m: m["plan"]["privacy"].update(reading="value")),
    "k^m for more items": ("items", lambda m: m["claims"][0]["parameters"].update(l=3)),
    "a lower epsilon in the claim": ("private", lambda m: m["claims"][0]["parameters"].update(epsilon="1/10")),
    "a lower epsilon in plan and claim": (
        "private",
        lambda m: (m["claims"][0]["parameters"].update(epsilon="1/10"), m["plan"]["privacy"].update(epsilon="1/10")),
    ),
    "a lower epsilon everywhere": ("private", _lower_epsilon),
    "other neighbours": ("private", lambda m: m["claims"][0]["parameters"].update(neighbours="nobody")),
    # columns and their roles
    "a quasi-identifier called harmless": ("table", lambda m: m["data"]["columns"][0].update(role="keep")),
    "a quasi-identifier called harmless in the plan too": (
        "table",
        lambda m: (m["data"]["columns"][0].update(role="keep"), m["plan"]["columns"]["sex"].update(role="keep")),
    ),
    "a sensitive column called harmless": ("table", lambda m: m["data"]["columns"][3].update(role="keep")),
    "a raw identifier declared as keyed": ("table", _open_name),
    "a unit that the plan does not know": ("people", lambda m: m["plan"]["input"].pop("unit")),
    "people who are rows": ("people", lambda m: m["data"]["columns"][-1].update(role="keep")),
    "another type": ("table", lambda m: m["data"]["columns"][3].update(type="integer")),
    "another separator": ("items", lambda m: m["data"]["columns"][0].update(separator="@")),
    "missing values invented": ("table", lambda m: m["data"].update(missing=["Sales"])),
    "missing values invented in the plan too": (
        "table",
        lambda m: (m["data"].update(missing=["Sales"]), m["plan"]["input"].update(missing=["Sales"])),
    ),
    "missing diagnoses invented": ("items", lambda m: m["data"].update(missing=["HIV"])),
    # figures
    "a lower risk": ("table", lambda m: m["risk"].update(prosecutor=0.001)),
    "a lower loss": ("table", lambda m: m["utility"].update(loss=-5.0)),
    "a metric nobody knows": ("table", lambda m: m["utility"].update(beauty=1.0)),
    "fewer suppressed rows": ("table", lambda m: m["suppression"].update(rows=0)),
    "fewer suppressed rows of fewer": ("table", lambda m: m["suppression"].update(rows=0, of=m["data"]["rows"])),
    "a wider limit of suppression": ("table", lambda m: m["suppression"].update(limit=1.0)),
    "a larger smallest class": ("table", lambda m: m["smallest_class"].update(value=500)),
    "another level": ("table", lambda m: m["recoding"]["columns"]["sex"].update(level=1)),
    "a label that is not there": ("table", lambda m: m["recoding"]["columns"]["sex"]["labels"].update(Nobody=0.0)),
    "another size of an interval": (
        "table",
        lambda m: m["recoding"]["columns"]["age"]["sizes"].update(
            dict.fromkeys(list(m["recoding"]["columns"]["age"]["sizes"])[:1], 1.0)
        ),
    ),
    "another form": ("table", lambda m: m["recoding"]["columns"]["age"].update(form="means")),
    "two values swapped in a rule of words": ("words", _swapped_rule),
    "fewer entries of paths": ("items", lambda m: m["recoding"]["columns"]["path"].update(entries=1)),
    "another score of a step": ("top-down", lambda m: m["trail"]["steps"][0].update(score=9.0)),
    "a trail left out": ("top-down", lambda m: m.update(trail=None)),
    "a search that proved nothing": ("table", lambda m: m["search"].update(proven_optimal=False)),
    "another size of groups of people": ("people", lambda m: m["suppression"].update(people=0)),
    "rows left out before": ("table", lambda m: m["suppression"].update(left_out=17)),
    "another algorithm": ("table", lambda m: m["recoding"].update(algorithm="mondrian")),
    "another algorithm in the plan": ("table", lambda m: m["plan"]["algorithm"].update(name="mondrian")),
    "another reason": ("table", lambda m: m["recoding"].update(why="Alice has HIV.")),
    "another metric": ("table", lambda m: m["plan"]["utility"].update(metric="height")),
    "an amount that is spent elsewhere": ("private", lambda m: m["ledger"]["parts"].pop()),
    "a class that nobody declared": ("private", lambda m: m["domains"]["target"]["values"].append("rich")),
    "observed domains called declared": ("private", lambda m: m["plan"]["privacy"].update(domains="observed")),
    # attacks
    "attacks zeroed": ("table", _zeroed),
    "an attack removed": ("table", lambda m: m["attacks"].pop(0)),
    "an attack called not made": (
        "table",
        lambda m: m["attacks_not_made"].update({m["attacks"].pop(0)["attack"]: "the time was over"}),
    ),
    "attacks called off": ("table", lambda m: (m.update(attacks=[]), m["plan"]["attack"].update(run=False))),
    "attacks called off, none told": (
        "table",
        lambda m: (m.update(attacks=[], attacks_not_made={}), m["plan"]["attack"].update(run=False)),
    ),
    "a better outcome": ("table", lambda m: m["attacks"][0].update(outcome=_other(m["attacks"][0]["outcome"]))),
    "more trials": ("table", lambda m: m["attacks"][0]["target"].update(trials=10**6)),
    "an attack that may refute": ("table", lambda m: m["plan"]["attack"].update(accept=["linkage"])),
    "another adversary": ("table", lambda m: m["attacks"][0].update(knows="nothing at all")),
    "a paths' attack removed": ("items", lambda m: m["attacks"].clear()),
    # who and when
    "another day": ("table", lambda m: m.update(made="1999-01-01")),
    "another version": ("table", lambda m: m.update(sfumato="99.0")),
    "other packages": ("table", lambda m: m["versions"].update(numpy="0.0")),
    "a warning invented": ("table", lambda m: m["marks"].append("best release ever")),
}
"""Changes of the manifest; the forger mends digests, report and seal."""


FILES: Mapping[str, tuple[str, Callable[[Path], Any]]] = {
    "a row left out": ("table", lambda f: data(f, lambda rows: rows.head(rows.height - 1))),
    "a raw age in a row": ("table", lambda f: data(f, _first(age="17"))),
    "a column more": ("table", lambda f: data(f, lambda rows: rows.with_columns(name=pl.lit("Alice")))),
    "a column less": ("table", lambda f: data(f, lambda rows: rows.drop("income"))),
    "columns in another order": ("table", lambda f: data(f, lambda rows: rows.select(reversed(rows.columns)))),
    "one occupation for all": ("table", lambda f: data(f, lambda rows: rows.with_columns(occupation=pl.lit("Sales")))),
    "one income for all": ("table", lambda f: data(f, lambda rows: rows.with_columns(income=pl.lit("<=50K")))),
    "occupations shuffled": (
        "table",
        lambda f: data(f, lambda rows: rows.with_columns(pl.col("occupation").shuffle(seed=1))),
    ),
    "two incomes of one group swapped": ("table", lambda f: data(f, _swapped)),
    "a group of sensitive values less": (
        "anatomy",
        lambda f: data(f, lambda rows: rows.head(rows.height - 1), "sensitive.csv"),
    ),
    "sensitive values moved between groups": (
        "anatomy",
        lambda f: data(f, lambda rows: rows.with_columns(pl.col("occupation").reverse()), "sensitive.csv"),
    ),
    "one number for everybody": ("people", lambda f: data(f, lambda rows: rows.with_columns(who=pl.lit("1")))),
    "paths left out": ("items", lambda f: data(f, lambda rows: rows.with_columns(path=pl.lit("")))),
    "a path that goes back in time": (
        "items",
        lambda f: data(f, lambda rows: rows.with_columns(pl.col("path").str.split("|").list.reverse().list.join("|"))),
    ),
    "a label outside the domain": ("private", lambda f: data(f, _first(sex="Alice"))),
    "names for pseudonyms": ("keyed", lambda f: data(f, lambda rows: rows.with_columns(name=pl.lit("Alice")))),
    "a report of raw data": ("table", lambda f: (f / "report.html").write_text(json.dumps(RAW))),
    "a report with one line more": (
        "table",
        lambda f: (f / "report.html").write_text((f / "report.html").read_text() + "<!-- Alice: HIV -->\n"),
    ),
    "an empty report": ("table", lambda f: (f / "report.html").write_text("")),
    "a report of another bundle": (
        "table",
        lambda f: (f / "report.html").write_bytes((f.parent / "report.html").read_bytes()),
    ),
    "a stranger's file": ("table", lambda f: (f / "raw.csv").write_text("name\nAlice\n")),
    "a hidden file": ("table", lambda f: (f / ".raw.csv").write_text("name\nAlice\n")),
    "a folder beside": ("table", lambda f: (f / "more").mkdir()),
    "a link in place of the data": ("table", lambda f: _linked(f, "data.csv")),
    "a link in place of the report": ("table", lambda f: _linked(f, "report.html")),
}
"""Changes of files; the forger mends digests, rows and seal, and the report unless it is what they changed."""


def _linked(folder: Path, name: str) -> None:
    (folder / name).rename(folder.parent / "elsewhere")
    (folder / name).symlink_to(folder.parent / "elsewhere")


TEXT: Mapping[str, Callable[[str], str]] = {
    "a key twice": lambda text: text.replace('"kind":', '"made": "2001-01-01",\n  "kind":', 1),
    "a key twice, deep inside": lambda text: text.replace('"how":', '"rows": 0,\n    "how":', 1),
    "a list nested beyond measure": lambda text: text.replace(
        '"marks": [', '"marks": [' + "[" * 5000 + "]" * 5000 + ", ", 1
    ),
    "a number of 5,000 digits": lambda text: text.replace('"trials": ', '"trials": ' + "9" * 5000, 1),
    "no number": lambda text: text.replace('"limit": ', '"limit": NaN, "x": ', 1),
    "an infinite number": lambda text: text.replace('"limit": ', '"limit": 1e999, "x": ', 1),
    "half of it": lambda text: text[: len(text) // 2],
    "a second object": lambda text: text + text,
    "nothing": lambda text: "",
    "a list": lambda text: f"[{text}]",
    "a mark at the beginning": lambda text: "\ufeff" + text,
}
"""Changes of the manifest's text; the seal stays as it is."""


AFTERWARDS: Mapping[str, Callable[[Manifest], Any]] = {
    "raw rows in the report's entry": lambda m: m["report"].update(raw=RAW),
    "no report": lambda m: m.pop("report"),
    "a report elsewhere": lambda m: m["report"].update(file="../report.html"),
    "another seal": lambda m: m.update(sha256="0" * 63),
}
"""Changes of the manifest that the forger makes when everything else is mended."""


UNDETECTABLE: Mapping[str, str] = {
    "a claim left out, and its line in the plan": "a weaker plan is a plan too",
    "a search that proved nothing": "how the search went",
    "another size of groups of people": "how many people lost a row",
    "rows left out before": "how many rows there were",
    "another algorithm": "where the plan leaves the choice, several algorithms give such rows",
    "another reason": "a sentence of the publisher",
    "another form": "whether labels that could be both came from a tree or were made for a group",
    "two values swapped in a rule of words": "what a word covers stands in a tree that the bundle does not hold",
    "two incomes of one group swapped": "which values of a group belong to one person",
    "sensitive values moved between groups": "which values belong to which group",
    "another metric": "what the search was to keep",
    "attacks zeroed": "attacks need the people behind the release",
    "an attack called not made": "why an attack was not made",
    "attacks called off, none told": "a plan without attacks is a plan too",
    "an attack that may refute": "what the plan accepts",
    "another adversary": "a sentence about the attack",
    "another day": "when it was made",
    "another version": "by which version it was made",
    "other packages": "with which packages it was made",
}
"""What rows and manifest do not contradict, with the reason; the signature catches it, and mostly the original."""

ONLY_SIGNED = (
    "an attack called not made", "sensitive values moved between groups", "another day", "another version",
    "other packages",
)  # fmt: skip
"""What the original does not contradict either: time, versions, and groups that are drawn at random."""
