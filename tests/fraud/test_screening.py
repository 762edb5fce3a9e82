"""What may be proposed for the fraud lists, and what is refused with nothing written (decision 18)."""

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from orrery.errors import Invalid, NotConfigured, NotFound
from orrery.fraud.clusters import Trait
from orrery.fraud.entries import BlocklistValue
from orrery.ports.processor import split_unreadable
from orrery.ports.processor.errors import ItemUnreadable, ProcessorUnreachable
from orrery.ports.store import Put
from orrery.runtime.operations import Intent
from tests.fraud.screen import ADDRESS, CARD, EMAIL, OTHER_ADDRESS, Shop

DAY = timedelta(hours=24)
HERE = BlocklistValue("address", ADDRESS)


async def cluster_id(shop: Shop, trait: Trait = "address") -> str:
    """Return the id of the only cluster of a trait."""
    (found,) = [one for one in (await shop.fraud.reading.search(DAY)).clusters if one.trait == trait]
    return found.id


async def refused(shop: Shop, action: Awaitable[Intent], said: str, kind: type[Exception] = Invalid) -> None:
    """See that a proposal is refused with a sentence, and that nothing was written anywhere."""
    before, listed = await shop.intents(), list(shop.screen.listed)
    with pytest.raises(kind, match=said) as error:
        await action
    assert (await shop.intents(), shop.screen.listed) == (before, listed)
    assert not any(one in str(error.value) for one in (ADDRESS, CARD, EMAIL))


async def test_a_proposal_says_what_will_be_sent(shop: Shop) -> None:
    """The intent names list and value, why, and that the value was not there; nothing is changed yet."""
    intent = await shop.fraud.screening.block(
        [BlocklistValue("address", f"::ffff:{ADDRESS}"), BlocklistValue("email", EMAIL)], "testing"
    )
    assert intent.body == {
        "entries": [
            {"list": "client_ip_address_blocklist", "list_id": "rsl_address", "value": ADDRESS},
            {"list": "email_blocklist", "list_id": "rsl_email", "value": EMAIL},
        ]
    }
    assert (intent.operation, intent.reason, intent.before) == ("block-entries", "testing", {"listed": False})
    assert intent.summary == f"Block client address {ADDRESS} and e-mail address {EMAIL}"
    assert (intent.target, shop.screen.listed) == ("client_ip_address_blocklist and email_blocklist", [])


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (
            [BlocklistValue("address", ADDRESS), BlocklistValue("email", EMAIL), BlocklistValue("card", CARD)],
            "At most 2",
        ),
        ([], "Name what is meant"),
        ([HERE, HERE], "twice"),
        ([BlocklistValue("address", "9.9.9.0/24")], "network"),
        ([BlocklistValue("address", "10.0.0.1")], "no public address"),
        ([BlocklistValue("address", "8.8.8.8")], "your own"),
        ([BlocklistValue("address", "2001:4860::1")], "your own"),
        ([BlocklistValue("email", "ann")], "not an e-mail address"),
        ([BlocklistValue("card", "4242")], "16 letters or digits"),
    ],
)
async def test_what_may_not_be_blocked_is_refused(wanted: Sequence[BlocklistValue], said: str, shop: Shop) -> None:
    """More than two entries, a wrong value, a private or an own address: a sentence, and nobody is asked."""
    await refused(shop, shop.fraud.screening.block(wanted, "testing"), said)
    assert shop.screen.asked == []


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501])
async def test_a_reason_is_needed(reason: str, shop: Shop) -> None:
    """Nothing is proposed without a reason."""
    await refused(shop, shop.fraud.screening.block([HERE], reason), "reason")


@pytest.mark.parametrize(
    ("trait", "listed", "wanted"),
    [
        ("address", ADDRESS, f"::ffff:{ADDRESS}"),
        ("address", "2620:FE::FE", OTHER_ADDRESS),
        ("address", "2620:00fe:0:0::00fe", OTHER_ADDRESS),
        ("email", "Ann@Buyers.example", EMAIL),
        ("card", CARD, CARD),
    ],
)
async def test_an_entry_that_exists_is_refused(trait: Trait, listed: str, wanted: str, shop: Shop) -> None:
    """What is on the list already, in whatever form, is not proposed again."""
    one = BlocklistValue(trait, wanted)
    alias = one.blocklist.alias
    shop.screen.put(next(each.id for each in shop.screen.lists if each.alias == alias), listed)
    await refused(shop, shop.fraud.screening.block([one], "testing"), "already")


async def test_a_value_that_is_only_alike_is_no_entry(shop: Shop) -> None:
    """The processor answers values that are like the one asked for: those are other entries."""
    shop.screen.put("rsl_address", f"{ADDRESS}9")
    shop.screen.put("rsl_card", CARD.lower())
    await shop.fraud.screening.block([HERE, BlocklistValue("card", CARD)], "testing")
    await refused(shop, shop.fraud.screening.unblock([HERE], "a mistake"), "not in client_ip_address_blocklist")


