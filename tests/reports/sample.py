"""Facts for the report's tests: a rich release, a failing one, and the odd ones."""

from __future__ import annotations

from dataclasses import replace

from sfumato.attacks.finding import Finding, Limit, Rate
from sfumato.attacks.risk import Risk
from sfumato.core.claims import Claim
from sfumato.reports.table_facts import ClaimFacts, ColumnFacts, ReportFacts, UtilityFacts

EVIL = "<script>alert('x')</script>&\""


def claim(
    model: str, title: str, limit: float, value: float, wildcard: float, sense: str = "at least", **more: object
) -> ClaimFacts:
    low = sense in ("at least", "above")
    worst = min(value, wildcard) if low else max(value, wildcard)
    holds = worst >= limit if low else worst <= limit
    return ClaimFacts(
        claim=Claim(
            model=model,
            parameters=more,
            holds=holds,
            sense=sense,
            limit=limit,
            reading="strict",
            as_value=value,
            as_wildcard=wildcard,
            classes_failing=0 if holds else 12,
            note="reference: the released rows" if model == "t-closeness" else "",
        ),
        title=title,
        meaning=f"Whoever knows all quasi-identifiers of a person cannot do better than {title} allows.",
        limits="Learning a sensitive value that all rows of a group share; knowledge beyond the quasi-identifiers.",
    )


def metric(
    name: str, value: float, *, better: str = "lower", low: float = 0.0, high: float = 1.0, chosen: bool = False
) -> UtilityFacts:
    meaning = f"{name.capitalize()}: the share of the domain that a label cannot tell from the true value."
    return UtilityFacts(name=name, value=value, better=better, low=low, high=high, chosen=chosen, meaning=meaning)


def _risk(prosecutor: float, marketer: float, unique: float, at_risk: float) -> Risk:
    return Risk(
        prosecutor=prosecutor,
        journalist=prosecutor,
        marketer=marketer,
        unique=unique,
        at_risk=at_risk,
        population_known=False,
    )


def _quasi(name: str, level: int, height: int, loss: float, labels: dict[str, tuple[int, int]]) -> ColumnFacts:
    return ColumnFacts(
        name=name,
        role="quasi",
        done=f"generalized to level {level} of {height}" if level else "unchanged",
        level=level,
        height=height,
        loss=loss,
        distinct_before=len(labels) * 4,
        distinct_after=len(labels),
        before=tuple((label, counts[0]) for label, counts in labels.items()),
        after=tuple((label, counts[1]) for label, counts in labels.items()),
    )


def _age() -> ColumnFacts:
    ages = tuple((str(age), 20 + (age * 37) % 61 + max(0, 900 - (age - 38) ** 2)) for age in range(17, 91))
    return ColumnFacts(
        name="age",
        role="quasi",
        done="generalized to level 2 of 4",
        level=2,
        height=4,
        loss=0.137,
        distinct_before=74,
        distinct_after=4,
        before=ages,
        after=(("[10, 30)", 7803), ("[30, 50)", 14901), ("[50, 70)", 6620), ("[70, 91)", 717)),
        same_labels=False,
    )


JOBS = (
    "Adm-clerical",
    "Armed-Forces",
    "Craft-repair",
    "Exec-managerial",
    "Farming-fishing",
    "Handlers-cleaners",
    "Machine-op-inspct",
    "Other-service",
    "Priv-house-serv",
    "Prof-specialty",
    "Protective-serv",
    "Sales",
    "Tech-support",
    "Transport-moving",
    "Unknown",
)


def _columns() -> tuple[ColumnFacts, ...]:
    jobs = tuple((job, 90 + 977 * i % 4100) for i, job in enumerate(JOBS))
    place = {name: (n, n - 40) for name, n in [("North-East", 9120), ("South", 7110), ("West coast", 13932)]}
    schools = {
        f"{level} education": (3000 + 517 * i, 2980 + 517 * i) for i, level in enumerate(("Basic", "Middle", "High"))
    }
    return (
        ColumnFacts(name="patient_id", role="identifier", done="dropped", distinct_before=30162),
        _age(),
        _quasi("sex", 0, 1, 0.0, {"Female": (9782, 9741), "Male": (20380, 20300)}),
        _quasi("race", 1, 1, 1.0, {"*": (30162, 30041)}),
        _quasi("postcode area of residence", 3, 5, 0.412, place),
        _quasi("education", 2, 3, 0.35, schools),
        ColumnFacts(
            name="occupation",
            role="sensitive",
            done="unchanged",
            distinct_before=15,
            distinct_after=15,
            before=jobs,
            after=tuple((job, max(rows - 8, 0)) for job, rows in jobs),
        ),
        ColumnFacts(
            name="salary",
            role="target",
            done="unchanged",
            distinct_before=2,
            distinct_after=2,
            before=(("<=50K", 22654), (">50K", 7508)),
            after=(("<=50K", 22570), (">50K", 7471)),
        ),
    )


