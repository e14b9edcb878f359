"""What columns are recognised as: by values, by names in eight languages, and never more than the values allow."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sfumato.pipeline.plan.hierarchies import builder
from sfumato.pipeline.profile.recognisers import CHECKS, iban, luhn, national_number, recognised, recognisers
from sfumato.pipeline.profile.suggestions import suggest
from sfumato.tables.hierarchy_files import DATA_SETS, hierarchy_files, read_hierarchy
from sfumato.tables.table import Column, Table

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "pl")


def column(name: str, values: list[object]) -> Column:
    return Table(frame=pl.DataFrame({name: pl.Series(values)})).column(name)


def found(name: str, values: list[object]) -> str | None:
    one = column(name, values)
    seen = recognised(one, one.kind)
    return None if seen is None else seen.by.name


TEXTS: list[object] = [f"{word}{n}" for n in range(8) for word in ("one", "two", "three")]
NUMBERS: list[object] = list(range(20, 80))


@pytest.mark.parametrize(
    ("name", "values", "sort"),
    [
        *((name, TEXTS, "name of a person") for name in ("Nachname", "prénom", "Apellidos", "cognome", "Imię")),
        *((name, NUMBERS, "age") for name in ("age", "Alter", "âge", "edad", "età", "Idade", "leeftijd", "wiek")),
        *((name, ["1", "2"] * 9, "sex") for name in ("sex", "Geschlecht", "sexe", "sexo", "sesso", "geslacht", "Płeć")),
        *((name, ["01234", "99999"] * 9, "postal code") for name in ("zip", "PLZ", "Code postal", "kod pocztowy")),
        *((name, [1200, 9000] * 9, "income") for name in ("salary", "Einkommen", "revenu", "Sueldo", "loon")),
        *((name, ["x", "y"] * 9, "health") for name in ("diagnosis", "Krankheit", "maladie", "doença", "ziekte")),
        *((name, [1.5, 2.5] * 9, "latitude") for name in ("lat", "Breitengrad", "latitud", "szerokość")),
        *((name, TEXTS, "contact") for name in ("phone", "Straße", "adresse", "dirección", "indirizzo", "ulica")),
        *((name, NUMBERS, "number of a person") for name in ("SSN", "Kontonummer", "DNI", "bsn", "PESEL", "nir")),
    ],
)  # fmt: skip
def test_names_in_eight_languages(name: str, values: list[object], sort: str) -> None:
    assert found(name, values) == sort


@pytest.mark.parametrize(
    "name", ["usage", "village", "pages", "message", "stage", "average", "sexton", "hidden", "Erzeugung", "landing"]
)
def test_a_part_of_a_word_is_no_word(name: str) -> None:
    assert found(name, [1, 2, 3] * 9) is None


@pytest.mark.parametrize(
    ("values", "sort"),
    [
        (["ann@example.org", "bob@example.com"], "e-mail address"),
        (["DE89370400440532013000", "GB82 WEST 1234 5698 7654 32"], "IBAN"),
        ([f"+49 30 {n}" for n in range(1_000_000, 1_000_020)], "phone number"),
        (["A00.1", "B20", "E11.9", "I10", "Z00"], "ICD-10 diagnosis"),
        (["A10BA02", "C07AB02", "N02BE01", "J01CA04", "R03AC02"], "ATC medicine"),
        (["Germany", "France", "Spain", "Italy", "Poland"], "country"),
        (["DEU", "FRA", "ESP", "ITA", "POL"], "country"),
        (["Alabama", "Texas", "Ohio", "Utah", "Iowa"], "state of the USA"),
        (["Male", "Female", "Unknown"], "sex"),
        (["10.0.0.1", "10.0.0.2", "192.168.1.1"], "address on a network"),
        ([f"He said on day {n} that the pain in his leg had come back at night." for n in range(9)], "free text"),
    ],
)
def test_values_are_enough_where_they_are_clear(values: list[object], sort: str) -> None:
    assert found("x1", values * 3) == sort


@pytest.mark.parametrize(
    "values",
    [["A11", "A12", "A13", "A14", "A30"], ["AB", "CD"], ["m", "f"], [40, 50, 60], ["DE", "FR"], ["12345", "54321"]],
)
def test_values_that_may_be_anything_are_not_recognised_without_a_name(values: list[object]) -> None:
    assert found("x1", values * 9) is None


def test_checksums_count() -> None:
    assert not iban("DE88370400440532013000")
    assert luhn("4111111111111111")
    assert not luhn("4111111111111112")
    assert national_number("X1234567L")
    assert national_number("44051401359")
    assert not national_number("44051401358")
    assert national_number("111222333"), "a number of the Netherlands"
    assert national_number("9434765919"), "a number of the National Health Service"
    assert national_number("529.982.247-25"), "a number of Brazil"


def test_an_age_beyond_all_ages_is_no_age() -> None:
    assert found("age", [20, 900]) is None
    assert found("alter", ["old", "young"]) is None


def test_every_record_is_whole() -> None:
    for one in recognisers():
        assert one.why, one
        assert one.words or one.alone, one
        assert set(one.words) <= set(LANGUAGES), one
        assert one.check is None or one.check in CHECKS, one
        if isinstance(one.hierarchy, dict):
            builder(one.hierarchy, one.name, Path())
        for name in one.known:
            assert name.split("/")[0] in DATA_SETS
    words = {word for one in recognisers() for language in one.words.values() for word in language}
    assert all(word == word.lower() and word.isascii() for word in words)


def test_bundled_hierarchies_of_the_world_are_trees() -> None:
    for name, path in hierarchy_files("world").items():
        paths = read_hierarchy(path)
        assert not paths.faults, name
        assert {len(above) for above in paths.paths.values()} == {2}


def test_income_is_never_a_target_and_rare_values_are_never_published() -> None:
    rows = 200
    exact = suggest(column("income", [1000 + 7 * n for n in range(rows)]), rows)
    assert (str(exact.role), exact.hierarchy["kind"]) == ("quasi", "intervals")  # type: ignore[index]
    bands = suggest(column("income", ["low", "high"] * (rows // 2)), rows)
    assert str(bands.role) == "sensitive"
    for name in ("class", "target", "religion", "diagnosis"):
        assert str(suggest(column(name, [f"v{n}" for n in range(rows)]), rows).role) == "drop"


def test_codes_of_diagnoses_become_chapters_where_they_are_rare() -> None:
    codes = [f"{letter}{n:02}" for letter in "ABCEI" for n in range(40)]
    made = suggest(column("icd", codes), len(codes))
    assert (str(made.role), made.hierarchy) == ("quasi", {"kind": "codes", "system": "icd-10"})


def test_a_number_far_away_may_stand_for_unknown() -> None:
    made = suggest(column("height_cm", [*range(150, 200), 9999]), 51)
    assert any('9999 may stand for an unknown value; if so, add "9999" to missing' in note for note in made.notes)
    assert not suggest(column("height_cm", list(range(150, 200))), 50).notes


def test_dates_that_can_be_read_two_ways_are_asked_about() -> None:
    made = suggest(column("seen", ["01.02.1980", "03.04.1981"] * 9), 18)
    assert made.form is not None
    assert made.form.order == "dmy"
    assert "which is it?" in made.notes[0]
    assert not suggest(column("seen", ["01.02.1980", "23.04.1981"] * 9), 18).notes
    assert suggest(column("seen", [19800203, 19810405, 19991231, 20000101, 20010102]), 5).form is not None
