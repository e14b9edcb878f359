"""The right roles and types of the columns of real tables, as a person who looks at them would give them.

A role ``quasi|drop`` means that either is right: a number that nearly everybody has alone is generalized or left out.
Beyond ten quasi-identifiers a draft leaves the rest to a person, so that ``drop`` is right for them too.
"""

from __future__ import annotations

from tests.drafts.made_tables import Right

QUASI, LEFT = "quasi", "quasi|drop"


def _all(names: str, role: str, kind: str) -> Right:
    return dict.fromkeys(names.split(), (role, kind))


REAL: dict[str, tuple[str, dict[str, object], Right]] = {
    "cup": (
        "arx/cup_subset.csv",
        {},
        {
            "ZIP": (QUASI, "text"),
            **_all("AGE NGIFTALL MINRAMNT RAMNTALL", LEFT, "integer"),
            **_all("GENDER STATE", QUASI, "text"),
            "INCOME": ("sensitive", "integer"),
        },
    ),
    "fars": (
        "arx/fars_subset.csv",
        {},
        {
            **_all("iage ideathday", QUASI, "integer"),
            **_all("irace ideathmon isex ihispanic istatenum", QUASI, "text"),
            "iinjury": ("sensitive", "text"),
        },
    ),
    "testdata": (
        "sdcmicro/testdata.csv",
        {},
        {
            **_all("urbrur roof walls water electcon relat sex hhcivil", QUASI, "category"),
            "age": (QUASI, "integer"),
            "expend": (LEFT, "integer"),
            **_all("income savings", LEFT, "real"),
            "ori_hid": ("identifier", "integer"),
            "sampling_weight": ("drop", "integer"),
            "household_weights": ("drop", "real"),
        },
    ),
    "CASC": (
        "sdcmicro/CASCrefmicrodata.csv",
        {},
        {
            "AFNLWGT": ("drop", "integer"),
            **_all("AGI EMCONTRB FEDTAX PTOTVAL STATETAX TAXINC POTHVAL INTVAL", LEFT, "integer"),
            **_all("PEARNVAL FICA WSALVAL ERNVAL", LEFT, "integer"),
        },
    ),
    "Tarragona": (
        "sdcmicro/Tarragona.csv",
        {},
        _all(
            "FIXED.ASSETS CURRENT.ASSETS TREASURY UNCOMMITTED.FUNDS PAID.UP.CAPITAL SHORT.TERM.DEBT SALES LABOR.COSTS "
            "DEPRECIATION OPERATING.PROFIT FINANCIAL.OUTCOME GROSS.PROFIT NET.PROFIT",
            LEFT,
            "integer",
        ),
    ),
    "EIA": (
        "sdcmicro/EIA.csv",
        {},
        {
            "UTILITYID": ("identifier", "integer"),
            "UTILNAME": ("identifier", "text"),
            "STATE": (QUASI, "text"),
            "YEAR": ("drop|keep", "integer"),
            "MONTH": (QUASI, "category"),
            **_all("RESREVENUE RESSALES COMREVENUE COMSALES INDREVENUE INDSALES", LEFT, "integer"),
            **_all("OTHREVENUE OTHRSALES TOTREVENUE TOTSALES", LEFT, "integer"),
        },
    ),
    "cmc": (
        "uci/cmc.data",
        {},
        {
            **_all("column_1 column_4", QUASI, "integer"),
            **_all("column_2 column_3 column_5 column_6 column_7 column_8 column_9", QUASI, "category"),
            "column_10": ("quasi|target|sensitive", "category"),
        },
    ),
    "german": (
        "uci/german.data",
        {"delimiter": " "},
        {
            **_all("column_2 column_5 column_13", LEFT, "integer"),
            **_all("column_8 column_11 column_16 column_18 column_21", LEFT, "category|integer"),
            **{f"column_{n}": (LEFT, "text") for n in (1, 3, 4, 6, 7, 9, 10, 12, 14, 15, 17, 19, 20)},
        },
    ),
    "MIMIC patients": (
        "mimic3_demo/PATIENTS.csv",
        {},
        {
            **_all("ROW_ID SUBJECT_ID", "identifier", "integer"),
            "GENDER": (QUASI, "text"),
            **_all("DOB DOD DOD_HOSP DOD_SSN", QUASI, "date"),
            "EXPIRE_FLAG": ("drop|keep", "integer"),
        },
    ),
    "MIMIC admissions": (
        "mimic3_demo/ADMISSIONS.csv",
        {},
        {
            **_all("row_id subject_id hadm_id", "identifier", "integer"),
            **_all("admittime dischtime deathtime edregtime edouttime", LEFT, "date"),
            **_all("admission_type admission_location discharge_location insurance", QUASI, "text"),
            **_all("language marital_status ethnicity", QUASI, "text"),
            "religion": ("sensitive|quasi|drop", "text"),
            "diagnosis": ("sensitive|drop", "text"),
            **_all("hospital_expire_flag has_chartevents_data", LEFT, "category|integer"),
        },
    ),
    "MIMIC diagnoses": (
        "mimic3_demo/DIAGNOSES_ICD.csv",
        {},
        {
            **_all("ROW_ID SUBJECT_ID HADM_ID", "identifier", "integer"),
            "SEQ_NUM": (LEFT, "integer"),
            "ICD9_CODE": ("quasi|sensitive", "text"),
        },
    ),
    "MIMIC procedures": (
        "mimic3_demo/PROCEDURES_ICD.csv",
        {},
        {
            **_all("ROW_ID SUBJECT_ID HADM_ID", "identifier", "integer"),
            "SEQ_NUM": (LEFT, "integer"),
            "ICD9_CODE": ("quasi|sensitive", "text"),
        },
    ),
    "MIMIC groups": (
        "mimic3_demo/DRGCODES.csv",
        {},
        {
            **_all("ROW_ID SUBJECT_ID HADM_ID", "identifier", "integer"),
            "DRG_TYPE": ("quasi|keep", "text"),
            **_all("DRG_CODE DESCRIPTION", "sensitive|quasi|drop", "text"),
            **_all("DRG_SEVERITY DRG_MORTALITY", "sensitive|quasi", "category|text"),
        },
    ),
    "MIMIC flat": (
        "mimic3_demo/flat.csv",
        {},
        {
            **_all("subject_id hadm_id", "identifier", "integer"),
            "age": (QUASI, "integer"),
            **_all("gender admission_type insurance marital_status ethnicity", QUASI, "text"),
            "religion": ("sensitive|quasi|drop", "text"),
            "los_days": (LEFT, "real"),
            "hospital_expire_flag": ("quasi|sensitive|target", "category"),
            "icd9_primary": ("quasi|sensitive", "text"),
            "icd9_all": ("sensitive|drop", "text"),
        },
    ),
    "biofam": (
        "trajectories/biofam.csv",
        {},
        {
            "idhous": ("identifier", "integer"),
            "birthyr": (QUASI, "integer"),
            **_all("sex nat_1_02 plingu02", QUASI, "text"),
            **_all("p02r01 p02r04", "sensitive|quasi|drop", "text"),
            **_all("cspfaj cspmoj", LEFT, "text"),
            **{f"a{n}": (LEFT, "category|integer") for n in range(15, 31)},
        },
    ),
}
"""For each table: its file, how it is read, and the right answers."""
UNDECIDED = ("MIMIC groups",)
"""Tables in which no column is anything that others know: the draft says that a person must decide."""
