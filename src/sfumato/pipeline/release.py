"""The one pipeline of every release: read, count, search, recode, judge, attack, write, report, verify."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version as version_of
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from sfumato.bundles.checks.consistency import CUT_SHORT, SEEDED
from sfumato.bundles.columns import Published
from sfumato.bundles.files import FOLDER, MANIFEST, REPORT, joint_digest, refuse_existing, sha256
from sfumato.bundles.manifest.document import SCHEMA, dump, plain, seal
from sfumato.bundles.provenance import Verification
from sfumato.bundles.pseudonyms import Pseudonyms
from sfumato.bundles.signatures import Card, Signer, sign
from sfumato.bundles.staging import staged
from sfumato.bundles.verify import DATA, Reader, tables_of, verify_bundle
from sfumato.core.claims import Claim, titled
from sfumato.core.errors import BundleError, ClaimRefuted, PlanError
from sfumato.core.extras import require
from sfumato.core.run_context import BY_TIME, Work
from sfumato.core.scratch import page_of
from sfumato.core.short_repr import Brief
from sfumato.core.staging import write_private, write_whole
from sfumato.pipeline.catalog.catalog import catalog
from sfumato.pipeline.methods import checks_stated, method_of
from sfumato.pipeline.methods.method import Audit, Request, opening_of
from sfumato.pipeline.plan.plan import Plan
from sfumato.pipeline.plan_checks import plan_checks
from sfumato.reports.language import speaking
from sfumato.reports.pages import begun
from sfumato.tables.csv_files import escaped, formula_columns, told_formulas
from sfumato.tables.files import rendered
from sfumato.tables.frames import to_native
from sfumato.tables.table import Table, plain_cells
from sfumato.version import __version__

if TYPE_CHECKING:
    from sfumato.pipeline.apply import Applied, Outside
    from sfumato.pipeline.methods.method import Method


# A release: data that every kind has in common. What the kinds differ in, ``release.kind`` knows.


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Release:
    """Released rows with what they were found to meet; writing it makes a bundle."""

    kind: Method
    """What kind of release it is."""
    plan: Plan
    """The plan it was made by."""
    rows: pl.DataFrame
    """The released rows."""
    claims: tuple[Claim, ...]
    """What they meet."""
    utility: Mapping[str, float]
    """What they lost."""
    algorithm: str
    """The algorithm that found them."""
    why: str
    """Why that algorithm."""
    audit: Audit = field(default_factory=Audit)
    """What attacks found."""
    like: object = None
    """The frame that came in."""

    @property
    def height(self) -> int:
        """How many released rows there are."""
        return self.rows.height

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Its tables by the stem of their file; the data come first."""
        return {DATA: self.rows}

    @property
    def missing(self) -> tuple[str, ...]:
        """What a missing value is written as; the first of these."""
        published = getattr(self, "published", None)
        return () if published is None else published.missing

    @property
    def described(self) -> dict[str, Any]:
        """What the manifest states of the data beside their file."""
        published: Published = getattr(self, "published")  # noqa: B009  releases that publish otherwise say how
        return published.to_json()

    @property
    def released(self) -> Any:
        """The released rows as a verifier has them."""
        return Table(frame=self.rows)

    @property
    def frame(self) -> object:
        """The released rows as the same kind of frame that came in."""
        return self.rows if self.like is None else to_native(self._with_nulls(), self.like)

    def _with_nulls(self) -> pl.DataFrame:
        """The released rows with nulls for missing values, where nulls came in and only files need a text for them."""
        published = getattr(self, "published", None)
        if published is None or self.plan.input.missing or not published.missing:
            return self.rows
        texts = [self.rows[name] for name in self.rows.columns if self.rows[name].dtype in (pl.String, pl.Categorical)]
        mark = published.missing[0]
        return self.rows.with_columns(column.cast(pl.String).replace(mark, None).cast(column.dtype) for column in texts)

    @property
    def marks(self) -> list[str]:
        """Warnings that belong to the release."""
        seeded = [SEEDED] if self.plan.algorithm.seed is not None else []
        return [*seeded, *([CUT_SHORT] if self.effort.get("stopped") == BY_TIME else [])]

    @property
    def warnings(self) -> list[str]:
        """What the steward must know before the release is written; it may depend on values that the release hides."""
        return []

    @property
    def effort(self) -> Mapping[str, int | float | str]:
        """What the search did, where it tells."""
        return {}

    def write(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        inside: str | Path | None = None,
        signer: Signer | None = None,
        work: Work | None = None,
    ) -> Verification:
        """Write the bundle: complete and verified from its bytes, or not at all; with ``inside``, that report too.

        A ``signer`` signs it.
        """
        return write(self, folder, force=force, inside=inside, signer=signer, work=work)

    def parts_into(self, folder: Path) -> dict[str, Any] | None:
        """Put the rows into a bundle where they are many files; what its manifest states about them, or None."""
        return None

    def about_to_appear(self, folder: Path) -> None:
        """Whatever must be noted elsewhere before the verified bundle appears at its place."""

    def checked(self, folder: Path) -> Verification:
        """Put the bundle's files but for the report into an empty folder, and verify them from their bytes.

        This is a trial: as strict as a bundle that is handed out, and sooner done.
        """
        write_manifest(folder, write_data(self, folder))
        return verify_written(folder, None)

    def report(self, *, inside: bool = False, form: Form = "html", work: Work | None = None) -> str:
        """The report as one HTML page, as text or as JSON.

        The inside one shows the original's figures and must not be published.
        """
        work, (manifest, tables) = work or Work(), unwritten(self)
        page = inside_page(self, manifest, work) if inside else public_page(self.kind, manifest, tables, work)
        return in_form(page, form)

    def write_inside(self, path: str | Path, *, work: Work | None = None) -> None:
        """Write the steward's own report; it shows the original's figures and must not be published."""
        write_whole(Path(path), self.report(inside=True, work=work), private=True)

    def transform(self, records: object, *, outside: Outside = "refuse") -> Applied:
        """New records under the same recoding; values outside the domain are refused, starred or left out."""
        from sfumato.pipeline.apply import no_rule

        raise no_rule(self.algorithm)

    def __repr__(self) -> str:
        claims = ", ".join(titled(claim.model, claim.parameters) for claim in self.claims)
        shape = f"{self.height:,} rows, {self.rows.width} columns"
        return f"{type(self).__name__}({shape}, by {self.algorithm}: {claims})"

    def _repr_html_(self) -> str:
        """Claims, and what was done to the columns, for a notebook; no value of the original."""
        from sfumato.reports.pages import card

        summary = self.kind.summary(self)
        claims = [(titled(claim.model, claim.parameters), claim.holds, claim.reached) for claim in self.claims]
        return card(repr(self), claims, summary.changes, self.marks)


