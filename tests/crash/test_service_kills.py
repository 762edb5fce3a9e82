"""The service is killed (`kill -9`) with sales and messages under way; the sandbox repeats its webhooks."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from tests.support.demo import running_demo
from tests.support.deployment import Deployment
from tests.support.marked import assert_unmarked
from tests.support.soak import SOAKING, rounds
from tests.support.visiting import Visitor, expect_equal
from tests.support.waiting import eventually
from tests.support.webhooks import send, signed

LEASE = 31
"""Seconds after which a killed process's leases are free."""

BUYERS = 3
"""So many pay at once in each round of random kills."""

LONGEST_LIFE = 0.35
"""Real seconds, from the first payment on, within which a round's kill falls."""


class Patient:
    """A deployment whose service is killed and started again."""

    def __init__(self, shop: Deployment) -> None:
        self.shop = shop
        self.service = shop.start_service()

    def see_it_gone(self) -> None:
        """See that the killed service left no process and no listener."""
        # The processor's library may be asking `uname` for the machine just then: that one ends by itself.
        eventually(lambda: expect_equal(self.service.leaves_a_process(), wanted=False))
        assert not self.shop.leaves_a_listener()

    def revive(self) -> None:
        """Start it again, and let its leases and the first waits of the webhooks pass."""
        self.service = self.shop.start_service()
        self.shop.sandbox.advance(LEASE)


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Patient]:
    """Run one deployment for these tests; it prints no secret and no address, however it dies."""
    shop = Deployment(tmp_path_factory.mktemp("killed"))
    try:
        shop.start_sandbox()
        yield Patient(shop)
    finally:
        shop.clear_away()
    assert_unmarked(shop.printed())


def see_sold_once(visitor: Visitor, session: str) -> None:
    """Wait for access, both messages and the webhook's acknowledgement; see that there is one grant."""
    shop = visitor.shop
    visitor.await_access(session)
    visitor.await_told(session)
    eventually(partial(expect_acknowledged, shop, session))
    records = [one for one in shop.records.objects("access:") if one["email"] == visitor.email]
    assert [one["session_id"] for one in records] == [session]
    assert int(records[0]["expires_at"][:4]) == int(records[0]["granted_at"][:4]) + 1
    assert visitor.emails() != []
    assert visitor.pushes() != []


def expect_acknowledged(shop: Deployment, session: str) -> None:
    """Fail, for now, while the sandbox still repeats the event; let its next wait pass."""
    if shop.sandbox.completed(session)["pending_webhooks"]:
        shop.sandbox.advance(300)
    assert shop.sandbox.completed(session)["pending_webhooks"] == 0


def test_killed_right_after_the_commit(patient: Patient) -> None:
    """The sale is on the disk, its answer and its messages may not be out: one grant, nothing lost."""
    shop = patient.shop
    for _ in range(rounds(1)):
        visitor = Visitor(shop)
        session = visitor.start()
        shop.sandbox.fault("webhook_down", count=None)
        visitor.pay(session)
        body, header = signed(shop, shop.sandbox.completed(session))
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(send, shop, body, header)
            eventually(partial(expect_record, shop, session))
            patient.service.kill()
            answer.exception()
        patient.see_it_gone()
        before = shop.records.access(session)
        shop.sandbox.clear_faults()
        patient.revive()
        see_sold_once(visitor, session)
        assert shop.records.access(session) == before


def expect_record(shop: Deployment, session: str) -> None:
    """Fail, for now, unless the sale is on the disk."""
    assert f"access:{session}" in shop.records.keys(f"access:{session}")


def test_killed_between_sending_and_marking(patient: Patient) -> None:
    """The mail server has the letter and the service does not know yet: it is sent again, not forgotten."""
    shop, visitor = patient.shop, Visitor(patient.shop)
    shop.sandbox.fault("mail_timeout", value=3600)
    shop.sandbox.fault("push_timeout")
    session = visitor.buy()
    eventually(lambda: expect_equal(len(visitor.emails()), 1))
    eventually(lambda: expect_equal(shop.sandbox.faults(), []))
    patient.service.kill()
    patient.see_it_gone()
    waiting = shop.records.notifications("waiting")
    assert {f"buyer-{session}", f"owner-{session}"} <= set(waiting)
    patient.revive()
    see_sold_once(visitor, session)
    assert (len(visitor.emails()), len(visitor.pushes())) == (2, 1)
    assert len({email["message_id"] for email in visitor.emails()}) == 1


@pytest.mark.parametrize("readable", [True, False] if SOAKING else [True])
def test_killed_between_pushing_and_marking(patient: Patient, *, readable: bool) -> None:
    """The push server has the push and the service does not know: it asks where it may, or pushes again."""
    shop, visitor = patient.shop, Visitor(patient.shop)
    shop.sandbox.fault("push_lost_answer")
    if not readable:
        shop.sandbox.fault("push_unreadable", count=None)
    session = visitor.buy()
    eventually(lambda: expect_equal(len(visitor.pushes()), 1))
    patient.service.kill()
    patient.see_it_gone()
    assert f"owner-{session}" in shop.records.notifications("waiting")
    patient.revive()
    see_sold_once(visitor, session)
    pushes = visitor.pushes()
    assert len(pushes) == (1 if readable else 2)
    assert len({push["sequence_id"] for push in pushes}) == 1
    shop.sandbox.clear_faults()


def test_killed_while_reconciling(patient: Patient) -> None:
    """Killed at any moment of a reconciliation, the next one grants what is left, once."""
    shop, dice = patient.shop, random.Random(11)  # noqa: S311  moments, not secrets
    for _ in range(rounds(1)):
        shop.sandbox.fault("webhook_down", count=None)
        visitors = [Visitor(shop, f"cert-{number}") for number in range(1, BUYERS + 1)]
        sessions = [visitor.buy() for visitor in visitors]
        shop.sandbox.advance(15 * 60)
        patient.service.kill_within(dice.uniform(0, LONGEST_LIFE))
        patient.see_it_gone()
        patient.revive()
        shop.sandbox.advance(15 * 60)
        for visitor, session in zip(visitors, sessions, strict=True):
            visitor.await_access(session)
        shop.sandbox.clear_faults()
        for visitor, session in zip(visitors, sessions, strict=True):
            see_sold_once(visitor, session)


def test_killed_demo_leaves_nothing(tmp_path: Path) -> None:
    """`kill -9` of the demo's one process leaves no other and no port."""
    with running_demo(tmp_path / "data") as demo:
        demo.program.kill()
        assert not demo.program.leaves_a_process()
        assert not demo.leaves_a_port()
