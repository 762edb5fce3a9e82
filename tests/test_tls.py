"""What is said of a connection that TLS does not let be made."""

import errno
import ssl
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from orrery.tls import tls_trouble, unreachable
from tests.support.certificates import HOST, make_certificate, refused, server_context

DAY = timedelta(days=1)


def handshake(server: ssl.SSLContext, client: ssl.SSLContext, host: str = HOST) -> ssl.SSLError:
    """Return the error by which a client refuses a server."""
    error = refused(server, client, host)
    assert error is not None
    return error


def trusting(certificate: Path) -> ssl.SSLContext:
    """Return a client that knows the authority of a certificate."""
    return ssl.create_default_context(cafile=str(certificate))


def test_an_expired_certificate(tmp_path: Path) -> None:
    """That a certificate has expired is said, with the two things that may be wrong."""
    certificate = make_certificate(tmp_path, begins=-2 * DAY, lasts=DAY)
    said = tls_trouble("GitHub", handshake(server_context(certificate), trusting(certificate)))
    assert (
        said == "GitHub's certificate has expired: check this machine's clock; if it is right, it must be renewed."
    )


def test_a_certificate_of_tomorrow(tmp_path: Path) -> None:
    """A certificate that is not valid yet points to the clock."""
    certificate = make_certificate(tmp_path, begins=DAY)
    said = tls_trouble("GitHub", handshake(server_context(certificate), trusting(certificate)))
    assert said == "GitHub's certificate is not valid yet: check this machine's clock."


def test_an_unknown_authority(tmp_path: Path) -> None:
    """A certificate that nobody known has signed points to what may open the connection on its way."""
    certificate = make_certificate(tmp_path)
    said = tls_trouble("GitHub", handshake(server_context(certificate), ssl.create_default_context()))
    assert said.startswith("GitHub's certificate comes from an unknown authority: check whether a proxy")
    assert said.endswith("named in the settings by tls.ca_file.")


@pytest.mark.parametrize("host", ["another.example", "127.0.0.1"])
def test_another_host_name(tmp_path: Path, host: str) -> None:
    """A certificate of another host points to the address in the settings."""
    certificate = make_certificate(tmp_path)
    said = tls_trouble("GitHub", handshake(server_context(certificate), trusting(certificate), host))
    assert said == "GitHub's certificate names another host: check the address in the settings."


def test_a_server_that_speaks_no_tls() -> None:
    """A server of plain HTTP on the port is no certificate's fault, and is said as that."""
    here = ssl.create_default_context().wrap_bio(plain := ssl.MemoryBIO(), ssl.MemoryBIO(), server_hostname=HOST)
    plain.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with pytest.raises(ssl.SSLError) as raised:
        here.do_handshake()
    said = tls_trouble("The processor", raised.value)
    assert said.startswith("The processor does not speak TLS as expected (")
    assert said.endswith("): check the address and the port in the settings.")


class ClientError(Exception):
    """A client's own error, with the reason where some libraries put it."""

    reason: object = None


def in_args(inside: Exception) -> Exception:
    """Hide an error as requests does."""
    return ClientError("Max retries exceeded", inside)


def in_reason(inside: Exception) -> Exception:
    """Hide an error as urllib3 does."""
    error = ClientError("no text")
    error.reason = inside
    return error


def in_cause(inside: Exception) -> Exception:
    """Hide an error as most clients do."""
    error = ClientError("no text")
    error.__cause__ = inside
    return error


def in_context(inside: Exception) -> Exception:
    """Hide an error as those do who raise another one `from None`."""
    error = ClientError("no text")
    error.__context__, error.__suppress_context__ = inside, True
    return error


@pytest.mark.parametrize("hide", [in_args, in_reason, in_cause, in_context])
def test_the_reason_is_found_wherever_a_client_puts_it(hide: Callable[[Exception], Exception]) -> None:
    """The TLS error decides, however deep it lies; an error that leads back to itself ends the search."""
    inside = ssl.SSLCertVerificationError()
    inside.verify_code, inside.verify_message = 10, "certificate has expired"
    outer = hide(hide(inside))
    inside.__context__ = outer
    assert tls_trouble("GitHub", outer).startswith("GitHub's certificate has expired")


def test_a_refusal_of_another_kind() -> None:
    """What no sentence of ours is for keeps OpenSSL's own words."""
    error = ssl.SSLCertVerificationError()
    error.verify_code, error.verify_message = 26, "unsuitable certificate purpose"
    assert (
        tls_trouble("GitHub", error) == "GitHub's certificate cannot be verified (unsuitable certificate purpose)."
    )


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), "connection refused"),
        (RuntimeError("of a client", OSError(errno.EHOSTUNREACH, "No route to host")), "no route to host"),
        (ssl.SSLEOFError(), "the connection failed"),
        (ssl.SSLZeroReturnError(), "the connection failed"),
        (TimeoutError(), "no answer came in time"),
    ],
)
def test_the_network_is_no_certificate(error: Exception, words: str) -> None:
    """A connection that is refused, late or cut is the network's trouble, and is named in words."""
    assert tls_trouble("GitHub", error) == ""
    assert unreachable("GitHub", error) == f"GitHub cannot be reached: {words}."
