"""References stand for sessions wherever an id must not go (decision 46)."""

import re

import pytest

from orrery.ports.notifier import DeliveryFailed, OutgoingMessage
from orrery.runtime.references import References, ReferringNotifier, as_reference
from tests.support.clock import START
from tests.support.notifiers import ScriptedNotifier
from tests.support.tables import each_case

KEY = b"k" * 32
REFERENCES = References.of_store(KEY)
SESSION = "cs_test_a1B2c3D4e5F6"
IDS = [SESSION, "cs_live_Zz9", "cs_1", f"owner_{'0a' * 12}", f"import_{'f1' * 12}"]


def test_reference_is_stable_and_easy_to_copy() -> None:
    """A session has one reference, of twelve letters and digits of which none looks like another."""
    assert REFERENCES.of(SESSION) == References.of_store(KEY).of(SESSION)
    assert re.fullmatch("ref_[0-9abcdefghjkmnpqrstvwxyz]{12}", REFERENCES.of(SESSION))


def test_reference_needs_the_key() -> None:
    """Another store gives the same session another reference, and each session has its own."""
    assert References.of_store(b"o" * 32).of(SESSION) != REFERENCES.of(SESSION)
    assert len({REFERENCES.of(one) for one in IDS}) == len(IDS)


def test_key_is_not_shown() -> None:
    """Who prints the object does not see its key."""
    assert repr(REFERENCES) == "References()"


@each_case("session_id", IDS)
@each_case(
    "text",
    [
        "{}",
        "Session {}: unpaid.",
        "email buyer-{} was refused",
        "The record access:{} cannot be read",
        "withheld-{}-another-price",
        "/guided/api/access/{}?x=1",
        "{}, {} and {}",
    ],
)
def test_no_id_stays_in_a_text(session_id: str, text: str) -> None:
    """Every id in a text gives way to its reference, and the rest of the text stays."""
    assert REFERENCES.within(text.replace("{}", session_id)) == text.replace("{}", REFERENCES.of(session_id))


@pytest.mark.parametrize("text", [rf"'first\n{SESSION}'", f"session_id%3D{SESSION}"])
def test_id_behind_a_letter(text: str) -> None:
    """An id is found behind an escaped line break and in a quoted address too."""
    assert SESSION not in REFERENCES.within(text)


@each_case("text", ["docs_page", "evt_1 pi_1 ch_1", "owner_keys", "import_1", "Sold: CISSP", "price_cs"])
def test_other_texts_stay(text: str) -> None:
    """What is no session id stays as it is, and so does a text with references."""
    assert REFERENCES.within(text) == text
    referred = REFERENCES.within(f"{text} {SESSION}")
    assert REFERENCES.within(referred) == referred


def test_typed_reference() -> None:
    """A reference is known however it was typed; a session id, or half a reference, is none."""
    reference = REFERENCES.of(SESSION)
    assert as_reference(f" {reference.upper()} ") == reference
    assert as_reference(f" {REFERENCES.number_of(SESSION).lower()}") == reference
    assert REFERENCES.number_of(SESSION, "NW-2026-0017") == "NW-2026-0017"
    assert [as_reference(one) for one in (SESSION, reference[:-1], f"{reference}0", "")] == [None] * 4


async def test_push_leaves_without_session_ids() -> None:
    """A push names sessions by references in its id, title and text."""
    taken = ScriptedNotifier()
    push = OutgoingMessage(
        f"withheld-{SESSION}-unpaid", f"About {SESSION}", f"Session {SESSION}: unpaid.", priority="high"
    )
    await ReferringNotifier(taken, REFERENCES).send(push)
    reference = REFERENCES.of(SESSION)
    expected = OutgoingMessage(
        f"withheld-{reference}-unpaid", f"About {reference}", f"Session {reference}: unpaid.", priority="high"
    )
    assert taken.accepted == [expected]


async def test_links_get_their_keys_when_they_leave() -> None:
    """A link in an e-mail, and nothing else in it, gets the key of its session and generation."""
    taken, to = ScriptedNotifier(), REFERENCES.link_to(SESSION, 2)
    link = f"https://north.example/guided/open?link={to}"
    mail = OutgoingMessage("x", "t", f"Open: {link}\nlink={to}", "ann@example.org")
    await ReferringNotifier(taken, REFERENCES).send(mail)
    (sent,) = taken.accepted
    key = REFERENCES.key_of_link(to.partition(".")[0], 2)
    assert sent.body == f"Open: {link}.{key}\nlink={to}"
    assert len({REFERENCES.key_of_link(one, number) for one in ("a", "b") for number in (1, 2)}) == 4


async def test_an_earlier_releases_mail_keeps_the_ticket_in_its_text_only() -> None:
    """An e-mail's id and title, which become headers, name the session by its reference; an old one has the id."""
    taken = ScriptedNotifier()
    mail = OutgoingMessage(f"buyer-{SESSION}", f"Order {SESSION}", f"Your order: {SESSION}", "ann@example.org")
    await ReferringNotifier(taken, REFERENCES).send(mail)
    (sent,) = taken.accepted
    assert (sent.id, sent.title) == (f"buyer-{REFERENCES.of(SESSION)}", f"Order {REFERENCES.of(SESSION)}")
    assert (sent.body, sent.to) == (f"Your order: {SESSION}", "ann@example.org")


async def test_a_sequence_takes_the_key() -> None:
    """What a receiver knows a message by tells nothing of it, and is another beside another store's key."""
    taken, other = ScriptedNotifier(), ScriptedNotifier()
    messages = [OutgoingMessage(SESSION, "t", "b", sequence=one) for one in ("x", "y", "x")]
    for message in messages:
        await ReferringNotifier(taken, REFERENCES).send(message)
        await ReferringNotifier(other, References.of_store(b"another")).send(message)
    sequences = {one.sequence for one in taken.accepted + other.accepted}
    assert len(sequences) == 4
    assert all(re.fullmatch(r"[0-9a-f]{32}", one) for one in sequences)


async def test_what_has_arrived_is_known_through_the_references() -> None:
    """The receiver is asked by what it was sent."""
    notifier = ReferringNotifier(ScriptedNotifier(), REFERENCES)
    sent, other = (OutgoingMessage("a", "t", "b", sequence=one) for one in ("x", "y"))
    await notifier.send(sent)
    received = await notifier.received(START)
    assert (received(sent), received(other)) == (True, False)


async def test_trouble_of_the_notifier_is_passed_on() -> None:
    """A receiver that is unwell, or refuses, is seen through the references."""
    refusal = DeliveryFailed("No.", permanent=True)
    notifier = ReferringNotifier(ScriptedNotifier(troubles=[refusal], unwell=refusal), REFERENCES)
    with pytest.raises(DeliveryFailed):
        await notifier.send(OutgoingMessage("a", "b", "c"))
    with pytest.raises(DeliveryFailed):
        await notifier.check()
