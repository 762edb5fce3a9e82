"""The mail server over real SMTP, and the push server by ntfy's HTTP interface."""

import asyncio
import json
from email.message import EmailMessage

import aiosmtplib

from tests.support.running_sandbox import PUSH_TOKEN, Running
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


def test_the_mail_page(box: Running) -> None:
    """People read mails as text: markup in them is not markup of the page."""
    send(box, "<i>Shown</i>")
    page = box.web.get("/mail", headers={"Accept": "text/html"})
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "&lt;i&gt;Shown&lt;/i&gt;" in page.text
    assert "Kia ora! &lt;b&gt;🪐&lt;/b&gt;" in page.text


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


def test_the_push_page(box: Running) -> None:
    """People read pushes as text."""
    box.web.post("/push", json={"topic": "owner", "message": "<b>bold</b>"}, headers=TOKEN)
    assert "&lt;b&gt;bold&lt;/b&gt;" in box.web.get("/push").text
