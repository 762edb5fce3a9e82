"""Microsoft Graph over HTTP: each call as a row, who asks, with which scopes, and what a fault does to it."""

import json
import re
import uuid
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orrery.sandbox.faults import Refusal, Refusals
from orrery.sandbox.graph import calendar, chats, mail, tasks
from orrery.sandbox.graph.call import Created, GraphCall, Handler, preferences_of, refusal, refused_scopes
from orrery.sandbox.graph.levers import Levers
from orrery.sandbox.graph.mailbox import Mailboxes
from orrery.sandbox.ground import Document, SandboxGround
from orrery.sandbox.identity.directory import GRAPH
from orrery.sandbox.identity.tokens import Issued, issued_token
from orrery.sandbox.operations import Operation, matched

ALIAS = "also."
"""The prefix of an account's second address."""


def me(call: GraphCall) -> Document:
    """Return who a token is."""
    account, tenant = call.issued.account, call.issued.tenant
    return {
        "@odata.context": f"{GRAPH}/v1.0/$metadata#users/$entity",
        "displayName": account.name,
        "mail": account.username,
        "preferredLanguage": None,
        "userPrincipalName": account.upn(tenant),
        "id": account.object_ids[tenant],
        "proxyAddresses": [f"SMTP:{account.username}", f"smtp:{ALIAS}{account.username}"],
    }


def _sent(_: GraphCall) -> None:
    """Answer a send, which goes nowhere."""


_MAIL_READ = ("Mail.Read", "Mail.ReadBasic", "Mail.ReadWrite")
_MAIL_CHANGE = ("Mail.ReadWrite",)
_MAIL_SEND = ("Mail.Send",)
_TASKS_READ = ("Tasks.Read", "Tasks.ReadWrite")
_TASKS_CHANGE = ("Tasks.ReadWrite",)
_CHAT_SEND = ("Chat.ReadWrite", "ChatMessage.Send", "Group.ReadWrite.All")
_CHANNEL_SEND = ("ChannelMessage.Send", "Group.ReadWrite.All")
_USER = (
    "AgentIdUser.ReadWrite.All",
    "AgentIdUser.ReadWrite.IdentityParentedBy",
    "Directory.Read.All",
    "Directory.ReadWrite.All",
    "User.Read",
    "User.Read.All",
    "User.ReadBasic.All",
    "User.ReadWrite",
    "User.ReadWrite.All",
)
_REPLIES = "/teams/{id}/channels/{id}/messages/{id}/replies"

OPERATIONS: tuple[Operation[Handler], ...] = (
    Operation("GET", "/me", me, _USER),
    Operation("GET", "/me/mailFolders/{id}/messages", mail.folder_messages, _MAIL_READ),
    Operation("GET", "/me/mailFolders/{id}/messages/delta", mail.delta, _MAIL_READ),
    Operation("GET", "/me/messages/{id}", mail.message, ("Mail.Read", "Mail.ReadBasic")),
    Operation("POST", "/me/messages", mail.create, _MAIL_CHANGE),
    Operation("GET", "/me/messages/{id}/attachments", mail.attachments, ("Mail.Read", "Mail.ReadWrite")),
    Operation("POST", "/me/messages/{id}/createReply", mail.create_reply, _MAIL_CHANGE),
    Operation("POST", "/me/messages/{id}/createReplyAll", mail.create_reply_to_all, _MAIL_CHANGE),
    Operation("PATCH", "/me/messages/{id}", mail.change, _MAIL_CHANGE),
    Operation("GET", "/me/chats", chats.chats, ("Chat.Read", "Chat.ReadBasic", "Chat.ReadWrite")),
    Operation(
        "GET",
        "/chats/{id}/messages/{id}",
        chats.message,
        ("Chat.Read", "Chat.ReadWrite", "Group.Read.All", "Group.ReadWrite.All"),
    ),
    Operation(
        "GET", "/me/calendarView", calendar.view, ("Calendars.Read", "Calendars.ReadBasic", "Calendars.ReadWrite")
    ),
    Operation("GET", "/me/events/{id}", calendar.event, ("Calendars.Read", "Calendars.ReadBasic")),
    Operation("GET", "/me/todo/lists", tasks.lists, _TASKS_READ),
    Operation("POST", "/me/todo/lists", tasks.create_list, _TASKS_CHANGE),
    Operation("GET", "/me/todo/lists/{id}/tasks", tasks.tasks, _TASKS_READ),
    Operation("POST", "/me/todo/lists/{id}/tasks", tasks.create, _TASKS_CHANGE),
    Operation("PATCH", "/me/todo/lists/{id}/tasks/{id}", tasks.change, _TASKS_CHANGE),
    Operation("POST", "/me/todo/lists/{id}/tasks/{id}/linkedResources", tasks.add_link, _TASKS_CHANGE),
    Operation("POST", "/me/sendMail", _sent, _MAIL_SEND),
    Operation("POST", "/me/messages/{id}/send", _sent, _MAIL_SEND),
    Operation("POST", "/me/messages/{id}/reply", _sent, _MAIL_SEND),
    Operation("POST", "/me/messages/{id}/replyAll", _sent, _MAIL_SEND),
    Operation("POST", "/me/messages/{id}/forward", _sent, _MAIL_SEND),
    Operation("POST", "/chats/{id}/messages", _sent, _CHAT_SEND),
    Operation("POST", "/teams/{id}/channels/{id}/messages", _sent, _CHANNEL_SEND),
    Operation("POST", _REPLIES, _sent, _CHANNEL_SEND),
)
"""Each call that there is, with its scopes."""

