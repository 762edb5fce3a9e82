"""What visitors really get: by hand through the public operation, and unattended by reading (change rule 2)."""

from contextlib import suppress
from dataclasses import replace

import pytest

from orrery.checkout.keys import DRIFT
from orrery.checkout.selling.receipts import failed
from orrery.checkout.selling.verification import SLACK
from orrery.errors import ApprovalRefused, NotConfigured
from orrery.ports.processor import CheckoutSession
from orrery.ports.processor.errors import ItemUnreadable, ProcessorRefused, ProcessorUnreachable
from orrery.ports.store import Put
from tests.support.checkout import PRODUCT, TERMS
from tests.support.killed import Fuse, Killed
from tests.support.rehearsal import Counterpart, Rehearsal

pytestmark = pytest.mark.anyio

THREE_D_SECURE = "payment_method_options.card.request_three_d_secure"
HOUR = 3600
LOST = ProcessorUnreachable("No answer.", same_key=True)


async def selling() -> Rehearsal:
    """Return a deployment that has sold nothing yet, long enough after its preflight."""
    rehearsal = Rehearsal(products=(PRODUCT,))
    await rehearsal.preflighted()
    rehearsal.clock.advance(HOUR)
    return rehearsal


async def visit(rehearsal: Rehearsal, name: str = "visitor", **differing: object) -> CheckoutSession:
    """Let a visitor start a session; return it, with other fields where given, as the account then shows it."""
    offered = await rehearsal.selling.current_offer(PRODUCT.key)
    made = await rehearsal.till.create_session(offered.parameters, idempotency_key=name, deadline=1)
    session = replace(made, **differing)  # pyright: ignore[reportArgumentType]  any field of a session
    rehearsal.till.sessions[made.id] = session
    return session


async def test_all_is_well() -> None:
    """A session is made through the operation, every condition holds, and an intent to expire it waits."""
    rehearsal = await selling()
    verified = await rehearsal.verification.run(PRODUCT, Counterpart(rehearsal))
    assert verified.is_well
    assert [one.name for one in verified.rule] == [
        "payment_method_types",
        THREE_D_SECURE,
        "custom_text.submit.message",
    ]
    assert [one.name for one in verified.catalogue] == [
        "price",
        "quantity",
        "metadata",
        "success_url",
        "cancel_url",
    ]
    intent = (await rehearsal.approvals.proposal(verified.intent_id or "")).intent
    assert (intent.operation, intent.target, intent.proposed_by) == (
        "expire-session",
        verified.session_id,
        "owner",
    )
    await rehearsal.sign(intent.id)
    assert rehearsal.till.open() == []


async def test_without_the_owners_word_it_stays_open() -> None:
    """Verifying itself expires nothing."""
    rehearsal = await selling()
    verified = await rehearsal.verification.run(PRODUCT, Counterpart(rehearsal))
    assert rehearsal.till.open() == [verified.session_id]


async def test_the_setting_that_reduces_friction() -> None:
    """With any_3ds_required the rule is not met to the letter, and it is said why."""
    rehearsal = Rehearsal(products=(PRODUCT,), terms=replace(TERMS, three_d_secure="any_3ds_required"))
    await rehearsal.preflighted()
    verified = await rehearsal.verification.run(PRODUCT, Counterpart(rehearsal))
    (condition,) = failed(verified.rule)
    assert (verified.is_well, condition.name, condition.found) == (False, THREE_D_SECURE, "any_3ds_required")
    assert "which is permitted" in condition.note


async def test_a_change_that_waits() -> None:
    """A setting that waits for its preflight is not what is sold: that shows."""
    rehearsal = await selling()
    newer = replace(PRODUCT, price_id="price_newer")
    changed = rehearsal.again(products=(newer,))
    verified = await changed.verification.run(newer, Counterpart(changed))
    (condition,) = failed(verified.catalogue)
    assert (condition.name, condition.wanted, condition.found) == ("price", "price_newer", "price_cissp")


async def test_no_session() -> None:
    """An operation that gives none is told of in its own words; nothing is proposed."""
    rehearsal = await selling()
    verified = await rehearsal.verification.run(PRODUCT, Counterpart(rehearsal, why="It answered 503."))
    assert (verified.is_well, verified.session_id, verified.intent_id) == (False, None, None)
    assert verified.why == "It answered 503."
    assert (await rehearsal.verification.run(PRODUCT, Counterpart(rehearsal))).is_well


async def test_a_lost_answer() -> None:
    """After an answer that was lost the next one asks under the same key, and finds what there may be."""
    rehearsal = await selling()
    lost = Counterpart(rehearsal, why="No answer.", may_exist=True)
    await rehearsal.verification.run(PRODUCT, lost)
    refused = Counterpart(rehearsal, why="It answered 503.")
    await rehearsal.verification.run(PRODUCT, refused)
    found = Counterpart(rehearsal)
    assert (await rehearsal.verification.run(PRODUCT, found)).intent_id is not None
    assert lost.keys == refused.keys == found.keys


