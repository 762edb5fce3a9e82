"""The trusted certificate authorities: the well-known ones, and those of one file (decision 0048).

Every client for the outside takes its TLS context from here. Reading the certificates takes longer than a request,
so a context is created when it is first needed, and shared.
"""

from __future__ import annotations

import ssl
from functools import cached_property
from typing import TYPE_CHECKING

import httpx2

from orrery.errors import Invalid

if TYPE_CHECKING:
    from pathlib import Path


class Trust:
    """The TLS contexts of one deployment's clients; they trust the certificates in `ca_file`, too.

    Raises `Invalid` when the file holds no certificate, `OSError` and `UnicodeDecodeError` when it cannot be read.
    """

    def __init__(self, ca_file: Path | None = None) -> None:
        self._added = certificates(ca_file.read_text(encoding="utf-8")) if ca_file else ""

    @cached_property
    def web(self) -> ssl.SSLContext:
        """The context of web clients; `SSL_CERT_FILE` and `SSL_CERT_DIR` count as in `httpx2`."""
        return self._with_added(httpx2.create_ssl_context())

    @cached_property
    def mail(self) -> ssl.SSLContext:
        """The context of the mail client, with the system's authorities."""
        return self._with_added(ssl.create_default_context())

    def of_session(self) -> ssl.SSLContext | None:
        """Return a new context for one session of `requests`, or None where its own is enough.

        The session adds its bundle of well-known authorities, so no other client may have the same context.
        """
        if not self._added:
            return None
        from urllib3.util import create_urllib3_context  # noqa: PLC0415  it comes with `requests`, which few load

        return self._with_added(create_urllib3_context())

    def _with_added(self, context: ssl.SSLContext) -> ssl.SSLContext:
        if self._added:
            context.load_verify_locations(cadata=self._added)
            # The owner's certificate is trusted, even if it is not a root authority.
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        return context


def certificates(text: str) -> str:
    """Return a text of PEM certificates as TLS takes it; raise `Invalid` when one is broken, or none is there."""
    plain = text.encode("ascii", "replace").decode()  # bundles have names in any script between the certificates
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=plain)
    except (ssl.SSLError, ValueError):
        raise Invalid("holds no certificates in the form of PEM, or a broken one") from None
    return plain


WELL_KNOWN = Trust()
"""The default, without an authority of the owner's own."""