async def test_an_entry_that_waits_is_refused(shop: Shop) -> None:
    """What waits in another intent is not proposed twice; once that is withdrawn it can be."""
    first = await shop.fraud.screening.block([HERE], "testing")
    await refused(shop, shop.fraud.screening.block([BlocklistValue("card", CARD), HERE], "again"), first.id)
    await shop.fraud.screening.block([BlocklistValue("card", CARD)], "another value")
    await shop.approvals.withdraw(first.id)
    await shop.fraud.screening.block([HERE], "again")


async def test_an_altered_intent_is_in_nobodys_way(shop: Shop) -> None:
    """An intent that was altered cannot be signed: what it seems to hold counts for nothing."""
    first = await shop.fraud.screening.block([HERE], "testing")
    stored = first.model_dump_json().replace('"entries"', '"spoilt"').encode()
    await shop.store.commit([Put(f"intent:{first.id}", stored)])
    await shop.fraud.screening.block([HERE], "again")


async def test_an_entry_whose_outcome_is_not_known_is_refused(shop: Shop) -> None:
    """While nobody knows whether an entry was added, it is not proposed again."""
    lost = ProcessorUnreachable("No answer.", same_key=True)
    shop.screen.troubles = {"add_entry": [lost]}
    intent = await shop.fraud.screening.block([HERE], "testing")
    shop.screen.troubles["list_entries"] = [lost]
    assert (await shop.sign(intent)).state == "unknown"
    shop.screen.listed.clear()
    await refused(shop, shop.fraud.screening.block([HERE], "again"), intent.id)


async def test_a_missing_list_is_told(shop: Shop) -> None:
    """Without the list of that alias nothing can be blocked; the sentence says what to make."""
    shop.screen.lists = [one for one in shop.screen.lists if one.alias != "client_ip_address_blocklist"]
    said = "no list client_ip_address_blocklist.*ip_address"
    await refused(shop, shop.fraud.screening.block([HERE], "testing"), said, NotConfigured)
    await refused(shop, shop.fraud.screening.unblock([HERE], "testing"), said, NotConfigured)


async def test_a_list_of_another_type_is_told(shop: Shop) -> None:
    """A list of that alias which holds something else is not used."""
    shop.screen.lists = [replace(one, item_type="string") for one in shop.screen.lists]
    said = "items of type string, not ip_address"
    await refused(shop, shop.fraud.screening.block([HERE], "testing"), said, NotConfigured)


async def test_a_cluster_becomes_an_intent_for_its_address(shop: Shop) -> None:
    """By default the client address of a cluster is proposed, and the intent holds what was seen."""
    shop.decline(-20, -10, 0, card_fingerprint=CARD)
    found = await cluster_id(shop, "card")
    intent = await shop.fraud.screening.propose(found, DAY, (), "testing")
    assert intent.summary == f"Block client address {ADDRESS}"
    assert intent.before
    assert (intent.before["listed"], intent.before["cluster"]) == (
        False,
        {
            "id": found,
            "shared": "card",
            "declines": 3,
            "first": "2026-03-01T11:59:40+00:00",
            "last": "2026-03-01T12:00:00+00:00",
        },
    )


async def test_a_cluster_becomes_an_intent_for_card_and_email(shop: Shop) -> None:
    """Card and e-mail address can be proposed instead: two entries."""
    shop.decline(-20, -10, 0, card_fingerprint=CARD, email=EMAIL)
    found = await cluster_id(shop)
    intent = await shop.fraud.screening.propose(found, DAY, ("card", "email"), "testing")
    assert intent.summary == f"Block card {CARD} and e-mail address {EMAIL}"
    await refused(
        shop, shop.fraud.screening.propose(found, DAY, ("address", "card", "email"), "testing"), "At most 2"
    )


async def test_what_a_cluster_does_not_share_is_not_proposed(shop: Shop) -> None:
    """With several cards, or none that is known, the owner has to name one."""
    for number in range(3):
        shop.decline(number, card_fingerprint=f"{CARD[:15]}{number}")
    found = await cluster_id(shop)
    await refused(shop, shop.fraud.screening.propose(found, DAY, ("card",), "testing"), "3 different values")
    await refused(shop, shop.fraud.screening.propose(found, DAY, ("email",), "testing"), "no known value")


async def test_an_own_address_is_not_proposed(shop: Shop) -> None:
    """A cluster of one's own tests is shown, but its address is not blocked."""
    shop.decline(-20, -10, 0, address="8.8.8.8")
    await refused(
        shop, shop.fraud.screening.propose(await cluster_id(shop), DAY, (), "testing"), "one of your own"
    )


