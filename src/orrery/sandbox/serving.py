"""How the sandbox is served: whom it answers, and by https with its own certificate."""

import asyncio
import ipaddress
import socket
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN = frozenset({"same-origin", "none"})


class Guard:
    """Refuses another host name, by which a page elsewhere could reach this machine, and what such a page sends.

    A browser names a request's origin (`Sec-Fetch-Site`, or at least `Origin`); a program sends neither.
    `hosts` are further names that the sandbox is served under.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] = ()) -> None:
        self._app = app
        self._hosts = HOSTS.union(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, unless it is refused."""
        if scope["type"] == "http" and (why := self._refusal(scope)):
            await PlainTextResponse(why, 403)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> str:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if _host_name(f"//{host}") not in self._hosts:
            return "The sandbox answers to the names of this machine only.\n"
        if scope["method"] in _SAFE:
            return ""
        own = f"{scope['scheme']}://{host}"
        # A form of our own pages, which send no referrer, has the origin "null".
        site = headers.get("sec-fetch-site", "none" if headers.get("origin", own) == own else "cross-site")
        if site not in _OWN:
            return "A page of another site may change nothing in the sandbox.\n"
        return ""


def _host_name(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


async def listen(app: ASGIApp, listener: socket.socket, certificate: Path) -> None:
    """Serve the app by https with that certificate until cancelled, which cuts every connection."""
    settings = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=2,
        ssl_certfile=certificate,
    )
    server = uvicorn.Server(settings)
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        # A client that keeps its connection would be waited for, and the loop could not be closed before it went.
        for connection in list(server.server_state.connections):
            connection.transport.abort()
        server.should_exit = True
        await serving
        raise


_BEGIN, _END = datetime(2020, 1, 1, tzinfo=UTC), datetime(2099, 12, 31, tzinfo=UTC)
_NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
_ADDRESSES = [x509.IPAddress(ipaddress.ip_address(one)) for one in ("127.0.0.1", "::1")]
_USAGE = x509.KeyUsage(
    digital_signature=True,
    key_cert_sign=False,
    crl_sign=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)


def authority_file(folder: Path, vendor: str) -> Path:
    """Return the file of the certificate alone, which a client of `cloud` or `identity` is to trust."""
    return folder / f"{vendor}-ca.pem"


def certificate_of(folder: Path, vendor: str) -> Path:
    """Return the file of the server's key and certificate; it and the one to trust are made unless they exist.

    The certificate is signed by its own key, and signs no other: who reads the key speaks for this machine
    alone.
    """
    server, authority = folder / f"{vendor}-server.pem", authority_file(folder, vendor)
    if not (server.exists() and authority.exists()):
        folder.mkdir(parents=True, exist_ok=True)
        key = ec.generate_private_key(ec.SECP256R1())
        shown = _certificate(key).public_bytes(Encoding.PEM)
        server.touch(mode=0o600)
        _ = server.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + shown)
        _ = authority.write_bytes(shown)
    return server


def _certificate(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(_NAME)
        .issuer_name(_NAME)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_BEGIN)
        .not_valid_after(_END)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_USAGE, critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost"), *_ADDRESSES]), critical=False)
        .add_extension(identifier, critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
        .sign(key, hashes.SHA256())
    )
