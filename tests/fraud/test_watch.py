"""The workers' look: every cluster is told once, without anything personal (decision 18)."""

from datetime import timedelta

import pytest

from orrery.fraud.records import FOUND
from orrery.fraud.watch import EVERY, FraudWatch
from orrery.ports.panels import utc_text
from orrery.ports.processor.errors import ProcessorUnreachable
from orrery.ports.store import Put
from tests.fraud.screen import ADDRESS, CARD, EMAIL, OTHER_ADDRESS, Shop


async def test_a_cluster_is_told_once(shop: Shop) -> None:
    """One push for a cluster, however often the workers look and however it grows; a restart changes nothing."""
    shop.decline(-130, -60, 0)
    await shop.look()
    await shop.look()
    (push,) = shop.pushes()
    assert push.body == (
        "Declined payments: 3 within 2 min 10 s share one client address. Look: `orrery fraud clusters`."
    )
    assert push.priority == "high"
    shop.clock.advance(300)
    shop.decline(-100, -50, 0)
    await shop.look(shop.restarted())
    assert len(shop.pushes()) == 1


async def test_the_push_holds_nothing_personal(shop: Shop) -> None:
    """Neither the address nor the card nor the e-mail address is in a push or in what is kept."""
    shop.decline(-130, -60, 0, card_fingerprint=CARD, email=EMAIL)
    await shop.look()
    stored = await shop.store.scan("", limit=1000)
    assert [
        entry.key for entry in stored if any(one.encode() in entry.value for one in (ADDRESS, CARD, EMAIL))
    ] == []


async def test_what_is_found_together_is_one_push(shop: Shop) -> None:
    """What the declines of one look share is one message, of the newest clusters; the others are counted."""
    shop.decline(-40, -30, -20, card_fingerprint=CARD, email=EMAIL)
    shop.decline(-10, 0)
    shop.decline(-20, -10, -5, address=OTHER_ADDRESS)
    await shop.look()
    (push,) = shop.pushes()
    for described in ("5 within 40 s share one client address", "3 within 15 s share one client address"):
        assert described in push.body
    assert "And 1 more." in push.body


async def test_another_cluster_later_is_told(shop: Shop) -> None:
    """The same address in a new cluster is told again."""
    shop.decline(-20, -10, 0)
    await shop.look()
    shop.clock.advance(3600)
    shop.decline(-20, -10, 0)
    await shop.look()
    assert len(shop.pushes()) == 2


async def test_an_attack_of_two_days_is_told_once(shop: Shop) -> None:
    """A cluster that lasts longer than the workers look back is still the same one."""
    for _ in range(2 * 12):
        shop.clock.advance(7200)
        shop.decline(*range(-7080, 1, 120))
        await shop.look()
    assert len(shop.pushes()) == 1


async def test_a_cluster_that_was_not_looked_up_again_is_not_forgotten(shop: Shop) -> None:
    """After a restart in a long attack only its newest declines are looked up; what was told stays told."""
    shop.decline(-300, -290, -280, address=OTHER_ADDRESS)
    await shop.look()
    shop.decline(*(number / 10 for number in range(-1200, 0)))
    again = shop.restarted()
    shop.clock.advance(1)
    await shop.look(again)
    await shop.look(again)
    assert len(shop.pushes()) == 2


async def test_what_the_processor_stopped_is_told_more_quietly(shop: Shop) -> None:
    """A cluster of which nothing reached a bank is told, with an ordinary priority."""
    shop.decline(-20, -10, 0, network_status="not_sent_to_network")
    await shop.look()
    (push,) = shop.pushes()
    assert "3 of them stopped by the processor" in push.body
    assert push.priority == "default"


async def test_a_failed_look_changes_nothing(shop: Shop) -> None:
    """When the processor cannot be asked, what was found stays, and nothing is told."""
    await shop.look()
    before = await shop.store.get(FOUND)
    shop.decline(-20, -10, 0)
    shop.screen.troubles["list_charges"] = [ProcessorUnreachable("No answer.", same_key=True)]
    with pytest.raises(ProcessorUnreachable):
        await shop.look()
    assert await shop.store.get(FOUND) == before


async def test_what_cannot_be_read_is_written_anew(shop: Shop) -> None:
    """A damaged note of the last look keeps nobody from looking."""
    await shop.store.commit([Put(FOUND, b"{}")])
    shop.decline(-20, -10, 0)
    await shop.look()
    assert len(shop.pushes()) == 1


async def test_the_command_shows_the_id_that_the_workers_know(shop: Shop) -> None:
    """A cluster that has lost its beginning is shown under the id that was told."""
    shop.decline(-80_000, -79_950, -79_900, -79_850)
    await shop.look()
    (told,) = (await shop.fraud.reading.search(timedelta(days=1))).clusters
    (shown,) = (await shop.restarted().reading.search(timedelta(seconds=79_960))).clusters
    assert (shown.id, len(told.declines), len(shown.declines)) == (told.id, 4, 3)


async def test_the_workers_look_every_five_minutes_or_not_at_all() -> None:
    """There is a job when something is sold and the key is there."""
    (job,) = Shop().fraud.parts().jobs
    assert (job.name, job.every) == (FraudWatch.JOB, timedelta(minutes=5))
    assert not Shop(watches=False).fraud.parts().jobs


async def test_the_panel_tells_kinds_and_counts(shop: Shop) -> None:
    """The owner's page shows what was found, without anything personal."""
    assert (await shop.fraud.watch.panel()).headline == "Not looked yet."
    await shop.look()
    assert (await shop.fraud.watch.panel()).tone == "good"
    shop.decline(-20, -10, 0, card_fingerprint=CARD, email=EMAIL)
    await shop.look()
    panel = await shop.fraud.watch.panel()
    assert (panel.headline, panel.tone) == (f"3 in the 24 hours before {utc_text(shop.clock.now())}.", "plain")
    assert {row[1:4] for row in panel.rows} == {
        (name, "3", "0") for name in ("client address", "card", "e-mail address")
    }
    assert not any(one in str(panel) for one in (ADDRESS, CARD, EMAIL))


async def test_the_panel_tells_when_nobody_looks(shop: Shop) -> None:
    """A look that is overdue, and one that never comes, are told as such."""
    await shop.look()
    shop.clock.advance(3 * EVERY.total_seconds() + 1)
    panel = await shop.fraud.watch.panel()
    (found,) = await shop.fraud.watch.findings()
    assert (panel.headline, found.state, found.why) == (found.why, "broken", "The last look was 15 min 1 s ago.")
    assert (await Shop(watches=False).fraud.watch.panel()).tone == "plain"
