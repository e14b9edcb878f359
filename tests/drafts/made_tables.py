"""Five tables that are made here, each with the roles and types that a good draft gives its columns."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from random import Random

import polars as pl

Right = dict[str, tuple[str, str]]
"""For each column the roles that are right, split by |, and the type."""


def _day(draw: Random, first: int, last: int) -> date:
    return date(first, 1, 1) + timedelta(days=draw.randrange((last - first) * 365))


def _iban(draw: Random) -> str:
    body = "".join(str(draw.randrange(10)) for _ in range(18))
    return f"DE{98 - int(body + '131400') % 97:02}{body}"


def german_patients(rows: int = 300) -> tuple[pl.DataFrame, Right]:
    """A hospital's table in German: dates with points, postal codes, ICD-10, names, blanks."""
    draw = Random(1)
    codes = ["E11.9", "I10", "J45.0", "C50.9", "F32.1", "K35.8"]
    made = [
        {
            "Patientennummer": 100_000 + draw.randrange(900_000),
            "Nachname": f"{draw.choice(['Mei', 'Schul', 'Lehm', 'Wag'])}{draw.choice(['er', 'ze', 'ann', 'ner'])}{n}",
            "Geschlecht": draw.choice(["m", "w", "w", "d"]),
            "Geburtsdatum": _day(draw, 1935, 2005).strftime("%d.%m.%Y"),
            "PLZ": f"{draw.choice(['01', '10', '80'])}{draw.randrange(30):03}",
            "Hauptdiagnose": draw.choice(codes),
            "Familienstand": draw.choice(["ledig", "ledig", "verheiratet", "verwitwet", "-"]),
            "Bemerkung": f"Der Patient kam am {n}. Tag wieder und klagte erneut über starke Schmerzen im Bein.",
        }
        for n in range(rows)
    ]
    return pl.DataFrame(made), {
        "Patientennummer": ("identifier", "integer"),
        "Nachname": ("identifier", "text"),
        "Geschlecht": ("quasi", "text"),
        "Geburtsdatum": ("quasi", "date"),
        "PLZ": ("quasi", "text"),
        "Hauptdiagnose": ("sensitive", "text"),
        "Familienstand": ("quasi", "text"),
        "Bemerkung": ("drop", "text"),
    }


def customers(rows: int = 300) -> tuple[pl.DataFrame, Right]:
    """Customers of a bank: accounts, e-mail addresses, countries, incomes, American dates with short years."""
    draw = Random(2)
    countries = ["DE", "FR", "ES", "IT", "PT", "NL", "PL", "AT", "BE", "CH", "CZ", "DK", "SE", "FI", "NO", "NA"]
    made = [
        {
            "email": f"user{n}@example{draw.randrange(5)}.com",
            "account": _iban(draw),
            "country": draw.choice(countries),
            "opened": _day(draw, 1990, 2020).strftime("%m/%d/%y"),
            "income": draw.randrange(10_000, 90_000),
            "children": draw.randrange(5),
            "rating": draw.choice(["A", "B", "B", "C"]),
        }
        for n in range(rows)
    ]
    return pl.DataFrame(made), {
        "email": ("identifier", "text"),
        "account": ("identifier", "text"),
        "country": ("quasi", "text"),
        "opened": ("quasi", "date"),
        "income": ("quasi|drop", "integer"),
        "children": ("quasi", "category"),
        "rating": ("quasi", "text"),
    }


def survey(rows: int = 300) -> tuple[pl.DataFrame, Right]:
    """A survey in French and Spanish words: codes instead of words, a code for unknown, weights, a salary in bands."""
    draw = Random(3)
    made = [
        {
            "identifiant": n + 1,
            "sexe": draw.choice([1, 2]),
            "edad": draw.randrange(18, 95),
            "code_postal": f"{draw.randrange(40):02}{draw.randrange(3)}00",
            "salaire": draw.choice(["0-1000", "1000-2000", "2000-3000", "NA"]),
            "religion": draw.choice(["a", "b", "c"]),
            "satisfaction": draw.choice([1, 2, 3, 4, 5]),
            "ponderation": round(draw.uniform(0.5, 2.0), 3),
        }
        for n in range(rows)
    ]
    return pl.DataFrame(made), {
        "identifiant": ("identifier", "integer"),
        "sexe": ("quasi", "category"),
        "edad": ("quasi", "integer"),
        "code_postal": ("quasi", "text"),
        "salaire": ("sensitive", "text"),
        "religion": ("sensitive", "text"),
        "satisfaction": ("quasi", "category"),
        "ponderation": ("drop", "real"),
    }


def readings(rows: int = 300) -> tuple[pl.DataFrame, Right]:
    """A frame with typed columns: times of day, coordinates, medicines."""
    draw = Random(4)
    codes = ["A10BA02", "C07AB02", "N02BE01", "J01CA04", "R03AC02", "M01AE01"]
    made = [
        {
            "pesel": _pesel(draw),
            "data_urodzenia": _day(draw, 1940, 2000),
            "seen_at": datetime(2020, 1, 1) + timedelta(minutes=draw.randrange(500_000)),
            "latitude": round(draw.uniform(48.0, 52.0), 4),
            "longitude": round(draw.uniform(14.0, 22.0), 4),
            "lek": draw.choice(codes),
            "smoker": draw.choice([True, False]),
        }
        for _ in range(rows)
    ]
    return pl.DataFrame(made), {
        "pesel": ("identifier", "text|integer"),
        "data_urodzenia": ("quasi", "date"),
        "seen_at": ("quasi", "date"),
        "latitude": ("quasi", "real"),
        "longitude": ("quasi", "real"),
        "lek": ("sensitive", "text"),
        "smoker": ("quasi", "text"),
    }


def _pesel(draw: Random) -> str:
    day = _day(draw, 1940, 1999)
    body = f"{day:%y%m%d}{draw.randrange(10_000):04}"
    weights = (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)
    return f"{body}{-sum(int(one) * w for one, w in zip(body, weights, strict=True)) % 10}"


def employees(rows: int = 300) -> tuple[pl.DataFrame, Right]:
    """Employees in Italian, Portuguese and Dutch words, with a unit that repeats."""
    draw = Random(5)
    made = [
        {
            "codice_fiscale": f"RSSMRA{draw.randrange(40, 99)}A{draw.randrange(10, 28)}H{draw.randrange(100, 999)}X",
            "cognome": f"Rossi{n}",
            "comune": draw.choice(["Roma", "Roma", "Milano", "Torino", "Bari"]),
            "stipendio": draw.randrange(1_000, 9_000),
            "escolaridade": draw.choice(["basico", "medio", "superior", "?"]),
            "beroep": draw.choice(["arts", "kok", "leraar", "kok"]),
            "data_nascita": _day(draw, 1950, 2000).strftime("%d/%m/%Y"),
            "telefoon": f"+31 6 {draw.randrange(10_000_000, 99_999_999)}",
        }
        for n in range(rows)
    ]
    return pl.DataFrame(made), {
        "codice_fiscale": ("identifier", "text"),
        "cognome": ("identifier", "text"),
        "comune": ("quasi", "text"),
        "stipendio": ("quasi|drop", "integer"),
        "escolaridade": ("quasi", "text"),
        "beroep": ("quasi", "text"),
        "data_nascita": ("quasi", "date"),
        "telefoon": ("identifier", "text"),
    }


MADE: dict[str, Callable[[], tuple[pl.DataFrame, Right]]] = {
    "German patients": german_patients,
    "customers": customers,
    "survey": survey,
    "readings": readings,
    "employees": employees,
}
