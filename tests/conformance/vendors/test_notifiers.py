"""Push and mail by their adapters, against the sandbox: what arrives, and which refusals are permanently."""

import asyncio
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
import stamina
from aiosmtpd.smtp import SMTP, Envelope, Session
from starlette.responses import PlainTextResponse

from orrery.adapters.heartbeat import HttpHeartbeat
from orrery.adapters.ntfy import NtfyNotifier
from orrery.adapters.smtp import Relay, SmtpNotifier
from orrery.ports.notifier import DeliveryFailed, Notifier, OutgoingMessage, Priority
from tests.support.clock import START, ManualClock
from tests.support.ports import nobody_listening
from tests.support.running_sandbox import PUSH_TOKEN, Running
from tests.support.serving import served
from tests.support.tables import each_case

JSON = {"Accept": "application/json"}
NOTE = OutgoingMessage(
    "owner-cs_1", "Sold: CISSP ✓", "CISSP, 49.00 USD.", priority="high", tags=("tada", "warning")
)
MAIL = OutgoingMessage(
    "buyer-cs_1", "Your access to CISSP", "Thank you, žluťoučký 🪐.\n\nThe sellers\n", "ann@example.org"
)


def push(box: Running, token: str | None = PUSH_TOKEN, topic: str = "sales") -> NtfyNotifier:
    """Return the push notifier."""
    return NtfyNotifier(f"{box.url}/push", topic, token)


def mail(box: Running, **other: object) -> SmtpNotifier:
    """Return the mail notifier."""
    fields: dict[str, object] = {
        "host": "127.0.0.1",
        "port": box.app.state.smtp_port,
        "sender": "The Shop <shop@example.org>",
        "security": "none",
    }
    return SmtpNotifier(Relay(**(fields | other)), ManualClock())  # pyright: ignore[reportArgumentType] fields by name


def failure(notifier: Notifier, message: OutgoingMessage = NOTE) -> DeliveryFailed:
    """Return how the sending fails."""
    with pytest.raises(DeliveryFailed) as failed:
        asyncio.run(notifier.send(message))
    assert PUSH_TOKEN not in str(failed.value)
    assert "@" not in str(failed.value)
    return failed.value


@contextmanager
def answering(status: int) -> Generator[str]:
    """Run a server that answers everything with that status; return its address."""
    with served(PlainTextResponse("no", status)) as url:
        yield url


@pytest.fixture
def unused() -> Iterator[int]:
    """A port without a listener."""
    with nobody_listening() as port:
        yield port


def test_a_push(box: Running) -> None:
    """Title, text, priority and tags arrive at the topic."""
    asyncio.run(push(box).send(NOTE))
    newest = box.web.get("/push", headers=JSON).json()[0]
    assert (newest["topic"], newest["title"], newest["message"]) == ("sales", NOTE.title, NOTE.body)
    assert (newest["priority"], newest["tags"]) == (4, ["tada", "warning"])


@pytest.mark.parametrize(("priority", "number"), [("low", 2), ("default", 3), ("high", 4), ("urgent", 5)])
def test_priorities(box: Running, priority: Priority, number: int) -> None:
    """Our priorities are the push service's."""
    asyncio.run(push(box).send(OutgoingMessage("x", "t", "b", priority=priority)))
    assert box.web.get("/push", headers=JSON).json()[0]["priority"] == number


@pytest.mark.parametrize("unit", ["a", "é", "字", "🪐"])
def test_a_long_push_is_cut(box: Running, unit: str) -> None:
    """A text beyond what the service takes as a message is cut, and arrives in any alphabet."""
    asyncio.run(push(box).send(OutgoingMessage("x", unit * 1000, unit * 10_000)))
    newest = box.web.get("/push", headers=JSON).json()[0]
    assert newest["message"].startswith(unit * 100)
    assert set(newest["message"]) == {unit}
    assert len(newest["message"].encode()) <= 4096


@pytest.mark.parametrize("fault", ["push_500", "push_403", "push_413", "push_429"])
def test_a_push_to_be_tried_again(box: Running, fault: str) -> None:
    """Trouble of the service, and refusals that the owner can lift, are for now."""
    box.fault(fault)
    assert not failure(push(box)).permanent
    asyncio.run(push(box).send(NOTE))


@pytest.mark.parametrize("token", ["wrong", None])
def test_a_push_with_a_wrong_token(box: Running, token: str | None) -> None:
    """A wrong or missing token is the owner's to mend: no message is given up for it."""
    assert not failure(push(box, token)).permanent


