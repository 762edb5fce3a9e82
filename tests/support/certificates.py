"""Certificates that no public authority signed, and a server that shows one."""

import socket
import ssl
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
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
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file = folder / f"{host}.pem"
    file.write_bytes(secret + certificate.public_bytes(Encoding.PEM))
    return file


def server_context(certificate: Path) -> ssl.SSLContext:
    """Return what a server with this certificate speaks by."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


@contextmanager
def serving_tls(certificate: Path, greeting: tuple[bytes, ...] = ()) -> Generator[int]:
    """Have a server that shows the certificate to whoever connects; yield its port.

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
                        context.wrap_socket(client, server_side=True)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield int(listener.getsockname()[1])
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
