"""The hand-written weights behind the synthetic census: round numbers for a plausible working population.

Every table gives, for each label, one weight per group; the comment over a table names its groups.
"""

from __future__ import annotations

from sfumato.datasets.draws import Weights

SEX: Weights = {"Male": (66,), "Female": (34,)}

AGE_POINTS = (17, 20, 23, 30, 36, 42, 48, 55, 62, 66, 72, 80, 89, 90)
AGE_WEIGHTS = (11, 23, 26, 27, 28, 25, 20, 14, 9, 6, 3, 1, 0.2, 1)

AGE_BANDS = (20, 25, 30, 38, 50, 65)
"""A person belongs to band i when i of these ages have been reached."""

# groups: men in the seven age bands, then women in the seven age bands
MARITAL: Weights = {
    "Never-married": (96, 72, 45, 24, 10, 6, 5, 94, 66, 40, 24, 13, 7, 6),
    "Married-civ-spouse": (3, 24, 46, 61, 70, 74, 74, 3, 16, 27, 30, 29, 30, 20),
    "Divorced": (0.4, 2, 6, 10, 15, 13, 9, 1, 9, 20, 30, 37, 35, 18),
    "Separated": (0.2, 1, 2, 3, 3, 2, 1, 1, 5, 7, 8, 7, 5, 2),
    "Widowed": (0, 0.1, 0.2, 0.4, 1, 3, 9, 0.1, 0.5, 1, 2, 7, 18, 50),
    "Married-spouse-absent": (0.4, 0.9, 1, 1.2, 1.2, 1.5, 1.5, 0.8, 2, 2, 2, 2, 2, 2),
    "Married-AF-spouse": (0, 0.1, 0.1, 0.05, 0, 0, 0, 0.2, 0.4, 0.2, 0.1, 0, 0, 0),
}

MARRIED = ("Married-civ-spouse", "Married-AF-spouse")
"""Those who live with a spouse."""

# groups: married men, married women, never married and below 25, never married and older,
# formerly married men, formerly married women
RELATIONSHIP: Weights = {
    "Husband": (98.5, 0, 0, 0, 0, 0),
    "Wife": (0, 93, 0, 0, 0, 0),
    "Own-child": (0.5, 2, 66, 22, 8, 5),
    "Not-in-family": (0.2, 1, 22, 60, 66, 43),
    "Other-relative": (0.8, 4, 7, 6, 5, 4),
    "Unmarried": (0, 0, 5, 12, 21, 48),
}

# groups: the seven age bands
EDUCATION: Weights = {
    "Preschool": (0.1, 0.1, 0.1, 0.1, 0.1, 0.2, 0.3),
    "1st-4th": (0.1, 0.2, 0.3, 0.3, 0.4, 0.8, 1.6),
    "5th-6th": (0.3, 0.6, 0.8, 0.8, 0.8, 1.5, 2.5),
    "7th-8th": (1, 0.6, 0.8, 1, 1.5, 4, 8),
    "9th": (2, 1.2, 1.2, 1.2, 1.2, 2, 3),
    "10th": (8, 2, 2, 2, 2, 3.5, 4),
    "11th": (17, 3, 2.5, 2.3, 2, 2.5, 3),
    "12th": (6, 1.8, 1.2, 1, 0.8, 0.8, 0.8),
    "HS-grad": (28, 33, 33, 34, 31, 33, 32),
    "Some-college": (36, 36, 20, 19, 20, 17, 16),
    "Assoc-voc": (0.8, 3.5, 5, 5.5, 5, 3.5, 2),
    "Assoc-acdm": (0.5, 3, 4, 4, 3.6, 2.3, 1.6),
    "Bachelors": (0.2, 14, 23, 19, 18, 14, 12),
    "Masters": (0, 0.8, 4, 5.5, 8.5, 8, 6.5),
    "Prof-school": (0, 0.1, 1.2, 2, 2.4, 2.4, 2.8),
    "Doctorate": (0, 0, 0.4, 1, 1.8, 2.2, 2.4),
}
"""In the order of education-num, which counts from 1."""

