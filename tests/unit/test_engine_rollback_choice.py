"""Which run is taken back on a machine with several servers: the last one of the row's own server."""

import pytest

from rollout.engine.rollback import Found, HostRecord, Left, choose

S1, S2 = "mariadb@s1.service", "mariadb@s2.service"


def left(unit: str, *rows: tuple[str, str, str]) -> Left:
    """Make what runs have left: id, unit and state of each record, for a row that names `unit`."""
    found = (
        Found(HostRecord(run_id=run, host="db", unit=of, was_active=True, changes=()), state) for run, of, state in rows
    )
    return Left(tuple(found), "", unit)


ROWS = (("1", S1, "done"), ("2", S2, "done"))


@pytest.mark.parametrize(("unit", "run"), [(S1, "1"), (S2, "2"), ("", "2")])
def test_each_row_takes_back_its_own_server(unit: str, run: str) -> None:
    """A row that names no unit is the whole machine's, and takes the last run."""
    chosen = choose(left(unit, *ROWS), "")
    assert isinstance(chosen, Found)
    assert chosen.record.run_id == run


@pytest.mark.parametrize(
    ("unit", "wanted", "told"),
    [
        (S1, "2", f"run 2 changed {S2} on this host, and this row is {S1}"),
        (S1, "3", "run 3 left no record here"),
        ("mariadb@s3.service", "", f"no run has changed mariadb@s3.service here, only {S1}, {S2}"),
    ],
)
def test_the_run_of_another_server_is_named_and_left_alone(unit: str, wanted: str, told: str) -> None:
    """Also where that run is asked for by its id."""
    assert told in str(choose(left(unit, *ROWS), wanted))


def test_what_was_taken_back_already_is_not_taken_back_again() -> None:
    """The other server's open run does not stand in for it."""
    rows = (("1", S1, "undone"), ("2", S2, "done"))
    assert choose(left(S1, *rows), "") == "nothing to take back: it was taken back already"


def test_the_run_that_holds_now_is_named() -> None:
    """Who asks for an older run that was taken back learns of the newer one."""
    rows = (("1", S1, "undone"), ("2", S1, "done"))
    told = "nothing to take back: it was taken back already; what holds now is of run 2"
    assert choose(left(S1, *rows), "1") == told
