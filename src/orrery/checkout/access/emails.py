"""The e-mails to buyers (decision 12): the receipt that opens an access, and the news that it has ended. Pure.

Each is in the language and the time zone of the site. None has the id of a session: that is a ticket.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from orrery.checkout.catalogue import Catalogue
from orrery.checkout.records import AccessRecord, Reversal
from orrery.checkout.sites import OPEN, SellerDetails
from orrery.checkout.words import date_in, local, moment_in, words_of
from orrery.runtime.outbox import OutboxDraft
from orrery.runtime.references import References
from orrery.syntax.money import decimal


@dataclass(frozen=True, slots=True)
class Emails:
    """Writes the e-mails of one store's buyers. `seller` is that of the sites that name none."""

    catalogue: Catalogue
    seller: SellerDetails
    references: References

    def first(self, record: AccessRecord) -> list[OutboxDraft]:
        """Return the e-mail that opens a new access; a sale that waits for its number gets it with that."""
        if record.number == "" or not record.email:
            return []
        return [self.opened(record, f"buyer-{record.session_id}")]

    def numbered(self, record: AccessRecord, now: datetime) -> list[OutboxDraft]:
        """Return the same for a sale that has its number now: of an access that ended meanwhile, the receipt."""
        emails = self.first(record)
        return emails if record.runs_at(now) else [self._receipt(record, one.id) for one in emails]

    def opened(self, record: AccessRecord, email_id: str) -> OutboxDraft:
        """Return the e-mail that opens an access: of a sale that has its number, it is the receipt."""
        written = _Written(self, record)
        texts, has_pages = written.texts, written.site.has_pages
        filled = {"product": written.title, "until": written.day(record.expires_at), "number": written.number}
        subject = texts["sold" if written.is_receipt else "subject"].format(**filled)
        opened = (one.format(**filled) for one in texts["opened"])
        keep = [texts["keep"]] if has_pages else []
        return written.draft(email_id, subject, [*opened, *written.start(), *keep])

    def _receipt(self, record: AccessRecord, email_id: str) -> OutboxDraft:
        """Return the receipt of an access that has ended: it opens nothing."""
        written = _Written(self, record)
        filled = {"product": written.title, "number": written.number}
        ended = written.ended(record.revoked_at or record.expires_at)
        return written.draft(email_id, written.texts["sold"].format(**filled), [ended])

    def ended(
        self, record: AccessRecord, reversal: Reversal | None, shortened: Sequence[AccessRecord]
    ) -> list[OutboxDraft]:
        """Return the e-mail that an access was taken back, and what else of the buyer ends earlier therefore.

        None for a buyer without an address, and for an access that was over at the end that was announced.
        """
        if not record.email or record.revoked_at is None or record.revoked_at >= record.expires_at:
            return []
        written = _Written(self, record)
        texts, title = written.texts, written.title
        earlier = [texts["earlier"].format(product=title, until=written.day(one.expires_at)) for one in shortened]
        paragraphs = [written.ended(record.revoked_at), *written.returned(reversal), *earlier, texts["why"]]
        return [written.draft(f"ended-{record.session_id}", texts["over"].format(product=title), paragraphs)]

    def title(self, record: AccessRecord) -> str:
        """Return the title of what was bought; where it is not known, today's, or the vendor and the code."""
        of_today = self.catalogue.title_of(record.product)
        return record.title or of_today or f"{record.vendor_slug} {record.cert_code}".upper()

    def seller_of(self, record: AccessRecord) -> SellerDetails:
        """Return who sold: the one whom the record's site names, or the one of the sites that name none."""
        site = self.catalogue.site_of(record.product)
        return site if site.seller else self.seller

    def in_series(self, record: AccessRecord) -> AccessRecord:
        """Return a new record with the series that numbers its sale, if one does: that is for live sales."""
        series = self.seller_of(record).number_series
        is_numbered = series and record.livemode and record.amount_total is not None
        return record.change(sale_series=series) if is_numbered else record


