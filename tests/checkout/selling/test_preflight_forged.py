"""A standing approval for own sessions expires no visitor's, whatever records say (decision 15)."""

import pytest

from orrery.checkout import keys
from orrery.checkout.records import KEEP_TRIALS, OwnSession, Trial
from orrery.checkout.selling.service import Purchase
from orrery.errors import ApprovalRefused
from orrery.ports.store import Put
from tests.support.checkout import PRODUCT
from tests.support.till import Rehearsal

pytestmark = pytest.mark.anyio


async def approved() -> tuple[Rehearsal, str, str]:
    """Return a deployment with a visitor's open session, an approved run, and the ids of both."""
    rehearsal = Rehearsal()
    await rehearsal.preflighted()
    visitor = await rehearsal.checkout.create(Purchase(PRODUCT.key, "203.0.113.7", "a click"))
    intent_id = (await rehearsal.run("isc2/cissp")).to_sign or ""
    await rehearsal.sign(intent_id)
    return rehearsal, visitor.id, intent_id


async def forged(rehearsal: Rehearsal, intent_id: str, **fields: object) -> Trial:
    """Store a trial of this run as it would be, but for these fields."""
    run_id = (await rehearsal.approvals.proposal(intent_id)).intent.target
    sound = next(trial for trial in await rehearsal.stored_trials() if trial.product == PRODUCT.key)
    trial = sound.change(run_id=run_id, intent_id=intent_id, **fields)
    kept, left = f"{keys.TRIAL}{keys.trial_id(run_id, trial.product)}", keys.trial_left(run_id, trial.product)
    await rehearsal.memory.commit([Put(kept, trial.to_bytes(), KEEP_TRIALS), Put(left, b"", KEEP_TRIALS)])
    return trial


async def claimed(rehearsal: Rehearsal, session_id: str, run_id: str) -> None:
    """Record a session as one of a run's own."""
    own = OwnSession(session_id=session_id, made_by="preflight", run_id=run_id, made_at=rehearsal.clock.now())
    await rehearsal.memory.commit([Put(f"{keys.OWN_SESSION}{session_id}", own.to_bytes(), KEEP_TRIALS)])


async def see_spared(rehearsal: Rehearsal, visitor: str) -> None:
    """See that the visitor's session can still be paid, and that nobody is asked to sign its end."""
    assert rehearsal.till.open() == [visitor]
    assert not [one for one in await rehearsal.approvals.proposals() if one.intent.target == visitor]
    assert (await rehearsal.approvals.verify()).holds


async def test_a_forged_record_of_an_own_session() -> None:
    """What was offered to a visitor is no session of a run, though a record says so."""
    rehearsal, visitor, intent_id = await approved()
    run_id = (await rehearsal.approvals.proposal(intent_id)).intent.target
    await claimed(rehearsal, visitor, run_id)
    with pytest.raises(ApprovalRefused, match="does not cover"):
        await rehearsal.approvals.use(intent_id, visitor)
    await see_spared(rehearsal, visitor)


@pytest.mark.parametrize("recorded", [False, True])
async def test_a_forged_trial_that_names_the_session(recorded: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """A trial that names a visitor's session ends; the next run tries the product with a session of its own."""
    rehearsal, visitor, intent_id = await approved()
    trial = await forged(rehearsal, intent_id, state="open", session_id=visitor)
    if recorded:
        await claimed(rehearsal, visitor, trial.run_id)
    report = await rehearsal.run("isc2/cissp")
    assert [one.result for one in report.outcomes] == ["unreadable"]
    await see_spared(rehearsal, visitor)
    assert (await rehearsal.run("isc2/cissp")).is_well
    await see_spared(rehearsal, visitor)


async def test_a_forged_trial_of_an_earlier_run() -> None:
    """It is no session to clean up, either."""
    rehearsal, visitor, intent_id = await approved()
    trial = await forged(rehearsal, intent_id, state="open", session_id=visitor)
    await claimed(rehearsal, visitor, trial.run_id)
    report = await rehearsal.run("isc2/ccsp")
    assert [one.result for one in report.cleaned] == ["unreadable"]
    await see_spared(rehearsal, visitor)


async def test_a_forged_trial_with_the_visitors_key() -> None:
    """A trial that would ask under the key of a visitor's session asks under its own."""
    rehearsal, visitor, intent_id = await approved()
    key = next(key for key, (_, session_id) in rehearsal.till.keys.items() if session_id == visitor)
    await forged(rehearsal, intent_id, state="asked", session_id=None, idempotency_key=key)
    assert (await rehearsal.run("isc2/cissp")).is_well
    await see_spared(rehearsal, visitor)
