"""What a folder lists: all of it the first time, page by page, and then what changed."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from orrery.adapters.microsoft_mailbox.client import BadRequest, GraphSession, StateLost
from orrery.adapters.microsoft_mailbox.shapes import changes_of, items_of, next_of
from orrery.ports.comms.errors import RowGone

FIRST_PAGE, PAGE = 50, 200
"""Messages that are asked for at once: few at first, so that the list is there soon. Headers make them large."""

MOST_OF_DAYS = 5000
"""How many messages of a period the vendor lists at most, without a word about the rest."""

Item = Mapping[str, Any]
Folder = Literal["inbox", "sentitems"]


class FolderChanges:
    """A folder's delta query. A reading that broke off goes on where it was."""

    def __init__(self, folder: Folder, query: Mapping[str, str], days: int, first_page: int = PAGE) -> None:
        """`query` has what is asked of each message; `days` is how far back is listed, 0 is all."""
        self._folder = folder
        self._query = query
        self._days = timedelta(days=days)
        self._first_page = first_page
        self.forget()

    def since(self, now: datetime) -> datetime | None:
        """Return from when on messages are listed; None is from the first one on."""
        return now - self._days if self._days else None

    @property
    def is_cut(self) -> bool:
        """Whether the first round ended where the vendor ends it: older messages of these days may be missing."""
        return bool(self._days) and self._count >= MOST_OF_DAYS

    async def pages(self, session: GraphSession, now: datetime) -> AsyncGenerator[Sequence[Item]]:
        """Yield the items of each page; raise `StateLost` when what was read before leads nowhere."""
        while True:
            page = await self._page(session, now)
            following, items = next_of(page), items_of(page)
            self._link = following or changes_of(page)
            if not self.is_listed:
                self._count += len(items)
                self.is_listed = not following
            yield items
            if not following:
                return

    async def _page(self, session: GraphSession, now: datetime) -> Mapping[str, Any]:
        if self._link:
            try:
                return await session.follow(self._link, _size(PAGE))
            except (BadRequest, RowGone):
                raise StateLost("The mailbox must be read again.") from None
        params = {**self._query, "$orderby": "receivedDateTime desc"}
        if since := self.since(now):
            params["$filter"] = f"receivedDateTime ge {moment(since)}"
        return await session.get(f"/me/mailFolders/{self._folder}/messages/delta", params, _size(self._first_page))

    async def older(self, session: GraphSession, now: datetime, than: datetime) -> AsyncGenerator[Sequence[Item]]:
        """Yield the pages of what a first round that was cut has left out: by a list that has no such end."""
        period = f"receivedDateTime ge {moment(self.since(now) or now)} and receivedDateTime le {moment(than)}"
        params = {**self._query, "$orderby": "receivedDateTime desc", "$filter": period, "$top": str(PAGE)}
        page = await session.get(f"/me/mailFolders/{self._folder}/messages", params)
        while True:
            yield items_of(page)
            if not (following := next_of(page)):
                return
            page = await session.follow(following)

    def forget(self) -> None:
        """Let the next reading begin again. `is_listed`: the first round was read to its end."""
        self._link = ""
        self._count = 0
        self.is_listed = False


def moment(at: datetime) -> str:
    """Return a moment as a filter has it; `at` is in UTC."""
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def _size(most: int) -> str:
    return f"odata.maxpagesize={most}"
