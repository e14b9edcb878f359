"""Texts that want to run or to load something, put into every name and cell that a page can show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import sfumato as sf
from sfumato.tables.graded_grouping import read_terms
from sfumato.tables.graded_secret import GradedSecret

RUN = "document.documentElement.dataset.ran=1;new Image().src='http://leak.test/ran'"
PAYLOADS = (
    f"<script>{RUN}</script>",
    f'"><img src=http://leak.test/img onerror="{RUN}">',
    f"</title></style></svg><script>{RUN}</script>",
    f'<svg onload="{RUN}"><animate onbegin="{RUN}" attributeName=x dur=1s /></svg>',
    f"javascript:{RUN}",
    "</style><style>body{background:url(http://leak.test/css)}</style>",
    f"' onfocus='{RUN}' autofocus tabindex='1",
    '<link rel="stylesheet" href="http://leak.test/sheet"><base href="http://leak.test/">',
    '<meta http-equiv="refresh" content="0;url=http://leak.test/refresh">',
    f"&lt;script&gt;{RUN}&lt;/script&gt;&#60;img src=x onerror={RUN}&#62;",
    f"<scr\0ipt>\u202e\u200b{RUN}\ufeff</scr\0ipt>",
    "]]><!--<iframe srcdoc='<script>parent.document.documentElement.dataset.ran=1</script>'></iframe>-->",
    "{{ 7*7 }}{% raw %}${7*7}" + "W" * 600 + f"<script>{RUN}</script>",
)
"""Scripts, handlers, styles, addresses, entities, characters that nobody sees, and very long names."""
MANY = len(PAYLOADS)


def tree() -> dict[str, Any]:
    """A declared tree whose groups are payloads too."""
    half = MANY // 2
    return {"tree": {f"{PAYLOADS[0]}1": list(PAYLOADS[:half]), f"{PAYLOADS[1]}2": list(PAYLOADS[half:])}}


def rows(each: int = 12) -> pl.DataFrame:
    """Every payload as a value of every column, under names that are payloads."""
    texts = [text for text in PAYLOADS for _ in range(each)]
    count = len(texts)
    return pl.DataFrame(
        {
            PAYLOADS[0]: texts,
            PAYLOADS[1]: [PAYLOADS[n % MANY] for n in range(count)],
            PAYLOADS[2]: [PAYLOADS[(n * 7) % MANY] if n % 5 else None for n in range(count)],
            PAYLOADS[3]: [PAYLOADS[n % 2] for n in range(count)],
            PAYLOADS[5]: [str(n % 90) for n in range(count)],
            "keep": [PAYLOADS[(n * 3) % MANY] for n in range(count)],
        }
    )


def table_plan(**algorithm: Any) -> dict[str, Any]:
    return {
        "input": {"missing": [PAYLOADS[7]]},
        "columns": {
            PAYLOADS[0]: {"role": "quasi", "hierarchy": tree()},
            PAYLOADS[1]: {"role": "quasi", "hierarchy": {"kind": "flat"}},
            PAYLOADS[2]: {"role": "sensitive"},
            PAYLOADS[3]: {"role": "target"},
            PAYLOADS[5]: {"role": "quasi", "hierarchy": {"kind": "grown", "low": 0, "high": 100}},
            "keep": {"role": "keep"},
        },
        "privacy": {
            "k_anonymity": 2,
            "confidence": [{"quasi": [PAYLOADS[0]], "column": PAYLOADS[2], "value": PAYLOADS[4], "limit": 0.9}],
        },
        "algorithm": {"seed": 1, **algorithm},
        "attack": {"trials": 50},
    }


def item_plan() -> dict[str, Any]:
    return {
        "columns": {
            PAYLOADS[0]: {"role": "quasi", "type": "trajectory", "separator": "\u00a6", "hierarchy": tree()},
            PAYLOADS[1]: {"role": "quasi", "type": "set", "separator": "\u00a6"},
            PAYLOADS[2]: {"role": "sensitive"},
            PAYLOADS[3]: {"role": "quasi", "hierarchy": {"kind": "flat"}},
        },
        "privacy": {"lkc": {"l": 1, "k": 2, "c": 0.9}},
        "attack": {"trials": 50},
    }


def item_rows() -> pl.DataFrame:
    """Paths through payloads, and sets of them."""
    count = 8 * MANY

    def some(n: int, mark: str = "") -> str:
        picked = [PAYLOADS[n % MANY], PAYLOADS[(n + 3) % MANY], PAYLOADS[(n + 5) % MANY]]
        timed = [f"{text}{mark}{hour}" if mark else text for hour, text in enumerate(picked)]
        return "\u00a6".join(timed)

    return pl.DataFrame(
        {
            PAYLOADS[0]: [some(n, "@") for n in range(count)],
            PAYLOADS[1]: [some(n) for n in range(count)],
            PAYLOADS[2]: [PAYLOADS[n % 4] for n in range(count)],
            PAYLOADS[3]: [PAYLOADS[n % 2] for n in range(count)],
        }
    )


def private_plan() -> dict[str, Any]:
    return {
        "columns": {
            PAYLOADS[0]: {"role": "quasi", "hierarchy": tree()},
            PAYLOADS[3]: {"role": "target", "values": [PAYLOADS[0], PAYLOADS[1]]},
        },
        "privacy": {"epsilon": 20},
        "algorithm": {"name": "diffgen"},
    }


def collected_release(folder: Path) -> Any:
    """Answers and questions that are payloads; the noise of numbers is fixed by their places."""
    from sfumato.collection.mechanisms import KeptCategory, NoisyNumber, UnaryBits
    from sfumato.collection.specification import Specification

    bits = UnaryBits.within(PAYLOADS[2], PAYLOADS[3:5], epsilon=1)
    words = KeptCategory.within(PAYLOADS[0], PAYLOADS[:10], epsilon=1)
    other = KeptCategory.within(PAYLOADS[6], PAYLOADS[:3], epsilon=1)
    number = NoisyNumber.declared(PAYLOADS[1], "uniform", low=0, high=20, step=1, size=5)
    spec = Specification(questions=(words, other, number, bits))
    (folder / "survey.json").write_text(spec.write(), encoding="utf-8")
    shown = {
        words.name: [PAYLOADS[n % 10] for n in range(60)],
        other.name: [PAYLOADS[n % 3] for n in range(60)],
        number.name: [n % 21 for n in range(60)],
        bits.name: [f"b{n % 2}{n // 2 % 2}" for n in range(60)],
        PAYLOADS[5]: [PAYLOADS[n % MANY] for n in range(60)],
    }
    plan = {"collection": {"spec": "survey.json"}, "columns": {PAYLOADS[5]: {"role": "keep"}}}
    return sf.release(sf.Plan.parse(plan, folder=folder), pl.DataFrame(shown))


def graded_release(folder: Path) -> Any:
    """Codes and aliases of columns whose names and values are payloads."""
    terms = {PAYLOADS[0]: list(PAYLOADS), PAYLOADS[5]: {"low": 0, "high": 90, "categories": 5}}
    GradedSecret.new(read_terms(terms)).write(folder / "sites.secret")
    columns = {**{name: {"role": "sensitive"} for name in terms}, "keep": {"role": "keep"}}
    plan = {"columns": columns, "algorithm": {"name": "graded", "secret": "sites.secret"}}
    return sf.release(sf.Plan.parse(plan, folder=folder), rows())


def pages(folder: Path) -> dict[str, str]:
    """One page of every sort that the project writes, full of payloads."""
    parse: Callable[[Any], Any] = sf.Plan.parse
    table = sf.release(parse(table_plan(name="top-down")), rows())
    items = sf.release(parse(item_plan()), item_rows())
    private = sf.release(parse(private_plan()), rows())
    swap = {**table_plan(name="swapping", rate=0.5, within={PAYLOADS[3]: 0}), "privacy": {}}
    swapped = sf.release(parse(swap), rows())
    numbers = {PAYLOADS[5]: {"role": "quasi"}, "plain": {"role": "keep"}}
    condense = {**table_plan(name="condense"), "privacy": {"indistinguishable_groups": 4}, "attack": {"trials": 20}}
    condense["columns"] = {name: {"role": one["role"]} for name, one in condense["columns"].items()} | numbers
    amounts = [pl.Series(name, [float(n) for n in range(rows().height)]) for name in numbers]
    condensed = sf.release(parse(condense), rows().drop(PAYLOADS[5], strict=False).with_columns(amounts))
    grid = {**table_plan(), "frontier": {"jobs": 1, "algorithms": ["datafly"], "grid": {"privacy.k_anonymity": [2, 3]}}}
    del grid["privacy"]["confidence"]
    small = {**grid, "columns": {**grid["columns"], PAYLOADS[5]: {"role": "keep"}}}
    sf.frontier(parse({**small, "attack": {"run": False}}), rows(4), folder=folder / "frontier")
    collected = collected_release(folder)
    from sfumato.pipeline.release import dimensions

    return {
        "table": table.report(),
        "table-inside": table.report(inside=True),
        "items": items.report(),
        "items-inside": items.report(inside=True),
        "private": private.report(),
        "swapped": swapped.report(),
        "graded": graded_release(folder).report(),
        "collected": collected.report(),
        "collected-inside": collected.report(inside=True),
        "condensed": condensed.report(),
        "condensed-inside": condensed.report(inside=True),
        "frontier": (folder / "frontier" / "frontier.html").read_text(),
        "dimensions": dimensions(parse({**small, "attack": {"run": False}}), rows(4)).page(),
        "card": f"<!DOCTYPE html><title>card</title>{table._repr_html_()}{items._repr_html_()}",
    }
