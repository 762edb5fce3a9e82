"""Microsoft Graph over HTTP: who asks, with which scopes, for which call; and what a fault does to it."""

import json
import re
import uuid
from collections.abc import Callable
from functools import partial

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from orrery.sandbox.faults import Fault, Refusal
from orrery.sandbox.graph.calendar import Calendar
from orrery.sandbox.graph.call import (
    SCOPES,
    SENDS,
    Created,
    GraphCall,
    Handler,
    check_scopes,
    preferences_of,
    refusal,
)
from orrery.sandbox.graph.chats import Chats
from orrery.sandbox.graph.levers import Levers
from orrery.sandbox.graph.mail import Delta, Mail
from orrery.sandbox.graph.mailbox import Mailboxes
from orrery.sandbox.graph.tasks import Tasks
from orrery.sandbox.ground import Document, SandboxGround
from orrery.sandbox.identity.directory import GRAPH
from orrery.sandbox.identity.tokens import Issued, issued_token

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


_SEGMENT = r"([^/]+)"
_QUOTED = re.compile(r"\('([^/']+)'\)")
_APPLIED = {"idtype": "IdType", "outlook.body-content-type": "outlook.body-content-type"}


def _unauthenticated(message: str) -> Refusal:
    challenge = 'Bearer realm="", authorization_uri="", client_id=""'
    return refusal("unauthenticated", message, WWW_Authenticate=challenge)


_FAULTS: dict[str, Callable[[Fault], Refusal]] = {
    "graph_401": lambda _: _unauthenticated("Access token validation failure. Invalid token."),
    "graph_403": lambda _: refusal("access_denied"),
    "graph_503": lambda _: refusal("unavailable"),
    "graph_429": lambda fault: refusal(
        "throttled", Retry_After=f"{10 if fault.value is None else fault.value:.0f}"
    ),
}


class GraphApi:
    """Answers the calls that `SCOPES` names."""

    def __init__(self, world: Mailboxes, chats: Chats, calendar: Calendar) -> None:
        self._world = world
        self._handlers = _handlers(world, chats, calendar)

    def routes(self) -> list[Route]:
        return [Route("/v1.0/{rest:path}", self.answer, methods=["GET", "POST", "PATCH", "PUT", "DELETE"])]

    async def answer(self, request: Request) -> Response:
        made = str(uuid.uuid4())
        ids = {"request-id": made, "client-request-id": request.headers.get("client-request-id") or made}
        try:
            response = await self._answered(request)
        except Refusal as refused:
            refused.body["error"]["innerError"] = {
                "date": f"{self._world.ground.clock.now():%Y-%m-%dT%H:%M:%S}",
                **ids,
            }
            response = refused.answer()
        response.headers.update(ids)
        return response

    async def _answered(self, request: Request) -> Response:
        issued = self._signed_in(request.headers.get("authorization", ""))
        template, ids = _matched(request.method, f"/{request.path_params['rest']}")
        account = issued.account.username
        self._world.requests[account][template] += 1
        # A fault's path is an account, a call, or a call of an account.
        faults, struck = self._world.ground.faults, (f"{account} {template}", template)
        if (broken := faults.instead("graph", *struck)) is not None:
            return broken
        faults.refuse(_FAULTS, *struck)
        self._permit(issued, template)
        call = GraphCall(
            issued,
            template,
            ids,
            dict(request.query_params),
            preferences_of(",".join(request.headers.getlist("prefer"))),
            request.headers.get("if-match", ""),
            json.loads(await request.body() or b"null"),
        )
        response = _response(self._handlers[template](call), call)
        if faults.take("graph_half", *struck):
            half = bytes(response.body)[: len(response.body) // 2]
            return Response(half, response.status_code, media_type="application/json")
        return faults.late("graph_lost_answer", response, self._world.ground.clock, *struck)

    def _permit(self, issued: Issued, template: str) -> None:
        try:
            check_scopes(template, issued.scopes)
        except Refusal:
            if template in SENDS:
                self._world.note_send(issued.account.username, template, refused=True)
            raise

    def _signed_in(self, authorization: str) -> Issued:
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise _unauthenticated("Access token is empty.")
        issued = issued_token(self._world.ground.state, token)
        if issued is None:
            raise _unauthenticated("Access token validation failure. Invalid token.")
        if issued.expires <= self._world.ground.clock.now().timestamp():
            raise _unauthenticated("Lifetime validation failed, the token is expired.")
        return issued


def _handlers(world: Mailboxes, chats: Chats, calendar: Calendar) -> dict[str, Handler]:
    mail, tasks = Mail(world), Tasks(world)
    read: dict[str, Handler] = {
        "GET /me": me,
        "GET /me/mailFolders/{id}/messages": mail.folder_messages,
        "GET /me/mailFolders/{id}/messages/delta": Delta(world).messages,
        "GET /me/messages/{id}": mail.message,
        "POST /me/messages": mail.create,
        "GET /me/messages/{id}/attachments": mail.attachments,
        "POST /me/messages/{id}/createReply": mail.create_reply,
        "POST /me/messages/{id}/createReplyAll": mail.create_reply_to_all,
        "PATCH /me/messages/{id}": mail.change,
        "GET /me/chats": chats.chats,
        "GET /chats/{id}/messages/{id}": chats.message,
        "GET /me/calendarView": calendar.view,
        "GET /me/events/{id}": calendar.event,
        "GET /me/todo/lists": tasks.lists,
        "POST /me/todo/lists": tasks.create_list,
        "GET /me/todo/lists/{id}/tasks": tasks.tasks,
        "POST /me/todo/lists/{id}/tasks": tasks.create,
        "PATCH /me/todo/lists/{id}/tasks/{id}": tasks.change,
        "POST /me/todo/lists/{id}/tasks/{id}/linkedResources": tasks.link,
    }
    return read | dict.fromkeys(SENDS, partial(_sent, world))


def _sent(world: Mailboxes, call: GraphCall) -> None:
    """Note a send, which goes nowhere."""
    world.note_send(call.account, call.template, refused=False)


def _pattern(template: str) -> tuple[str, re.Pattern[str]]:
    method, _, path = template.partition(" ")
    return method, re.compile(re.escape(path).replace(r"\{id\}", _SEGMENT), re.IGNORECASE)


_PATTERNS: dict[str, tuple[str, re.Pattern[str]]] = {one: _pattern(one) for one in SCOPES}


def _matched(method: str, path: str) -> tuple[str, tuple[str, ...]]:
    """Return the template of a call, whose words have no capitals to the vendor, with the ids in the path.

    A function may be written as the vendor's library writes it: `delta()`. An id may be written as in the vendor's
    links: `mailFolders('inbox')`.
    """
    path = _QUOTED.sub(r"/\1", path.removesuffix("()"))
    for template, (its_method, pattern) in _PATTERNS.items():
        if its_method == method and (match := pattern.fullmatch(path)):
            return template, match.groups()
    segment = path.rpartition("/")[2]
    raise refusal("bad_request", f"Resource not found for the segment '{segment}': the sandbox does not have it.")


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
    chats, calendar = Chats(world), Calendar(world)
    return [*GraphApi(world, chats, calendar).routes(), *Levers(world, chats, calendar).routes()]
