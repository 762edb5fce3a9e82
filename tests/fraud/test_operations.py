"""What an approved intent does to the lists, in part, too, and what the incident log says of it."""

import pytest

from orrery.approvals.progress import UNDER_WAY, IntentProgress
from orrery.errors import Invalid, OrreryError
from orrery.fraud.entries import BlocklistValue
from orrery.fraud.incidents import Incident
from orrery.ports.processor.errors import ProcessorRefused, ProcessorUnreachable
from orrery.ports.store import Delete, Put
from orrery.runtime.operations import Intent
from tests.fraud.screen import ADDRESS, EMAIL, Shop

BOTH = [BlocklistValue("address", ADDRESS), BlocklistValue("email", EMAIL)]
LOST = ProcessorUnreachable("The answer was lost.", same_key=True)
REFUSED = ProcessorRefused(f"No {EMAIL}.", status=400)


async def proposed(shop: Shop, *troubles: OrreryError | None) -> Intent:
    """Propose two entries; the calls that add them will meet these troubles."""
    intent = await shop.fraud.screening.block(BOTH, "testing")
    shop.screen.troubles["add_entry"] = list(troubles)
    return intent


async def listed(shop: Shop) -> Intent:
    """Put both on their lists, and propose to take them off."""
    shop.screen.put("rsl_address", ADDRESS)
    shop.screen.put("rsl_email", EMAIL)
    return await shop.fraud.screening.unblock(BOTH, "a mistake")


async def last(shop: Shop) -> Incident:
    """Return the newest incident."""
    return (await shop.fraud.incident_log()).incidents[0]


async def settled(shop: Shop, intent: Intent) -> IntentProgress:
    """Settle an intent once it can no longer be under way."""
    shop.clock.advance(UNDER_WAY.total_seconds() + 1)
    return await shop.approvals.settle(intent.id)


async def test_an_approved_intent_adds_both(shop: Shop) -> None:
    """Each entry is added by one call under a key of its own, made from the intent's id."""
    intent = await proposed(shop)
    progress = await shop.sign(intent)
    assert (shop.screen.values("rsl_address"), shop.screen.values("rsl_email")) == ([ADDRESS], [EMAIL])
    assert shop.screen.keys == [f"orrery-{intent.id}-1", f"orrery-{intent.id}-2"]
    assert (progress.state, progress.note) == ("done", "Added to client_ip_address_blocklist and email_blocklist.")


async def test_an_approved_intent_removes_both(shop: Shop) -> None:
    """Both entries are taken off."""
    progress = await shop.sign(await listed(shop))
    assert (progress.state, shop.screen.listed) == ("done", [])


async def test_a_refused_second_entry_is_told_exactly(shop: Shop) -> None:
    """When the first was added and the second refused, the log says which is which."""
    progress = await shop.sign(await proposed(shop, None, REFUSED))
    assert progress.state == "failed"
    said = "Entry 1 was added to client_ip_address_blocklist; entry 2, for email_blocklist, was refused: "
    assert (await last(shop)).note == progress.note == f"{said}No the value."
    assert (shop.screen.values("rsl_address"), shop.screen.values("rsl_email")) == ([ADDRESS], [])


async def test_a_refused_second_removal_is_told_exactly(shop: Shop) -> None:
    """When somebody else took the second one off meanwhile, the log says so."""
    intent = await listed(shop)
    shop.screen.listed.pop()
    progress = await shop.sign(intent)
    assert progress.note.startswith(
        "Entry 1 was removed from client_ip_address_blocklist; entry 2, for email_block"
    )


async def test_a_refused_first_entry_ends_it(shop: Shop) -> None:
    """When the first is refused, the second is not tried: nothing was changed."""
    progress = await shop.sign(await proposed(shop, REFUSED))
    assert (progress.state, shop.screen.listed, len(shop.screen.keys)) == ("failed", [], 1)


async def test_an_entry_that_somebody_added_meanwhile_is_told(shop: Shop) -> None:
    """What got onto the list between proposal and signature is refused by the processor, and told."""
    intent = await shop.fraud.screening.block(BOTH[:1], "testing")
    shop.screen.put("rsl_address", ADDRESS)
    assert (await shop.sign(intent)).state == "failed"
    assert "resource_already_exists" in (await last(shop)).note


async def test_a_lost_answer_is_settled_by_reading(shop: Shop) -> None:
    """When the second answer is lost though it was added, reading shows that both are there."""
    progress = await shop.sign(await proposed(shop, None, LOST))
    assert (progress.state, (await last(shop)).outcome) == ("done", "done")


