"""Microsoft's own library for Graph, pointed at the sandbox, and its answers."""

import ssl
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx
import httpx2
from kiota_abstractions.authentication import AccessTokenProvider, AllowedHostsValidator
from kiota_abstractions.authentication import BaseBearerTokenAuthenticationProvider as BearerTokens
from kiota_abstractions.method import Method
from kiota_abstractions.request_information import RequestInformation
from kiota_abstractions.serialization import Parsable, ParseNode, ParseNodeFactoryRegistry, SerializationWriter
from kiota_serialization_json.json_parse_node_factory import JsonParseNodeFactory
from msgraph_core import BaseGraphRequestAdapter, GraphClientFactory, PageIterator
from msgraph_core.models import PageResult

from tests.support.graph import GraphBox
from tests.support.waiting import PATIENCE


@dataclass
class Message(Parsable):
    """What the tests read of a message."""

    id: str | None = None
    subject: str | None = None
    received: datetime | None = None

    @staticmethod
    def create_from_discriminator_value(parse_node: ParseNode | None = None) -> "Message":  # noqa: ARG004  the library's
        return Message()

    def get_field_deserializers(self) -> dict[str, Callable[[ParseNode], None]]:
        return {
            "id": lambda node: setattr(self, "id", node.get_str_value()),
            "subject": lambda node: setattr(self, "subject", node.get_str_value()),
            "receivedDateTime": lambda node: setattr(self, "received", node.get_datetime_value()),
        }

    def serialize(self, writer: SerializationWriter) -> None:
        raise NotImplementedError


class Messages(PageResult):
    """A page of messages."""

    @staticmethod
    def create_from_discriminator_value(parse_node: ParseNode | None = None) -> "Messages":  # noqa: ARG004  the library's
        return Messages()

    def get_field_deserializers(self) -> dict[str, Callable[[ParseNode], None]]:
        """Return how each field is read: the library's own class cannot read its items."""

        def read(node: ParseNode) -> None:
            self.value = list(node.get_collection_of_object_values(Message) or [])

        return super().get_field_deserializers() | {"value": read}


class _Token(AccessTokenProvider):
    """A token that is there already."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def get_authorization_token(
        self,
        uri: str,  # noqa: ARG002  the library's
        additional_authentication_context: dict[str, Any] = {},  # noqa: ARG002, B006  the library's
    ) -> str:
        return self._token

    def get_allowed_hosts_validator(self) -> AllowedHostsValidator:
        return AllowedHostsValidator([])


class Official:
    """The library's adapter with its usual middleware; the generated models on top of it are too large to lock."""

    def __init__(self, box: GraphBox, web: httpx.AsyncClient, token: str) -> None:
        self._url = f"{box.authority}/v1.0"
        nodes = ParseNodeFactoryRegistry()
        nodes.CONTENT_TYPE_ASSOCIATED_FACTORIES["application/json"] = JsonParseNodeFactory()
        with_middleware = GraphClientFactory.create_with_default_middleware(client=web)
        self.adapter = BaseGraphRequestAdapter(BearerTokens(_Token(token)), nodes, http_client=with_middleware)

    async def content(self, method: Method, path: str, body: bytes | None = None, **headers: str) -> bytes:
        """Return what a request answers."""
        asked = self._request(method, path, body, headers)
        found: Any = await self.adapter.send_primitive_async(asked, "bytes", None)
        return found

    async def messages(self, path: str, **headers: str) -> list[Message]:
        """Return all messages of a list, by the library's iterator."""
        asked = self._request(Method.GET, path, None, headers)
        first: Any = await self.adapter.send_async(asked, Messages, None)
        found: list[Message] = []
        # Its types are loose, and its `set_headers` is broken.
        pages: Any = PageIterator(first, self.adapter)
        for name, value in headers.items():
            pages.headers.add(name, value)

        def take(one: Message) -> bool:
            found.append(one)
            return True

        await pages.iterate(take)
        return found

    def _request(
        self, method: Method, path: str, body: bytes | None, headers: dict[str, str]
    ) -> RequestInformation:
        asked = RequestInformation(method)
        asked.url = f"{self._url}{path}"
        for name, value in headers.items():
            asked.headers.add(name, value)
        if body is not None:
            asked.headers.add("Content-Type", "application/json")
            asked.content = body
        return asked


@asynccontextmanager
async def official(box: GraphBox, account: str) -> AsyncGenerator[Official]:
    """Return the library, signed in."""
    trust = ssl.create_default_context(cafile=box.ca_file)
    # The library's transport, which takes this one's place in the client, does not close it.
    async with httpx.AsyncHTTPTransport(verify=trust, trust_env=False) as transport:
        web = httpx.AsyncClient(transport=transport, timeout=PATIENCE)
        yield Official(box, web, box.token(account))


INBOX = "/me/mailFolders/inbox/messages"


DRAFTS = "/me/mailFolders/drafts/messages"


IMMUTABLE = {"Prefer": 'IdType="ImmutableId"'}


Item = dict[str, Any]


def listed(web: httpx2.Client, path: str = INBOX, **query: object) -> list[Item]:
    """Return the items of one page."""
    answer = web.get(path, params={f"${name}": str(value) for name, value in query.items()})
    assert answer.is_success, answer.text
    return answer.json()["value"]


def named(web: httpx2.Client, subject: str, path: str = INBOX) -> Item:
    """Return the message with that subject."""
    [message] = [one for one in listed(web, path, top=1000) if one.get("subject") == subject]
    return message


def refused(answer: httpx2.Response) -> tuple[int, str]:
    """Return the status and the code of a refusal, which names its request."""
    error = answer.json()["error"]
    assert error["innerError"].keys() == {"date", "request-id", "client-request-id"}
    assert answer.headers["request-id"] == error["innerError"]["request-id"]
    return answer.status_code, error["code"]
