"""The records of a sender's domain, asked of a DNS server on this machine."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import cast

import dns.message
import dns.rcode
import dns.rrset
import pytest

from orrery.adapters.dns_records import DnsRecords
from orrery.ports.domain_records import RecordsNotRead
from orrery.runtime.sender_records import sender_records
from tests.support.tables import each_case

SPF, DMARC = "v=spf1 include:mail.example -all", "v=DMARC1; p=none"
KEY = "v=DKIM1; k=rsa; p=MIGf"
WELL = {"shop.example": [SPF, "other=1"], "_dmarc.shop.example": [DMARC], "s1._domainkey.shop.example": [KEY]}

Zone = Mapping[str, Sequence[str]]


class Server(asyncio.DatagramProtocol):
    """A DNS server with TXT records; a name is there if it has records, or a name below it has."""

    def __init__(self, zone: Zone, rcode: dns.rcode.Rcode = dns.rcode.NOERROR) -> None:
        self._zone, self._rcode = zone, rcode

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer one question."""
        asked = dns.message.from_wire(data)
        name = asked.question[0].name.to_text(omit_final_dot=True)
        answer = dns.message.make_response(asked)
        there = any(one == name or one.endswith(f".{name}") for one in self._zone)
        answer.set_rcode(self._rcode if there or self._rcode else dns.rcode.NXDOMAIN)
        for text in self._zone.get(name, ()) if there else ():
            halves = " ".join(f'"{part}"' for part in (text[:9], text[9:]))
            answer.answer.append(dns.rrset.from_text(f"{name}.", 60, "IN", "TXT", halves))
        self._transport.sendto(answer.to_wire(), addr)


async def read(zone: Zone, domain: str = "shop.example", rcode: dns.rcode.Rcode = dns.rcode.NOERROR) -> list[str]:
    """Return what is found of the three, `missing` for what is not."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: Server(zone, rcode), ("127.0.0.1", 0))
    try:
        records = DnsRecords("127.0.0.1", transport.get_extra_info("sockname")[1])
        found = await sender_records(domain, records)
        assert [one.kind for one in found] == ["SPF", "DKIM", "DMARC"]
        assert all(bool(one.found) is not bool(one.todo) for one in found)
        return [one.found or "missing" for one in found]
    finally:
        transport.close()


@each_case(
    ("zone", "domain", "found"),
    [
        (WELL, "shop.example", [SPF, "keys are published", DMARC]),
        ({}, "shop.example", ["missing"] * 3),
        ({"shop.example": ["other=1", "v=spf10"]}, "shop.example", ["missing"] * 3),
        ({"shop.example": [SPF, "v=spf1 -all"]}, "shop.example", ["missing"] * 3),
        ({"shop.example": ["V=SPF1 -all"]}, "shop.example", ["V=SPF1 -all", "missing", "missing"]),
        (WELL, "mail.shop.example", ["missing", "missing", DMARC]),
        (
            WELL | {"_dmarc.mail.shop.example": ["v=DMARC1;p=reject"]},
            "mail.shop.example",
            ["missing", "missing", "v=DMARC1;p=reject"],
        ),
    ],
)
def test_what_a_domain_publishes(zone: Zone, domain: str, found: list[str]) -> None:
    """Each record counts by its version; two of one kind count as none; DMARC may be the registered domain's."""
    assert asyncio.run(read(zone, domain)) == found


@pytest.mark.parametrize("rcode", [dns.rcode.SERVFAIL, dns.rcode.REFUSED])
def test_a_server_that_does_not_know(rcode: dns.rcode.Rcode) -> None:
    """An answer without a verdict is no missing record."""
    with pytest.raises(RecordsNotRead):
        _ = asyncio.run(read(WELL, rcode=rcode))


@pytest.mark.parametrize("domain", ["a..b", "x" * 64 + ".example", "\ud800.example"])
def test_a_name_that_is_none(domain: str) -> None:
    """What cannot be asked for is a sentence."""
    with pytest.raises(RecordsNotRead):
        _ = asyncio.run(read(WELL, domain))