def findings() -> tuple[Finding, ...]:
    """Attacks with every outcome."""
    person = "the quasi-identifiers of a person"
    rows = Rate(hits=2, trials=1000)
    return (
        Finding(
            attack="linkage",
            threat="re-identification",
            knows=person,
            does="pick their row",
            rate=Rate(hits=41, trials=1000),
            naive=Rate(hits=1, trials=30162),
            limit=Limit(value=0.2, why="claim k-anonymity (k = 5)"),
            note="The surest single guess is 1 in 7.",
        ),
        Finding(
            attack="homogeneity",
            threat="attribute disclosure",
            knows=person,
            does="tell her occupation",
            rate=Rate(hits=310, trials=1000, failed=3),
            naive=Rate(hits=140, trials=1000),
            control=Rate(hits=150, trials=900),
        ),
        Finding(
            attack="lkc-adversary",
            threat="re-identification",
            knows="two of their quasi-identifiers",
            does="pick their row",
            rate=rows,
            naive=rows,
        ),
        Finding(
            attack="minimality",
            threat="method",
            knows=f"{person}, and the algorithm",
            does="tell her disease",
            rate=Rate(hits=700, trials=1000),
            naive=Rate(hits=200, trials=1000),
            limit=Limit(value=0.5, why="claim simple-l-diversity (l = 2)"),
        ),
    )


def rich(*, inside: bool = True) -> ReportFacts:
    """A release as the Adult table gives one."""
    return ReportFacts(
        title="Adult census, research release",
        made="2025-03-14",
        version="0.1.0",
        inside=inside,
        rows_before=30162,
        rows_after=30041,
        rows_suppressed=121,
        suppressed_how="remove",
        suppressed_limit=0.02,
        findings=findings(),
        skipped_attacks={"membership": "there is no control file"},
        claims=(
            claim("k-anonymity", "5-anonymity", 5, 7, 7, k=5),
            claim("distinct-l-diversity", "distinct 3-diversity of occupation", 3, 5, 4, column="occupation", l=3),
            claim("t-closeness", "0.2-closeness of salary", 0.2, 0.1873, 0.19412, "at most", column="salary", t=0.2),
        ),
        smallest_class={"value": 7, "wildcard": 7},
        columns=_columns(),
        class_sizes=((7, 12), (8, 9), (11, 14), (16, 20), (33, 22), (78, 13), (150, 9), (411, 8), (1204, 7), (4100, 3)),
        risk_before=_risk(1.0, 0.4123, 0.2051, 0.8712),
        risk_after=_risk(1 / 7, 0.00391, 0.0, 0.0),
        utility=(
            metric("loss", 0.3797, chosen=True),
            metric("precision", 0.61, better="higher"),
            metric("discernibility", 51_234_567.0, low=30162.0, high=30162.0**2),
            metric("class-size", 51.3, low=1.0, high=float("inf")),
        ),
        algorithm="optimal",
        why="auto: the optimal search proves its result for any model and metric.",
        effort={"nodes": 360, "checked": 41, "tagged": 212, "pruned": 107, "seconds": "1.9"},
        proven=True,
        marks=(
            "The column occupation is not guarded by t-closeness.",
            "121 rows were removed; they are not a random sample.",
        ),
    )


def failing() -> ReportFacts:
    """A release whose promises do not all hold, found by a search that was cut short."""
    base = rich(inside=False)
    return replace(
        base,
        claims=(
            claim("k-anonymity", "5-anonymity", 5, 7, 3, k=5),
            claim("t-closeness", "0.2-closeness of salary", 0.2, 0.2000001, 0.19, "at most", column="salary", t=0.2),
            claim("future-privacy", "future privacy with f = 9", 9, float("inf"), float("inf"), f=9),
        ),
        class_sizes=((1, 3), (3, 9), (4, 4), (7, 12), (411, 8)),
        rows_suppressed=1200,
        suppressed_how="star",
        proven=False,
        marks=(),
    )


def empty() -> ReportFacts:
    """Nothing to show: no claims, no columns, no rows."""
    none = _risk(0.0, 0.0, 0.0, 0.0)
    return replace(
        rich(inside=False),
        rows_before=0,
        rows_after=0,
        rows_suppressed=0,
        suppressed_limit=0.0,
        claims=(),
        smallest_class={},
        columns=(),
        class_sizes=(),
        risk_before=none,
        risk_after=none,
        utility=(),
        effort={},
        marks=(),
    )


def lone() -> ReportFacts:
    """One class, no quasi-identifiers, an empty distribution."""
    kept = ColumnFacts(name="note", role="keep", done="unchanged", distinct_before=0, distinct_after=0)
    return replace(
        rich(inside=False),
        columns=(kept,),
        class_sizes=((30162, 1),),
        rows_suppressed=0,
        smallest_class={"value": 30162},
    )


def hostile() -> ReportFacts:
    """Names and values that try to be markup, and long ones."""
    long = "a column name that nobody should have chosen but somebody did, and then some"
    odd = ((EVIL, 3), ("x" * 200, 2), ("", 1), ("line\nbreak\x00\x1b[31m", 4), ('fill="#040404"', 5), ("汉字" * 30, 6))
    evil = _quasi(EVIL, 1, 40, float("nan"), {name: (rows, rows) for name, rows in odd})
    return replace(
        rich(),
        title=EVIL,
        algorithm=EVIL,
        why=EVIL,
        effort={EVIL: EVIL},
        marks=(EVIL,),
        made=EVIL,
        claims=(claim(EVIL, EVIL, 5, 7, 7, column=EVIL),),
        columns=(evil, replace(evil, name=long, before=odd, same_labels=False), replace(evil, done=EVIL, role=EVIL)),
        utility=(metric(EVIL, float("inf"), high=float("inf")),),
    )


def wide(columns: int = 40) -> ReportFacts:
    """A table of many columns."""
    base = _columns()
    many = (replace(base[1 + i % 7], name=f"{base[1 + i % 7].name} {i}") for i in range(columns))
    return replace(rich(), columns=tuple(many))


EVERY = {
    "rich": rich,
    "public": lambda: rich(inside=False),
    "failing": failing,
    "empty": empty,
    "lone": lone,
    "hostile": hostile,
    "wide": wide,
}