# Reports as pages: in the language of the plan, each with its first paragraph.


Form = Literal["html", "text", "json"]


def public_page(kind: Method, manifest: Mapping[str, Any], tables: Mapping[str, Any], work: Work) -> str:
    """The report of a bundle, made from its manifest and its tables and from nothing else."""
    with _begun(kind, manifest):
        return kind.public_page(manifest, tables, work)


def inside_page(release: Release, manifest: Mapping[str, Any], work: Work) -> str:
    """The steward's own report."""
    if release.kind.inside_page is None:
        raise PlanError(f"a {type(release).__name__} has no inside report: nothing would cover what it tells")
    with _begun(release.kind, manifest):
        return release.kind.inside_page(release, work)


def in_form(page: str, form: Form) -> str:
    """A page as it is, as text or as JSON: the same content."""
    if form == "html":
        return page
    from sfumato.reports.outline import Outline

    outline = Outline.of(page)
    return outline.text() if form == "text" else json.dumps(outline.to_json(), indent=2, ensure_ascii=False)


@contextmanager
def _begun(kind: Method, manifest: Mapping[str, Any]) -> Iterator[None]:
    language = manifest.get("plan", {}).get("about", {}).get("language", "en")
    with speaking(language), begun(opening_of(kind, manifest)):
        yield


# The files of a bundle: data, manifest, report.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Written(Brief):
    """What was made from the bytes of a bundle's data files."""

    page: str
    """The report."""
    tables: Mapping[str, Table]
    """The tables as they were read back."""


def write_data(release: Release, folder: Path) -> dict[str, Any]:
    """Write the data files into an empty folder; what the manifest states about them is returned."""
    parts = release.parts_into(folder)
    if parts is not None:
        return stated(release, {parts["file"]: parts["sha256"]}, parts["parts"])
    digests = {}
    for stem, rows in release.kind.artifact.files(release).items():
        path = folder / f"{stem}.{release.kind.artifact.extension_of(release)}"
        if release.kind.artifact.extension is not None:
            path.write_text("\n".join([*rows.to_series().to_list(), ""]), encoding="utf-8", newline="\n")
            digests[path.name] = sha256(path)
            continue
        plain = rows if release.plan.output_format == "csv" else rows.select(map(plain_cells, rows.iter_columns()))
        path.write_bytes(rendered(escaped(rows) if release.plan.escape_formulas else plain, path.name))
        digests[path.name] = sha256(path)
    return stated(release, digests)


