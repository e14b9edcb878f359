"""Judge a table that somebody else has generalized: what does it meet, and where does it fail?

Secret from the reader of the table: which of the seven patients has HIV.
Becomes public: the whole table below, the 2-anonymous table of worked example G2. It is 2-anonymous, and still gives
both dancers away: their class shows one disease only.
"""

# ruff: noqa: T201  an example prints
from __future__ import annotations

import polars as pl

import sfumato as sf

TABLE = pl.DataFrame(
    {
        "job": ["Professional"] * 3 + ["Writer"] * 2 + ["Dancer"] * 2,
        "sex": ["Male"] * 3 + ["Female"] * 2 + ["*"] * 2,
        "age": ["[35-40)"] * 3 + ["[30-35)"] * 2 + ["30"] * 2,
        "disease": ["Hepatitis", "Hepatitis", "HIV", "Flu", "HIV", "HIV", "HIV"],
    }
)


def main() -> None:
    """Count the classes once and ask several models."""
    models = sf.models
    classes = sf.classes(TABLE, quasi=["job", "sex", "age"], counted=["disease"])
    template = models.Template(column="disease", value="HIV", limit=0.5)
    for model in (
        models.KAnonymity(k=2),
        models.DistinctLDiversity(l=2, column="disease"),
        models.ConfidenceBounding(templates=(template,)),
        models.TCloseness(t=0.5, column="disease", distance="variational"),
    ):
        verdict = model.check(classes)
        print(f"{model.name}: {'holds' if verdict.holds else 'fails'}, reached {verdict.reached:.3f}")
        for place in verdict.failing:
            print(f"   {classes.label(int(place))}, {classes.sizes[place]} rows")


if __name__ == "__main__":
    main()
