"""References stand for sessions wherever an id must not go (decision 46)."""

import re

import pytest

from orrery.owner.references import References, as_reference

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


@pytest.mark.parametrize("session_id", IDS)
@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "Session {}: unpaid.",
        "email buyer-{} was refused",
        "The record access:{} can not be read",
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


@pytest.mark.parametrize(
    "text", ["docs_page", "evt_1 pi_1 ch_1", "owner_keys", "import_1", "Sold: CISSP", "price_cs"]
)
def test_other_texts_stay(text: str) -> None:
    """What is no session id stays as it is, and so does a text with references."""
    assert REFERENCES.within(text) == text
    referred = REFERENCES.within(f"{text} {SESSION}")
    assert REFERENCES.within(referred) == referred


def test_typed_reference() -> None:
    """A reference is known however it was typed; a session id, or half a reference, is none."""
    reference = REFERENCES.of(SESSION)
    assert as_reference(f" {reference.upper()} ") == reference
    assert [as_reference(one) for one in (SESSION, reference[:-1], f"{reference}0", "")] == [None] * 4
