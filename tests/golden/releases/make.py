"""Make the golden files with the code that is to be kept: ``python -m tests.golden.releases.make``.

Tables are drawn only where they are missing. Whatever else there is is made anew: do this only when a release is meant
to change. Names of plans make these alone: ``python -m tests.golden.releases.make swapping condense``.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

import sfumato as sf
from sfumato.collection.channels import shown_bits, shown_codes, shown_numbers
from sfumato.collection.mechanisms import KeptCategory, NoisyNumber, UnaryBits
from sfumato.collection.specification import Specification
from sfumato.core.randomness import Chance
from sfumato.tables.graded_grouping import read_terms
from sfumato.tables.graded_secret import GradedSecret
from tests.golden.releases import adapter
from tests.golden.releases.comparing import BUNDLES, EXPECTED, HERE, read, tables, texts
from tests.golden.releases.plans import FULL_BUNDLES, PLANS, PRIVATE

DRAWN = HERE / "tables"
LARGEST_REPORT = 400_000
GOODS = ["beer", "wine", "cola", "juice", "tea", "milk", "cheese", "bread", "cake", "apple", "pear", "pills", "test"]
TASTE = np.array([9, 4, 8, 5, 6, 14, 6, 18, 3, 7, 4, 3, 2]) / 89

SURVEY = Specification(
    questions=(
        NoisyNumber.declared("years", "uniform", low=0, high=100, step=1, size=30),
        NoisyNumber.declared("hours", "laplace", low=0, high=100, step=1, size=20),
        KeptCategory.warner("rich", ("<=50K", ">50K"), truth="3/4"),
        UnaryBits.within("gender", ("Female", "Male"), epsilon="1"),
    )
)

SITES = read_terms(
    {
        "age": {"low": 15, "high": 90, "categories": 5},
        "hours-per-week": {"ranges": [[0, 20], [20, 45], [45, 100]], "gap": 3},
        "marital-status": ["Never-married", "Married-civ-spouse", "Married-spouse-absent", "Married-AF-spouse",
                           "Separated", "Divorced", "Widowed"],
    }
)  # fmt: skip


def main(names: Sequence[str]) -> None:
    for name, frame in drawn().items():
        if not (DRAWN / name).exists():
            DRAWN.mkdir(exist_ok=True)
            _draw(frame, DRAWN / name)
    if not (DRAWN / "survey.json").exists():
        (DRAWN / "survey.json").write_text(SURVEY.write(), encoding="utf-8")
    if not (DRAWN / "sites.secret").exists():
        (DRAWN / "sites.secret").write_text(GradedSecret(key=bytes(range(32)), terms=SITES).text(), encoding="utf-8")
    for name in names or PLANS:
        for ending in ("", ".sensitive"):
            (EXPECTED / f"{name}{ending}.csv").unlink(missing_ok=True)
        shutil.rmtree(BUNDLES / name, ignore_errors=True)
        one(name)


def one(name: str) -> None:
    """The golden rows and the golden bundle of a plan."""
    plan = adapter.plan_of(PLANS[name], HERE)
    made = adapter.made(plan)
    found = {"": texts(adapter.private_rows(plan))} if name in PRIVATE else tables(made)
    for ending, frame in found.items():
        path = EXPECTED / f"{name}{ending}.csv"
        frame.write_csv(path)
        if not read(path).equals(frame):
            raise ValueError(f"{path.name} does not read as it was written")
    folder = BUNDLES / name
    if name in FULL_BUNDLES:
        whole = made.write(folder).holds
        if (folder / "report.html").stat().st_size > LARGEST_REPORT:
            raise ValueError(f"the report of {name} is too large to be kept; choose another plan")
    else:
        folder.mkdir()
        whole = adapter.checked(made, folder)
    if not whole:
        raise ValueError(f"the bundle of {name} does not verify")


def drawn() -> dict[str, pl.DataFrame]:
    """The tables: people who do not exist."""
    census = ["age", "workclass", "fnlwgt", "education", "marital-status", "occupation", "race", "sex",
              "hours-per-week", "income"]  # fmt: skip
    everyone = sf.datasets.census(250, seed=14).select("age", "sex", "race", "education", "occupation")
    return {
        "people.csv": sf.datasets.census(220, seed=11).select(census),
        "holes.csv": _holes(sf.datasets.census(180, seed=12).rename({"hours-per-week": "hours"})),
        "few.csv": _few(sf.datasets.census(70, seed=13).rename({"hours-per-week": "hours", "occupation": "job"})),
        "population.csv": everyone,
        "sample.csv": everyone.head(120),
        "patients.tsv": sf.datasets.patients(200, seed=3),
        "marital.csv": pl.DataFrame(
            [
                ("Married-civ-spouse", "With spouse", "Married"), ("Married-AF-spouse", "With spouse", "Married"),
                ("Married-spouse-absent", "Away", "Married"), ("Separated", "Away", "Married"),
                ("Never-married", "Never", "Single"), ("Divorced", "Again", "Single"), ("Widowed", "Again", "Single"),
            ],
            orient="row",
        ),
        "costs.csv": pl.DataFrame({"value": ["<=50K", ">50K"], "<=50K": [0, 1], ">50K": [1, 0]}),
        "city.csv": sf.datasets.city(220, blocks=8, hours=8, seed=4),
        "rides.csv": _rides(sf.datasets.metro(200, stations=8, minutes=10, seed=7)),
        **_riders(80),
        "baskets.csv": _baskets(160),
        "buys.csv": _buys(90),
        "answers.csv": _answers(sf.datasets.census(300, seed=16)),
        "stays.csv": _stays(sf.datasets.census(250, seed=15).rename({"hours-per-week": "hours"})),
    }  # fmt: skip


def _draw(frame: pl.DataFrame, path: Path) -> None:
    """Write a table; one has no header, one tabs, and the hierarchy is written as such."""
    bare = path.name in ("few.csv", "marital.csv")
    mark = "\t" if path.suffix == ".tsv" else ";" if bare else ","
    frame.write_csv(path, separator=mark, include_header=not bare)


def _holes(frame: pl.DataFrame) -> pl.DataFrame:
    dice = np.random.default_rng(12)
    found = frame.select("age", "race", "education", "sex", "hours", "occupation", "income")
    holes = [
        pl.when(pl.Series(dice.random(found.height) < share)).then(pl.lit("?")).otherwise(pl.col(name)).alias(name)
        for name, share in (("race", 0.06), ("education", 0.08), ("occupation", 0.05))
    ]
    return found.with_columns(holes)


def _few(frame: pl.DataFrame) -> pl.DataFrame:
    dice = np.random.default_rng(13)
    union = pl.Series("union", dice.choice(["none", "old", "new", "both"], frame.height, p=[0.5, 0.2, 0.2, 0.1]))
    office = pl.col("job").is_in(["Exec-managerial", "Prof-specialty", "Adm-clerical", "Sales", "Tech-support"])
    job = pl.when(office).then(pl.lit("office")).otherwise(pl.lit("hands")).alias("job")
    return frame.select(pl.col("age") // 10 * 10, "sex", "hours", union, job, "income")


def _rides(frame: pl.DataFrame) -> pl.DataFrame:
    dice = np.random.default_rng(7)
    age, sex = dice.integers(18, 80, frame.height), dice.choice(["F", "M"], frame.height)
    return frame.drop("id").with_columns(age=pl.Series(age), sex=pl.Series(sex))


def _riders(many: int) -> dict[str, pl.DataFrame]:
    """People, and three readings of each on a map."""
    dice = np.random.default_rng(2)
    home = np.array([[1.0, 1.0], [5.0, 1.5], [2.0, 6.0]])[dice.integers(0, 3, many)]
    work = np.array([[7.5, 7.5], [6.0, 3.0], [4.5, 7.5]])[dice.integers(0, 3, many)]
    readings = []
    for hour, spot in ((7, home), (9, work), (18, home)):
        at = (spot + dice.normal(0, 0.3, (many, 2))).round(3)
        time = [f"2024-05-06T{hour:02d}:{minute:02d}" for minute in dice.integers(0, 60, many)]
        readings.append(pl.DataFrame({"person": range(many), "time": time, "x": at[:, 0], "y": at[:, 1]}))
    people = pl.DataFrame({
        "person": range(many),
        "sex": dice.choice(["F", "M"], many),
        "tariff": dice.choice(["full", "half", "free"], many),
    })  # fmt: skip
    return {"riders.csv": people, "points.csv": pl.concat(readings)}


def _baskets(many: int) -> pl.DataFrame:
    dice = np.random.default_rng(5)
    sizes = dice.integers(0, 5, many)
    return pl.DataFrame(
        {
            "basket": ["|".join(sorted(dice.choice(GOODS, size, replace=False, p=TASTE))) for size in sizes],
            "town": dice.choice(["north", "south"], many),
        }
    )


def _buys(many: int) -> pl.DataFrame:
    dice = np.random.default_rng(6)
    rows = []
    for who, size in enumerate(dice.integers(1, 5, many)):
        ill = str(dice.choice(["flu", "asthma", "none"]))
        rows += [(who, str(what), ill) for what in dice.choice(GOODS[:9], size, replace=False)]
    return pl.DataFrame(rows, schema=["who", "what", "ill"], orient="row").sample(fraction=1, shuffle=True, seed=6)


def _stays(frame: pl.DataFrame) -> pl.DataFrame:
    dice = np.random.default_rng(15)
    codes = ["11", "12", "21", "22", "31", "32"]
    likely = np.array([[6, 4, 2, 1, 1, 1], [1, 1, 3, 5, 2, 3]]) / 15
    rich = (frame["income"] == ">50K").to_list()
    cells = [
        " ".join(sorted(dice.choice(codes, dice.integers(0, 4), replace=False, p=likely[int(one)]))) for one in rich
    ]
    return frame.select("age", "sex", "education", "hours", "income", codes=pl.Series(cells))


def _answers(frame: pl.DataFrame) -> pl.DataFrame:
    """What a survey would show of some people."""
    shown: dict[str, list[str]] = {}
    columns = ("age", "hours-per-week", "income", "sex")
    for seed, (question, column) in enumerate(zip(SURVEY.questions, columns, strict=True)):
        cells, chance = frame[column], Chance(seed=seed)
        if isinstance(question, NoisyNumber):
            drawn = shown_numbers(question, cells.to_numpy().astype(float), chance)
            shown[question.name] = [question.write(int(number)) for number in drawn]  # from 0 on, in steps of 1
            continue
        true = np.array([question.values.index(one) for one in cells])
        if isinstance(question, KeptCategory):
            shown[question.name] = [question.write(int(code)) for code in shown_codes(question, true, chance)]
        else:
            bits = shown_bits(question, np.eye(len(question.values), dtype=np.bool_)[true], chance)
            shown[question.name] = [question.write(tuple(row)) for row in bits.tolist()]
    return pl.DataFrame(shown).with_columns(frame["sex"])


if __name__ == "__main__":
    main(sys.argv[1:])
