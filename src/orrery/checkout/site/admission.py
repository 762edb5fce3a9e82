"""What a browser may see of a product: one answer, for the access gate and for the hosted pages."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from orrery.checkout.access.browsers import Browsers
from orrery.checkout.access.lookup import Lookup
from orrery.checkout.catalogue import ProductKey
from orrery.checkout.site.cookie import BrowserCookies
from orrery.errors import RecordUnreadable


@dataclass(frozen=True, slots=True)
class Admitted:
    """Whether a browser is let in: `new` has opened nothing, and for one that is `full` there is no place now."""

    state: Literal["opened", "full", "closed", "new"]
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Admission:
    """Lets browsers in. Raises the store's errors."""

    lookup: Lookup
    browsers: Browsers
    cookies: BrowserCookies = field(repr=False)

    async def of(self, cookie: bytes, product: ProductKey) -> Admitted:
        """Note that the browser of a cookie came, and return what it may see of a product.

        Raises `RecordUnreadable` where an access that cannot be read might be open.
        """
        browser = self.cookies.browser_of(cookie)
        if browser is None:
            return Admitted("new")
        known = await self.browsers.of(browser)
        ends, full, unreadable = list[datetime](), False, [*known.unreadable]
        for one in known.values():
            try:
                answer = await self.lookup.check_session(one.session_id, product.cert_code, product.vendor_slug)
            except RecordUnreadable as error:
                unreadable.append(error)
                continue
            if answer.expires_at and await self.browsers.use(one.session_id, browser):
                ends.append(answer.expires_at)
            elif answer.expires_at:
                full = True
        if ends:
            return Admitted("opened", max(ends))
        if unreadable:
            raise unreadable[0]
        return Admitted("new" if known.is_empty else "full" if full else "closed")
