"""What the owner signs is one exact text about everything in an intent (decision 15)."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orrery.approvals.intents import Statement, read_statement
from orrery.errors import ApprovalRefused
from orrery.runtime.collection import parse
from orrery.runtime.operations import Intent
from tests.support.clock import START

DIGEST = "7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069"
TEXT = f"orrery approval 1\nintent in-5d0c3e9a1f22\ndigest sha256:{DIGEST}\nat 2026-11-21T12:00:00Z\n"

FIELDS: dict[str, Any] = {
    "id": "in-5d0c3e9a1f22",
    "operation": "block",
    "target": "list_1",
    "body": {"value": "x", "n": 1},
    "before": {"entries": []},
    "summary": "Block x.",
    "reason": "Declines.",
    "deployment": "here",
    "proposed_by": "owner",
    "proposed_at": START,
    "salt": "",
}

CHANGES: dict[str, Any] = {
    "id": "in-5d0c3e9a1f23",
    "operation": "unblock",
    "target": "list_2",
    "body": {"value": "x", "n": 1.5},
    "before": None,
    "summary": "Block y.",
    "reason": "Declines",
    "deployment": "there",
    "proposed_by": "software",
    "proposed_at": START + timedelta(microseconds=1),
    "salt": "5a17",
}

plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
json_values = plain | st.lists(plain) | st.dictionaries(st.text(), plain)


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_the_digest_is_over_everything(field: str) -> None:
    """A change of any field gives another digest."""
    assert Intent(**FIELDS | {field: CHANGES[field]}).digest() != Intent(**FIELDS).digest()


def test_every_field_is_tried() -> None:
    """The test above knows every field."""
    assert set(FIELDS) == set(CHANGES) == set(Intent.model_fields) - {"v"}


def test_the_digest_never_changes() -> None:
    """The digest of a certain intent is the one that it always was: what was signed yesterday counts today."""
    frozen = "5a87bdd7db71dbf77ca9d38421097a7e0c3bf242cf44c5358a712e1493c9ef4f"
    assert Intent(**FIELDS).digest() == frozen


@settings(max_examples=50)
@given(st.dictionaries(st.text(), json_values, max_size=3))
def test_the_digest_survives_the_store(body: dict[str, object]) -> None:
    """Whatever is in a body, an intent that was stored and read again is the same, to the digest."""
    intent = Intent(**FIELDS).model_copy(update={"body": body, "before": body})
    read = parse(Intent, intent.model_dump_json().encode())
    assert read is not None
    assert (read, read.digest()) == (intent, intent.digest())


@pytest.mark.parametrize("stored", [b"", b"{}", b"[]", b"\xff", b'{"v": 2}'])
def test_an_intent_that_cannot_be_read(stored: bytes) -> None:
    """What is no intent of this version is none."""
    assert parse(Intent, stored) is None


def test_a_statement() -> None:
    """A statement is four lines, its time in UTC and whole seconds."""
    at = datetime(2026, 11, 22, 1, 0, 0, 999_999, tzinfo=timezone(timedelta(hours=13)))
    assert Statement("in-5d0c3e9a1f22", DIGEST, at).to_bytes() == TEXT.encode()
    assert read_statement(TEXT) == Statement("in-5d0c3e9a1f22", DIGEST, datetime(2026, 11, 21, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    "text",
    [
        "",
        TEXT[:-1],
        TEXT + "\n",
        TEXT + TEXT,
        " " + TEXT,
        TEXT.replace("\n", "\r\n"),
        TEXT.replace("approval 1", "approval 2"),
        TEXT.replace("in-5d0c3e9a1f22", "in-5D0C3E9A1F22"),
        TEXT.replace("in-5d0c3e9a1f22", "in-5d0c3e9a1f2"),
        TEXT.replace("sha256:", ""),
        TEXT.replace("7f83", "7F83"),
        TEXT.replace("12:00:00Z", "12:00:00+00:00"),
        TEXT.replace("2026-11-21", "2026-02-30"),
        TEXT.replace("12:00", "25:00"),
        TEXT.replace("2026", "\N{ARABIC-INDIC DIGIT TWO}026"),
        TEXT.replace("at ", "reason none\nat "),
    ],
)
def test_no_statement(text: str) -> None:
    """A text that differs in anything is no statement."""
    with pytest.raises(ApprovalRefused, match="no statement"):
        read_statement(text)
