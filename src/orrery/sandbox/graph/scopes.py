"""Which scopes each call takes, as the vendor publishes it for work accounts. A test compares it."""

from orrery.sandbox.graph import errors
from orrery.sandbox.graph.errors import Refusal

_READING_MAIL = ("Mail.Read", "Mail.ReadBasic", "Mail.ReadWrite")
_CHANGING_MAIL = ("Mail.ReadWrite",)
_SENDING_MAIL = ("Mail.Send",)
_READING_TASKS = ("Tasks.Read", "Tasks.ReadWrite")
_CHANGING_TASKS = ("Tasks.ReadWrite",)
_SENDING_CHAT = ("Chat.ReadWrite", "ChatMessage.Send", "Group.ReadWrite.All")
_SENDING_CHANNEL = ("ChannelMessage.Send", "Group.ReadWrite.All")

SCOPES: dict[str, tuple[str, ...]] = {
    "GET /me": (
        "AgentIdUser.ReadWrite.All",
        "AgentIdUser.ReadWrite.IdentityParentedBy",
        "Directory.Read.All",
        "Directory.ReadWrite.All",
        "User.Read",
        "User.Read.All",
        "User.ReadBasic.All",
        "User.ReadWrite",
        "User.ReadWrite.All",
    ),
    "GET /me/messages": _READING_MAIL,
    "GET /me/mailFolders/{id}/messages": _READING_MAIL,
    "GET /me/mailFolders/{id}/messages/delta": _READING_MAIL,
    "GET /me/messages/{id}": ("Mail.Read", "Mail.ReadBasic"),
    "POST /me/messages": _CHANGING_MAIL,
    "GET /me/messages/{id}/attachments": ("Mail.Read", "Mail.ReadWrite"),
    "POST /me/messages/{id}/createReply": _CHANGING_MAIL,
    "POST /me/messages/{id}/createReplyAll": _CHANGING_MAIL,
    "PATCH /me/messages/{id}": _CHANGING_MAIL,
    "POST /me/sendMail": _SENDING_MAIL,
    "POST /me/messages/{id}/send": _SENDING_MAIL,
    "POST /me/messages/{id}/reply": _SENDING_MAIL,
    "POST /me/messages/{id}/replyAll": _SENDING_MAIL,
    "POST /me/messages/{id}/forward": _SENDING_MAIL,
    "GET /me/chats": ("Chat.Read", "Chat.ReadBasic", "Chat.ReadWrite"),
    "GET /chats/{id}/messages": ("Chat.Read", "Chat.ReadWrite"),
    "GET /chats/{id}/messages/{id}": ("Chat.Read", "Chat.ReadWrite", "Group.Read.All", "Group.ReadWrite.All"),
    "POST /chats/{id}/messages": _SENDING_CHAT,
    "POST /teams/{id}/channels/{id}/messages": _SENDING_CHANNEL,
    "POST /teams/{id}/channels/{id}/messages/{id}/replies": _SENDING_CHANNEL,
    "GET /me/calendarView": ("Calendars.Read", "Calendars.ReadBasic", "Calendars.ReadWrite"),
    "GET /me/events/{id}": ("Calendars.Read", "Calendars.ReadBasic"),
    "GET /me/todo/lists": _READING_TASKS,
    "POST /me/todo/lists": _CHANGING_TASKS,
    "GET /me/todo/lists/{id}/tasks": _READING_TASKS,
    "POST /me/todo/lists/{id}/tasks": _CHANGING_TASKS,
    "PATCH /me/todo/lists/{id}/tasks/{id}": _CHANGING_TASKS,
    "POST /me/todo/lists/{id}/tasks/{id}/linkedResources": _CHANGING_TASKS,
}
"""Each call that there is, by its method and path template."""

SENDS = frozenset(
    {
        "POST /me/sendMail",
        "POST /me/messages/{id}/send",
        "POST /me/messages/{id}/reply",
        "POST /me/messages/{id}/replyAll",
        "POST /me/messages/{id}/forward",
        "POST /chats/{id}/messages",
        "POST /teams/{id}/channels/{id}/messages",
        "POST /teams/{id}/channels/{id}/messages/{id}/replies",
    }
)
"""Those that send something to somebody."""

_IN_WORDS = ("/chats", "/teams", "/me/chats", "/me/todo")
"""Paths whose refusal names the scopes."""


def check(template: str, granted: frozenset[str]) -> None:
    """Raise the vendor's refusal unless one of the scopes that the call takes was granted.

    A wider scope counts where the published table omits it: Mail.ReadWrite reads a message, too.
    """
    needed = SCOPES[template]
    wider = {scope.replace("ReadWrite", "Read") for scope in granted}
    if not (granted | wider) & set(needed):
        raise _refusal(template, needed, granted)


def _refusal(template: str, needed: tuple[str, ...], granted: frozenset[str]) -> Refusal:
    path = template.partition(" ")[2]
    if path == "/me":
        return errors.no_privileges()
    if path.startswith(_IN_WORDS):
        return errors.missing_scope(", ".join(needed), ", ".join(sorted(granted)))
    return errors.access_denied()
