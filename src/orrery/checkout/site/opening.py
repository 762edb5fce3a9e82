"""How an access is opened in a browser: after the payment, and by the link in the buyer's e-mail."""

import hmac
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from orrery.checkout.access.emails import Emails
from orrery.checkout.access.lookup import SessionStates, StateName
from orrery.checkout.access.rules import UNPAID
from orrery.checkout.catalogue import ProductKey
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.records import AccessRecord
from orrery.checkout.site.admission import Admission, Admitted
from orrery.checkout.site.cookie import set_cookie
from orrery.errors import NotFound, OrreryError
from orrery.logs import log
from orrery.runtime.outbox import notify_once
from orrery.runtime.references import DIGITS, PREFIX
from orrery.runtime.tasks import Tasks
from orrery.syntax.session_id import SESSION_ID

FIRST = timedelta(hours=24)
"""How long after it was granted an access opens in the first browser that comes back from the payment."""

LONGEST = 255
"""Characters of a session's id."""

_LINK = re.compile(rf"([0-9a-z]{{{DIGITS}}})\.([0-9]{{1,9}})\.([\w-]{{1,64}})", re.ASCII)


@dataclass(frozen=True, slots=True)
class SeenSession:
    """What became of a session, for its buyer.

    `delayed` is a payment whose money comes days later; `paid` is granted, with a button that opens it. `age` is
    how long ago the session was made, while it may still change.
    """

    state: StateName | Literal["delayed", "paid", "unknown"]
    product: ProductKey | None = None
    until: datetime | None = None
    age: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class OpenedAccess:
    """An access that is open in a browser now, with the header that gives the browser its cookie."""

    product: ProductKey
    cookie: str


class Opening:
    """Opens access in browsers. Raises the store's errors, and `RecordUnreadable`."""

    def __init__(
        self,
        stored: CheckoutRecords,
        states: SessionStates,
        admission: Admission,
        emails: Emails,
        tasks: Tasks,
    ) -> None:
        self._stored, self._clock = stored, stored.clock
        self._lookup, self._browsers, self._states = admission.lookup, admission.browsers, states
        self._admission, self._cookies, self._emails = admission, admission.cookies, emails
        self._tasks = tasks
        self._references = stored.references

    async def seen(self, session_id: str) -> SeenSession:
        """Return what became of a session."""
        if len(session_id) > LONGEST or not SESSION_ID.fullmatch(session_id):
            return SeenSession("unknown")
        try:
            found = await self._states.of(session_id)
        except NotFound:
            return SeenSession("unknown")
        sold = await self._lookup.record(session_id)
        offered = None if sold else await self._stored.offers.find(session_id)
        product = sold.product if sold else offered.record.product if offered else None
        withheld = await self._stored.pending.find(session_id) if found.state == "pending" else None
        delayed = withheld and withheld.record.reason == UNPAID
        age = self._clock.now() - offered.record.created_at if offered else timedelta(0)
        if sold and (end := await self._end_of(sold)):  # it may have been renewed
            return SeenSession("granted", product, end)
        return SeenSession("delayed" if delayed else found.state, product, found.expires_at, age)

    async def open_first(self, session_id: str, sent: bytes) -> OpenedAccess | None:
        """Open an access in the first browser that comes on its first day; `sent` is the browser's cookie.

        It opens in no other browser, nor later, nor once its link was replaced or its buyer was erased. None then,
        unless the access gate lets this browser in already.
        """
        record, (cookie, browser) = await self._lookup.record(session_id), self._browser_of(sent)
        if record is None:
            return None
        is_first = self._is_first_day(record) and await self._browsers.open_first(session_id, browser)
        return self._opened(record, cookie) if is_first or await self._is_open(record, sent) else None

    async def may_be_first(self, session_id: str, sent: bytes) -> bool:
        """Return whether `open_first` would return an access."""
        record, browser = await self._lookup.record(session_id), self._browser_of(sent)[1]
        if record is None:
            return False
        is_first = self._is_first_day(record) and await self._browsers.may_be_first(session_id, browser)
        return is_first or await self._is_open(record, sent)

    def _is_first_day(self, record: AccessRecord) -> bool:
        now = self._clock.now()
        has_first_link = not record.link_generation and bool(record.email)
        return has_first_link and record.runs_at(now) and now - record.granted_at <= FIRST

    async def _is_open(self, record: AccessRecord, sent: bytes) -> bool:
        return (await self.admitted(record.product, sent)).until is not None

    async def linked(self, link: str) -> tuple[AccessRecord, datetime | None] | None:
        """Return the access of a link and its end, None where it is not open; None for a link that is none."""
        found = _LINK.fullmatch(link)
        if found is None:
            return None
        digits, generation, key = found[1], int(found[2]), found[3]
        if not hmac.compare_digest(key.encode(), self._references.key_of_link(digits, generation).encode()):
            return None  # a stranger costs no read
        try:
            record = await self._lookup.record(await self._lookup.session_of_reference(f"{PREFIX}{digits}"))
        except NotFound:
            return None
        if record is None or record.link_generation != generation:
            return None
        return record, await self._end_of(record)

    async def open_by_link(self, record: AccessRecord, sent: bytes) -> OpenedAccess | None:
        """Open an access, which `linked` has returned, in one more browser; None while it has no place."""
        cookie, browser = self._browser_of(sent)
        if not await self._browsers.open(record.session_id, browser):
            return None
        return self._opened(record, cookie)

    async def admitted(self, product: ProductKey, sent: bytes) -> Admitted:
        """Return what the access gate lets a browser see of a product."""
        return await self._admission.of(sent, product)

    def send_emails(self, email: str) -> None:
        """Send a buyer the e-mails with the links once more, in the background: no caller learns whether."""
        _ = self._tasks.start(self._send(email))

    async def _send(self, email: str) -> None:
        now = self._clock.now()
        try:
            found = sorted(await self._lookup.records_of(email), key=lambda one: one.expires_at)
            for record in {one.product: one for one in found if one.runs_at(now)}.values():
                draft = self._emails.opened(record, f"lost-{record.session_id}-{now:%Y%m%d%H}")
                await notify_once(self._stored.store, self._clock, draft)
        except OrreryError as error:
            log.warning("a buyer's link could not be sent again", kind=type(error).__name__)

    async def _end_of(self, record: AccessRecord) -> datetime | None:
        asked = record.session_id, record.cert_code, record.vendor_slug
        return (await self._lookup.check_session(*asked)).expires_at

    def _browser_of(self, sent: bytes) -> tuple[bytes, str]:
        """Return the cookie of a browser, a new one where it has none, and the browser's digest."""
        cookie = sent if self._cookies.browser_of(sent) else self._cookies.new()
        return cookie, self._cookies.browser_of(cookie) or ""

    def _opened(self, record: AccessRecord, cookie: bytes) -> OpenedAccess:
        return OpenedAccess(record.product, set_cookie(self._emails.catalogue.site_of(record.product), cookie))
