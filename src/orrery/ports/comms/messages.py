"""A message as the cockpit lists it, whatever it came by."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Source = Literal["mail", "teams", "meeting", "action-hub"]
"""What a row came by (spec 3, Cockpit records); `action-hub` is the cockpit's own action ledger."""

Priority = Literal["high", "normal", "low"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message, chat or meeting. Its texts are the vendor's, unaltered.

    `source_id` is the vendor's own, one that stays when the message is moved where the vendor has such an id.
    `sender` is a name or an address, `address` the mail address to reply to, or empty; that of a meeting is its
    organizer's. `received_at` of a meeting is its beginning. `web_link` is empty where there is none.
    """

    source: Source
    source_id: str
    sender: str
    address: str
    subject: str
    preview: str
    received_at: datetime
    priority: Priority = "normal"
    web_link: str = ""
