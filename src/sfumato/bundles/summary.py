"""What a verification checked, in sentences: one for each subject, one for each promise, one for each failure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sfumato.bundles.provenance import Check

CLAIM = "claim "
"""How the check of a promise begins."""
PLANNED = "claims are what the plan asks for"
"""The check of all promises together; where none has a check of its own, it says what they are."""

SUBJECTS: Mapping[str, tuple[str, ...]] = {
    "The plan and the original give the same release again": (
        "plan of the steward",
        "rows of data",
        "what is stated about the release",
    ),
    "The files are unchanged since the manifest was sealed, and nothing was added": (
        "seal of",
        "bytes of",
        "files ",
        "form of the manifest",
        "what the manifest describes",
        "signature",
        "document",
        "chain of",
        "batch",
        "bundles that are no batch",
        "names of the batches",
        "numbers of the batches",
        "digest of",
    ),
    "Rows, columns and missing values are as the manifest describes them": (
        "rows",
        "columns",
        "column",
        "types of",
        "missing",
        "spellings of",
        "values of",
        "items of",
        "number of records",
        "records of",
        "suppressed rows",
        "combinations",
        "labels within",
        "classes",
        "class column",
        "mark of unknown",
        "questions",
        "formulas",
    ),
    "The parts of the budget add up to what is promised, and the noise is as large as they ask": (
        "the ledger adds up",
        "noise",
        "scale of the noise",
        "choices of the mechanism",
    ),
    "Every domain is declared or paid for, and none was read off the rows": (
        "domain",
        "no domain",
        "no column is published",
        "no seed",
    ),
    "No identifier stands openly in the rows, and every column has the role that the plan gives it": (
        "identifiers",
        "pseudonyms",
        "role",
        "nobody's number",
        "exchanged columns",
        "treated columns",
        "attributes that",
    ),
    "The release was made by the stated algorithm, with the stated options and protocol": (
        "algorithm",
        "options of",
        "models that the plan asks for",
        "claims are what the plan",
        "one plan for all",
        "plan that the parties",
        "protocol",
        "parameters",
        "whoever wrote it",
        "who learns what",
        "agreement",
        "commitment",
        "output of",
    ),
    "Every attack that was made is reported, and its figures agree with each other": (
        "attacks",
        "figures of the attacks",
        "rates of the attacks",
        "an attack for every column",
    ),
    "The report says what the manifest and the rows say": ("report", "warnings", "remarks"),
}
"""How the checks of each subject begin, by the sentence that says that all of them hold."""
OTHERWISE = "Risk, loss, sizes of groups and all other figures, computed again, are as stated"
"""What holds if all checks that belong to no other subject hold."""


def sentences(checks: Sequence[Check]) -> list[str]:
    """What was checked: promises first, then subjects in which everything holds, then every failure by itself."""
    good = [check for check in checks if check.holds]
    promises = [
        f"Promised: {check.what.removeprefix(CLAIM)}. It holds: {check.detail}." for check in good if _is_claim(check)
    ]
    if not any(map(_is_claim, checks)):
        promises = [f"Promised: {check.detail}." for check in good if check.what == PLANNED]
        good = [check for check in good if check.what != PLANNED]
    counted = dict.fromkeys((*SUBJECTS, OTHERWISE), 0)
    for check in good:
        if not _is_claim(check):
            counted[subject_of(check.what)] += 1
    broken = {subject_of(check.what) for check in checks if not check.holds and not _is_claim(check)}
    fine = [
        f"{sentence} ({many} {'check' if many == 1 else 'checks'})."
        for sentence, many in counted.items()
        if many and sentence not in broken
    ]
    return [*promises, *fine, *_failures(checks)]


def subject_of(what: str) -> str:
    """The sentence that a check belongs to.

    >>> subject_of("bytes of the data file")
    'The files are unchanged since the manifest was sealed, and nothing was added'
    """
    for sentence, beginnings in SUBJECTS.items():
        if what.startswith(beginnings):
            return sentence
    return OTHERWISE


def _is_claim(check: Check) -> bool:
    return check.what.startswith(CLAIM)


def _failures(checks: Iterable[Check]) -> list[str]:
    return [f"FAILS: {check.what}: {check.detail}." for check in checks if not check.holds]
