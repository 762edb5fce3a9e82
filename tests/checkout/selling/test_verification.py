"""What visitors really get: by hand through the public operation, and unattended by reading (change rule 2)."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from orrery.checkout.catalogue import Product
from orrery.checkout.selling.drift import SLACK
from orrery.checkout.selling.receipts import failed
from orrery.checkout.selling.verification import VerificationReport
from orrery.errors import ApprovalRefused, NotConfigured
from orrery.ports.processor import CheckoutSession
from orrery.ports.processor.errors import ItemUnreadable, ProcessorRefused, ProcessorUnreachable
from orrery.ports.store import Put
from orrery.runtime.watch import OutageWatch
from tests.support.checkout import PRODUCT, TERMS
from tests.support.killed import Fuse, Killed
from tests.support.rehearsal import Counterpart, Rehearsal

THREE_D_SECURE = "payment_method_options.card.request_three_d_secure"
HOUR = 3600
LOST = ProcessorUnreachable("No answer.", same_key=True)


async def selling(**terms: str) -> Rehearsal:
    """Return a deployment that has sold nothing yet, long enough after its preflight."""
    rehearsal = Rehearsal(products=(PRODUCT,), terms=replace(TERMS, **terms))  # pyright: ignore[reportArgumentType]  any of the terms
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


async def verify(rehearsal: Rehearsal, *, product: Product = PRODUCT, **other: Any) -> VerificationReport:  # noqa: ANN401  any field of a counterpart
    """Type the command."""
    return await rehearsal.verification.run(product, Counterpart(rehearsal, **other))


async def test_all_is_well() -> None:
    """A session is made through the operation, every condition holds; it is open until the owner signs its end."""
    rehearsal = await selling()
    verified = await verify(rehearsal)
    assert verified.is_well
    names = ["payment_method_types", THREE_D_SECURE, "custom_text.submit.message"]
    assert [one.name for one in verified.rule] == names
    assert [one.name for one in verified.catalogue] == [
        "price",
        "quantity",
        "metadata",
        "success_url",
        "cancel_url",
    ]
    intent = (await rehearsal.approvals.proposal(verified.intent_id or "")).intent
    named = ("expire-session", verified.session_id, "owner")
    assert (intent.operation, intent.target, intent.proposed_by) == named
    run = (await rehearsal.run()).to_sign or ""
    await rehearsal.sign(run)
    with pytest.raises(ApprovalRefused, match="does not cover"):  # a preflight's word is for its own sessions
        await rehearsal.approvals.use(run, verified.session_id or "")
    assert rehearsal.till.open() == [verified.session_id]
    await rehearsal.sign(intent.id)
    assert rehearsal.till.open() == []


async def test_the_setting_that_reduces_friction() -> None:
    """With any_3ds_required the rule is not met to the letter, and it is said why."""
    verified = await verify(await selling(three_d_secure="any_3ds_required"))
    (condition,) = failed(verified.rule)
    assert (verified.is_well, condition.name, condition.found) == (False, THREE_D_SECURE, "any_3ds_required")
    assert "which is permitted" in condition.note


async def test_a_change_that_waits() -> None:
    """A setting that waits for its preflight is not what is sold: that shows."""
    newer = replace(PRODUCT, price_id="price_newer")
    verified = await verify((await selling()).again(products=(newer,)), product=newer)
    (condition,) = failed(verified.catalogue)
    assert (condition.name, condition.wanted, condition.found) == ("price", "price_newer", "price_cissp")


async def test_no_session() -> None:
    """An operation that gives none is told of in its own words; nothing is proposed."""
    rehearsal = await selling()
    verified = await verify(rehearsal, why="It answered 503.")
    assert verified == VerificationReport(PRODUCT.name, why="It answered 503.")
    assert (await verify(rehearsal)).is_well
    with pytest.raises(NotConfigured):
        await verify(rehearsal, product=replace(PRODUCT, price_id=None))


async def test_a_lost_answer() -> None:
    """After an answer that was lost the next one asks under the same key, and finds what there may be."""
    rehearsal, keys = await selling(), list[str]()
    for why, may_exist in (("No answer.", True), ("It answered 503.", False), ("", False)):
        verified = await verify(rehearsal, why=why, may_exist=may_exist, keys=keys)
        assert (verified.intent_id is None) == bool(why)
    assert (len(keys), len({*keys})) == (3, 1)


async def test_killed_at_every_step() -> None:
    """Wherever a verification is killed, the next one finds its session: each waits for the owner's word."""
    for steps in range(1, 16):
        rehearsal = await selling()
        killed = rehearsal.again(fuse=Fuse(steps))
        with suppress(Killed):
            await verify(killed)
        survivor = rehearsal.again()
        for _ in range(2):
            await verify(survivor)
        waiting = {one.intent.target for one in await survivor.approvals.proposals()}
        assert set(survivor.till.open()) <= waiting
        assert len(survivor.till.open()) >= 2


async def test_after_an_interrupted_one() -> None:
    """The session that a killed verification has left is handed over to be expired, and is not judged."""
    rehearsal = await selling()
    rehearsal.till.after["create"] = [LOST]
    with pytest.raises(ProcessorUnreachable):
        await verify(rehearsal)
    left = await verify(rehearsal)
    assert (left.session_id, left.rule, left.is_well) == ("cs_2", (), False)
    assert "came to no end" in left.why
    await rehearsal.sign(left.intent_id)
    assert (await verify(rehearsal)).session_id == "cs_3"


