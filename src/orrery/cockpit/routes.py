"""The cockpit over HTTP (spec 3, Endpoints; decision 35). `edge/local.py` decides who may ask."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import PlainTextResponse, Response, StreamingResponse
from pydantic import BaseModel

from orrery.cockpit import page
from orrery.cockpit.actions import Actions
from orrery.cockpit.health import CockpitHealth
from orrery.cockpit.rows import LEDGER, LONGEST_ID, RowId, parse_row_id
from orrery.cockpit.schema import (
    ActionBody,
    ActionRead,
    AsideRead,
    CodeBody,
    DraftBody,
    DraftRead,
    FindingRead,
    HeadRead,
    HealthRead,
    RowBody,
    RowsRead,
    SetAsideBody,
    SetAsideRead,
    SignInBody,
    SignInRead,
    TaskRead,
    TokenRead,
)
from orrery.cockpit.set_aside import asked_for
from orrery.cockpit.sign_in import SignInTabs
from orrery.edge.body import json_body, read_model
from orrery.edge.launch import Launch
from orrery.edge.local import SESSION
from orrery.edge.problem import Problem
from orrery.edge.problems import problems
from orrery.edge.routes import Routes
from orrery.ports.health import Finding
from orrery.syntax.track import HEADER, label, labelled

LARGEST_BODY = 64 * 1024
"""Bytes of a request: an id, and a comment."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_PAGE_HEADERS = {"Content-Security-Policy": _POLICY, "Cross-Origin-Resource-Policy": "same-origin"}

_OF_EVERY_WRITE = (400, 401, 403, 408, 413, 415, 422)
_OF_WRITES: dict[type[BaseModel], tuple[int, ...]] = {
    CodeBody: _OF_EVERY_WRITE,
    DraftBody: (*_OF_EVERY_WRITE, 404, 502, 503),
    RowBody: (*_OF_EVERY_WRITE, 404, 502, 503),
    ActionBody: (*_OF_EVERY_WRITE, 404, 503),
    SetAsideBody: (*_OF_EVERY_WRITE, 404, 502, 503),
    SignInBody: (*_OF_EVERY_WRITE, 404, 502, 503),
}
"""The refusals of each operation that takes a body."""


