"""The demo planet's success page: what it says of each state of a session, and what it remembers (decision 48)."""

import re
from urllib.parse import urlencode

import pytest
from starlette.responses import PlainTextResponse

from tests.support.planet_visitor import BUYER, PRACTICE, Visitor
from tests.support.site_operations import OperationsStub


def test_granted_access_shows_its_end(visitor: Visitor) -> None:
    """The success page of a granted access says until when, and links to the practice page."""
    page = visitor.get(f"/success?session_id={BUYER}").text
    assert "21 November 2027</time>" in page
    assert f'href="{PRACTICE}"' in page


@pytest.mark.parametrize("state", ["open", "pending", "granted", "ended", "failed", "unknown"])
def test_only_a_granted_access_is_called_paid(visitor: Visitor, operations: OperationsStub, state: str) -> None:
    """The words "Payment received" are said of a granted access and of no other session (decision 48)."""
    operations.access = {} if state == "unknown" else {BUYER: state}
    page = shown(visitor.get(f"/success?session_id={BUYER}").text)
    assert ("Payment received" in page) == (state == "granted")


def shown(page: str) -> str:
    """Return what a page shows by itself, without what it holds for later."""
    return re.sub(r"<template.*?</template>", "", page, flags=re.DOTALL)


@pytest.mark.parametrize("state", ["open", "failed"])
def test_who_did_not_pay_may_buy(visitor: Visitor, operations: OperationsStub, state: str) -> None:
    """A buyer whose payment was not completed, or failed, reads that nothing was taken, and is led to the shop."""
    operations.access[BUYER] = state
    page = shown(visitor.get(f"/success?session_id={BUYER}").text)
    assert re.search("Nothing was (charged|taken)", page)
    assert 'class="button" href="/"' in page
    assert "no need to pay again" not in page


@pytest.mark.parametrize("state", ["open", "failed"])
def test_what_opens_nothing_is_not_remembered(buyer: Visitor, operations: OperationsStub, state: str) -> None:
    """A session that was not paid does not take the place of the one that opens the practice page."""
    operations.access["cs_test_other"] = state
    buyer.get("/success?session_id=cs_test_other")
    assert buyer.get(PRACTICE).status_code == 200


def test_pending_access_refreshes_without_javascript(visitor: Visitor, operations: OperationsStub) -> None:
    """While pending, a page without JavaScript reloads itself, more and more slowly."""
    operations.access[BUYER] = "pending"
    page = visitor.get(f"/success?session_id={BUYER}").text
    assert "Confirming your payment…" in page
    pauses: list[int] = []
    while match := re.search(r'http-equiv="refresh" content="(\d+);url=([^"]+)"', page):
        pauses.append(int(match[1]))
        page = visitor.get(match[2].replace("&amp;", "&")).text
    assert pauses == sorted(pauses)
    assert 120 <= sum(pauses) <= 300
    assert "Do not pay again" in page


def test_unreachable_service_leaves_the_success_page_waiting(visitor: Visitor, operations: OperationsStub) -> None:
    """A payer never sees an error because the service is away for a moment: the page goes on asking."""
    operations.answer = PlainTextResponse("", 500)
    page = visitor.get(f"/success?session_id={BUYER}")
    assert page.status_code == 200
    assert 'data-access="pending"' in page.text


def test_ended_access_says_so(visitor: Visitor, operations: OperationsStub) -> None:
    """The success page of an ended access says when it ended."""
    operations.access[BUYER] = "ended"
    page = visitor.get(f"/success?session_id={BUYER}").text
    assert "This access has ended" in page
    assert "it ended on" in page


@pytest.mark.parametrize(
    "session_id", ["cs_test_nobody", "", "../check", f"{BUYER}?x", f"x/../{BUYER}", "cs_\u00e9", "cs_" + "x" * 300]
)
def test_unknown_session_is_a_clear_404(visitor: Visitor, session_id: str) -> None:
    """A session that Orrery does not know is a 404 page and leaves no cookie."""
    page = visitor.get("/success?" + urlencode({"session_id": session_id}))
    assert page.status_code == 404
    assert "We do not know this payment" in page.text
    assert "Set-Cookie" not in page.headers


def test_malformed_session_asks_nobody(visitor: Visitor, operations: OperationsStub) -> None:
    """What cannot be a session id is never put into an address."""
    visitor.get("/success?" + urlencode({"session_id": f"{BUYER}?x"}))
    assert operations.bodies == []


def test_session_cookie_is_kept_from_scripts(visitor: Visitor) -> None:
    """The cookie with the session id is HttpOnly and SameSite=Lax."""
    cookie = visitor.get(f"/success?session_id={BUYER}").headers["Set-Cookie"]
    assert f"={BUYER};" in cookie
    assert "HttpOnly" in cookie
    assert "samesite=lax" in cookie.lower()
