"""Every table and figure of the five documents, and how it is measured again."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from sfumato.core.errors import Interrupted, PlanError, SfumatoError, nearest
from sfumato.core.run_context import Work
from sfumato.core.staging import write_whole
from sfumato.reports.papers import PaperFacts, Shown, render
from sfumato.version import __version__

# A table or figure of a document: what became of it here.


class State(StrEnum):
    """What became of a table or figure."""

    RUNS = "runs"
    """``sfumato reproduce`` measures it."""
    TESTED = "tested"
    """A worked example: the tests recompute it."""
    DRAWING = "drawing"
    """It explains something; there is nothing to compute."""
    OPEN = "open"
    """It needs a part that sfumato does not have yet."""


class Experiment(Protocol):
    """Measures one table or figure."""

    def __call__(self, *, full: bool, work: Work) -> Shown:
        """Quick, or in full as the document did it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """One table or figure."""

    name: str
    """As the document numbers it: "figure 3.5"."""
    title: str
    """What it shows."""
    state: State
    """What became of it."""
    where: str
    """The experiment ("module:function"), the test file, or what is missing."""

    def experiment(self) -> Experiment:
        """The experiment of one that runs; its module is imported now."""
        module, _, name = self.where.partition(":")
        return cast("Experiment", getattr(import_module(f"sfumato.papers.{module}"), name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document with all its tables and figures."""

    key: str
    """How the command line calls it."""
    title: str
    """Who wrote what, and when."""
    exhibits: Sequence[Exhibit]
    """In the order of the document."""


def runs(name: str, title: str, where: str) -> Exhibit:
    """One that the command measures."""
    return Exhibit(name=name, title=title, state=State.RUNS, where=where)


def tested(name: str, title: str, where: str) -> Exhibit:
    """A worked example, with the tests that recompute it."""
    return Exhibit(name=name, title=title, state=State.TESTED, where=where)


def drawing(name: str, title: str) -> Exhibit:
    """One without anything to compute."""
    return Exhibit(name=name, title=title, state=State.DRAWING, where="")


def missing(name: str, title: str, why: str) -> Exhibit:
    """One that needs a part that sfumato does not have yet."""
    return Exhibit(name=name, title=title, state=State.OPEN, where=why)


# Every table and figure of the five documents, and what became of it.


_LINKAGE = "tests/golden/test_g01_linkage.py"
_LKC = "tests/golden/test_g02_g03.py"
_PATHS = "tests/golden/test_g04_trajectories.py"
_GRADED = "tests/golden/test_g10_graded.py"
_DIFFGEN = "tests/algorithms/test_diffgen.py"
_JOINT = "tests/parties/test_joint_releases.py"
_LEAVES = "tests/golden/test_g09_trees.py"

TEXTBOOK = Document(
    key="textbook",
    title="Aggarwal, Data Mining: The Textbook, chapter 20 (document 000)",
    exhibits=(
        tested("table 20.1", "a table with diseases", _LINKAGE),
        tested("table 20.2", "a voter registration roll", _LINKAGE),
        tested("table 20.3", "the 3-anonymous version", _LINKAGE),
        drawing("figure 20.1", "hierarchies of age and region"),
        drawing("figure 20.2", "another hierarchy of age"),
        tested(
            "figure 20.3", "generalizations of several attributes as a lattice", "tests/algorithms/test_searches.py"
        ),
        tested("figure 20.4", "joins and pruning of Incognito", "tests/algorithms/test_searches.py"),
        tested("figure 20.5", "a 5-anonymous partitioning by Mondrian", "tests/algorithms/test_mondrian.py"),
        drawing("figure 20.6", "data that several parties hold"),
    ),
)
BOTTOM_UP = Document(
    key="bottom-up",
    title="Wang, Yu and Chakraborty, Bottom-up generalization, 2004 (document 001)",
    exhibits=(
        tested("figure 1", "data and hierarchies of the example", "tests/algorithms/test_bottom_up.py"),
        drawing("figure 2", "the TEA index of the example"),
        runs("table 1", "the hierarchies of Adult", "bottom_up:hierarchies"),
        runs("figure 3", "error for every K", "bottom_up:errors"),
        runs("figure 4", "time for every K, scale and novelty", "bottom_up:seconds"),
    ),
)
GRADED = Document(
    key="graded",
    title="Graded grouping and a mapping table for an untrusted miner (document 002)",
    exhibits=(
        drawing("figure 1", "who does what"),
        tested("figure 2", "membership in graded groups", _GRADED),
        tested("table 1", "a mapping table", _GRADED),
        runs("table 2", "association rules before and after", "graded_adult:rules"),
        runs("figure 3", "a confusion matrix, and clusters, before and after", "graded_adult:classes"),
        runs("table 3", "values and what they become", "graded_adult:values"),
        runs("figure 4", "naive Bayes on Adult", "graded_adult:bayes"),
        runs("figure 5", "naive Bayes on the transformed Adult", "graded_adult:bayes"),
        tested("figure 6", "box plot of the values", _GRADED),
        tested("figure 7", "box plot of what they become", _GRADED),
    ),
)
THESIS = Document(
    key="thesis",
    title="Mohammed, Models and algorithms for private data sharing, 2012 (document 003)",
    exhibits=(
        drawing("table 1.1", "what the thesis contributes"),
        drawing("figure 2.1", "the flow of data"),
        tested("table 2.1", "tables that show the attacks", _LKC),
        tested("figure 2.2", "taxonomies of job, sex and age", _LKC),
        tested("table 2.2", "bucketized data", _LKC),
        drawing("figure 3.1", "a blood transfusion service"),
        tested("figure 3.2", "taxonomies of the patients", _LKC),
        tested("table 3.1", "raw patient data", _LKC),
        tested("table 3.2", "anonymous patient data", _LKC),
        drawing("figure 3.3", "the tree of partitions"),
        runs("figure 3.4", "error and discernibility on Blood", "lkc:utility"),
        runs("figure 3.5", "classification error on Adult", "lkc:errors"),
        runs("figure 3.6", "discernibility ratio on Adult", "lkc:ratios"),
        runs("figure 3.7", "time for up to a million records", "lkc:seconds"),
        tested("table 4.1", "raw trajectories", _PATHS),
        tested("table 4.2", "anonymous trajectories", _PATHS),
        drawing("figure 4.1", "a taxonomy of places"),
        tested("table 4.3", "a case against monotonicity", _PATHS),
        drawing("figure 4.2", "trees of violating and frequent sequences"),
        drawing("figure 4.3", "these trees after one suppression"),
        tested("table 4.4", "first scores", _PATHS),
        tested("table 4.5", "scores after one suppression", _PATHS),
        runs("table 4.6", "the two sets of trajectories", "trajectories:statistics"),
        runs("figure 4.4", "loss by K, City80K", "trajectories:city_by_k"),
        runs("figure 4.5", "loss by C, City80K", "trajectories:city_by_c"),
        runs("figure 4.6", "loss by L, City80K", "trajectories:city_by_l"),
        runs("figure 4.7", "loss by K, Metro100K", "trajectories:metro_by_k"),
        runs("figure 4.8", "loss by C, Metro100K", "trajectories:metro_by_c"),
        runs("figure 4.9", "time for up to a million trajectories", "trajectories:scaling"),
        drawing("figure 5.1", "several publishers"),
        tested("table 5.1", "vertically partitioned tables", _JOINT),
        tested("table 5.2", "horizontally partitioned tables", _JOINT),
        tested("table 5.3", "the naive way", _JOINT),
        tested("table 5.4", "an anonymous joint table", _JOINT),
        drawing("figure 5.2", "the vertical protocol"),
        drawing("figure 5.3", "the horizontal protocol"),
        drawing("table 5.5", "the attributes of Adult"),
        runs("figure 5.4", "error of vertically partitioned data", "joint_adult:vertical"),
        runs("figure 5.5", "error of horizontally partitioned data", "joint_adult:horizontal"),
        tested("table 6.1", "records with sets", _DIFFGEN),
        tested("table 6.2", "their private version", _DIFFGEN),
        tested("figure 6.1", "taxonomies of their attributes", _DIFFGEN),
        tested("table 6.3", "a raw table and its versions", _DIFFGEN),
        drawing("figure 6.2", "the tree of partitions"),
        runs("figure 6.3", "accuracy on records with sets", "diffgen_health:accuracy"),
        runs("figure 6.4", "accuracy on Adult", "diffgen_adult:accuracy"),
        runs("figure 6.5", "DiffGen, a private tree and top-down specialization", "diffgen_compared:accuracy"),
        runs("figure 6.6", "time for up to a million records", "diffgen_adult:seconds"),
        tested("table 7.1", "two tables of two parties", _JOINT),
        drawing("figure 7.1", "their generalized table"),
        tested("table 7.2", "binary vectors", "tests/parties/private_pair/test_crossed_counts.py"),
        tested("table 7.3", "digits of scaled weights", "tests/parties/private_pair/test_gap_weights.py"),
        runs("figure 7.2", "accuracy for two parties", "private_parties:accuracy"),
    ),
)
MODELS = Document(
    key="models",
    title="Tian, Zhang, Xu and Sharkey, A knowledge model sharing based approach (document 004)",
    exhibits=(
        drawing("figure 1", "the framework"),
        drawing("figure 2", "a decision tree that discloses"),
        tested("figure 3", "a decision tree with its leaves", _LEAVES),
        tested("figure 4", "class distributions of a path", "tests/mining/test_leaf_privacy.py"),
        tested("figure 5", "published decision trees", _LEAVES),
        drawing("figure 6", "the pruning algorithm"),
        tested("figure 7", "a tree while it is pruned", _LEAVES),
        drawing("figure 8", "pseudo-data of one path"),
        drawing("figure 9", "the generating algorithm"),
        tested("table 1", "the data sets", "tests/mining/test_experiment.py"),
        runs("figure 10", "accuracy of one global model", "shared_trees:one_model"),
        runs("figure 11", "accuracy of several global models", "shared_trees:several_models"),
        runs("figure 12", "class match of trees", "shared_trees:classes"),
        runs("figure 13", "path match of trees", "shared_trees:paths"),
        runs("figure 14", "accuracy by diversity", "shared_trees:accuracy_by_diversity"),
        runs("figure 15", "classification metric by diversity", "shared_trees:metric_by_diversity"),
        runs("figure 16", "quality by diversity, ten sources", "shared_trees:quality_of_ten"),
    ),
)
DOCUMENTS = (TEXTBOOK, BOTTOM_UP, GRADED, THESIS, MODELS)


def document(name: str) -> Document:
    """A document by its key or its number."""
    for number, paper in enumerate(DOCUMENTS):
        if name in (paper.key, f"{number:03}"):
            return paper
    known = [paper.key for paper in DOCUMENTS]
    raise PlanError(f"no document is called {name!r}{nearest(name, known)} There are {', '.join(known)}")


# Measures the tables and figures of a document again, and writes them down.


def chosen(document: Document, names: Sequence[str]) -> list[Exhibit]:
    """The exhibits that are measured: those that are named, or all that can be."""
    able = {exhibit.name: exhibit for exhibit in document.exhibits if exhibit.state is State.RUNS}
    for name in names:
        if name not in able:
            known = {exhibit.name: exhibit for exhibit in document.exhibits}
            if name in known:
                exhibit = known[name]
                raise PlanError(
                    f"{document.key}: {name} does not run ({exhibit.state}{': ' * bool(exhibit.where)}{exhibit.where})"
                )
            raise PlanError(f"{document.key}: there is no {name!r}{nearest(name, able)} What runs: {', '.join(able)}")
    return [able[name] for name in names] if names else list(able.values())


def measured(document: Document, exhibits: Sequence[Exhibit], *, full: bool, work: Work) -> PaperFacts:
    """Run the experiments, one after the other."""
    results: list[Shown] = []
    for number, exhibit in enumerate(exhibits):
        work.advance(document.key, number, len(exhibits))
        began = time.process_time()
        result = _found(exhibit, full=full, work=work)
        results.append(replace(result, name=exhibit.name, title=exhibit.title, seconds=time.process_time() - began))
    work.advance(document.key, len(exhibits), len(exhibits))
    ran = {exhibit.name for exhibit in exhibits}
    others = [exhibit for exhibit in document.exhibits if exhibit.name not in ran]
    return PaperFacts(
        title=document.title,
        size="in full, as in the document" if full else "quick: fewer settings; --full measures all",
        made=date.today().isoformat(),
        version=__version__,
        shown=results,
        others=[
            (exhibit.name, str(exhibit.state), "run it by name" if exhibit.state is State.RUNS else exhibit.where)
            for exhibit in others
        ],
    )


def _found(exhibit: Exhibit, *, full: bool, work: Work) -> Shown:
    """What an experiment shows; where it is refused, why, so that the others are not lost."""
    try:
        return exhibit.experiment()(full=full, work=work)
    except Interrupted:
        raise
    except SfumatoError as error:
        return Shown(data="Not measured.", notes=[f"It could not be measured: {error}"])


def write(facts: PaperFacts, path: Path) -> None:
    """The page, whole or not at all."""
    write_whole(path, render(facts))


def as_json(facts: PaperFacts) -> Mapping[str, Any]:
    """Everything measured, for programs."""
    report = asdict(facts)
    for result in report["shown"]:
        result.pop("panels")
    return report
