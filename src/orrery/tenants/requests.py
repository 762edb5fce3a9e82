"""A direct request with one account's token, whose answer names its track (spec 3, Authentication 4)."""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from orrery.errors import Invalid, TrackRefused
from orrery.ports.delegated import ApiAnswer, DelegatedApi
from orrery.syntax.track import labels_in
from orrery.tenants.accounts import TrackAccount
from orrery.tenants.sign_ins import SignIns

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

_DEFAULT_PORTS = {"https": 443, "http": 80}

_SUCCESS = range(200, 300)
"""A redirection is none: it is not followed, so what was asked for did not come."""

_DEEPEST = 100
"""How deeply JSON of an answer is printed as JSON."""

_LONGEST_ADDRESS = 16_384

_MEDIA_TYPE = re.compile(r"[!-~]+/[!-~]+(?: [!-~]+)*")


@dataclass(frozen=True, slots=True)
class Labelled:
    """The API's answer with the account that asked, and so with its track."""

    account: TrackAccount
    answer: ApiAnswer

    @property
    def is_success(self) -> bool:
        return self.answer.status in _SUCCESS

    def document(self) -> Mapping[str, Any]:
        """Return the answer as JSON: `body` is what came, as JSON or text; bytes are `base64`."""
        media_type = self.answer.headers.get("content-type", "")
        return {
            "track": self.account.track,
            "account": self.account.name,
            "status": self.answer.status,
            "media_type": media_type,
            **_content(self.answer.body),
        }


@dataclass(frozen=True, slots=True)
class Requests:
    """Asks the API of the settings."""

    sign_ins: SignIns
    api: DelegatedApi

    def ask(
        self, name: str, method: Method, url: str, body: bytes | None = None, media_type: str = "application/json"
    ) -> Labelled:
        """Ask for one account; raise `TrackRefused` for a body of another track, and what `SignIns.token` does."""
        path = path_of(url, self.sign_ins.settings.api)
        if not _MEDIA_TYPE.fullmatch(media_type):
            raise Invalid("The media type is not of the form type/subtype.")
        account, _ = self.sign_ins.find(name)
        if foreign := sorted(labels_in(body or b"") - {account.track}):
            raise TrackRefused(f"The body has data of track {foreign[0]}: {account} cannot send it.")
        token = self.sign_ins.token(name)
        return Labelled(account, self.api.ask(method, path, token.value, body, media_type))


def path_of(url: str, api: str) -> str:
    """Return the path and the query of an address of the API; raise `Invalid` for any other: it gets no token."""
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise Invalid("The address has characters that no address has.")
    if len(url) > _LONGEST_ADDRESS:
        raise Invalid(f"The address is longer than {_LONGEST_ADDRESS} characters.")
    try:
        asked, own = urlsplit(url), urlsplit(api)
        same = _origin(asked.scheme, asked.hostname, asked.port) == _origin(own.scheme, own.hostname, own.port)
    except ValueError:
        raise Invalid("This is no web address.") from None
    if not same or "@" in asked.netloc or asked.fragment:
        raise Invalid(f"Tokens go to {api} only: begin the address with that (`api` in [tenants]).")
    return (asked.path or "/") + (f"?{asked.query}" if asked.query else "")


def _origin(scheme: str, host: str | None, port: int | None) -> tuple[str, str | None, int | None]:
    return scheme, host, port or _DEFAULT_PORTS.get(scheme)


def _content(body: bytes) -> Mapping[str, Any]:
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {"body": text}
    return {"body": found if _is_shallow(found) else text}


def _is_shallow(value: object) -> bool:
    """Return whether JSON can be printed as it is: what is nested deeper is printed as text."""
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return True
    return False


def _inside(value: Any) -> Iterable[Any]:  # noqa: ANN401  any JSON
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).values()
    return cast("list[Any]", value) if isinstance(value, list) else ()