@pytest.mark.parametrize(
    ("error", "queued"),
    [
        (ProcessorUnreachable("No answer.", same_key=True), True),
        (ProcessorRefused("The key may not do this.", status=403), True),
        (ProcessorRefused("No such session.", status=404), False),
    ],
)
async def test_a_session_that_cannot_be_read(error: Exception, queued: bool) -> None:  # noqa: FBT001  a row of the table
    """It is known, and queued all the same, unless it is another deployment's: then there is nothing to expire."""
    rehearsal = await selling()
    rehearsal.till.before["read"] = [error]
    verified = await verify(rehearsal)
    assert (verified.is_well, verified.session_id, verified.intent_id is not None) == (False, "cs_2", queued)
    assert ("another deployment" in verified.why) != queued


async def seen(rehearsal: Rehearsal) -> tuple[str, tuple[str, ...]] | None:
    """Look as the workers do; return the session, and what differs. Nothing is written at the processor."""
    asked, expired = len(rehearsal.till.asked), list(rehearsal.till.expiries)
    found = await rehearsal.drift.check_newest()
    assert (len(rehearsal.till.asked), rehearsal.till.expiries) == (asked, expired)
    return (found.session_id, found.kinds) if found else None


@pytest.mark.parametrize("setting", ["automatic", "any_3ds_required"])
async def test_no_drift(setting: str) -> None:
    """A visitor's session that is as it was sent, by today's setting, is looked at, and nobody is told."""
    rehearsal = await selling(three_d_secure=setting)
    before = len(await rehearsal.told())
    session = await visit(rehearsal)
    assert await seen(rehearsal) == (session.id, ())
    assert len(await rehearsal.told()) == before


async def drift_told(rehearsal: Rehearsal) -> list[str]:
    """Let the watch look, and return what the owner was told about drift."""
    await OutageWatch(rehearsal.memory, rehearsal.clock, rehearsal.drift.findings).notify()
    return [row.body for row in await rehearsal.told() if row.title == "Broken: what visitors get"]


async def look(rehearsal: Rehearsal, visitor: str, **differing: object) -> None:
    """Let a visitor get a session, look at it, and let six hours pass."""
    await visit(rehearsal, visitor, **differing)
    await rehearsal.drift.check_newest()
    await drift_told(rehearsal)
    rehearsal.clock.advance(6 * HOUR)


async def test_drift_is_told_once() -> None:
    """Each kind of drift is told once, however many sessions show it, and again when it had been mended."""
    rehearsal = await selling()
    for number in range(3):
        await look(rehearsal, f"visitor {number}", three_d_secure="challenge")
    (body,) = await drift_told(rehearsal)
    assert f"not as it was sent: {THREE_D_SECURE}." in body
    assert "`orrery checkout verify`" in body
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
    over = [row for row in await rehearsal.told() if row.title == "Works again: what visitors get"]
    assert [row.priority for row in over] == ["low"]


async def test_a_look_that_cannot_be_read_counts_as_none() -> None:
    """A damaged note of the last look is replaced: the same drift is told once."""
    rehearsal = await selling()
    for _ in range(2):
        await visit(rehearsal, three_d_secure="challenge")
        assert await rehearsal.drift.check_newest()
        await drift_told(rehearsal)
        await rehearsal.memory.commit([Put("checkout-drift", b"{")])
        rehearsal.clock.advance(6 * HOUR)
    assert len(await drift_told(rehearsal)) == 1


async def test_only_visitors_are_looked_at() -> None:
    """Sessions of a preflight, of a verification and of strangers are passed over."""
    rehearsal = await selling()
    await visit(rehearsal)
    rehearsal.clock.advance(60)
    await verify(rehearsal)
    await visit(rehearsal, "a stranger", metadata={})
    await visit(rehearsal, "another product", metadata={"productType": "cert", "certCode": "x", "vendorSlug": "y"})
    await rehearsal.preflighted()
    assert await seen(rehearsal) is None, "the newer receipt is younger than the visitor's session"
    rehearsal.clock.advance(HOUR)
    session = await visit(rehearsal, "later")
    rehearsal.clock.advance(60)
    await verify(rehearsal)
    assert await seen(rehearsal) == (session.id, ())


async def test_a_session_from_before_a_change() -> None:
    """A session that was made with the receipt before is no drift."""
    rehearsal = await selling()
    await visit(rehearsal)
    rehearsal.clock.advance(60)
    changed = rehearsal.again(terms=replace(TERMS, three_d_secure="any_3ds_required"))
    await changed.preflighted()
    assert await seen(changed) is None
    assert await drift_told(changed) == []


async def test_outside_live_mode_since_the_start() -> None:
    """Where today's settings are sold, only sessions since this process began are held against them."""
    rehearsal = Rehearsal(livemode=False, products=(PRODUCT,))
    await visit(rehearsal)
    rehearsal.clock.advance(HOUR)
    restarted = rehearsal.again(terms=replace(TERMS, three_d_secure="any_3ds_required"))
    assert await seen(restarted) is None
    restarted.clock.advance(SLACK.total_seconds() + 1)
    session = await visit(restarted, "since")
    assert await seen(restarted) == (session.id, ())


async def test_a_session_that_cannot_be_read_hides_no_drift() -> None:
    """The look goes on behind a session that is not as documented."""
    rehearsal = await selling()
    rehearsal.till.unreadable.append(ItemUnreadable("checkout.session", "cs_odd", ("status",)))
    session = await visit(rehearsal, payment_method_types=("card",))
    assert await seen(rehearsal) == (session.id, ("payment_method_types",))
