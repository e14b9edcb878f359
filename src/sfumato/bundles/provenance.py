"""The checks of a verification, and where each figure of a manifest comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, Literal

from sfumato.bundles.checks.labels import words_without_values
from sfumato.bundles.signatures import UNSIGNED, Signature
from sfumato.core.errors import listed
from sfumato.core.short_repr import Brief

# What a verification looks at, and how found and stated values are compared.


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    what: str
    """What was compared."""
    holds: bool
    """Whether it is as the manifest says."""
    detail: str
    """What was found, and what was claimed where they differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something that the written bytes show and that no claim is about: it neither holds nor fails."""

    what: str
    """What it is about."""
    detail: str
    """What a reader should know."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Verification(Brief):
    """All checks of one bundle."""

    folder: str
    """The bundle."""
    checks: tuple[Check, ...]
    """What was looked at, in order."""
    signature: Signature = UNSIGNED
    """Who signed, and whether anybody vouches for them."""
    stated: tuple[Origin, ...] = ()
    """What the manifest says and nobody can compute again from the bundle, each with the reason."""
    remarks: tuple[Remark, ...] = ()
    """What a reader should know beside; the bundle holds or fails without them."""
    claimed: bool = True
    """Whether the bundle claims anything: where it does not, that it holds says nothing about privacy."""

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return all(check.holds for check in self.checks)

    @property
    def wrong(self) -> Check | None:
        """The first check that does not hold."""
        return next((check for check in self.checks if not check.holds), None)

    @property
    def placed_remarks(self) -> list[Remark]:
        """The remarks, each with the bundle that it is about."""
        return [Remark(what=remark.what, detail=f"{self.folder}: {remark.detail}") for remark in self.remarks]

    def as_check(self, what: str) -> Check:
        """All checks as one, for what the bundle is a part of."""
        wrong, whole = self.wrong, f"all of {len(self.checks)} checks hold"
        return Check(what=what, holds=wrong is None, detail=whole if wrong is None else f"{wrong.what}: {wrong.detail}")

    def to_json(self) -> dict[str, Any]:
        """As the command line prints it."""
        checks = [{"what": c.what, "holds": c.holds, "detail": c.detail} for c in self.checks]
        unseen = [{"path": origin.path, "why": origin.why} for origin in self.stated]
        noted = [{"what": r.what, "detail": r.detail} for r in self.remarks]
        document = {"bundle": self.folder, "holds": self.holds, "claimed": self.claimed}
        document |= {"signature": self.signature.to_json(), "checks": checks}
        return {**document, "remarks": noted, "not_recomputed": unseen}


def same(what: str, actual: Any, stated: Any) -> Check:
    """Whether something is as the manifest states it."""
    holds = bool(actual == stated)
    return Check(
        what=what,
        holds=holds,
        detail=short_text(actual) if holds else f"found {short_text(actual)}, stated {short_text(stated)}",
    )


def rounded(value: Any) -> Any:
    """Numbers to twelve digits, so that the order of a sum does not matter."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return float(f"{value:.12g}")
    if isinstance(value, Mapping):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list | tuple) else value


def short_text(value: Any) -> str:
    """A value in few words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return listed(value, most=6)
    text = str(value)
    return text if len(text) <= 120 else text[:117] + "..."


# Where every figure of a manifest comes from: the data file, the publisher's word, or the original.
#
# Whatever a bundle says besides its rows must follow from them and from declared facts; else it tells more than the
# rows. The exceptions stand here, each with its reason, and nowhere else: a path that this table does not know is
# reported as not recomputed.


