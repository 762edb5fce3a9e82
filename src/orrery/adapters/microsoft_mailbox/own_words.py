"""When the account's owner last wrote in each conversation, by any client."""

from collections.abc import Collection, Iterable
from datetime import datetime

from pydantic import ValidationError

from orrery.adapters.microsoft_mailbox.changes import FolderChanges, Item
from orrery.adapters.microsoft_mailbox.client import GraphSession, StateLost
from orrery.adapters.microsoft_mailbox.shapes import GraphMail, Property, in_utc, named
from orrery.ports.comms.messages import MailboxMessage, Person

LONGEST_PERIOD = 90
"""Days of sent mail that are read at most: what was answered before is known by the flag of the message."""

_VERB, _VERB_AT = "Integer 0x1081", "SystemTime 0x1082"
"""What was done last with a message, and when (PidTagLastVerbExecuted, PidTagLastVerbExecutionTime)."""

EXPAND = f"singleValueExtendedProperties($filter=id eq '{_VERB}' or id eq '{_VERB_AT}')"

_ANSWERED = frozenset({"102", "103"})
"""Replied to the sender, and to all; 104 is forwarded, which is no answer."""


def answered_at(properties: Iterable[Property] | None, received_at: datetime) -> datetime | None:
    """Return when a message was answered, by its own flag; None where it was not."""
    held = {one.id: one.value for one in properties or ()}
    if held.get(_VERB) not in _ANSWERED:
        return None
    try:
        return max(in_utc(datetime.fromisoformat(held.get(_VERB_AT, ""))), received_at)
    except ValueError:
        return received_at


class OwnWords:
    """Reads the folder of sent mail by its changes, and notes what the inbox knows besides."""

    def __init__(self, days: int) -> None:
        """`days` is how far back mail is listed; 0 is all of it."""
        period = min(days or LONGEST_PERIOD, LONGEST_PERIOD)
        self._sent = FolderChanges(
            "sentitems", {"$select": "id,conversationId,receivedDateTime,toRecipients,ccRecipients"}, period
        )
        self._last: dict[str, datetime] = {}
        self._people: dict[str, Person] = {}

    async def read(self, session: GraphSession, now: datetime) -> None:
        """Read what was sent since the last time; what is deleted there was sent all the same."""
        try:
            await self._read(session, now)
        except StateLost:
            self._sent.forget()
            await self._read(session, now)

    async def _read(self, session: GraphSession, now: datetime) -> None:
        async for page in self._sent.pages(session, now):
            for item in page:
                self._take(item)

    def _take(self, item: Item) -> None:
        try:
            mail = GraphMail.model_validate(item)
        except ValidationError:
            return
        if mail.received_date_time:
            self.note(mail.conversation, in_utc(mail.received_date_time))
            people = (*named(mail.to_recipients), *named(mail.cc_recipients))
            self._people |= {one.address.casefold(): one for one in people}

    @property
    def people(self) -> Collection[Person]:
        """To whom the owner wrote."""
        return self._people.values()

    def note(self, conversation: str, at: datetime) -> None:
        """Take a moment at which the owner wrote in a conversation."""
        if conversation and at > self._last.get(conversation, datetime.min.replace(tzinfo=at.tzinfo)):
            self._last[conversation] = at

    def are_after(self, message: MailboxMessage) -> bool:
        """Return whether the owner has written in a conversation after a message of it."""
        last = self._last.get(message.conversation)
        return last is not None and last >= message.received_at
