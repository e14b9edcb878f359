"""The census income table (UCI KDD, 199,523 people) with twenty quasi-identifiers and their hierarchies."""

from __future__ import annotations

import io
import lzma
from typing import Any

import polars as pl

from tables import ROOT

FILE = ROOT / "census_income_kdd" / "census_income_1994_1995_train.csv.xz"

PLACES = {
    "age": 0,
    "class of worker": 1,
    "industry": 2,
    "occupation": 3,
    "education": 4,
    "marital status": 7,
    "race": 10,
    "hispanic origin": 11,
    "sex": 12,
    "employment": 15,
    "tax filer": 19,
    "state of previous residence": 21,
    "household": 22,
    "employer size": 30,
    "family members under 18": 31,
    "birth of father": 32,
    "birth of mother": 33,
    "birth of self": 34,
    "citizenship": 35,
    "weeks worked": 39,
}
"""The quasi-identifiers and where the file, which has no header, holds them."""
INCOME = 41
"""Where the file holds the class."""

WIDTHS = {"age": [5, 10, 20, 40], "weeks worked": [13, 26], "employer size": [2]}
"""Numbers are generalized to intervals."""

NESTED = {"industry": 8, "occupation": 9, "state of previous residence": 20, "household": 23}
"""Columns whose coarser form is a column of the file too."""

_REGIONS = {
    "North America": ["United-States", "Canada", "Outlying-U S (Guam USVI etc)", "Puerto-Rico"],
    "Middle America": ["Mexico", "Guatemala", "Honduras", "El-Salvador", "Nicaragua", "Panama"],
    "Caribbean": ["Cuba", "Dominican-Republic", "Haiti", "Jamaica", "Trinadad&Tobago"],
    "South America": ["Columbia", "Ecuador", "Peru"],
    "Western Europe": [
        *("England", "Scotland", "Ireland", "France", "Germany", "Holand-Netherlands", "Italy", "Portugal", "Greece"),
    ],
    "Eastern Europe": ["Poland", "Hungary", "Yugoslavia"],
    "East Asia": ["China", "Taiwan", "Hong Kong", "Japan", "South Korea"],
    "South and Southeast Asia": ["India", "Philippines", "Vietnam", "Cambodia", "Laos", "Thailand", "Iran"],
    "unknown country": ["?"],
}

TREES: dict[str, dict[str, Any]] = {
    "class of worker": {
        "employed": ["Private", "Local government", "State government", "Federal government"],
        "self-employed": ["Self-employed-not incorporated", "Self-employed-incorporated"],
        "no pay": ["Not in universe", "Never worked", "Without pay"],
    },
    "education": {
        "no degree": {
            "child": ["Children"],
            "grade school": [
                "Less than 1st grade",
                "1st 2nd 3rd or 4th grade",
                "5th or 6th grade",
                "7th and 8th grade",
            ],
            "some high school": ["9th grade", "10th grade", "11th grade", "12th grade no diploma"],
        },
        "degree": {
            "high school": ["High school graduate", "Some college but no degree"],
            "college": [
                "Associates degree-occup /vocational",
                "Associates degree-academic program",
                "Bachelors degree(BA AB BS)",
            ],
            "graduate": [
                "Masters degree(MA MS MEng MEd MSW MBA)",
                "Prof school degree (MD DDS DVM LLB JD)",
                "Doctorate degree(PhD EdD)",
            ],
        },
    },
    "marital status": {
        "spouse": ["Married-civilian spouse present", "Married-A F spouse present", "Married-spouse absent"],
        "no spouse": ["Never married", "Divorced", "Widowed", "Separated"],
    },
    "hispanic origin": {
        "hispanic": [
            *("Mexican-American", "Mexican (Mexicano)", "Chicano", "Central or South American"),
            *("Puerto Rican", "Other Spanish", "Cuban"),
        ],
        "other or unknown": ["All other", "NA", "Do not know"],
    },
    "employment": {
        "outside": ["Children or Armed Forces", "Not in labor force"],
        "at work": [
            "Full-time schedules",
            "PT for non-econ reasons usually FT",
            "PT for econ reasons usually PT",
            "PT for econ reasons usually FT",
        ],
        "out of work": ["Unemployed full-time", "Unemployed part- time"],
    },
    "tax filer": {
        "joint": ["Joint both under 65", "Joint both 65+", "Joint one under 65 & one 65+"],
        "alone or none": ["Nonfiler", "Single", "Head of household"],
    },
    "citizenship": {
        "citizen by birth": [
            "Native- Born in the United States",
            "Native- Born abroad of American Parent(s)",
            "Native- Born in Puerto Rico or U S Outlying",
        ],
        "born elsewhere": ["Foreign born- Not a citizen of U S", "Foreign born- U S citizen by naturalization"],
    },
    **dict.fromkeys(("birth of father", "birth of mother", "birth of self"), _REGIONS),
}


def census_income() -> tuple[pl.DataFrame, dict[str, dict[str, Any]]]:
    """The twenty columns with the income, and a plan's hierarchy for each of the twenty."""
    whole = pl.read_csv(io.BytesIO(lzma.decompress(FILE.read_bytes())), has_header=False, infer_schema=False)
    texts = whole.select(pl.all().str.strip_chars())
    chosen = {name: texts[:, place].alias(name) for name, place in PLACES.items()}
    numbers = {name: chosen[name].cast(pl.Int64) for name in WIDTHS}
    frame = pl.DataFrame([*{**chosen, **numbers}.values(), texts[:, INCOME].alias("income")])
    return frame, {name: _hierarchy(name, texts) for name in PLACES}


def _hierarchy(name: str, texts: pl.DataFrame) -> dict[str, Any]:
    if name in WIDTHS:
        return {"kind": "intervals", "widths": WIDTHS[name]}
    if name in NESTED:
        return {"tree": _nested(texts[:, PLACES[name]], texts[:, NESTED[name]])}
    return {"tree": TREES[name]} if name in TREES else {"kind": "flat"}


def _nested(fine: pl.Series, coarse: pl.Series) -> dict[str, list[str]]:
    """Each fine value under the coarse value that most of its rows have."""
    pairs = pl.DataFrame([fine.alias("fine"), coarse.alias("coarse")])
    most = pairs.group_by("fine", "coarse").len().sort("len", "coarse", descending=True).unique("fine", keep="first")
    found: dict[str, list[str]] = {}
    for value, above in most.select("fine", "coarse").sort("coarse", "fine").iter_rows():
        found.setdefault(f"group: {above}", []).append(value)
    return found