class _Written:
    """What an e-mail has of one record, in the words of its site and the time zone of its seller."""

    def __init__(self, emails: Emails, record: AccessRecord) -> None:
        self._record, self._references = record, emails.references
        self._seller = emails.seller_of(record)
        self.site, self.title = emails.catalogue.site_of(record.product), emails.title(record)
        self._words = words_of(self.site.language)
        self.texts = self._words["email"]
        self.number = emails.references.number_of(record.session_id, record.number)
        self.is_receipt = bool(self.number) and record.amount_total is not None

    def draft(self, email_id: str, subject: str, paragraphs: Sequence[str]) -> OutboxDraft:
        """Return the e-mail of these paragraphs, with the rows of the receipt below, as its page expects them."""
        rows = "\n".join(f"{label}: {value}" for label, value in self._rows())
        return OutboxDraft(
            email_id,
            "email",
            subject,
            "\n\n".join([*paragraphs, rows]) + "\n",
            to=self._record.email,
            language=self.site.language,
            sender=self._seller.sender,
            reply_to=self._seller.reply_to,
        )

    def start(self) -> Iterable[str]:
        """Yield how a buyer begins: by a link to a hosted page, or at the practice page of a site without these.

        The link's key is added when the e-mail is sent (`runtime/references.py`).
        """
        record, site = self._record, self.site
        if site.has_pages:
            link = self._references.link_to(record.session_id, record.link_generation)
            yield f"{self.texts['link']}: {site.origin}{OPEN}?link={link}"
        elif practice := record.product.within(site.practice_url):
            yield f"{self.texts['practice']}: {practice}"

    def _moment(self, at: datetime) -> str:
        """Return a time in the seller's zone, with that of UTC."""
        return moment_in(self._words, at, self._seller.time_zone)

    def day(self, at: datetime) -> str:
        """Return a day where the seller is."""
        return date_in(self._words, local(at, self._seller.time_zone))

    def ended(self, at: datetime) -> str:
        """Return the sentence that the access has ended."""
        return self.texts["ended"].format(product=self.title, until=self.day(at))

    def returned(self, reversal: Reversal | None) -> Iterable[str]:
        """Yield what went back to the buyer, and how."""
        texts, record = self.texts, self._record
        if reversal and reversal.amount_refunded:
            paid = reversal.amount or record.amount_total or reversal.amount_refunded
            back, whole = (self._money(one, reversal.currency) for one in (reversal.amount_refunded, paid))
            yield texts["refunded_all" if back == whole else "refunded"].format(back=back, paid=whole)
        if reversal and any(one.is_decided and one.takes_money for one in reversal.every_dispute):
            yield texts["disputed"]

    def _rows(self) -> Iterable[tuple[str, str]]:
        """Yield the rows of the receipt: what is not known, or not set, has none."""
        record, seller, labels = self._record, self._seller, self.texts["rows"]
        is_sale = record.amount_total is not None and record.currency is not None
        found = {
            "number": self.number,
            "date": self._moment(record.paid_at or record.granted_at),
            "product": self.texts["year"].format(product=self.title),
            "amount": self._money(record.amount_total or 0, record.currency or "") if is_sale else "",
            "tax": seller.tax_line if is_sale else "",
            "statement": seller.statement_name if is_sale else "",
            "until": "" if record.revoked_at else self._moment(record.expires_at),
            "ended": self._moment(record.revoked_at) if record.revoked_at else "",
            "seller": ", ".join(filter(None, (seller.seller, *seller.postal_address))),
            "tax_number": seller.tax_number,
            "questions": seller.reply_to,
        }
        return ((labels[name], value) for name, value in found.items() if value)

    def _money(self, amount: int, currency: str) -> str:
        return f"{decimal(amount, currency).replace('.', self._words['decimal'])} {currency.upper()}"
