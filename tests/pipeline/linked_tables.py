"""Made tables of patients, visits and prescriptions, and their plans."""

from __future__ import annotations

from pathlib import Path
from random import Random

KEY = b"k" * 32
PATIENTS = """
[input]
path = "patients.csv"
[columns.id]
role = "identifier"
[columns.age]
role = "quasi"
type = "integer"
hierarchy = { kind = "intervals", widths = [10, 50], low = 0, high = 100 }
[columns.sex]
role = "quasi"
hierarchy = { kind = "flat" }
[privacy]
k_anonymity = 3
[attack]
run = false
"""
VISITS = """
[input]
path = "visits.csv"
[columns.visit]
role = "identifier"
[columns.patient]
role = "identifier"
[columns.ward]
role = "quasi"
hierarchy = { tree = { "inner" = ["heart", "lung"], "outer" = ["skin", "eye"] } }
[columns.ill]
role = "sensitive"
[privacy]
k_anonymity = 3
[attack]
run = false
"""
DRUGS = """
[input]
path = "drugs.csv"
[columns.visit]
role = "identifier"
[columns.kind]
role = "quasi"
hierarchy = { kind = "flat" }
[columns.dose]
role = "keep"
[privacy]
k_anonymity = 3
[attack]
run = false
"""
LINKED = """
[tables.patients]
plan = "patients.toml"
[tables.visits]
plan = "visits.toml"
[tables.drugs]
plan = "drugs.toml"
[[links]]
from = "visits.patient"
to = "patients.id"
[[links]]
from = "drugs.visit"
to = "visits.visit"
[people]
key_file = "../secret.key"
max_suppressed = 0.3
"""


def laid_out(folder: Path, *, people: int = 60, seed: int = 1, linked: str = LINKED) -> Path:
    """The plan of linked tables in a folder, with everything that it names."""
    draw, folder = Random(seed), folder / "clinic"
    folder.mkdir()
    (folder.parent / "secret.key").write_bytes(KEY)
    patients, visits, drugs = ["id,age,sex"], ["visit,patient,ward,ill"], ["visit,kind,dose"]
    for who in range(people):
        patients.append(f"{who},{draw.randrange(20, 80)},{draw.choice('mf')}")
        for _ in range(draw.choice((0, 1, 1, 2))):
            visit = len(visits)
            ward, ill = draw.choice(("heart", "lung", "skin", "eye")), draw.choice(("flu", "cut", "cold"))
            visits.append(f"v{visit},{who},{ward},{ill}")
            drugs += [f"v{visit},{draw.choice('ab')},{draw.randrange(3)}" for _ in range(draw.choice((0, 1)))]
    for name, lines in {"patients": patients, "visits": visits, "drugs": drugs}.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    for name, plan in {"patients": PATIENTS, "visits": VISITS, "drugs": DRUGS}.items():
        (folder / f"{name}.toml").write_text(plan)
    (folder / "tables.toml").write_text(linked)
    return folder / "tables.toml"
