"""The records of a sender's domain that receivers ask for (SPF, DKIM, DMARC), and what is missing."""

from collections.abc import Sequence
from dataclasses import dataclass

from orrery.ports.domain_records import DomainRecords
from orrery.syntax.web_address import organization_of

_SPF = "Publish a TXT record for {domain} that begins with v=spf1, as your mail provider shows it."
_DKIM = "Publish the keys that your mail provider shows: there is no name below _domainkey.{domain}."
_DMARC = "Publish a TXT record for _dmarc.{domain}, such as: v=DMARC1; p=none"
_SEVERAL = "There are several, and receivers then ignore all: leave one."


@dataclass(frozen=True, slots=True)
class SenderRecord:
    """One of the three: `found` is what is published, `todo` what to do; one of them may be empty."""

    kind: str
    found: str
    todo: str


async def sender_records(domain: str, records: DomainRecords) -> Sequence[SenderRecord]:
    """Return the three records of a domain; raise `RecordsNotRead`."""
    spf, dmarc = await _beginning(records, domain, "v=spf1"), await _dmarc(records, domain)
    # What the keys are called is between the mail server and the receivers; that there are some shows (RFC 8020).
    dkim = [] if await records.texts(f"_domainkey.{domain}") is None else ["keys are published"]
    named = (("SPF", spf, _SPF), ("DKIM", dkim, _DKIM), ("DMARC", dmarc, _DMARC))
    return [_record(kind, found, todo.format(domain=domain)) for kind, found, todo in named]


async def _beginning(records: DomainRecords, name: str, version: str) -> list[str]:
    found = await records.texts(name) or []
    return [one for one in found if one.replace(";", " ").lower().split(" ")[0] == version.lower()]


async def _dmarc(records: DomainRecords, domain: str) -> list[str]:
    """Return the domain's own, or else those of the domain that was registered (RFC 7489, 6.6.3)."""
    found = await _beginning(records, f"_dmarc.{domain}", "v=DMARC1")
    return found or await _beginning(records, f"_dmarc.{organization_of(domain)}", "v=DMARC1")


def _record(kind: str, found: Sequence[str], todo: str) -> SenderRecord:
    if len(found) == 1:
        return SenderRecord(kind, found[0], "")
    return SenderRecord(kind, "", _SEVERAL if found else todo)
