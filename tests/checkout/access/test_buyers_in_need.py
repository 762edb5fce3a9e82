"""Which buyers need help, and what to type (issue 39, lines 1 and 5)."""

from datetime import timedelta

from orrery.checkout.access.buyers_in_need import MOST
from orrery.checkout.browser_records import MOST as MOST_BROWSERS
from orrery.checkout.browser_records import AccessBrowsers, OpenedBrowser
from orrery.checkout.records import WithheldSession
from orrery.ports.store import Put
from orrery.runtime import outbox
from orrery.runtime.collection import commit
from orrery.runtime.outbox import Outbox
from orrery.runtime.references import References
from tests.support.checkout import BUYER, INDEX_KEY, Shop, record, stored_access
from tests.support.clock import START

REFUSED = f"550 5.1.1 <{BUYER}>: no such mailbox"


def reference(session_id: str) -> str:
    """Return what a session is called outside."""
    return References.of_store(INDEX_KEY).of(session_id)


async def shop_with_a_refused_email() -> Shop:
    """Return a shop whose mail server refused the e-mail to its only buyer."""
    shop = Shop()
    await shop.store.commit(stored_access(record("cs_1")))
    (write, *_) = outbox.enqueue([outbox.OutboxDraft("buyer-cs_1", "email", "Title", "Body", to=BUYER)], START)
    assert isinstance(write, Put)
    row = outbox.Notification.from_bytes(write.value)
    await shop.store.commit(outbox.stored(row.change(state="dead", last_error=REFUSED)))
    return shop


async def test_a_refused_email_is_a_problem_with_its_buyer() -> None:
    """It has the reference, the product, the masked address, and the command; the address is nowhere."""
    shop = await shop_with_a_refused_email()
    (finding,) = await shop.in_need.findings()
    assert (finding.part, finding.state) == (f"e-mail to {reference('cs_1')}", "broken")
    assert finding.why == "E-mail refused: 550 5.1.1 <the address>: no such mailbox."
    assert str(finding.concern) == "isc2/cissp, a…@example.org, https://processor.example/payments/pi_cs_1"
    assert "@" not in finding.in_a_push
    assert f"`orrery access change-email {reference('cs_1')} ADDRESS --resend --reason refused`" in finding.todo
    assert BUYER not in str(finding)


async def test_shared_accesses_are_counted_however_many_there_are() -> None:
    """The last ones that filled are listed one by one, the others counted; those of the day before are over."""
    shop = Shop()
    for number in range(MOST + 7):
        used = START + timedelta(minutes=number)
        browsers = tuple(
            OpenedBrowser(browser=f"{number}-{one}", opened_at=used, used_at=used) for one in range(MOST_BROWSERS)
        )
        opened = AccessBrowsers(session_id=f"cs_{number}", browsers=browsers)
        await shop.store.commit(stored_access(record(f"cs_{number}")))
        _ = await commit(shop.store, shop.stored.browsers.changes(f"cs_{number}", None, opened))
    shop.clock.advance(timedelta(days=1, minutes=3).total_seconds())
    found = await shop.in_need.findings()
    listed = [f"browsers of {reference(f'cs_{number}')}" for number in reversed(range(7, MOST + 7))]
    assert [one.part for one in found] == [*listed, "browsers of others"]
    assert found[-1].why == "3 more."
    assert found[-1].items == tuple(reference(f"cs_{number}") for number in (6, 5, 4))
    assert len(await shop.in_need.all()) == MOST + 3


async def test_a_corrected_address_ends_it() -> None:
    """Once the record has another address, or the refused e-mail is dropped, its buyer needs no help."""
    shop = await shop_with_a_refused_email()
    await shop.desk.change_email("cs_1", "ann@example.com", "refused")
    assert await shop.in_need.all() == []
    await shop.desk.change_email("cs_1", BUYER, "it was right")
    assert len(await shop.in_need.all()) == 1
    await shop.in_need.drop("cs_1")
    assert await shop.in_need.all() == []
    assert (await Outbox(shop.store, shop.clock, {}).undelivered(None, "dead")).values() == []


async def test_who_waits_too_long_or_was_refused_access() -> None:
    """A payment may take an hour; one that failed needs nobody."""
    shop = Shop()
    await shop.offered("cs_late")
    waiting = WithheldSession(
        session_id="cs_late", state="waiting", reason="unpaid", event_id=None, noted_at=START - timedelta(hours=2)
    )
    for one in (
        waiting,
        waiting.change(session_id="cs_new", noted_at=START - timedelta(minutes=59)),
        waiting.change(session_id="cs_refused", state="refused", reason="another price", noted_at=START),
        waiting.change(session_id="cs_failed", failed_at=START),
    ):
        await shop.store.commit([Put(f"pending:{one.session_id}", one.to_bytes())])
    found = await shop.in_need.all()
    assert [(one.reference, one.why) for one in found] == [
        (reference("cs_refused"), "another price"),
        (reference("cs_late"), "The payment has not arrived"),
    ]
    assert [one.product for one in found] == ["unknown", "isc2/cissp"]
    assert all(one.todo for one in found)
    (late,) = await shop.in_need.findings()
    named = reference("cs_late")
    assert (late.part, late.why, late.severity) == (f"payment of {named}", "The payment has not arrived.", 3)
    assert late.command == f"orrery processor session {named}"
