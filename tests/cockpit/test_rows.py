"""Rows of the list: ids, order and what the page gets of a message."""

import base64
import json
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.cockpit.errors import NotARow
from orrery.cockpit.rows import LONGEST_TEXT, RowId, merged, newest_first, parse_row_id, row_of
from orrery.ports.comms.messages import MailboxMessage, Priority
from tests.support.tables import each_case

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def message(
    source_id: str = "m-1", *, minutes: int = 0, priority: Priority = "normal", **texts: str
) -> MailboxMessage:
    """Return a mail that came some minutes before noon."""
    given_texts: dict[str, Any] = {
        "sender": "Bo",
        "address": "bo@lab.example",
        "subject": "Hello",
        "preview": "Hi",
        **texts,
    }
    return MailboxMessage(
        "mail", source_id, **given_texts, received_at=AT - timedelta(minutes=minutes), priority=priority
    )


def encoded(value: object) -> str:
    """Return what looks like an id and holds this."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@given(
    st.builds(
        RowId,
        st.sampled_from(["A", "B"]),
        st.text(min_size=1),
        st.sampled_from(["mail", "teams", "meeting", "action-hub"]),
        st.text(min_size=1),
    )
)
def test_an_id_holds_its_parts(row_id: RowId) -> None:
    """Whatever the account and the vendor's id are, both come back."""
    assert parse_row_id(str(row_id)) == row_id


def test_an_id_is_fit_for_an_address() -> None:
    """It needs no escaping in a query."""
    assert str(RowId("A", "ann@corp.example", "mail", "AAk/+=ä")).replace("-", "").replace("_", "").isalnum()


@each_case(
    "text",
    [
        "",
        "x",
        "ä",
        "e30",
        "A" * 5000,
        "===",
        "%2e%2e",
        encoded([]),
        encoded(["A", "a@b", "mail"]),
        encoded(["C", "a@b", "mail", "1"]),
        encoded(["A", "a@b", "fax", "1"]),
        encoded(["A", "", "mail", "1"]),
        encoded(["A", "a@b", "mail", ""]),
        encoded(["A", "a@b", "mail", 1]),
        encoded({"track": "A"}),
        encoded("A"),
        base64.urlsafe_b64encode(b"[" * 3000).decode(),
        encoded(["A", "a@b", "mail", "1"]) + "=",
        " " + encoded(["A", "a@b", "mail", "1"]),
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    """Whatever is no id is one sentence; no two texts are the same id."""
    with pytest.raises(NotARow):
        parse_row_id(text)


@given(st.text())
def test_any_text_is_an_id_or_refused(text: str) -> None:
    """Nothing else is raised."""
    with suppress(NotARow):
        assert str(parse_row_id(text)) == text


def test_rows_are_kept_newest_first() -> None:
    """Lists that are kept so are merged so, whatever is urgent."""
    old_urgent = row_of("A", "a", message("1", minutes=90, priority="high"), 80)
    new_urgent = row_of("A", "a", message("2", minutes=5, priority="high"), 80)
    newest = row_of("A", "a", message("3", minutes=1), 50)
    lowest = row_of("B", "b", message("4", minutes=0, priority="low"), 20)
    expected = [lowest, newest, new_urgent, old_urgent]
    assert newest_first([lowest, newest, old_urgent, new_urgent]) == expected
    assert list(merged([newest_first([lowest, old_urgent]), newest_first([newest, new_urgent])])) == expected


def test_what_the_page_gets() -> None:
    """A row has the fields of decision 35, and what the page needs to offer its actions."""
    shown = json.loads(row_of("B", "ann@lab.example", message("m-1"), 50, date(2026, 3, 2)).shown())
    assert shown.pop("id") == str(RowId("B", "ann@lab.example", "mail", "m-1"))
    assert shown == {
        "source": "mail",
        "sender": "Bo",
        "subject": "Hello",
        "preview": "Hi",
        "received_at": "2026-03-01T12:00:00Z",
        "priority": "normal",
        "track": "B",
        "account": "ann@lab.example",
        "web_link": "",
        "score": 50,
        "replyable": True,
        "until": "2026-03-02",
        "ends_at": None,
        "is_all_day": False,
        "reason": None,
        "address": "",
        "warning": "",
    }


def test_texts_of_others_are_one_plain_line() -> None:
    """Line ends, control and direction characters, half a character and a megabyte do not reach the page."""
    hostile = "a\nb\r\0\x1b[31m\u202egnp.exe\u2066\ud800" + "x" * 1_000_000
    shown = json.loads(row_of("A", "a", message(sender=hostile, subject=hostile, preview=hostile), 50).shown())
    for name in ("sender", "subject", "preview"):
        assert shown[name].isprintable()
        assert len(shown[name]) == LONGEST_TEXT


@each_case(
    "address",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "//evil.example",
        "/api/comms/rows",
        "https://",
        "http://[::1",
        "https://a.example/\u202e",
        "https://a.example/ x\ny",
        "https://a.example/" + "x" * 3000,
        "ftp://a.example",
        "JaVaScRiPt:alert(1)",
    ],
)
def test_only_web_addresses_are_links(address: str) -> None:
    """What else a vendor says is left out."""
    assert json.loads(row_of("A", "a", message(web_link=address), 50).shown())["web_link"] == ""


def test_a_web_address_is_a_link() -> None:
    """It stays as it is."""
    address = "https://mail.example/read?id=1#x"
    assert json.loads(row_of("A", "a", message(web_link=address), 50).shown())["web_link"] == address


def test_without_an_address_nobody_is_replied_to() -> None:
    """Its row says so, and the page has no button for it (decision 35)."""
    assert not row_of("A", "a", message(address=""), 50).is_replyable