def test_a_push_that_is_wrong(box: Running) -> None:
    """A message that the service can never take is refused permanently."""
    assert failure(push(box, topic="not a topic")).permanent


@pytest.mark.parametrize("token", ["tökén", "with\nline", "\x00"])
def test_a_token_that_cannot_be_sent(box: Running, token: str) -> None:
    """A token that fits no header is a failure like any other, and is not repeated in it."""
    failed = failure(push(box, token))
    assert not failed.permanent
    assert token not in str(failed)


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}", "http://", "nonsense", "http://[::1", "http://x y"])
def test_a_push_service_that_is_not_there(url: str, unused: int) -> None:
    """An address that does not answer, or is none, is tried again."""
    assert not failure(NtfyNotifier(url.format(port=unused), "sales")).permanent


async def pushed_to_a_server_that_breaks_off() -> None:
    """Push to a server that accepts, and closes the connection within its answer's body."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        await NtfyNotifier(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", "sales").send(NOTE)


def test_a_push_service_that_breaks_off() -> None:
    """What was accepted is sent, whatever becomes of the rest of the answer."""
    asyncio.run(pushed_to_a_server_that_breaks_off())


def arrived(notifier: NtfyNotifier, since: datetime, *sequences: str) -> list[bool]:
    """Return which messages the push service has."""
    received = asyncio.run(notifier.received(since))
    return [received(replace(NOTE, sequence=one)) for one in sequences]


def test_what_the_push_service_has(box: Running) -> None:
    """A push is known by its sequence, within its topic, since when it is asked, for as long as it is kept."""
    began = box.clock.now()
    for sequence in ("a" * 64, "b-1"):
        asyncio.run(push(box, topic="asked").send(replace(NOTE, sequence=sequence)))
        box.advance(60)
    asyncio.run(push(box, topic="asked").send(NOTE))
    assert arrived(push(box, topic="asked"), began, "a" * 64, "b-1", "c", "") == [True, True, False, False]
    assert arrived(push(box, topic="asked"), began + timedelta(seconds=30), "a" * 64, "b-1") == [False, True]
    assert arrived(push(box), began, "b-1") == [False]
    box.advance(12 * 3600)
    assert arrived(push(box, topic="asked"), began, "b-1") == [False]


@pytest.mark.parametrize("sequence", ["", "no spaces", "ü", "a" * 65, "a\n"])
def test_a_sequence_that_ntfy_would_refuse(box: Running, sequence: str) -> None:
    """It is left out, and the push arrives."""
    asyncio.run(push(box).send(replace(NOTE, sequence=sequence)))
    assert "sequence_id" not in box.web.get("/push", headers=JSON).json()[0]


def unanswered(notifier: NtfyNotifier) -> DeliveryFailed:
    """Return why the push service does not list its messages."""
    with pytest.raises(DeliveryFailed) as failed:
        asyncio.run(notifier.received(START))
    return failed.value


def test_a_topic_that_cannot_be_read(box: Running, unused: int) -> None:
    """A token that may not read is refused for as long as it is used; whatever else fails is asked again."""
    box.fault("push_unreadable")
    assert unanswered(push(box)).permanent
    assert unanswered(push(box, "wrong")).permanent
    assert not unanswered(NtfyNotifier(f"http://127.0.0.1:{unused}", "sales")).permanent
    for status in (429, 500, 502):
        with answering(status) as url:
            assert not unanswered(NtfyNotifier(url, "sales")).permanent


def test_whether_a_push_may_have_been_taken(box: Running, unused: int) -> None:
    """A refused push was not taken; a server that fails, or does not answer, may have taken it."""
    for fault, refused in (("push_429", True), ("push_403", True), ("push_500", False)):
        box.fault(fault)
        assert failure(push(box)).refused is refused
    assert not failure(NtfyNotifier(f"http://127.0.0.1:{unused}", "sales")).refused


@each_case(
    "body",
    [
        "<html>",
        "[]\n7\n\n{}",
        '{"event": "message", "id": "s"}',
        '{"event": "message_delete", "sequence_id": "s"}',
        '{"event": "open", "sequence_id": "s"}',
        '{"event": "message", "sequence_id": 7}',
    ],
)
def test_answers_that_name_no_message(body: str) -> None:
    """What is in front of a push service, an older one, and other events: the push counts as not arrived."""
    with served(PlainTextResponse(body)) as url:
        notifier = NtfyNotifier(url, "sales")
        assert arrived(notifier, START, "s") == [False]


def test_a_check_says_that_the_topic_cannot_be_read(box: Running) -> None:
    """A token that may only write is well, with a remark."""
    assert asyncio.run(push(box).check()) == ""
    box.fault("push_unreadable")
    remark = asyncio.run(push(box).check())
    assert remark == (
        "A push may come twice after a crash: let push_token read the topic, too. The push service answered 403."
    )


def test_checking_the_push_service(box: Running, unused: int) -> None:
    """A check asks for health and sends nothing."""
    before = len(box.web.get("/push", headers=JSON).json())
    asyncio.run(push(box).check())
    assert len(box.web.get("/push", headers=JSON).json()) == before
    with pytest.raises(DeliveryFailed):
        asyncio.run(NtfyNotifier(f"http://127.0.0.1:{unused}", "sales").check())


def test_a_mail(box: Running) -> None:
    """Addresses, subject, id and text arrive; the id repeats with the message, and no machine is answered."""
    for _ in range(2):
        asyncio.run(mail(box).send(MAIL))
    newest, older = box.web.get("/mail", headers=JSON).json()[:2]
    assert (newest["from"], newest["to"]) == ("shop@example.org", ["ann@example.org"])
    assert (newest["subject"], str(newest["body"]).replace("\r\n", "\n")) == (MAIL.title, MAIL.body)
    assert newest["message_id"] == older["message_id"] == "<buyer-cs_1@example.org>"
    assert newest["headers"]["Auto-Submitted"] == "auto-generated"


def test_a_mail_of_two_forms(box: Running) -> None:
    """The page comes beside the text, and both addresses of a site before those of the mail server."""
    site = {
        "body": "žluťoučký <🪐>\n\nStart: https://north.example/?a=1&b=2\n\nTax: none: 0\n",
        "language": "cs",
        "sender": "North <north@example.net>",
        "reply_to": "help@example.net",
    }
    asyncio.run(mail(box).send(replace(MAIL, **site)))
    newest = box.web.get("/mail", headers=JSON).json()[0]
    assert str(newest["body"]).replace("\r\n", "\n") == site["body"]
    parts = ('lang="cs"', ">žluťoučký &lt;🪐&gt;</p>", 'a=1&amp;b=2">Start</a>', ">Tax</th>", ">none: 0</td>")
    assert [part in str(newest["html"]) for part in parts] == [True] * len(parts)
    assert newest["headers"]["Content-Type"].startswith("multipart/alternative;")
    assert (newest["from"], newest["headers"]["Reply-To"]) == ("north@example.net", "help@example.net")
    assert newest["message_id"] == "<buyer-cs_1@example.net>"


@pytest.mark.parametrize(("fault", "permanent"), [("mail_451", False), ("mail_550", True), ("mail_sender", False)])
def test_a_refused_mail(box: Running, fault: str, permanent: bool) -> None:  # noqa: FBT001  pytest passes parameters by position
    """What the server refuses for now is tried again; what it refuses permanently is not."""
    box.fault(fault)
    assert failure(mail(box), MAIL).permanent is permanent


def test_a_mail_server_that_is_not_there(unused: int) -> None:
    """A server that is not there is tried again."""
    relay = Relay("127.0.0.1", unused, "shop@example.org", "none")
    assert not failure(SmtpNotifier(relay, ManualClock()), MAIL).permanent


@pytest.mark.parametrize("security", ["tls", "starttls"])
def test_a_mail_server_without_encryption(box: Running, security: str) -> None:
    """Where encryption is asked for and not to be had, nothing is sent in clear."""
    before = len(box.web.get("/mail", headers=JSON).json())
    assert not failure(mail(box, security=security), MAIL).permanent
    assert len(box.web.get("/mail", headers=JSON).json()) == before


def test_a_mail_server_that_knows_no_password(box: Running) -> None:
    """A log-in that fails is the owner's to mend: no message is given up for it."""
    assert not failure(mail(box, username="shop", password="pass-word"), MAIL).permanent  # noqa: S106  a test's own text