def formula_notes(release: Release) -> list[str]:
    """What the steward should know before they open a CSV file with a spreadsheet."""
    if release.kind.artifact.extension_of(release) != "csv" or release.plan.escape_formulas:
        return []
    risky = [name for rows in release.kind.artifact.files(release).values() for name in formula_columns(rows)]
    return [told_formulas(risky)] if risky else []


def write_report(kind: Method, folder: Path, body: dict[str, Any], work: Work) -> Written:
    """Make the report from the manifest and from the bytes of the data files, write it, and return both."""
    tables = tables_of(folder, body)
    page = public_page(kind, body, tables, work)
    (folder / REPORT).write_text(page, encoding="utf-8")
    body["report"] = {"file": REPORT, "sha256": sha256(folder / REPORT)}
    return Written(page=page, tables=tables)


def write_manifest(folder: Path, body: Mapping[str, Any]) -> None:
    """Seal the manifest and write it; it names the digests of the other files, and so it comes last."""
    (folder / MANIFEST).write_text(dump(seal(body)), encoding="utf-8")


def stated(release: Release, files: Mapping[str, str], parts: Sequence[Mapping[str, str]] = ()) -> dict[str, Any]:
    """What the bundle states about itself, without report and seal; ``files`` are the data files' digests by name.

    ``parts`` are the files of a folder, where the data are in many.
    """
    kind = release.kind
    body: dict[str, Any] = plain(
        {
            "sfumato": __version__,
            "schema": SCHEMA,
            "kind": kind.name,
            "made": datetime.now(UTC).date().isoformat(),
            "marks": release.marks,
            "plan": release.plan.public(),
            "data": kind.artifact.data(release, files),
            **kind.manifest(release, files),
        }
    )
    if parts:
        body["data"]["parts"] = plain(parts)
    return body


