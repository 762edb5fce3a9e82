"""The files of the cloud's certificate, in the sandbox's data folder."""

from pathlib import Path

from orrery.sandbox import authority

CA_FILE = "cloud-ca.pem"
"""The authority's certificate: what a client is to trust."""

SERVER_FILE = "cloud-server.pem"
"""The server's key and certificate, beside it."""


def certificate_of(folder: Path) -> Path:
    """Return the file of the server's key and certificate; both files are made unless they are there."""
    return authority.certificate_of(folder, CA_FILE, SERVER_FILE)