How = Literal["recomputed", "declared", "stated"]
"""Computed again from the bytes; said by the publisher about the world; or stated, and not to be computed again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """How some paths of a manifest are known."""

    path: str
    """The paths, with ``*`` for any part."""
    how: How
    """How."""
    why: str
    """From what, or why not."""


def _of(how: How, why: str, *paths: str) -> tuple[Origin, ...]:
    return tuple(Origin(path=path, how=how, why=why) for path in paths)


_COMMON = (
    *_of("declared", "the plan, without files and paths", "plan", "plan/*"),
    *_of("declared", "when and by which version it was made", "sfumato", "schema", "kind", "made", "versions/*"),
    *_of("declared", "warnings that follow from the plan", "marks/*"),
    *_of("recomputed", "from the bytes of the files", "sha256", "report/*", "data/file", "data/sha256", "data/rows"),
    *_of("recomputed", "from the bytes of the files", "data/parts/*"),
    *_of("recomputed", "from the columns of the data file", "data/columns/*/name", "data/columns/*/role"),
    *_of("declared", "how the values of a column are read", "data/columns/*", "data/missing*"),
    *_of("declared", "the tree that the publisher declared", "claims/*/parameters/paths/*"),
    *_of("recomputed", "from the rows and the plan", "claims/*"),
    *_of("declared", "why this algorithm", "recoding/algorithm", "recoding/why"),
)
_ATTACKS = (
    *_of(
        "recomputed",
        "from the counts that the attack states",
        "attacks/*/outcome",
        "attacks/*/risk/value",
        "attacks/*/target/low",
        "attacks/*/target/high",
    ),
    *_of("stated", "attacks are made on the people behind the release", "attacks/*", "attacks_not_made/*"),
)
_TABLE = (
    *_of("recomputed", "from the released rows", "smallest_class/*", "risk/*"),
    *_of("recomputed", "from the plan", "data/exempt_suppressed", "suppression/how", "suppression/limit"),
    *_of("recomputed", "from the file of sensitive values", "data/apart/*"),
    *_of("stated", "the population is a table of its own", "data/population/*"),
    *_of("recomputed", "as the difference to the rows there are", "suppression/rows"),
    *_of("stated", "how many rows there were before some were removed", "suppression/of"),
    *_of("stated", "how many people lost a row, and how many there were", "suppression/people*"),
    *_of("stated", "how many rows were left out because of missing values", "suppression/left_out"),
    *_of("declared", "the hierarchy that the publisher declared", "recoding/columns/*"),
    *_of("stated", "whether the search proved its result", "search/proven_optimal"),
    *_of("stated", "what the chosen metric said about coarser tables on the way", "trail/loss", "trail/steps/*/loss"),
    *_of("recomputed", "by walking back from the released rows", "trail", "trail/*"),
)
_ITEMS = (
    *_of("stated", "how many rows were left out because of missing values", "recoding/left_out"),
    *_of("recomputed", "from the released records", "recoding/columns/*/shown", "recoding/columns/*/entries"),
    *_of("declared", "the hierarchy that the publisher declared", "recoding/columns/*"),
)
_AGAINST = _of(
    "recomputed",
    "from the ledger and what the parties agreed on",
    "search/noises in a count",
    "search/epsilon against *",
)
_PRIVATE = (
    *_of("declared", "what the parts of the ledger are called", "ledger*what"),
    *_of("recomputed", "by adding up its parts", "ledger*"),
    *_of("stated", "the ledger, which the steward has, tells what it paid for", "paid*"),
    *_of("recomputed", "from the plan and the parts of the ledger", "domains/*/from"),
    *_of("declared", "the domains that the publisher declared, or paid for", "domains*"),
    *_of("stated", "noisy choices of the mechanism, covered by epsilon", "recoding/*", "search/*"),
)
_UNCLAIMED = (
    *_of("recomputed", "from the plan", "data/exempt_suppressed", "recoding/columns*", "recoding/options*"),
    *_of("stated", "how many rows were left out because of missing values", "recoding/left_out"),
)
_SWAPPED = (
    *_of("recomputed", "from the plan", "data/exempt_suppressed", "recoding/rate", "recoding/columns*"),
    *_of("recomputed", "from the plan", "recoding/within*"),
    *_of("stated", "how many rows were left out because of missing values", "recoding/left_out"),
)
_GRADED = (
    *_of("recomputed", "from the plan", "data/exempt_suppressed"),
    *_of("recomputed", "from the cells of the data file", "recoding/columns/*"),
    *_of("stated", "a commitment that only the sites can open, with their secret", "recoding/agreement"),
)
_COLLECTED = (
    *_of("recomputed", "from the numbers of the specification", "specification/promises/*"),
    *_of("stated", "how people drew their answers, which no row shows", "specification/*"),
    *_of("recomputed", "from the released rows and the specification", "reconstruction/*"),
    *_of("recomputed", "from the plan", "data/exempt_suppressed"),
    *_of("stated", "how many rows were left out because of missing answers", "recoding/left_out"),
)
_CONDENSED = (
    *_of("recomputed", "from the plan", "data/exempt_suppressed", "recoding/groups", "recoding/output"),
    *_of("recomputed", "from the plan", "recoding/variance", "recoding/copies", "recoding/per_class"),
    *_of("recomputed", "from the plan", "recoding/bounds*"),
    *_of("recomputed", "from the columns of the data file", "recoding/columns/*"),
    *_of("stated", "which records are one group is not published; the steward can group them again", "recoding/sizes*"),
    *_of("stated", "how many rows were left out because of missing values", "recoding/left_out"),
)
_STREAMED = (
    *_of("recomputed", "beside the other batches of the stream, where they are verified together", "stream/batch"),
    *_of("recomputed", "beside the other batches of the stream, where they are verified together", "stream/before"),
    *_of("declared", "which stream it is, and how it is cut", "stream/id", "stream/every", "stream/block"),
    *_of("stated", "how many records had come, and whether more were to come", "stream/read", "stream/last"),
)
_SANITIZED = (
    *_of("recomputed", "from the plan", "hiding/min_support", "hiding/min_confidence", "hiding/margin"),
    *_of("stated", "what is hidden is not published; `verify --rules FILE` opens it", "hiding/commitments*"),
    *_of("recomputed", "from the plan", "recoding/unknown"),
)
_TREE = (
    *_of("recomputed", "from the documents", "trees/*"),
    *_of("recomputed", "by adding up its parts", "ledger*"),
    *_of("stated", "the ledger, which the steward has, tells what it paid for", "paid*"),
    *_of("recomputed", "from the cost of the counts", "noise/*"),
    *_of("stated", "how many rows were left out because of missing values", "recoding/left_out"),
)
_JOINT = (
    *_of("recomputed", "from what the session's terms say", "session/terms"),
    *_of("recomputed", "from the protocol and its parameters", "session/leakage*"),
    *_of("declared", "what the parties agreed on", "session/parameters*", "session/limits*", "session/parties*"),
    *_of("declared", "what the parties agreed on", "session/protocol", "session/version", "session/frames"),
    *_of("stated", "which run it was, and what this party sent and received in it", "session/*"),
)
LINKED_STATED = (
    *_of("stated", "how many people were removed from every table", "suppressed"),
    *_of("stated", "what the publisher assumes that an attacker knows about a person's rows", "known"),
)
"""What the manifest of linked tables states and no table shows."""
_MEETINGS = Origin(
    path="claims/*/holds",
    how="stated",
    why="how many people reach the same leaves in several trees is not published: only the steward can judge it",
)
_KEPT_WISHES = Origin(
    path="claims/*/holds",
    how="stated",
    why="what people guard is not published: only the steward can judge every class",
)
_KINDS: Mapping[str, tuple[Origin, ...]] = {
    "table": (*_TABLE, *_JOINT),
    "items": _ITEMS,
    "private": (*_AGAINST, *_PRIVATE, *_JOINT),
    "observed": _PRIVATE,
    "swapped": _SWAPPED,
    "graded": _GRADED,
    "collected": _COLLECTED,
    "condensed": (*_CONDENSED, *_STREAMED),
    "sanitized": _SANITIZED,
    "tree": _TREE,
    "joint": _JOINT,
}
"""By what the manifest says that it is."""
_FIRST: Mapping[str, tuple[Origin, ...]] = {
    "collected": _of("recomputed", "from the released rows and the specification", "attacks/*"),
    "condensed": _of("stated", "it is about groups of the original, which drawn rows do not show", "claims/*"),
}
"""What is known better of a kind than of the others."""


def origin_of(path: str, kind: str, recomputed: Iterable[str] = ()) -> Origin:
    """How a path of a manifest of this kind is known; ``recomputed`` are the metrics that were."""
    if path.startswith("utility/"):
        if path.removeprefix("utility/") in recomputed:
            return Origin(path=path, how="recomputed", why="from released rows, label sizes and declared domains")
        return Origin(path=path, how="stated", why="it is measured against the original")
    return _known(path, kind)


@lru_cache(maxsize=10_000)
def _known(path: str, kind: str) -> Origin:
    """The first of all patterns that a path fits; the same paths are asked for again with every bundle."""
    for origin in (*_FIRST.get(kind, ()), *_COMMON, *_ATTACKS, *_KINDS.get(kind, _UNCLAIMED)):
        if fnmatchcase(path, origin.path):
            return origin
    return Origin(path=path, how="stated", why="this version does not know it")


def leaves(content: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every single value of a manifest with its path; an empty list or table is one.

    >>> list(leaves({"a": [{"b": 1}], "c": {}}))
    [('a/0/b', 1), ('c', {})]
    """
    below = content.items() if isinstance(content, Mapping) else enumerate(content) if _several(content) else ()
    if not below or not len(content):
        yield path, content
        return
    for name, value in below:
        yield from leaves(value, f"{path}/{name}" if path else str(name))