@each_case(
    "address",
    [
        "",
        "ann",
        "ann@",
        "@example.org",
        "ann@example.org\nBcc: x@example.org",
        "ann@example.org\r\n",
        "ann@exa mple.org",
        "ann@example.org, bob@example.org",
        "ann@example.org; bob@example.org",
        "Ann <ann@example.org>, bob@example.org",
        "undisclosed: ann@example.org, bob@example.org;",
        "\x00@example.org",
        "=?utf-8?q?bob=40example.com=2C?=@example.org",
        "=?utf-8?q?=0D=0ABcc=3A_bob=40example.com?=@example.org",
        "a" * 70 + "@" + "b" * 300 + ".org",
    ],
)
def test_an_address_that_is_none(box: Running, address: str) -> None:
    """What is not one address is refused permanently, reaches no address, and adds no header."""
    before = len(box.web.get("/mail", headers=JSON).json())
    email = OutgoingMessage("x", "t", "b", address)
    assert failure(mail(box), email).permanent
    assert len(box.web.get("/mail", headers=JSON).json()) == before


def test_an_address_beyond_ascii(box: Running) -> None:
    """An address in another alphabet is written to where the server can."""
    asyncio.run(mail(box).send(OutgoingMessage("x", "t", "b", "jürgen@exämple.org")))
    assert box.web.get("/mail", headers=JSON).json()[0]["to"] == ["jürgen@exämple.org"]


