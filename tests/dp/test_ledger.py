"""The ledger never understates what was spent: refusals take nothing, crashes stay counted, processes share fairly."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core.errors import EXIT_INFEASIBLE, BudgetError, ParameterError
from sfumato.core.fractions import FINEST
from sfumato.dp.events import Concentrated, Parallel, Pure, Sequential, from_json
from sfumato.dp.ledger import Ledger
from tests.weights import examples

TENTH = Pure(epsilon=Fraction(1, 10), what="one answer")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger.create(tmp_path / "budget.db", total=1)
    made.grant("ann", 1)
    return made


def spent(ledger: Ledger, analyst: str | None = None) -> Fraction:
    return next(account.spent for account in ledger.accounts() if account.analyst == analyst)


def child(code: str, *arguments: object) -> subprocess.Popen[str]:
    script = f"import sys\nfrom sfumato.dp.events import Pure\nfrom sfumato.dp.ledger import Ledger\n{code}"
    return subprocess.Popen([sys.executable, "-c", script, *map(str, arguments)], stdout=subprocess.PIPE, text=True)


def test_reserve_and_settle(ledger: Ledger):
    number = ledger.reserve("ann", TENTH, what="first")
    assert (spent(ledger), spent(ledger, "ann")) == (Fraction(1, 10), Fraction(1, 10))
    (charge,) = ledger.history()
    assert (charge.id, charge.analyst, charge.what, charge.status) == (number, "ann", "first", "reserved")
    assert (charge.cost, from_json(charge.event)) == (Fraction(1, 10), TENTH)
    ledger.settle(number)
    assert ledger.history()[0].status == "settled"
    assert spent(ledger) == Fraction(1, 10)
    for again in (number, 99):
        with pytest.raises(BudgetError, match="not reserved"):
            ledger.settle(again)


def test_ten_tenths_fit_into_one_and_the_eleventh_does_not(ledger: Ledger):
    for _ in range(10):
        with ledger.charged("ann", Pure(epsilon=0.1)):
            pass
    before = (ledger.accounts(), ledger.history())
    with pytest.raises(BudgetError, match=r"has 0 of 1 left, and this costs 0.1; nothing was asked") as refusal:
        ledger.reserve("ann", TENTH)
    assert refusal.value.exit_code == EXIT_INFEASIBLE == 3
    assert (ledger.accounts(), ledger.history()) == before


def test_a_refusal_by_the_common_budget_takes_nothing_from_the_analyst(ledger: Ledger):
    ledger.grant("bob", 5)
    with pytest.raises(BudgetError, match="everybody together has 1 of 1 left"):
        ledger.reserve("bob", Pure(epsilon=2))
    assert [account.spent for account in ledger.accounts()] == [0, 0, 0]
    assert ledger.history() == []


def test_somebody_without_a_budget_is_refused(ledger: Ledger):
    with pytest.raises(BudgetError, match="'eve' has no budget"):
        ledger.reserve("eve", TENTH)
    for nobody in ("",):
        with pytest.raises(ParameterError, match="analyst must have a name"):
            ledger.reserve(nobody, TENTH)
        with pytest.raises(ParameterError, match="analyst must have a name"):
            ledger.grant(nobody, 1)
    assert spent(ledger) == 0


def test_a_failure_inside_the_block_stays_charged(ledger: Ledger):
    with pytest.raises(ZeroDivisionError), ledger.charged("ann", TENTH):
        raise ZeroDivisionError
    assert spent(ledger) == Fraction(1, 10)
    assert ledger.history()[0].status == "reserved"


def test_a_crash_between_reserve_and_settle_stays_counted(ledger: Ledger):
    """The child is killed without a chance to tidy up."""
    started = child(
        "Ledger(sys.argv[1]).reserve('ann', Pure(epsilon='1/4'))\nprint('reserved', flush=True)\n"
        "import time; time.sleep(60)",
        ledger.path,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "reserved\n"
    started.kill()
    assert started.wait() == -signal.SIGKILL
    started.stdout.close()
    assert spent(ledger) == Fraction(1, 4)
    assert [charge.status for charge in ledger.history()] == ["reserved"]
    ledger.reserve("ann", Pure(epsilon="3/4"))
    with pytest.raises(BudgetError):
        ledger.reserve("ann", Pure(epsilon="1/1000000"))


def test_a_crash_inside_a_transaction_leaves_no_half_of_it(ledger: Ledger):
    started = child(
        "ledger = Ledger(sys.argv[1])\nwith ledger._changing() as link:\n"
        "    link.execute(\"UPDATE accounts SET spent = '1' WHERE name = 'ann'\")\n"
        "    print('half', flush=True)\n    import time; time.sleep(60)",
        ledger.path,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "half\n"
    started.kill()
    started.wait()
    started.stdout.close()
    assert [account.spent for account in ledger.accounts()] == [0, 0]
    ledger.reserve("ann", Pure(epsilon=1))


def test_grants_never_go_below_what_is_spent(ledger: Ledger):
    ledger.reserve("ann", Pure(epsilon="1/2"))
    for name in ("ann", None):
        with pytest.raises(BudgetError, match=r"has spent 0.5 already; a limit of 0.4 is less"):
            ledger.grant(name, 0.4)
        account = ledger.grant(name, "1/2")
        assert (account.granted, account.spent, account.left) == (Fraction(1, 2), Fraction(1, 2), 0)
    assert ledger.grant("ann", 3).left == Fraction(5, 2)
    for bad in (0, -1, "x"):
        with pytest.raises(ParameterError, match="limit"):
            ledger.grant("ann", bad)


def test_two_ledgers_do_not_know_each_other(tmp_path: Path, ledger: Ledger):
    other = Ledger.create(tmp_path / "other.db", total=1)
    other.grant("ann", 1)
    number = other.reserve("ann", Pure(epsilon=1))
    assert (spent(ledger), spent(other)) == (0, 1)
    with pytest.raises(BudgetError, match="not reserved"):
        ledger.settle(number)
    assert spent(Ledger(other.path), "ann") == 1


def test_wrong_files_are_refused(tmp_path: Path, ledger: Ledger):
    with pytest.raises(BudgetError, match="does not exist"):
        Ledger(tmp_path / "none.db")
    with pytest.raises(BudgetError, match="cannot be made"):
        Ledger.create(ledger.path, total=1)
    with pytest.raises(BudgetError, match="cannot be made"):
        Ledger.create(tmp_path / "no" / "folder.db", total=1)
    (tmp_path / "text.db").write_text("not a database, but long enough to be taken for one" * 50)
    (tmp_path / "empty.db").write_text("")
    sqlite3.connect(tmp_path / "half.db").executescript("CREATE TABLE about (name TEXT, value TEXT)").close()
    for name in ("text.db", "empty.db", "half.db"):
        with pytest.raises(BudgetError, match="ledger"):
            Ledger(tmp_path / name)


def test_a_total_and_a_unit_are_checked_before_a_file_is_made(tmp_path: Path):
    with pytest.raises(ParameterError, match="total"):
        Ledger.create(tmp_path / "a.db", total=0)
    with pytest.raises(ParameterError, match="unit"):
        Ledger.create(tmp_path / "a.db", total=1, unit="delta")  # type: ignore[arg-type]
    assert not (tmp_path / "a.db").exists()


def test_units(tmp_path: Path, ledger: Ledger):
    with pytest.raises(BudgetError, match=r"counts in epsilon and cannot pay for Gaussian noise.*--unit rho"):
        ledger.reserve("ann", Concentrated(rho="1/100"))
    assert spent(ledger) == 0
    rho = Ledger.create(tmp_path / "rho.db", total="1/8", unit="rho")
    rho.grant("ann", 1)
    assert rho.unit == "rho"
    rho.reserve("ann", Concentrated(rho="1/16"))
    rho.reserve("ann", Pure(epsilon="1/4"))
    assert spent(rho) == Fraction(1, 16) + Fraction(1, 32)


@examples(15)
@given(
    asked=st.lists(st.fractions(min_value=Fraction(1, 100), max_value=Fraction(1)), max_size=12),
    kind=st.sampled_from([Sequential, Parallel]),
)
def test_the_spent_sum_is_that_of_the_accepted_charges(tmp_path_factory, asked, kind):
    """Whatever is asked, in whatever order: nobody passes the limit, and nothing is refused that would have fitted."""
    ledger = Ledger.create(tmp_path_factory.mktemp("ledger") / "b.db", total=2)
    ledger.grant("ann", 2)
    total = Fraction(0)
    for cost in asked:
        event = kind(parts=(Pure(epsilon=cost),) * 2)
        paid = cost * (2 if kind is Sequential else 1)
        try:
            ledger.reserve("ann", event)
            total += paid
        except BudgetError:
            assert total + paid > 2
    assert spent(ledger) == spent(ledger, "ann") == total == sum(charge.cost for charge in ledger.history())


def test_eight_processes_share_a_budget_for_three_hundred_answers(tmp_path: Path):
    """1,000 answers are asked for at once; exactly 300 are given, and the ledger says so."""
    ledger = Ledger.create(tmp_path / "shared.db", total=30)
    for place in range(8):
        ledger.grant(f"analyst {place}", 100)
    code = (
        "from sfumato.core.errors import BudgetError\nledger, done = Ledger(sys.argv[1]), 0\n"
        "for _ in range(125):\n    try:\n"
        "        with ledger.charged('analyst ' + sys.argv[2], Pure(epsilon='1/10')):\n            done += 1\n"
        "    except BudgetError as error:\n        assert 'left, and this costs' in str(error), error\n"
        "print(done)"
    )
    started = [child(code, ledger.path, place) for place in range(8)]
    given_answers = [int(one.communicate(timeout=120)[0]) for one in started]
    assert [one.returncode for one in started] == [0] * 8
    assert sum(given_answers) == 300
    history = ledger.history()
    assert (len(history), {charge.status for charge in history}) == (300, {"settled"})
    assert [account.spent for account in ledger.accounts()] == [30, *(Fraction(n, 10) for n in given_answers)]


def damaged(ledger: Ledger, change: str) -> None:
    with sqlite3.connect(ledger.path) as link:
        link.execute(change)
    link.close()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE accounts SET granted = 'abc'",
        "UPDATE accounts SET granted = '1e999999999'",
        "UPDATE accounts SET spent = 'nan'",
        "UPDATE accounts SET spent = '-5'",
        "UPDATE charges SET cost = 'much'",
        "UPDATE charges SET cost = '-1'",
    ],
)
def test_damaged_amounts_are_refused(ledger: Ledger, change: str):
    ledger.reserve("ann", TENTH)
    damaged(ledger, change)
    with pytest.raises(BudgetError, match="damaged"):
        ledger.reserve("ann", TENTH)
    with pytest.raises(BudgetError, match="damaged"):
        ledger.accounts()


def test_damaged_events_are_refused(ledger: Ledger):
    ledger.reserve("ann", TENTH)
    damaged(ledger, "UPDATE charges SET event = '{'")
    with pytest.raises(BudgetError, match="damaged"):
        ledger.history()


def test_a_spent_sum_below_the_charges_gives_no_more_budget(ledger: Ledger):
    ledger.reserve("ann", Pure(epsilon="9/10"))
    damaged(ledger, "UPDATE accounts SET spent = '0'")
    assert (spent(ledger), spent(ledger, "ann")) == (Fraction(9, 10), Fraction(9, 10))
    with pytest.raises(BudgetError, match=r"0\.1 of 1 left"):
        ledger.reserve("ann", Pure(epsilon="2/10"))
    with pytest.raises(BudgetError, match="already"):
        ledger.grant("ann", "1/2")


def test_sums_of_long_fractions_are_rounded_up_and_stay_short(ledger: Ledger):
    costs = [Fraction(1, 10**29 + n) for n in range(40)]
    for cost in costs:
        ledger.reserve("ann", Pure(epsilon=cost))
    assert sum(costs) <= spent(ledger, "ann") < sum(costs) + Fraction(100, FINEST)
    assert spent(ledger).denominator <= FINEST
    many = tuple(Pure(epsilon=Fraction(1, 10**29 + n)) for n in range(300))
    ledger.reserve("ann", Sequential(parts=many))
    assert ledger.history()[-1].cost >= sum((one.epsilon for one in many), Fraction(0))


def test_a_ledger_that_cannot_be_filled_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sfumato.dp.ledger_file.TABLES", "CREATE TABLE about (name, value); CREATE NONSENSE;")
    with pytest.raises(BudgetError, match="cannot be made"):
        Ledger.create(tmp_path / "half.db", total=1)
    assert list(tmp_path.iterdir()) == []