def _several(content: Any) -> bool:
    return isinstance(content, list | tuple)


def _sized_by_word(manifest: Mapping[str, Any]) -> list[str]:
    """The columns with labels whose size cannot be checked; losses are recomputed from the sizes as stated."""
    if manifest["kind"] != "table":
        return []
    missing = manifest["data"]["missing"] or ("",)
    columns = manifest["recoding"]["columns"].items()
    return [name for name, stated in columns if words_without_values(stated, missing)]


def not_recomputed(manifest: Mapping[str, Any], checks: Iterable[Check]) -> tuple[Origin, ...]:
    """What a manifest states that a verifier cannot compute again, each kind of figure once."""
    kind = str(manifest["kind"])
    done = {check.what.removeprefix("utility: ") for check in checks if check.what.startswith("utility: ")}
    origins: dict[tuple[str, str], Origin] = {}
    for path, value in leaves(manifest):
        origin = origin_of(path, kind, done)
        if origin.how == "stated" and value not in ([], {}, None):
            origins.setdefault((origin.path, origin.why), origin)
    for name in _sized_by_word(manifest):
        origins["sizes", name] = Origin(
            path=f"recoding/columns/{name}/sizes", how="stated",
            why="what a word covers is in the publisher's hierarchy, which the bundle does not contain",
        )  # fmt: skip
    for number, claim in enumerate(manifest.get("claims", ())):
        if claim["parameters"].get("guards", {}) is None:
            origins["holds", str(number)] = _KEPT_WISHES
        if "together" in claim["parameters"]:
            origins["holds", str(number)] = _MEETINGS
    return tuple(origins.values())