def unwritten(release: Release) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the bundle of a release would state, and its tables, before anything is written."""
    files: Mapping[str, Any] = release.kind.artifact.files(release)
    if release.plan.output_format == "parts":
        return stated(release, {FOLDER: joint_digest([])}), {DATA: release.released}
    body = stated(release, {f"{stem}.{release.kind.artifact.extension_of(release)}": "" for stem in files})
    missing = tuple(body["data"].get("missing", ()))
    return body, {stem: Table(frame=rows, missing=missing) for stem, rows in files.items()}


def versions(*names: str) -> dict[str, str]:
    """The versions of Python and of the packages that a release was made with."""
    return {"python": platform.python_version()} | {name: _version_of(name) for name in names}


@cache
def _version_of(name: str) -> str:
    """Looked up once: a stream writes many bundles."""
    return version_of(name)


def refuse_output(folder: Path, inside: Path | None, *, force: bool) -> None:
    """Refuse an output folder, or a place of the inside report, before any work is done."""
    refuse_existing(folder, force=force)
    if inside is not None and folder.resolve() in inside.resolve().parents:
        raise BundleError(
            f"the inside report {inside} must not lie inside the bundle {folder}: it is not to be published"
        )
    if inside is not None and inside.exists() and not force:
        raise BundleError(f"{inside} exists already; name another file with --inside, or replace it with --force")
    for path in (folder, *([] if inside is None else [inside])):
        parent = next(p for p in path.resolve().parents if p.exists())
        if not parent.is_dir() or not os.access(parent, os.W_OK):
            raise BundleError(f"{path} cannot be written: {parent} is not a writable folder")


def refuse_key_inside(plan: Plan, folder: Path) -> None:
    """Refuse to write a bundle around the key of its pseudonyms or of its shifted dates."""
    for name, column in plan.columns.items():
        for key, settings in (("pseudonym", column.pseudonym), ("shift", column.shift)):
            if settings is not None and folder.resolve() in (plan.folder / settings.key_file).resolve().parents:
                raise PlanError(f"columns.{name}.{key}.key_file: the key must not lie inside the bundle {folder}")


def verify_written(folder: Path, read_back: Written | None, card: Card | None = None) -> Verification:
    """Re-read a bundle that was just written, with what was made from its bytes; None: it has no report.

    The files are still those whose bytes were read back: their digests are compared.
    """
    catalog()  # a broken plugin is no fault of the bundle
    reader = Reader(
        checks=checks_stated,
        plan=plan_checks,
        page=None if read_back is None else lambda *_: read_back.page,
        tables=tables_of if read_back is None else lambda *_: read_back.tables,
        card=card,
    )
    return verify_bundle(folder, reader)


# The one walk of every release: read, describe, count, search, recode, judge, attack, write, report, verify.
#
# Nowhere else do these stages follow each other. What each of them does for a table, for paths and sets, or under
# differential privacy, the kind of release knows.


STAGES = ("read", "count", "search", "recode", "judge", "attack", "write", "report", "verify")
"""What a watcher hears of, in order; ``describe`` is a part of ``count``."""


def release(
    plan: Plan | object,
    frame: object = None,
    *,
    work: Work | None = None,
    population: object = None,
    quasi: Sequence[str] | None = None,
    search: Callable[[Request, Any, Work], Any] | None = None,
    **options: Any,
) -> Release:
    """Make a release of a frame, or of the file that the plan names; it is judged and attacked, and not yet written.

    Without a plan, ``release(frame, quasi=[...], models=[...])`` describes one: see ``Plan.of_frame`` for what else can
    be said. ``search`` takes the place of the plan's algorithm, where several tables are searched together.
    """
    if not isinstance(plan, Plan):
        if quasi is None:
            raise PlanError("release needs a plan, or a frame with quasi=[...] and models=[...]")
        plan, frame = Plan.of_frame(plan, quasi=quasi, **options), plan
    elif quasi is not None or options:
        raise PlanError(f"release takes a plan or {', '.join(('quasi', *options))}, not both")
    work = work or Work()
    kind = method_of(plan)
    for module, what in kind.needs:
        require(module, what)
    request = kind.begin(Request(plan=plan, keys=_keys(plan), like=frame, population=population))
    with work.stage("read"):
        rows = kind.read(request)
    with work.stage("count"):
        prepared = kind.prepare(request, rows)
    for note in kind.notes(prepared):
        work.notice(note)
    result = (search or kind.search)(request, prepared, work)
    work.advance("search", 1, 1)
    with work.stage("recode"):
        recoded = kind.recode(request, result)
    with work.stage("judge"):
        judged_release: Release = kind.judge(kind, request, result, recoded)
    return replace(judged_release, audit=kind.attack(judged_release, work))


def write(
    release: Release,
    folder: str | Path,
    *,
    force: bool = False,
    inside: str | Path | None = None,
    signer: Signer | None = None,
    work: Work | None = None,
) -> Verification:
    """Go on with a release: write, report and verify it from its bytes; a bundle appears whole or not at all.

    With ``inside`` the steward's own report is written there, and appears together with the bundle. With a ``signer``
    the bundle is signed.
    """
    work, place = work or Work(), Path(folder)
    refuse_key_inside(release.plan, place)
    for note in formula_notes(release):
        work.notice(note)
    with staged(place, force=force, page=None if inside is None else Path(inside)) as inner:
        with work.stage("write"):
            body = write_data(release, inner)
        with work.stage("report"):
            read_back = write_report(release.kind, inner, body, work)
            write_manifest(inner, body)
            if signer is not None:
                sign(inner, signer)
            if inside is not None:
                write_private(page_of(inner), release.report(inside=True, work=work))
        with work.stage("verify"):
            checked = verify_written(inner, read_back, card=None if signer is None else signer.card)
        if (wrong := checked.wrong) is not None:
            raise ClaimRefuted(f"the release was not written: {wrong.what} does not hold ({wrong.detail})")
        release.about_to_appear(place)
    return replace(checked, folder=place.name)


def dimensions(plan: Plan, frame: object = None, *, order: Any = "greedy", work: Work | None = None) -> Any:
    """What every further quasi-identifier costs: added one by one, each step a release of its own."""
    return method_of(plan).dimensions(plan, frame, order=order, work=work or Work())


def _keys(plan: Plan) -> dict[str, Pseudonyms]:
    """The keys of all pseudonymized columns, read before any work is done."""
    keys = {}
    for name, column in plan.columns.items():
        if column.pseudonym is not None:
            pseudonym, where = column.pseudonym, f"columns.{name}.pseudonym.key_file"
            keys[name] = Pseudonyms.load(plan.folder / pseudonym.key_file, where=where, bound=pseudonym.name)
    return keys