async def test_an_unknown_cluster_is_refused(shop: Shop) -> None:
    """A cluster that is not among the charges of that time is not found."""
    await refused(
        shop, shop.fraud.screening.propose("fc-none", DAY, (), "testing"), "no cluster fc-none", NotFound
    )


async def test_letting_go_names_the_entry(shop: Shop) -> None:
    """An intent to let go holds the entry's id; whatever form the list has, it is found."""
    entry = shop.screen.put("rsl_email", "Ann@Buyers.example")
    intent = await shop.fraud.screening.unblock([BlocklistValue("email", EMAIL)], "a mistake")
    assert intent.body == {
        "entries": [
            {
                "list": "email_blocklist",
                "list_id": "rsl_email",
                "value": "Ann@Buyers.example",
                "entry_id": entry.id,
            }
        ]
    }
    assert intent.summary == f"Unblock e-mail address {EMAIL}"
    await refused(shop, shop.fraud.screening.unblock([BlocklistValue("email", EMAIL)], "again"), intent.id)


async def test_letting_go_in_every_spelling(shop: Shop) -> None:
    """What somebody typed twice, in two spellings, is let go twice: else it would stay blocked."""
    for value in (EMAIL.upper(), EMAIL):
        shop.screen.put("rsl_email", value)
    intent = await shop.fraud.screening.unblock([BlocklistValue("email", EMAIL)], "a buyer after all")
    assert (await shop.sign(intent)).state == "done"
    assert shop.screen.values("rsl_email") == []


async def test_letting_go_spares_a_letter_that_looks_like_another(shop: Shop) -> None:
    """An entry with the Kelvin sign, whose lower case is the ASCII k, is another one."""
    shop.screen.put("rsl_email", "\N{KELVIN SIGN}ate@buyers.example")
    kate = BlocklistValue("email", "kate@buyers.example")
    await refused(shop, shop.fraud.screening.unblock([kate], "a buyer after all"), "not in email_blocklist")


async def test_two_values_in_several_spellings(shop: Shop) -> None:
    """Two values of which one is there twice would be three entries: they are let go one at a time."""
    for list_id, value in (("rsl_email", EMAIL.upper()), ("rsl_email", EMAIL), ("rsl_card", CARD)):
        shop.screen.put(list_id, value)
    wanted = [BlocklistValue("email", EMAIL), BlocklistValue("card", CARD)]
    await refused(shop, shop.fraud.screening.unblock(wanted, "both"), "one at a time")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ([HERE], "not in client_ip_address_blocklist"),
        ([], "Name what is meant"),
        ([HERE, BlocklistValue("email", EMAIL), BlocklistValue("card", CARD)], "At most 2"),
    ],
)
async def test_letting_go_of_what_is_not_there_is_refused(
    wanted: Sequence[BlocklistValue], said: str, shop: Shop
) -> None:
    """What is not on its list cannot be taken off, and neither can three at once."""
    await refused(shop, shop.fraud.screening.unblock(wanted, "a mistake"), said)


async def test_lists_are_shown_by_alias(shop: Shop) -> None:
    """Every list is shown, also those that nothing here writes to; an unknown one is refused."""
    shop.screen.put("rsl_bin", "424242")
    lists, _ = split_unreadable(await shop.fraud.screening.lists())
    assert [one.alias for one in lists] == [
        "card_bin_blocklist",
        "card_fingerprint_blocklist",
        "client_ip_address_blocklist",
        "email_blocklist",
    ]
    entries, _ = split_unreadable(await shop.fraud.screening.entries("card_bin_blocklist"))
    assert [one.value for one in entries] == ["424242"]
    with pytest.raises(NotFound, match="There is no list nothing; there are: card_bin"):
        await shop.fraud.screening.entries("nothing")


async def test_a_processor_that_is_away_is_no_bad_input(shop: Shop) -> None:
    """When the lists or the charges cannot be read, that is said, and nothing is proposed."""
    trouble = ProcessorUnreachable("No answer.", same_key=True)
    shop.screen.troubles = {"list_value_lists": [trouble], "list_charges": [trouble]}
    await refused(shop, shop.fraud.screening.block([HERE], "testing"), "No answer", ProcessorUnreachable)
    await refused(
        shop, shop.fraud.screening.propose("fc-1", DAY, (), "testing"), "No answer", ProcessorUnreachable
    )


async def test_an_entry_that_cannot_be_read(shop: Shop) -> None:
    """Nothing is proposed while an entry that cannot be read might have the value and no other has it."""
    shop.screen.unreadable.append(ItemUnreadable("radar.value_list_item", "rsli_odd", ("created",)))
    wanted = [BlocklistValue("email", "thief@example.org")]
    with pytest.raises(ItemUnreadable):
        await shop.fraud.screening.block(wanted, "fraud")
    shop.screen.put("rsl_email", "thief@example.org")
    with pytest.raises(Invalid, match="already"):
        await shop.fraud.screening.block(wanted, "fraud")