async def test_killed_at_every_step() -> None:
    """Wherever a verification is killed, the next one finds its session: each waits for the owner's word."""
    for steps in range(1, 16):
        rehearsal = await selling()
        killed = rehearsal.again(fuse=Fuse(steps))
        with suppress(Killed):
            await killed.verification.run(PRODUCT, Counterpart(killed))
        survivor = rehearsal.again()
        for _ in range(2):
            await survivor.verification.run(PRODUCT, Counterpart(survivor))
        waiting = {one.intent.target for one in await survivor.approvals.proposals()}
        assert set(survivor.till.open()) <= waiting
        assert len(survivor.till.open()) >= 2


async def test_after_an_interrupted_one() -> None:
    """The session that a killed verification has left is handed over to be expired, and is not judged."""
    rehearsal = await selling()
    rehearsal.till.after["create"] = [LOST]
    with pytest.raises(ProcessorUnreachable):
        await rehearsal.verification.run(PRODUCT, Counterpart(rehearsal))
    left = await rehearsal.verification.run(PRODUCT, Counterpart(rehearsal))
    assert (left.session_id, left.rule, left.is_well) == ("cs_2", (), False)
    assert "came to no end" in left.why
    await rehearsal.sign(left.intent_id)
    assert (await rehearsal.verification.run(PRODUCT, Counterpart(rehearsal))).session_id == "cs_3"


async def test_a_session_of_elsewhere() -> None:
    """A session that the processor does not know is another deployment's: there is nothing to expire here."""
    rehearsal = await selling()
    shop = Counterpart(Rehearsal(livemode=False, products=(PRODUCT,)))
    rehearsal.till.sessions.clear()
    verified = await rehearsal.verification.run(PRODUCT, shop)
    assert (verified.is_well, verified.intent_id) == (False, None)
    assert "another deployment" in verified.why


@pytest.mark.parametrize(
    "error",
    [ProcessorUnreachable("No answer.", same_key=True), ProcessorRefused("The key may not do this.", status=403)],
)
async def test_a_session_that_cannot_be_read(error: Exception) -> None:
    """When the look fails or is forbidden, the session is known and queued all the same."""
    rehearsal = await selling()
    rehearsal.till.before["read"] = [error]
    verified = await rehearsal.verification.run(PRODUCT, Counterpart(rehearsal))
    assert (verified.is_well, verified.session_id, verified.intent_id is None) == (False, "cs_2", False)


async def test_a_product_that_cannot_be_sold() -> None:
    """Without a price there is nothing to verify."""
    rehearsal = await selling()
    with pytest.raises(NotConfigured):
        await rehearsal.verification.run(replace(PRODUCT, price_id=None), Counterpart(rehearsal))


async def test_no_approval_of_a_run_covers_it() -> None:
    """A verification's session is expired by a word of its own, never by a preflight's."""
    rehearsal = await selling()
    verified = await rehearsal.verification.run(PRODUCT, Counterpart(rehearsal))
    run = (await rehearsal.run()).to_sign or ""
    await rehearsal.sign(run)
    with pytest.raises(ApprovalRefused, match="does not cover"):
        await rehearsal.approvals.use(run, verified.session_id or "")


async def test_no_drift() -> None:
    """A visitor's session that is as it was sent is looked at, and nobody is told."""
    rehearsal = await selling()
    before = len(await rehearsal.told())
    session = await visit(rehearsal)
    seen = await rehearsal.verification.check_newest()
    assert seen is not None
    assert (seen.session_id, seen.kinds) == (session.id, ())
    assert len(await rehearsal.told()) == before


async def drift_told(rehearsal: Rehearsal) -> list[str]:
    """Return what the owner was told about drift."""
    return [row.body for row in await rehearsal.told() if row.title == "The checkout drifts"]


async def look(rehearsal: Rehearsal, visitor: str, **differing: object) -> None:
    """Let a visitor get a session, look at it, and let six hours pass."""
    await visit(rehearsal, visitor, **differing)
    await rehearsal.verification.check_newest()
    rehearsal.clock.advance(6 * HOUR)


async def test_drift_is_told_once() -> None:
    """Each kind of drift is told once, however many sessions show it, and again when it had been mended."""
    rehearsal = await selling()
    for number in range(3):
        await look(rehearsal, f"visitor {number}", three_d_secure="challenge")
    (body,) = await drift_told(rehearsal)
    assert f"{THREE_D_SECURE} = challenge, where automatic was sent" in body
    await look(rehearsal, "another kind", three_d_secure="challenge", payment_method_types=("card",))
    assert len(await drift_told(rehearsal)) == 2
    await look(rehearsal, "mended")
    await look(rehearsal, "again", three_d_secure="challenge")
    assert len(await drift_told(rehearsal)) == 3


