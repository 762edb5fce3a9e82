"""The levers of Microsoft Graph: what others do in a mailbox, malformed messages, and all that is known."""

from collections.abc import Callable

from starlette.routing import Route

from orrery.sandbox.board import Act, Board
from orrery.sandbox.graph.calendar import add_event
from orrery.sandbox.graph.chats import write
from orrery.sandbox.graph.mailbox import FOLDERS, Mailbox, Mailboxes
from orrery.sandbox.graph.messages import utc
from orrery.sandbox.graph.seed import PEOPLE, event, message
from orrery.sandbox.ground import Document
from orrery.sandbox.identity.directory import ACCOUNTS

_EVERYTHING = """<!doctype html><html><head><style>p{color:red}</style><title>Offer</title></head>
<body onload="alert(1)" background="https://tracker.example/open.gif"><script>fetch("https://tracker.example/")</script>
<!-- <p>hidden</p> --><p>Dear <b>Ann</b>,</p><img src="https://tracker.example/pixel.png" alt="logo"><table><tr>
<td>1</td><td>2&nbsp;&euro;</td></tr></table><ul><li>one<li>two</ul><a href="javascript:alert(1)">a link</a>
<form action="https://tracker.example/"><input name="password"></form><iframe src="https://tracker.example/"></iframe>
<p style="display:none">not shown</p><svg onload="alert(2)"></svg>\u202etxt.exe\u202c &lt;script&gt; &#0; <p>Bye"""

_MEETING: Document = {
    "@odata.type": "#microsoft.graph.eventMessageRequest",
    "meetingMessageType": "meetingRequest",
    "type": "singleInstance",
    "isOutOfDate": False,
    "isAllDay": False,
    "isDelegated": False,
    "startDateTime": {"dateTime": "2030-01-07T09:00:00.0000000", "timeZone": "UTC"},
    "endDateTime": {"dateTime": "2030-01-07T10:00:00.0000000", "timeZone": "UTC"},
}

MALFORMED: dict[str, tuple[str, Document]] = {
    "no_from": ("There is neither a from nor a sender.", {"drop": ["from", "sender"]}),
    "null_from": ("From and sender are null.", {"set": {"from": None, "sender": None}}),
    "null_subject": ("The subject is null.", {"subject": None}),
    "no_received": ("There is no time of receipt.", {"drop": ["receivedDateTime"]}),
    "bad_received": ("The time of receipt is no time.", {"set": {"receivedDateTime": "yesterday"}}),
    "importance": ("The importance is unknown.", {"set": {"importance": "critical"}}),
    "event_message": ("The message is an invitation, of another type.", {"set": _MEETING}),
    "html": ("The body is HTML with everything that a mail may have.", {"body": ("html", _EVERYTHING)}),
    "long_subject": ("The subject has a million characters.", {"subject": "long " * 200_000}),
    "unknown_fields": (
        "There are fields that no description has.",
        {"set": {"quantumState": {"spin": [1, None]}, "@odata.novelty": "yes"}},
    ),
    "wrong_types": (
        "Fields have other types than described.",
        {"set": {"from": "Mira", "subject": ["a", "list"], "isRead": "no", "body": None}},
    ),
    "no_id": ("There is no id.", {"drop": ["id"]}),
}
"""Each kind of malformed message with its description and its fields."""


ADDRESS = "/mail-accounts"

BUTTONS = {
    "deliver": "Deliver a message",
    "fill": "Fill with 50,000",
    "renumber": "Change every id",
    "expire": "Expire delta tokens",
    "reset": "Reset",
}
"""Those that need no further value, as the page has them."""

_FILLED = 50_000
_FIELDS = frozenset(
    {"folder", "subject", "importance", "read", "body", "set", "drop", "to", "cc", "reply_to"}
    | {"conversation", "flag", "headers", "properties", "attachments"}
)
_REPLIED = "102"