class CockpitRoutes:
    """Parses, calls once, and shapes the answer."""

    def __init__(self, actions: Actions, health: CockpitHealth, launch: Launch, tabs: SignInTabs) -> None:
        self._actions = actions
        self._tabs = tabs
        self._health = health
        self._launch = launch
        self._started_page = page.digest()

    def all(self) -> Routes:
        return Routes(public=[self.router()])

    def router(self) -> APIRouter:
        router = APIRouter()
        router.add_api_route("/", self.index, include_in_schema=False)
        router.add_api_route("/static/{name}", self.file, include_in_schema=False)
        for path, answer, summary, kind in (
            (SESSION, self.exchange, "Exchange the code of a link for the token", CodeBody),
            ("/api/comms/draft-reply", self.draft_reply, "Draft a reply, which is never sent", DraftBody),
            ("/api/comms/add-to-tasks", self.add_to_tasks, "Make a task of a row", RowBody),
            (
                "/api/comms/set-aside",
                self.set_aside,
                "Mark a row as done or for later, or undo that",
                SetAsideBody,
            ),
            ("/api/comms/sign-in", self.sign_in, "Let a person sign an account in, in another tab", SignInBody),
            ("/api/action-hub/action", self.act, "Dismiss a row of the action ledger, or undo that", ActionBody),
        ):
            router.add_api_route(
                path,
                answer,
                methods=["POST"],
                summary=summary,
                tags=["cockpit"],
                responses=problems(*_OF_WRITES[kind]),
                openapi_extra=json_body(kind),
            )
        self._add_reads(router)
        return router

    def _add_reads(self, router: APIRouter) -> None:
        router.add_api_route(
            "/api/comms/rows",
            self.rows,
            summary="List what waits for an answer",
            tags=["cockpit"],
            response_class=Response,
            responses={200: {"model": RowsRead}} | problems(401, 403, 422),
        )
        router.add_api_route(
            "/api/comms/message-body",
            self.message_body,
            summary="Read a message as plain text",
            tags=["cockpit"],
            response_class=PlainTextResponse,
            responses=problems(401, 403, 404, 422, 502, 503),
        )
        router.add_api_route(
            "/api/comms/message-head",
            self.message_head,
            summary="Who wrote a message to whom, and whom an answer would go to",
            tags=["cockpit"],
            responses=problems(401, 403, 404, 422, 502, 503),
        )
        router.add_api_route(
            "/api/health",
            self.health,
            summary="How every part is",
            tags=["cockpit"],
            responses=problems(401, 403),
        )

    async def index(self) -> Response:
        """Return the page, which holds no data."""
        return Response(page.index(), media_type="text/html; charset=utf-8", headers=_PAGE_HEADERS)

    async def file(self, name: str) -> Response:
        """Return one of the page's files."""
        found = page.file_of(name)
        if found is None:
            raise Problem(404, "not-found", "There is nothing here.")
        content, media_type = found
        return Response(content, media_type=media_type, headers={"Cross-Origin-Resource-Policy": "same-origin"})

    async def exchange(self, request: Request) -> TokenRead:
        """Return the token; a code is good once, for a minute."""
        body = await read_model(request, CodeBody, LARGEST_BODY)
        token = self._launch.exchange(body.code)
        if token is None:
            raise Problem(401, "code-invalid", "This link was used already, or is older than a minute.")
        return TokenRead(token=token)

    async def rows(self, sync: Literal["pulse"] | None = None, listed: bool = True) -> Response:  # noqa: FBT001, FBT002  a parameter of the query
        """Return the list as it is known; with `sync=pulse`, ask every mailbox first.

        With `listed=false` the rows are those that were read and do not wait, each with its `reason`.
        """
        if sync:
            await self._actions.comms.pulse()
        versions = {"page": page.digest(), "started_page": self._started_page}
        pieces = await self._actions.comms.answer(versions, listed=listed)
        return StreamingResponse(_taking_turns(pieces), media_type="application/json")

    async def message_body(
        self, message_id: Annotated[str, Query(alias="messageId", max_length=LONGEST_ID)]
    ) -> PlainTextResponse:
        """Return the text of a message, without mark-up, below the label of its track."""
        row_id = parse_row_id(message_id)
        text = labelled(await self._actions.text(row_id), row_id.track)
        return PlainTextResponse(text, headers={HEADER: label(row_id.track)})

    async def message_head(
        self, message_id: Annotated[str, Query(alias="messageId", max_length=LONGEST_ID)]
    ) -> HeadRead:
        """Return who wrote a message to whom, what to look at about that, and whom an answer would go to."""
        return await self._actions.head(parse_row_id(message_id))

    async def draft_reply(self, request: Request) -> DraftRead:
        """Make a draft in the mailbox of the row, or find the one that is there."""
        body = await read_model(request, DraftBody, LARGEST_BODY)
        row_id = parse_row_id(body.rowId)
        draft = await self._actions.draft_reply(row_id, body.comment, to_all=body.replyAll)
        return DraftRead(id=draft.id, webLink=draft.web_link, track=row_id.track, alreadyExisted=not draft.is_new)

    async def add_to_tasks(self, request: Request) -> TaskRead:
        """Make a task of a row, or find the one that is there."""
        row_id = parse_row_id((await read_model(request, RowBody, LARGEST_BODY)).rowId)
        task = await self._actions.add_to_tasks(row_id)
        return TaskRead(
            id=str(RowId(row_id.track, self._actions.book_of(row_id).account, LEDGER, task.id)),
            title=task.title,
            score=task.score,
            kind=task.kind,
            bucket=task.bucket,
            source=row_id.source,
            sourceId=row_id.source_id,
            track=row_id.track,
            alreadyExisted=task.already_existed,
        )

    async def sign_in(self, request: Request) -> SignInRead:
        """Return the address at which the person signs in; the mailbox is read when that has succeeded."""
        body = await read_model(request, SignInBody, LARGEST_BODY)
        track = self._actions.comms.inbox_to_sign_in(body.account).mailbox.track
        return SignInRead(address=await self._tabs.begin(body.account), track=track)

    async def act(self, request: Request) -> ActionRead:
        """Dismiss a row of the action ledger, or undo that."""
        body = await read_model(request, ActionBody, LARGEST_BODY)
        row_id = parse_row_id(body.rowId)
        changed = await self._actions.act(row_id, body.action)
        return ActionRead(rowId=body.rowId, action=body.action, track=row_id.track, changed=changed)

    async def set_aside(self, request: Request) -> SetAsideRead:
        """Mark a row as done or for later, or undo that."""
        body = await read_model(request, SetAsideBody, LARGEST_BODY)
        row_id = parse_row_id(body.rowId)
        before = await self._actions.set_aside(row_id, body.action, body.until)
        return SetAsideRead(
            rowId=body.rowId,
            action=body.action,
            until=body.until,
            track=row_id.track,
            changed=before != asked_for(body.action, body.until),
            before=AsideRead(
                action=before.reason if before else "undo",
                until=before.until if before else None,
                track=row_id.track,
            ),
        )

    async def health(self) -> HealthRead:
        """Return the findings of the cockpit's own parts."""
        at, findings = await self._health.examine()
        return HealthRead(findings=[_finding(one) for one in findings], at=at)


async def _taking_turns(pieces: Iterable[bytes]) -> AsyncGenerator[bytes]:
    """Yield the pieces; others go on between them."""
    for piece in pieces:
        yield piece
        await asyncio.sleep(0)


def _finding(found: Finding) -> FindingRead:
    return FindingRead(part=found.part, state=found.state, why=found.why, todo=found.todo)