def test_a_subject_of_several_lines(box: Running) -> None:
    """A title with line ends is one subject, and adds no header."""
    asyncio.run(mail(box).send(OutgoingMessage("x", "one\r\nBcc: bob@example.org\ntwo", "b", "ann@example.org")))
    newest = box.web.get("/mail", headers=JSON).json()[0]
    assert newest["subject"] == "one Bcc: bob@example.org two"
    assert newest["to"] == ["ann@example.org"]
    assert "Bcc" not in newest["headers"]


class Mute(SMTP):
    """A mail server that keeps every message, and does `at_quit` instead of answering QUIT."""

    def __init__(self, at_quit: Callable[[], object]) -> None:
        super().__init__(self, hostname="mute.example.test", loop=asyncio.get_running_loop())
        self._at_quit = at_quit

    async def handle_DATA(self, _server: SMTP, _session: Session, _envelope: Envelope) -> str:  # noqa: N802  aiosmtpd's name
        """Keep one message."""
        return "250 2.0.0 Kept"

    async def smtp_QUIT(self, _argument: str | None) -> None:  # noqa: N802  aiosmtpd's name
        """Leave the farewell without an answer."""
        self._at_quit()


async def sent_to_a_mute_server() -> None:
    """Send to a server that keeps the message; the sending is cancelled when that server is asked to QUIT."""
    asked, senders = asyncio.Event(), list[asyncio.Task[None]]()

    def give_up() -> None:
        senders[0].cancel()
        asked.set()

    server = await asyncio.get_running_loop().create_server(lambda: Mute(give_up), "127.0.0.1", 0)
    async with server:
        relay = Relay("127.0.0.1", server.sockets[0].getsockname()[1], "shop@example.org", "none")
        senders.append(asyncio.create_task(SmtpNotifier(relay, ManualClock()).send(MAIL)))
        await senders[0]
        await asked.wait()


def test_a_mail_server_that_answers_no_farewell() -> None:
    """What was accepted is sent: a deadline that ends while the farewell is not answered does not undo that."""
    asyncio.run(sent_to_a_mute_server())


def test_checking_the_mail_server(box: Running) -> None:
    """A check greets the server and sends nothing."""
    before = len(box.web.get("/mail", headers=JSON).json())
    asyncio.run(mail(box).check())
    assert len(box.web.get("/mail", headers=JSON).json()) == before


def test_a_heartbeat() -> None:
    """An address that answers has heard the heartbeat."""
    with answering(200) as url:
        asyncio.run(HttpHeartbeat(url).send())


@pytest.mark.parametrize("status", [404, 410, 500, 302])
def test_a_heartbeat_that_is_refused(status: int) -> None:
    """Any other answer is a failure with its status."""
    with answering(status) as url, pytest.raises(DeliveryFailed, match=str(status)):
        asyncio.run(HttpHeartbeat(f"{url}/marked-value").send())


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}/marked-value", "nonsense", "http://[::1"])
def test_a_heartbeat_that_nobody_hears(url: str, unused: int) -> None:
    """An address that does not answer, or is none, is a failure that does not repeat it."""
    with stamina.set_testing(True, attempts=3, cap=True), pytest.raises(DeliveryFailed) as failed:
        asyncio.run(HttpHeartbeat(url.format(port=unused)).send())
    assert "marked-value" not in str(failed.value)
