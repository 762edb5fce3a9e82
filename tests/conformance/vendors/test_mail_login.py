"""The mail server that wants STARTTLS and a password, by our own adapter.

The loop is the service's: it closes at its end what TLS has not taken leave of, where asyncio's own loop warns.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import pytest
import uvloop

from orrery.adapters.smtp import Relay, SmtpNotifier
from orrery.ports.notifier import DeliveryFailed, OutgoingMessage
from orrery.sandbox.app import MailLogin
from orrery.trust import Trust
from tests.support.certificates import HOST, make_certificate, server_context
from tests.support.clock import ManualClock
from tests.support.running_sandbox import Receiver, Running, running

USER, PASSWORD = "shop@example.org", "a-password-of-tests"
MAIL = OutgoingMessage("buyer-1", "Your access", "Thank you.", "ann@example.org")


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Run a sandbox whose mail server knows one user, and whose certificate our adapter trusts."""
    folder = tmp_path_factory.mktemp("strict")
    certificate = make_certificate(folder)
    login = MailLogin(server_context(certificate), USER, PASSWORD)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SSL_CERT_FILE", str(certificate))
        with running(folder, Receiver(), change=lambda config: replace(config, mail_login=login)) as one:
            yield one


def mail(
    box: Running, security: Literal["starttls", "none"], username: str | None, password: str | None
) -> SmtpNotifier:
    """Return our adapter with a log-in."""
    port: int = box.app.state.smtp_port
    relay = Relay(HOST, port, "shop@example.org", security, username, password)
    # What all share may have read the certificates before the environment named this one.
    return SmtpNotifier(relay, ManualClock(), Trust())


def kept(box: Running) -> list[str]:
    """Return the subjects of the mail that was taken."""
    return [one["subject"] for one in box.web.get("/mail", headers={"Accept": "application/json"}).json()]


def test_the_right_password(strict: Running) -> None:
    """After STARTTLS the one user may send."""
    notifier = mail(strict, "starttls", USER, PASSWORD)
    uvloop.run(notifier.check())
    uvloop.run(notifier.send(MAIL))
    assert kept(strict) == [MAIL.title]


@pytest.mark.parametrize(
    ("security", "username", "password"),
    [
        ("starttls", USER, "another-password"),
        ("starttls", "another@example.org", PASSWORD),
        ("starttls", None, None),
        ("none", USER, PASSWORD),
        ("none", None, None),
    ],
)
def test_who_may_not_send(
    strict: Running, security: Literal["starttls", "none"], username: str | None, password: str | None
) -> None:
    """A wrong password, none, and a connection in clear are refused, and nothing is kept."""
    before = kept(strict)
    with pytest.raises(DeliveryFailed) as failed:
        # Not uvloop: its loop cannot be closed at once while a refused connection still is.
        asyncio.run(mail(strict, security, username, password).send(MAIL))
    assert not failed.value.permanent
    assert kept(strict) == before
