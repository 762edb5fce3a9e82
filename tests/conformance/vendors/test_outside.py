"""How everybody outside is asked: what ends a question, by which way it goes, and what its failure is called."""

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing
from typing import Any

import pytest

from orrery.adapters.delegated_api import HttpDelegatedApi
from orrery.adapters.microsoft_mailbox import client as graph
from orrery.adapters.microsoft_mailbox.client import GraphClient, StateLost
from orrery.outside import NoAnswer, Outside, session
from orrery.ports.comms.errors import MailboxUnreachable
from orrery.ports.delegated import ApiUnreachable
from orrery.trust import WELL_KNOWN
from tests.support.clock import ManualClock
from tests.support.hasty_loop import run_ahead
from tests.support.waiting import PATIENCE

PLAIN = "token"
NOBODY = "http://127.0.0.1:1"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


class Somebody:
    """Takes connections, and reads the beginning of what comes."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def take(self) -> socket.socket:
        """Return a connection, on which a question has arrived."""
        connection, _ = self._listener.accept()
        self._open.append(connection)
        assert connection.recv(65536)
        return connection

    def answer(self, content: bytes) -> None:
        """Answer one question so, and close the connection."""
        with self.take() as connection:
            connection.sendall(content)

    def close(self) -> None:
        """Close all."""
        for one in (self._listener, *self._open):
            one.close()


@pytest.fixture
def somebody() -> Iterator[Somebody]:
    """Run one."""
    with closing(Somebody()) as one:
        yield one


class Tokens:
    """The token of every account: an adapter of the port."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def token(self, account: str) -> str:
        """Return it."""
        del account
        return self._token

    async def forget(self, account: str) -> None:
        """Forget nothing."""
        del account

    async def sign_in(self, account: str, visit: Callable[[str], None]) -> None:
        """Sign nobody in."""
        del account, visit


async def graph_asked(address: str, token: str = PLAIN, link: str = "") -> object:
    """Ask Graph for something, or follow a link that it has given."""
    async with GraphClient(address, "ann", Tokens(token), ManualClock(), WELL_KNOWN).session() as asking:
        return await (asking.follow(address + link) if link else asking.get("/me"))


def outside(url: str, silence: float | None) -> Coroutine[Any, Any, object]:
    """Ask anybody."""
    return Outside("Somebody", 900.0, silence=silence).ask("POST", url, content=b"x")


ENDED: list[tuple[str, Callable[[str], Coroutine[Any, Any, object]], float, str]] = [
    ("the deadline", lambda url: outside(url, None), 900, "Somebody did not answer within 900 s."),
    ("silence", lambda url: outside(url, 60), 60, "Somebody was silent for 60 s."),
    ("silence of Graph", graph_asked, graph.SILENCE, "The mailbox was silent for 10 s."),
]


@pytest.mark.parametrize(("asked", "seconds", "said"), [one[1:] for one in ENDED], ids=[one[0] for one in ENDED])
def test_what_ends_a_question(
    somebody: Somebody, asked: Callable[[str], Coroutine[Any, Any, object]], seconds: float, said: str
) -> None:
    """A question that arrived, and has no answer: the deadline, or silence where that is bounded."""
    with pytest.raises((NoAnswer, MailboxUnreachable), match=said) as ended:
        run_ahead(asked(somebody.url), seconds, somebody.take)
    assert not isinstance(ended.value, NoAnswer) or (ended.value.late, ended.value.sent) == (True, True)


@pytest.mark.parametrize(
    ("address", "token", "link", "kind"),
    [
        ("ftp://127.0.0.1", PLAIN, "", MailboxUnreachable),
        (NOBODY, "t\N{EURO SIGN}ken", "", MailboxUnreachable),
        (NOBODY, PLAIN, "/\ud800", StateLost),
        (NOBODY, PLAIN, "/\x00", StateLost),
    ],
)
def test_only_a_link_of_graphs_is_a_lost_state(
    address: str, token: str, link: str, kind: type[MailboxUnreachable]
) -> None:
    """A wrong address in the settings, or a wrong token, is not read again and again."""
    with pytest.raises(MailboxUnreachable) as failed:
        asyncio.run(graph_asked(address, token, link))
    assert type(failed.value) is kind


@pytest.mark.parametrize("arrives", [True, False])
def test_a_delegated_request_may_be_done(somebody: Somebody, *, arrives: bool) -> None:
    """One that was sent and has no answer says so; one that never left does not."""
    server = threading.Thread(target=somebody.answer, args=(b"",), daemon=True)
    if arrives:
        server.start()
    with pytest.raises(ApiUnreachable) as failed:
        HttpDelegatedApi(somebody.url if arrives else NOBODY).ask("POST", "/orders", "token", b"x", "text/plain")
    assert str(failed.value).endswith("What was asked for may be done all the same.") is arrives


def test_this_machine_is_not_asked_through_a_proxy(somebody: Somebody, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks: the environment's proxy is for what lies outside."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, NOBODY)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for ask in (
        lambda: session(WELL_KNOWN).get(somebody.url, timeout=PATIENCE).status_code,
        lambda: Outside("Somebody", 60.0).ask_at_once("GET", somebody.url).status_code,
    ):
        threading.Thread(target=somebody.answer, args=(OK,), daemon=True).start()
        assert ask() == 200
