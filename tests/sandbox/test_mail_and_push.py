"""The mail server over real SMTP, and the push server by ntfy's HTTP interface."""

import asyncio
import json
from email.message import EmailMessage

import aiosmtplib
import pytest

from tests.sandbox.conftest import PUSH_TOKEN, Running
from tests.support.waiting import PATIENCE

JSON = {"Accept": "application/json"}
TOKEN = {"Authorization": f"Bearer {PUSH_TOKEN}"}


def send(box: Running, subject: str) -> None:
    """Send a mail to the sandbox."""
    asyncio.run(sending(box, subject))


async def sending(box: Running, subject: str) -> None:
    """Send a mail from within an event loop."""
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "shop@orrery.test", "buyer@example.org", subject
    message["Message-ID"] = "<access-1@orrery.test>"
    message.set_content("Your access runs until 1 March. Kia ora! <b>🪐</b>")
    port = box.app.state.smtp_port
    await aiosmtplib.send(message, hostname="127.0.0.1", port=port, timeout=PATIENCE, start_tls=False)


def mails(box: Running) -> list[dict[str, object]]:
    """Return what the mail page knows."""
    return box.web.get("/mail", headers=JSON).json()


def pushes(box: Running) -> list[dict[str, object]]:
    """Return what the push page knows."""
    return box.web.get("/push", headers=JSON).json()


def test_mail(box: Running) -> None:
    """A mail is kept with its addresses, subject, id and text, newest first."""
    send(box, "First")
    send(box, "Second, ünïcode")
    newest, older = mails(box)[:2]
    assert (newest["subject"], older["subject"]) == ("Second, ünïcode", "First")
    assert newest["to"] == ["buyer@example.org"]
    assert newest["from"] == "shop@orrery.test"
    assert older["message_id"] == "<access-1@orrery.test>"
    assert str(newest["body"]).strip() == "Your access runs until 1 March. Kia ora! <b>🪐</b>"


def test_the_mail_page(box: Running) -> None:
    """People read mails as text: markup in them is not markup of the page."""
    send(box, "<i>Shown</i>")
    page = box.web.get("/mail", headers={"Accept": "text/html"})
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "&lt;i&gt;Shown&lt;/i&gt;" in page.text
    assert "Kia ora! &lt;b&gt;🪐&lt;/b&gt;" in page.text


def test_push_as_json(box: Running) -> None:
    """A message published as JSON is answered and kept as ntfy does."""
    sent = {"topic": "owner", "title": "Sold", "message": "One more 🪐", "priority": 4, "tags": ["tada"]}
    answer = box.web.post("/push", json=sent, headers=TOKEN)
    assert answer.status_code == 200
    assert answer.json() | sent == answer.json()
    assert answer.json()["event"] == "message"
    assert answer.json()["id"]
    assert pushes(box)[0] == answer.json()


def polled(box: Running, topic: str, **asked: str) -> list[dict[str, object]]:
    """Return what is read of a topic."""
    answer = box.web.get(f"/push/{topic}/json", params={"poll": "1"} | asked, headers=TOKEN)
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]


def test_reading_a_topic(box: Running) -> None:
    """A topic's messages are read in the order of their coming, with their sequence ids, for 12 hours."""
    answers: list[dict[str, object]] = []
    for topic, sequence in (("read", {"sequence_id": "s-1"}), ("other", {}), ("read", {})):
        sent = {"topic": topic, "message": "x"} | sequence
        answers.append(box.web.post("/push", json=sent, headers=TOKEN).json())
        box.advance(10)
    first, _, last = answers
    assert first["sequence_id"] == "s-1"
    assert polled(box, "read") == polled(box, "read", since="all") == [first, last]
    assert polled(box, "read", since=str(first["time"])) == [first, last]
    assert polled(box, "read", since=str(last["time"])) == [last]
    assert polled(box, "read", since="none") == []
    box.advance(12 * 3600 - 15)
    assert polled(box, "read") == [last]


def test_a_topic_that_cannot_be_read(box: Running) -> None:
    """A wrong token reads nothing, nor one that may only write; a time that is none is refused."""
    box.fault("push_unreadable")
    for headers, since, status in ((TOKEN, "all", 403), ({}, "all", 401), (TOKEN, "yesterday", 400)):
        asked = {"poll": "1", "since": since}
        assert box.web.get("/push/owner/json", params=asked, headers=headers).status_code == status


def test_the_push_page(box: Running) -> None:
    """People read pushes as text."""
    box.web.post("/push", json={"topic": "owner", "message": "<b>bold</b>"}, headers=TOKEN)
    assert "&lt;b&gt;bold&lt;/b&gt;" in box.web.get("/push").text


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}])
def test_push_without_the_token(box: Running, headers: dict[str, str]) -> None:
    """A publisher without the token is refused and nothing is kept."""
    before = len(pushes(box))
    assert box.web.post("/push", json={"topic": "owner", "message": "x"}, headers=headers).status_code == 401
    assert len(pushes(box)) == before


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"{}", 400),
        (b"not json", 400),
        (b"[]", 400),
        (b'{"topic": "no spaces", "message": "x"}', 400),
        (b'{"topic": "owner", "priority": 6}', 400),
        (b'{"topic": "owner", "message": 1}', 400),
        (b'{"topic": "owner", "sequence_id": "no spaces"}', 400),
        (b'{"topic": "owner", "message": "' + b"x" * 4096 + b'"}', 413),
    ],
)
def test_wrong_pushes(box: Running, content: bytes, status: int) -> None:
    """A message that ntfy would not take is refused in ntfy's shape."""
    answer = box.web.post("/push", content=content, headers=TOKEN)
    assert answer.status_code == status
    assert answer.json()["http"] == status
    assert answer.json()["error"]
