"""The DNS, asked as the machine's other programs ask it."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

import dns.asyncresolver
import dns.exception
import dns.resolver

from orrery.ports.domain_records import RecordsNotRead
from orrery.syntax.lines import one_line

if TYPE_CHECKING:
    from dns.rdtypes.txtbase import TXTBase

SECONDS = 5.0
"""How long one question may take."""


class DnsRecords:
    """See `DomainRecords`. Without a server and a port, those of the machine are asked."""

    def __init__(self, server: str = "", port: int = 53) -> None:
        self._server = server
        self._port = port

    async def texts(self, name: str) -> Sequence[str] | None:
        try:
            resolver = dns.asyncresolver.Resolver(configure=not self._server)
            if self._server:
                resolver.nameservers, resolver.port = [self._server], self._port
            found = await resolver.resolve(f"{name}.", "TXT", lifetime=SECONDS, raise_on_no_answer=False)
        except dns.resolver.NXDOMAIN:
            return None
        except (dns.exception.DNSException, UnicodeError, OSError):
            raise RecordsNotRead(f"The DNS did not answer for {one_line(name, 80)}.") from None
        records = cast("Iterable[TXTBase]", found.rrset or ())
        return [b"".join(one.strings).decode("utf-8", "replace") for one in records]
