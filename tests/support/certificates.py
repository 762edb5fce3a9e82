"""Certificates that no public authority signed, private authorities, and a server that shows a certificate."""

import socket
import ssl
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

HOST = "localhost"
TODAY = datetime.now(UTC)  # noqa: TID251  OpenSSL compares with the machine's own clock


def make_certificate(
    folder: Path, *, host: str = HOST, begins: timedelta = -timedelta(days=1), lasts: timedelta = timedelta(days=2)
) -> Path:
    """Write a self-signed certificate and its key into one file; it is its own authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(TODAY + begins)
        .not_valid_after(TODAY + begins + lasts)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / f"{host}.pem"
    file.write_bytes(_secret(key) + certificate.public_bytes(Encoding.PEM))
    return file


@dataclass(frozen=True)
class Authority:
    """A certificate authority. `file` holds its certificate alone, as an owner is given it."""

    file: Path
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def certify(self, host: str = HOST, *others: str) -> Path:
        """Write a server's certificate and key into one file, and the authority's certificate behind them."""
        key = ec.generate_private_key(ec.SECP256R1())
        shown = _signed(host, key, self.certificate.subject, self.key, hosts=(host, *others))
        file = self.file.with_name(f"{host}-by-{self.file.name}")
        both = shown.public_bytes(Encoding.PEM) + self.certificate.public_bytes(Encoding.PEM)
        file.write_bytes(_secret(key) + both)
        return file

    def below(self, name: str = "below") -> "Authority":
        """Return an authority that this one has signed."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = _signed(name, key, self.certificate.subject, self.key)
        return Authority(_write(self.file.with_name(f"{name}.pem"), certificate), certificate, key)


def make_authority(folder: Path, name: str = "authority") -> Authority:
    """Return a new authority, whose certificate is `<name>.pem` in the folder."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    certificate = _signed(name, key, subject, key)
    return Authority(_write(folder / f"{name}.pem", certificate), certificate, key)


def _signed(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: x509.Name,
    by: ec.EllipticCurvePrivateKey,
    hosts: tuple[str, ...] = (),
) -> x509.Certificate:
    """Return a certificate for a server's hosts, or without hosts for an authority."""
    is_authority = not hosts
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(TODAY - timedelta(days=1))
        .not_valid_after(TODAY + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(by.public_key()), critical=False)
        .add_extension(_usage(is_authority=is_authority), critical=True)
    )
    if hosts:
        names = x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts])
        builder = builder.add_extension(names, critical=False)
    return builder.sign(by, hashes.SHA256())


def _usage(*, is_authority: bool) -> x509.KeyUsage:
    unused = ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "crl_sign")
    return x509.KeyUsage(
        digital_signature=not is_authority,
        key_cert_sign=is_authority,
        encipher_only=False,
        decipher_only=False,
        **dict.fromkeys(unused, False),
    )


def _secret(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _write(file: Path, certificate: x509.Certificate) -> Path:
    file.write_bytes(certificate.public_bytes(Encoding.PEM))
    return file


def server_context(certificate: Path) -> ssl.SSLContext:
    """Return what a server with this certificate speaks by."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def refused(server: ssl.SSLContext, client: ssl.SSLContext, host: str = HOST) -> ssl.SSLError | None:
    """Return the error by which a client refuses a server, if it does, without a socket between them."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    there = server.wrap_bio(to_server, to_client, server_side=True)
    here = client.wrap_bio(to_client, to_server, server_hostname=host)
    waiting = [here, there]
    while waiting:
        for side in tuple(waiting):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLError as error:
                return error
            waiting.remove(side)
    return None


def shake_hands(context: ssl.SSLContext, client: socket.socket) -> None:
    """Begin TLS with a client, as its server; raise OSError where the client refuses or leaves.

    `wrap_socket` leaves a socket unclosed when the client leaves at once, of which a later test then learns.
    """
    received, to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(received, to_send, server_side=True)
    while True:
        try:
            tls.do_handshake()
        except ssl.SSLWantReadError:
            client.sendall(to_send.read())
            if not (data := client.recv(65536)):
                raise ConnectionResetError from None
            received.write(data)
        else:
            return client.sendall(to_send.read())


@contextmanager
def serving_tls(certificate: Path, greeting: tuple[bytes, ...] = ()) -> Generator[int]:
    """Have a server that shows the certificate to anyone who connects; yield its port.

    Each line of `greeting` is sent in clear, all but the first as the answer to a line: the way to STARTTLS.
    """
    context = server_context(certificate)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    with client, suppress(OSError):
                        for number, line in enumerate(greeting):
                            _ = client.recv(1000) if number else b""
                            client.sendall(line)
                        shake_hands(context, client)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield int(listener.getsockname()[1])
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