SENDS = frozenset(one.call for one in OPERATIONS if one.run is _sent)
"""Those that send something to somebody."""

_QUOTED = re.compile(r"\('([^/']+)'\)")
_APPLIED = {"idtype": "IdType", "outlook.body-content-type": "outlook.body-content-type"}


def _unauthenticated(message: str) -> Refusal:
    challenge = 'Bearer realm="", authorization_uri="", client_id=""'
    return refusal("unauthenticated", message, WWW_Authenticate=challenge)


_FAULTS: Refusals = {
    "graph_401": lambda _: _unauthenticated("Access token validation failure. Invalid token."),
    "graph_403": lambda _: refusal("access_denied"),
    "graph_503": lambda _: refusal("unavailable"),
    "graph_429": lambda fault: refusal(
        "throttled", Retry_After=f"{10 if fault.value is None else fault.value:.0f}"
    ),
}


class GraphApi:
    """Answers the calls of the table."""

    def __init__(self, world: Mailboxes) -> None:
        self._world = world

    async def answer(self, request: Request) -> Response:
        made = str(uuid.uuid4())
        ids = {"request-id": made, "client-request-id": request.headers.get("client-request-id") or made}

        def shown(refused: Refusal) -> Response:
            now = self._world.ground.clock.now()
            refused.body["error"]["innerError"] = {"date": f"{now:%Y-%m-%dT%H:%M:%S}", **ids}
            return refused.answer()

        try:
            response = await self._answered(request, shown)
        except Refusal as refused:
            response = shown(refused)
        response.headers.update(ids)
        return response

    async def _answered(self, request: Request, shown: Callable[[Refusal], Response]) -> Response:
        issued = self._signed_in(request.headers.get("authorization", ""))
        operation, path, ids = _matched(request)
        account = issued.account.username
        self._world.requests[account][operation.call] += 1

        async def carried_out() -> Response:
            self._permit(issued, operation)
            call = GraphCall(
                self._world,
                issued,
                path,
                ids,
                dict(request.query_params),
                preferences_of(",".join(request.headers.getlist("prefer"))),
                request.headers.get("if-match", ""),
                json.loads(await request.body() or b"null"),
            )
            return _response(operation.run(call), call)

        # A fault's path is an account, a call, or a call of an account.
        struck = self._world.ground.faults.request("graph", f"{account} {operation.call}", operation.call)
        return await struck.answer(_FAULTS, carried_out, shown)

    def _permit(self, issued: Issued, operation: Operation[Handler]) -> None:
        """Raise `Refusal` unless the scopes are there; a send is noted, whether they are or not."""
        refused = refused_scopes(operation.path, operation.right, issued.scopes)
        if operation.call in SENDS:
            self._world.note_send(issued.account.username, operation.call, refused=refused is not None)
        if refused is not None:
            raise refused

    def _signed_in(self, authorization: str) -> Issued:
        scheme, _, token = authorization.partition(" ")
        issued = issued_token(self._world.ground.state, token)
        if scheme.lower() != "bearer" or issued is None:
            raise _unauthenticated("Access token validation failure. Invalid token.")
        if issued.expires <= self._world.ground.clock.now().timestamp():
            raise _unauthenticated("Lifetime validation failed, the token is expired.")
        return issued


def _matched(request: Request) -> tuple[Operation[Handler], str, tuple[str, ...]]:
    """Return the row of a call, its path, and the ids in that.

    A function may be written as the vendor's library writes it: `delta()`. An id may be written as in the vendor's
    links: `mailFolders('inbox')`.
    """
    path = _QUOTED.sub(r"/\1", f"/{request.path_params['rest']}".removesuffix("()"))
    if (found := matched(OPERATIONS, request.method, path)) is None:
        segment = path.rpartition("/")[2]
        raise refusal("bad_request", f"Resource not found for the segment '{segment}': the sandbox has it not.")
    operation, match = found
    return operation, path, match.groups()


def _response(answer: object, call: GraphCall) -> Response:
    applied = [f'{name}="{value}"' for key, name in _APPLIED.items() if (value := call.preferences.get(key))]
    headers = {"Preference-Applied": ", ".join(applied)} if applied else {}
    match answer:
        case None:
            return Response(status_code=202, headers=headers)
        case Created(body):
            return JSONResponse(body, 201, headers)
        case _:
            return JSONResponse(answer, 200, headers)


def graph_routes(ground: SandboxGround, url: str) -> list[Route]:
    """Return the routes; `url` is the address that links in answers begin with."""
    world = Mailboxes(ground, url)
    methods = ["GET", "POST", "PATCH", "PUT", "DELETE"]
    return [Route("/v1.0/{rest:path}", GraphApi(world).answer, methods=methods), *Levers(world).routes()]