async def test_a_drift_in_several_things_is_one_push() -> None:
    """What one look finds is one push that names all of it, and one in low priority when nothing differs."""
    rehearsal = await selling()
    await look(rehearsal, "first", three_d_secure="challenge", payment_method_types=("card",))
    (body,) = await drift_told(rehearsal)
    assert (THREE_D_SECURE in body, "payment_method_types" in body) == (True, True)
    await look(rehearsal, "half mended", three_d_secure="challenge")
    for number in range(2):
        await look(rehearsal, f"mended {number}")
    over = [row for row in await rehearsal.told() if row.title == "The checkout is as it was sent again"]
    assert [row.priority for row in over] == ["low"]


async def test_a_look_that_cannot_be_read_counts_as_none() -> None:
    """A damaged note of the last look is replaced: the same drift is told once more."""
    rehearsal = await selling()
    for _ in range(2):
        await visit(rehearsal, three_d_secure="challenge")
        assert await rehearsal.verification.check_newest()
        await rehearsal.memory.commit([Put(DRIFT, b"{")])
        rehearsal.clock.advance(6 * HOUR)
    assert len(await drift_told(rehearsal)) == 2


async def test_only_visitors_are_looked_at() -> None:
    """Sessions of a preflight, of a verification and of strangers are passed over."""
    rehearsal = await selling()
    session = await visit(rehearsal)
    rehearsal.clock.advance(60)
    await rehearsal.verification.run(PRODUCT, Counterpart(rehearsal))
    await visit(rehearsal, "a stranger", metadata={})
    await visit(rehearsal, "another product", metadata={"productType": "cert", "certCode": "x", "vendorSlug": "y"})
    await rehearsal.preflighted()
    seen = await rehearsal.verification.check_newest()
    assert seen is None, "the newer receipt is younger than the visitor's session"
    rehearsal.clock.advance(HOUR)
    session = await visit(rehearsal, "later")
    rehearsal.clock.advance(60)
    await rehearsal.verification.run(PRODUCT, Counterpart(rehearsal))
    seen = await rehearsal.verification.check_newest()
    assert seen is not None
    assert seen.session_id == session.id


async def test_the_setting_counts() -> None:
    """Unattended, a session is held against what is sold: any_3ds_required is no drift where it is."""
    rehearsal = Rehearsal(products=(PRODUCT,), terms=replace(TERMS, three_d_secure="any_3ds_required"))
    await rehearsal.preflighted()
    rehearsal.clock.advance(HOUR)
    await visit(rehearsal)
    seen = await rehearsal.verification.check_newest()
    assert seen is not None
    assert seen.kinds == ()


async def test_a_session_from_before_a_change() -> None:
    """A session that was made with the receipt before is no drift."""
    rehearsal = await selling()
    await visit(rehearsal)
    rehearsal.clock.advance(60)
    changed = rehearsal.again(terms=replace(TERMS, three_d_secure="any_3ds_required"))
    await changed.preflighted()
    assert await changed.verification.check_newest() is None
    assert await drift_told(changed) == []


async def test_outside_live_mode_since_the_start() -> None:
    """Where today's settings are sold, only sessions since this process began are held against them."""
    rehearsal = Rehearsal(livemode=False, products=(PRODUCT,))
    await visit(rehearsal)
    rehearsal.clock.advance(HOUR)
    restarted = rehearsal.again(terms=replace(TERMS, three_d_secure="any_3ds_required"))
    assert await restarted.verification.check_newest() is None
    restarted.clock.advance(SLACK.total_seconds() + 1)
    session = await visit(restarted, "since")
    seen = await restarted.verification.check_newest()
    assert seen is not None
    assert (seen.session_id, seen.kinds) == (session.id, ())


async def test_nothing_is_written_at_the_processor() -> None:
    """The unattended look makes no session and expires none."""
    rehearsal = await selling()
    await visit(rehearsal, three_d_secure="any")
    asked, expired = len(rehearsal.till.asked), list(rehearsal.till.expiries)
    await rehearsal.verification.check_newest()
    assert (len(rehearsal.till.asked), rehearsal.till.expiries) == (asked, expired)


async def test_a_session_that_cannot_be_read_hides_no_drift() -> None:
    """The look goes on behind a session that is not as documented."""
    rehearsal = await selling()
    rehearsal.till.unreadable.append(ItemUnreadable("checkout.session", "cs_odd", ("status",)))
    await visit(rehearsal, payment_method_types=("card",))
    seen = await rehearsal.verification.check_newest()
    assert seen is not None
    assert seen.kinds == ("payment_method_types",)