# groups: up to 8 years of school, up to grade 12, high school, some college, associate, bachelor, above
TIERS = (0, 0, 0, 0, 1, 1, 1, 1, 2, 3, 4, 4, 5, 6, 6, 6)
"""The group of every education, in its order."""
OCCUPATION: Weights = {
    "Adm-clerical": (2, 6, 10, 14, 12, 8, 3),
    "Armed-Forces": (0, 0, 0.05, 0.05, 0, 0.02, 0.02),
    "Craft-repair": (24, 22, 26, 19, 19, 5, 1),
    "Exec-managerial": (2, 4, 8, 13, 14, 26, 21),
    "Farming-fishing": (12, 5, 4, 2, 2.5, 1.5, 1),
    "Handlers-cleaners": (9, 11, 6, 4, 1.5, 0.8, 0.2),
    "Machine-op-inspct": (18, 13, 10, 4, 4, 1.3, 0.3),
    "Other-service": (20, 20, 12, 10, 7, 3, 0.8),
    "Priv-house-serv": (3, 1, 0.5, 0.3, 0.3, 0.1, 0.05),
    "Prof-specialty": (0.8, 1.2, 2.2, 6, 13, 29, 64),
    "Protective-serv": (0.6, 1.2, 2, 3, 2.5, 2, 0.6),
    "Sales": (4, 10, 10, 14, 10, 16, 5),
    "Tech-support": (0.2, 0.5, 1.5, 4, 10, 4, 2),
    "Transport-moving": (9, 10, 8, 4, 2.5, 1, 0.2),
}
"""Weights of men; those of women are multiplied by the next table."""
WOMEN: dict[str, float] = {
    "Adm-clerical": 2.5,
    "Armed-Forces": 0.1,
    "Craft-repair": 0.15,
    "Exec-managerial": 0.9,
    "Farming-fishing": 0.15,
    "Handlers-cleaners": 0.3,
    "Machine-op-inspct": 0.8,
    "Other-service": 2.2,
    "Priv-house-serv": 6.0,
    "Prof-specialty": 1.2,
    "Protective-serv": 0.3,
    "Sales": 1.1,
    "Tech-support": 1.3,
    "Transport-moving": 0.12,
}

# groups: below 25, 25 to 49, 50 and older; each without and then with a bachelor's degree
WORKCLASS: Weights = {
    "Federal-gov": (1, 2, 3, 4, 3.5, 4.5),
    "Local-gov": (4, 8, 6, 11, 7, 14),
    "Private": (88, 79, 76, 63, 65, 49),
    "Self-emp-inc": (0.5, 1, 2.5, 6, 5, 10),
    "Self-emp-not-inc": (2.5, 3, 8.5, 8, 15, 14),
    "State-gov": (4, 7, 4, 8, 4.5, 8.5),
    "Without-pay": (0.1, 0, 0.02, 0, 0.1, 0),
}

# groups: born in the United States or in Europe, in Latin America, in the Caribbean, in Asia
RACE: Weights = {
    "Amer-Indian-Eskimo": (1, 0.8, 0.2, 0.3),
    "Asian-Pac-Islander": (1, 0.5, 1, 84),
    "Black": (9.5, 5, 78, 1.2),
    "Other": (0.5, 11, 2, 2.5),
    "White": (88, 82.7, 18.8, 12),
}

COUNTRY: Weights = {
    "United-States": (900,),
    "Mexico": (21,),
    "Philippines": (7,),
    "Germany": (5,),
    "Canada": (4.5,),
    "Puerto-Rico": (4.5,),
    "El-Salvador": (4,),
    "India": (4,),
    "Cuba": (3.5,),
    "England": (3.5,),
    "China": (3.5,),
    "Jamaica": (3,),
    "South": (3,),
    "Italy": (3,),
    "Dominican-Republic": (2.5,),
    "Vietnam": (2.5,),
    "Guatemala": (2.5,),
    "Japan": (2.5,),
    "Poland": (2,),
    "Columbia": (2,),
    "Haiti": (2,),
    "Portugal": (1.5,),
    "Iran": (1.5,),
}
_LATIN = ("Mexico", "Puerto-Rico", "El-Salvador", "Cuba", "Guatemala", "Columbia")
_CARIBBEAN = ("Jamaica", "Haiti", "Dominican-Republic")
_ASIAN = ("Philippines", "India", "China", "South", "Vietnam", "Japan")
REGIONS = {**dict.fromkeys(_LATIN, 1), **dict.fromkeys(_CARIBBEAN, 2), **dict.fromkeys(_ASIAN, 3)}
"""The group of the table of races, for countries that are not in group 0."""
