"""How the sandbox is served: whom it answers, and by https with a certificate of its authority."""

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
_UNUSED = dict.fromkeys(
    (
        "content_commitment",
        "key_encipherment",
        "data_encipherment",
        "key_agreement",
        "encipher_only",
        "decipher_only",
    ),
    False,
)


def authority_file(folder: Path, vendor: str) -> Path:
    """Return the file of the authority's certificate, which a client of `cloud` or `identity` is to trust."""
    return folder / f"{vendor}-ca.pem"


def certificate_of(folder: Path, vendor: str) -> Path:
    """Return the file of the server's key and certificate; it and the authority's are made unless they exist.

    The authority's key is kept nowhere: it has nothing else to sign.
    """
    server, authority = folder / f"{vendor}-server.pem", authority_file(folder, vendor)
    if not (server.exists() and authority.exists()):
        folder.mkdir(parents=True, exist_ok=True)
        shown, secret = _make()
        server.touch(mode=0o600)
        _ = server.write_bytes(secret)
        _ = authority.write_bytes(shown)
    return server


def _make() -> tuple[bytes, bytes]:
    authority_key, server_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    name = _name("The sandbox's own authority")
    own = _builder(name, name, authority_key, authority_key)
    own = own.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    own = own.add_extension(_usage(authority=True), critical=True)
    server = _builder(_name("localhost"), name, server_key, authority_key)
    server = server.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    server = server.add_extension(_usage(authority=False), critical=True)
    addresses = [x509.IPAddress(ipaddress.ip_address(one)) for one in ("127.0.0.1", "::1")]
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), *addresses])
    server = server.add_extension(names, critical=False)
    shown = own.sign(authority_key, hashes.SHA256()).public_bytes(Encoding.PEM)
    secret = server_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return shown, secret + server.sign(authority_key, hashes.SHA256()).public_bytes(Encoding.PEM)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, by: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    by_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(by.public_key())
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_BEGIN)
        .not_valid_after(_END)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(by_key, critical=False)
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(digital_signature=not authority, key_cert_sign=authority, crl_sign=authority, **_UNUSED)