class Levers:
    """Changes from outside, and everything that can be known."""

    def __init__(self, world: Mailboxes) -> None:
        self._world = world

    def routes(self) -> list[Route]:
        levers: dict[str, Act] = {
            "GET /_graph": lambda _: self.known(),
            "DELETE /_graph/sends": self._forget_sends,
            "POST /_graph/{lever}": self._pulled,
        }
        return Board(ADDRESS, "mail_accounts.html", self.known, levers).routes()

    def _forget_sends(self, _: Document) -> Document:
        """Return the calls that sent something, and forget them."""
        sends, self._world.sends = self._world.sends, []
        return {"sends": sends}

    def known(self) -> Document:
        mailboxes = {one: self._world.mailbox(one) for one in ACCOUNTS}
        return {
            "url": self._world.url,
            "buttons": BUTTONS,
            "accounts": {
                one: {folder: len(mailbox.messages(folder)) for folder in FOLDERS}
                for one, mailbox in mailboxes.items()
            },
            "odd": {name: what for name, (what, _) in MALFORMED.items()},
            "requests": {account: dict(calls) for account, calls in self._world.requests.items()},
            "sends": self._world.sends,
        }

    def _pulled(self, given: Document) -> Document:
        """Do what a lever does; the answer has the ids of a message that it made or changed."""
        lever, account = given.pop("lever"), given.pop("account")
        if lever not in LEVERS:
            raise ValueError(f"A lever is one of {', '.join(LEVERS)}.")
        if account not in ACCOUNTS:
            raise ValueError(f"{account!r} is no account: one of {', '.join(ACCOUNTS)}.")
        return LEVERS[lever](self._world, account, given) or {}


def _found(mailbox: Mailbox, given: Document) -> Document:
    if (found := mailbox.found(given.pop("id"))) is None:
        raise ValueError("There is no message with that id.")
    return found


def _ids(mailbox: Mailbox, now: Document) -> Document:
    """Return both ids of a message."""
    ids = {"id": mailbox.id_of(now, immutable=False), "immutable_id": mailbox.id_of(now, immutable=True)}
    return ids | {"read": now["read"]}


def _fields(given: Document) -> Document:
    """Return the fields of a message that a lever gives: those of a malformed one, and those beside it."""
    given = MALFORMED[given.pop("odd")][1] | given if "odd" in given else given
    if (sender := given.pop("sender", None)) is not None:
        given = {**given, "from": (sender["name"], sender["address"])}
    if unknown := given.keys() - _FIELDS - {"from"}:
        raise ValueError(f"A message has no {min(unknown)}: a field is one of {', '.join(sorted(_FIELDS))}.")
    return given


def _deliver(world: Mailboxes, account: str, given: Document) -> Document:
    mailbox = world.mailbox(account)
    ago = float(given.pop("minutes_ago", 0)) * 60
    more: Document = {"body": ("text", "A message."), "to": [(account, account)]}
    made = message("Hello", PEOPLE[0], int(mailbox.now() - ago)) | more
    return _ids(mailbox, mailbox.new(**made | _fields(given)))


def _answer(world: Mailboxes, account: str, given: Document) -> Document:
    mailbox = world.mailbox(account)
    found, now = _found(mailbox, given), mailbox.now()
    if given.get("sent") is not False:
        sent = message(f"Re: {found['subject']}", (account, account), now, folder="sentitems", read=True)
        _ = mailbox.new(**sent | {"conversation": found["conversation"]})
    if given.get("flagged") is not False:
        verb = {"Integer 0x1081": _REPLIED, "SystemTime 0x1082": utc(now)}
        found = mailbox.store(found | {"properties": found["properties"] | verb})
    return _ids(mailbox, found)


def _change(world: Mailboxes, account: str, given: Document) -> Document:
    mailbox = world.mailbox(account)
    return _ids(mailbox, mailbox.store(_found(mailbox, given) | _fields(given)))


def _move(world: Mailboxes, account: str, given: Document) -> Document:
    mailbox, folder = world.mailbox(account), given["folder"]
    if folder not in FOLDERS:
        raise ValueError(f"A folder is one of {', '.join(FOLDERS)}.")
    found = _found(mailbox, given)
    return _ids(mailbox, mailbox.store(found | {"folder": folder, "moves": found["moves"] + 1}))


def _chat(world: Mailboxes, account: str, given: Document) -> Document:
    values: Document = {"chat": "", "text": "Hello", "sender": "Mira Solberg"}
    return {"id": write(world, account, **values | given)}


LEVERS: dict[str, Callable[[Mailboxes, str, Document], Document | None]] = {
    "deliver": _deliver,
    "fill": lambda world, account, given: world.mailbox(account).fill(int(given.get("count", _FILLED))),
    "move": _move,
    "delete": lambda world, account, given: world.mailbox(account).delete(_found(world.mailbox(account), given)),
    "answer": _answer,
    "change": _change,
    "renumber": lambda world, account, _: world.mailbox(account).renumber(),
    "expire": lambda world, account, _: world.mailbox(account).forget_changes(),
    "chat": _chat,
    "meeting": lambda world, account, given: add_event(world, account, event(**given)),
    "reset": lambda world, account, _: world.reset(account),
}
"""What each lever does to the account that it is given."""