async def test_a_part_after_a_lost_answer_is_told(shop: Shop) -> None:
    """When only the first is there after a lost answer, it says so, and so does settling it."""
    intent = await proposed(shop, None, LOST)
    shop.screen.troubles["list_entries"] = [LOST]
    assert (await shop.sign(intent)).state == "unknown"
    assert (await last(shop)).outcome == "not known: settle it"
    shop.screen.listed.pop()
    progress = await settled(shop, intent)
    said = "Reading shows that entry 1 is in client_ip_address_blocklist and entry 2 is not in email_blocklist."
    assert (progress.state, progress.note) == ("failed", said)
    assert ((await last(shop)).outcome, (await last(shop)).note) == ("failed", said)
    with pytest.raises(Invalid, match="nothing to settle: the intent is failed"):
        await shop.approvals.settle(intent.id)


async def test_a_part_right_after_a_lost_answer_is_not_final(shop: Shop) -> None:
    """A call whose answer was lost may still arrive: until then the part is told, and nothing is concluded."""
    intent = await listed(shop)
    shop.screen.troubles["remove_entry"] = [LOST]
    progress = await shop.sign(intent)
    said = "entry 1 is no longer in client_ip_address_blocklist and entry 2 is still in email_blocklist"
    assert progress.state == "unknown"
    assert said in progress.note
    assert (await settled(shop, intent)).state == "failed"


async def test_the_incident_log_tells_what_was_done(shop: Shop) -> None:
    """Each intent is one incident: its entries and reason from the intent, its outcome from the approval log."""
    blocked = await shop.fraud.screening.block(BOTH[:1], "three declines")
    await shop.sign(blocked)
    shop.clock.advance(60)
    released = await shop.fraud.screening.unblock(BOTH[:1], "a mistake")
    found = await shop.fraud.incident_log()
    assert [(one.action, one.reason, one.outcome, one.intent_id) for one in found.incidents] == [
        ("unblock", "a mistake", "waits for your signature", released.id),
        ("block", "three declines", "done", blocked.id),
    ]
    assert [entry.value for entry in found.incidents[1].entries] == [ADDRESS]
    assert found.broken_at is None


async def test_a_refused_approval_does_not_change_an_incident(shop: Shop) -> None:
    """Somebody else's signature is refused: the incident still waits."""
    intent = await shop.fraud.screening.block(BOTH[:1], "testing")
    with pytest.raises(Invalid):
        await shop.approvals.sign(intent.id, shop.approvals.statement(intent).to_bytes(), b"nobody's")
    assert (await last(shop)).outcome == "waits for your signature"


async def test_an_intent_from_before_a_restore_is_void(shop: Shop) -> None:
    """What waited when the store was restored can no longer be signed, and the incident log says so."""
    intent = await shop.fraud.screening.block(BOTH[:1], "testing")
    await shop.store.commit([Delete(f"approval:{intent.id}")])
    assert (await last(shop)).outcome == "void: the store was restored since, or its record cannot be read"
    await shop.fraud.screening.block(BOTH[:1], "again")


async def test_an_altered_intent_is_no_incident_to_believe(shop: Shop) -> None:
    """When an intent is no longer what the log says was proposed, its entries and reason are not shown."""
    intent = await shop.fraud.screening.block(BOTH[:1], "testing")
    altered = intent.model_copy(update={"reason": "another"}).model_dump_json().encode()
    await shop.store.commit([Put(f"intent:{intent.id}", altered)])
    incident = await last(shop)
    assert (incident.entries, incident.reason) == ((), "(the intent is gone or altered)")


async def test_a_broken_approval_log_is_told(shop: Shop) -> None:
    """The incident log says from where on the approval log cannot be believed."""
    await shop.sign(await shop.fraud.screening.block(BOTH[:1], "testing"))
    entry = (await shop.store.scan("approval-log:"))[1]
    await shop.store.commit([Put(entry.key, entry.value.replace(b"started", b"done"))])
    assert (await shop.fraud.incident_log()).broken_at == 2


async def test_what_is_erased_and_what_only_seems_so(shop: Shop) -> None:
    """An erased intent is told as erased; one that was altered before, or put back altered, as altered."""
    intent = await shop.fraud.screening.block(BOTH[:1], "testing")
    await shop.sign(intent)
    await shop.approvals.erase(intent.id, "asked")
    assert (await last(shop)).reason == "(erased)"
    altered = intent.model_copy(update={"reason": "another"})
    put_back = Put(f"intent:{intent.id}", altered.model_dump_json().encode())
    await shop.store.commit([put_back])
    assert (await last(shop)).reason == "(the intent is gone or altered)"

    other = await shop.fraud.screening.block(BOTH[1:], "testing")
    altered = other.model_copy(update={"reason": "another"})
    await shop.store.commit(
        [Put(f"intent:{other.id}", altered.model_dump_json().encode()), Delete(f"approval:{other.id}")]
    )
    await shop.approvals.erase(other.id, "asked")
    assert (await last(shop)).reason == "(the intent is gone or altered)"
