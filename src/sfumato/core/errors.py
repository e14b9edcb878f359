"""Every refusal of sfumato, as one tree.

* SfumatoError
  x ParameterError   a parameter of a model, metric or algorithm is out of its limits
  x PlanError        the plan says something it cannot say (names the key)
  x DataError        the table is not what the plan says (names file, column, value)
    + UnknownColumn
  x HierarchyError   a hierarchy does not fit its column (names value and count)
  x BundleError      a bundle cannot be read, or must not be written
  x Infeasible       no release meets the requirement (says what would be feasible)
  x BudgetError      a privacy budget does not suffice, or its ledger cannot be read
  x ClaimRefuted     a claim does not hold
  x SessionError     several parties do not come to a result (says who and why)
  x MissingExtra     a package is needed that is not installed (names the extra)
  x Interrupted      somebody stopped the work
  x OutOfTime        work that cannot stop early used up its time

Each carries the exit code that the command line ends with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

EXIT_DONE = 0
EXIT_REFUTED = 1
EXIT_BAD_INPUT = 2
EXIT_INFEASIBLE = 3
EXIT_INTERRUPTED = 130


class SfumatoError(Exception):
    """Anything sfumato refuses; the message says what, where, what was found and what would work."""

    exit_code = EXIT_BAD_INPUT

    def __str__(self) -> str:
        return shortened(super().__str__())


class ParameterError(SfumatoError, ValueError):
    """A parameter is outside the limits of the formula that needs it."""


class PlanError(SfumatoError):
    """The plan is refused at a key."""


class DataError(SfumatoError):
    """The table cannot be used as it is."""


class UnknownColumn(DataError):
    """A column is named that the table does not have."""


class HierarchyError(SfumatoError):
    """A hierarchy and the values of its column do not fit together."""


class MissingExtra(SfumatoError, ImportError):
    """A part needs a package that is not installed."""


class BundleError(SfumatoError):
    """A bundle cannot be read or written."""


class Infeasible(SfumatoError):
    """No release meets the requirement."""

    exit_code = EXIT_INFEASIBLE


class BudgetError(SfumatoError):
    """A privacy budget does not suffice."""

    exit_code = EXIT_INFEASIBLE


class LedgerError(BudgetError):
    """The ledger of a budget cannot be read or written, or was changed."""

    exit_code = EXIT_BAD_INPUT


class ClaimRefuted(SfumatoError):
    """A claim does not hold."""

    exit_code = EXIT_REFUTED


class SessionError(SfumatoError):
    """A session of several parties ended without a result."""


class Interrupted(SfumatoError):
    """Somebody stopped the work."""

    exit_code = EXIT_INTERRUPTED


class OutOfTime(SfumatoError):
    """Work that has no result before its end used up the time that it was given."""


def listed(names: Iterable[object], *, most: int = 12) -> str:
    """Names for a message, quoted and cut.

    >>> listed(["age", "zip"])
    "'age', 'zip'"
    """
    texts = [repr(str(name)) for name in names]
    rest = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {rest} more" if rest > 0 else "") if texts else "none"


STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What steers a terminal instead of being shown: control codes, marks that turn the direction of writing, and halves of
characters, which cannot be written at all. Tabs and line ends stay."""


_LONG_VALUE = re.compile(r"\S{300,}")
_MAX_MESSAGE = 4_000


def shortened(message: str) -> str:
    """A message in which a value of hundreds of characters shows its beginning, and which ends somewhere.

    >>> shortened("plan.toml: privacy.k is '" + "9" * 5000 + "'; write a number")
    "plan.toml: privacy.k is '99999999999999999999999999999999999999999999999...(5,002 characters); write a number"
    """
    cut = _LONG_VALUE.sub(
        lambda match: f"{match[0][:48]}...({len(match[0].rstrip(';,.')):,} characters){_end(match[0])}", message
    )
    return cut if len(cut) <= _MAX_MESSAGE else f"{cut[:_MAX_MESSAGE]}... ({len(message):,} characters)"


def _end(value: str) -> str:
    return value[-1] if value[-1] in ";,." else ""


def visible(text: str) -> str:
    r"""A text whose control characters can be seen and do nothing.

    >>> visible("\x1b[2Jall\tis well")
    '\\x1b[2Jall\tis well'
    """
    return STEERING.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode(), text)


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: a hint where one is near.

    >>> nearest("zipcode", ["zip_code", "age"]), nearest("zipcode", [])
    ("; did you mean 'zip_code'?", '.')
    """
    close = get_close_matches(name[:100], [str(candidate) for candidate in known], n=1)
    return f"; did you mean {close[0]!r}?" if close else "."


def unknown_column(name: str, columns: Iterable[str], *, where: str) -> UnknownColumn:
    """The error for a column that the table does not have.

    >>> str(unknown_column("zp", ["zip", "age"], where="columns.zp"))
    "columns.zp: the table has no column 'zp'; did you mean 'zip'? It has 'zip', 'age'"
    """
    known = list(columns)
    return UnknownColumn(f"{where}: the table has no column {name!r}{nearest(name, known)} It has {listed(known)}")
