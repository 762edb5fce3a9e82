"""A test session that somebody completed before it could be expired: money may have moved; the owner is told."""

from dataclasses import replace

import pytest

from orrery.checkout.selling.preflight import PreflightReport
from orrery.ports.processor.errors import ProcessorUnreachable
from tests.support.checkout import PRODUCT
from tests.support.till import Rehearsal

pytestmark = pytest.mark.anyio

LOST = ProcessorUnreachable("No answer within 10.0 s.", same_key=True)


async def completed(rehearsal: Rehearsal, **fields: object) -> PreflightReport:
    """Run a preflight whose session a visitor completes, with these fields, before it can be expired."""
    rehearsal.till.after["create"] = [LOST, LOST]
    await rehearsal.preflighted()
    made = rehearsal.till.sessions["cs_1"]
    rehearsal.till.sessions["cs_1"] = replace(made, status="complete", **fields)  # pyright: ignore[reportArgumentType]  any field of a session
    return await rehearsal.run()


async def test_paid_meanwhile() -> None:
    """A test session that somebody has paid is told as such: by the run, by an urgent push, and on the page."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    report = await completed(rehearsal, payment_status="paid", livemode=True)
    (outcome,) = report.outcomes
    assert (report.is_well, outcome.result, outcome.session_id, outcome.intent_id) == (
        False,
        "completed",
        "cs_1",
        None,
    )
    assert outcome.note.startswith("Somebody paid it before it could be expired: refund it by hand")
    assert "no money" not in outcome.note
    (push,) = [row for row in await rehearsal.told() if row.priority == "urgent"]
    assert (push.id, push.channel) == ("preflight-completed-cs_1", "push")
    assert outcome.note in push.body
    assert await rehearsal.receipt() is not None, "the parameters were accepted all the same"
    panel = await rehearsal.preflight.panel()
    assert (panel.tone, "Completed test sessions: cs_1. Where money moved, refund it by hand" in panel.todo) == (
        "attention",
        True,
    )
    assert (await rehearsal.run()).to_sign, "the run is over, and the next one cleans up nothing"
    assert rehearsal.till.open() == []


@pytest.mark.parametrize(
    ("payment", "livemode", "told"),
    [
        ("paid", False, "Somebody paid it before it could be expired: it is not of live mode, so no money moves."),
        ("unpaid", True, "its payment is under way, before it could be expired: refund it by hand"),
        ("no_payment_required", True, "there was nothing to pay"),
    ],
)
async def test_completed_meanwhile(payment: str, livemode: bool, told: str) -> None:  # noqa: FBT001  a row of the table
    """What moved is told as it is: a test payment, one that is still to come, or none."""
    report = await completed(Rehearsal(products=(PRODUCT,)), payment_status=payment, livemode=livemode)
    assert [one.result for one in report.outcomes] == ["completed"]
    assert told in report.outcomes[0].note


async def test_completed_after_a_kill() -> None:
    """A session of an earlier run that somebody has completed is told by the run that cleans up, once."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    rehearsal.till.after["create"] = [LOST, LOST]
    await rehearsal.preflighted()
    rehearsal.till.sessions["cs_1"] = replace(
        rehearsal.till.sessions["cs_1"], status="complete", payment_status="paid"
    )
    later = rehearsal.again(api_version="2026-09-30.endive")
    report = await later.run()
    assert [one.result for one in report.cleaned] == ["completed"]
    assert (await later.run()).cleaned == []
    assert [row.id for row in await later.told() if row.priority == "urgent"] == ["preflight-completed-cs_1"]
    elsewhere = later.again(deployment="another")
    assert "Completed" not in (await elsewhere.preflight.panel()).todo
