"""A unit whose credential is missing, comes late, or is empty: systemd's status 243/CREDENTIALS."""

import pytest

from tests.support.soak import SOAKING
from tests.systemd.gateway import Gateway, Machine, eventually

STARTS = 20
"""spec 3, Limits: the start budget."""


def test_a_missing_credential_is_waited_for_and_the_unit_starts_once_it_is_there(machine: Machine) -> None:
    """Waiting is no recovery: nothing is counted, nothing pushed, and layer 2 keeps its pace."""
    gateway = _with_credential(machine, "late")
    gateway.install()
    machine.run("systemctl restart late.service || true")
    gateway.looked_at(5)
    gateway.goes("activating/auto-restart")
    assert gateway.shows("ExecMainStatus") == "243"
    gateway.recovered(0)
    machine.run("echo token > /run/late-token")
    gateway.await_answer()
    gateway.recovered(1)
    assert machine.pushes("late.service") == []


def test_an_empty_credential_is_as_good_as_none(machine: Machine) -> None:
    """systemd starts a service with an empty credential; the guest waits until something stands in it."""
    gateway = _with_credential(machine, "empty", before="test -s $CREDENTIALS_DIRECTORY/token || exit 3; ")
    gateway.install()
    machine.run("true > /run/empty-token; systemctl restart empty.service")
    gateway.looked_at(5)
    gateway.recovered(0)
    machine.run("echo token > /run/empty-token")
    gateway.await_answer()


def test_an_exhausted_budget_is_pushed_once_and_the_unit_starts_when_the_credential_is_there(
    machine: Machine,
) -> None:
    """Until then the timer's tries are plain starts: they refill no budget and are not counted."""
    gateway = _with_credential(machine, "exhausted")
    gateway.install()
    eventually(gateway.settled)
    machine.run("systemctl stop exhausted-recover.timer")
    machine.run("for i in $(seq 25); do systemctl restart exhausted.service || true; done")
    gateway.goes("failed/failed")
    # On a busy machine the last restart comes when the budget is spent already, and is refused for that.
    assert gateway.shows("Result") in ("exit-code", "start-limit-hit")
    eventually(gateway.has_pushed(1))
    machine.run(f"{gateway.script}; {gateway.script}")
    gateway.goes("failed/failed")
    gateway.looked_at(3)
    gateway.recovered(0)
    machine.run("echo token > /run/exhausted-token")
    gateway.await_answer()
    gateway.recovered(1)
    (failed,) = machine.pushes("exhausted.service")
    assert (failed.title, failed.priority) == ("exhausted.service on machine failed.", 5)
    assert "Its credential /run/exhausted-token is missing or empty" in failed.message


@pytest.mark.skipif(not SOAKING, reason="takes 21 minutes: ./run soak gateway")
def test_a_credential_that_stays_missing_exhausts_the_budget_at_its_own_pace(machine: Machine) -> None:
    """20 starts a minute apart, and then one push: the guest neither refills the budget nor counts."""
    gateway = _with_credential(machine, "never")
    gateway.install()
    machine.run("systemctl restart never.service || true")
    for _ in range(STARTS + 1):
        gateway.looked_at(60)
    eventually(lambda: gateway.goes("failed/failed"))
    log = machine.run("journalctl --no-pager --output=cat -u never.service")
    assert log.count("Failed at step CREDENTIALS") == STARTS
    gateway.recovered(0)
    eventually(gateway.has_pushed(1))


def test_a_folder_of_credentials_counts_once_a_file_in_it_is_not_empty(machine: Machine) -> None:
    """systemd hands over each file of the folder."""
    machine.run("mkdir -p /run/folder-token && true > /run/folder-token/one")
    gateway = _with_credential(machine, "folder", before="test -s $CREDENTIALS_DIRECTORY/token_one || exit 3; ")
    gateway.install()
    gateway.looked_at(3)
    gateway.recovered(0)
    machine.run("echo token > /run/folder-token/one")
    gateway.await_answer()


def _with_credential(machine: Machine, name: str, before: str = "") -> Gateway:
    return machine.gateway(name, f"LoadCredential=token:/run/{name}-token", before)
