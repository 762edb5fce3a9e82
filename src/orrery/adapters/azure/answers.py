"""What the management API's answers mean: a missing resource, a refusal, no answer, or one that cannot be read."""

import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    HttpResponseError,
    ResourceNotFoundError,
    ServiceResponseError,
)

from orrery.ports.cloud import NO_TOKEN
from orrery.ports.cloud.errors import CloudError, CloudRefused, CloudUnreachable
from orrery.syntax.lines import one_line
from orrery.tls import tls_trouble

LONGEST_MESSAGE = 200
"""Characters of the vendor's message that an error repeats."""

CLOUD = "The cloud"

_SIGN_IN = "Type `az login` with an account of the right tenant, or set the variables of a service principal."
_PROXY = "see whether a proxy answers in its place."

_RIGHTS = (
    "The account that is signed in needs the roles Reader on the subscription, Contributor on the resource group "
    "and, to give the identity its role, Role Based Access Control Administrator on the machine."
)

NO_SUBSCRIPTION = "SubscriptionNotFound"

NO_PROVIDER = "MissingSubscriptionRegistration"

_TODO = {
    NO_SUBSCRIPTION: "Correct `subscription` in [cloud], or type `az login` with an account that sees it.",
    NO_PROVIDER: "Type `az provider register --wait --namespace NAME` with that name, then try again.",
}
"""What to do, by the vendor's code, where its message does not name it."""

_OBJECT = re.compile(r"object id '([0-9a-fA-F-]{36})'")
"""Who has no right, in the vendor's message."""


@dataclass(frozen=True, slots=True)
class Right:
    """A right to read: the vendor's name for it, and the id of what it is for. The role Reader has each."""

    action: str
    scope: str


class Unreadable(ServiceResponseError):
    """A good status with a body that is not what was asked for: of a proxy, empty, cut, or of another shape."""


def require_document(response: Any) -> None:  # noqa: ANN401  the libraries' own
    """Raise `Unreadable` unless a good answer is a resource with its id."""
    _require(response, "id", str)


def require_listing(response: Any) -> None:  # noqa: ANN401  the same
    """Raise `Unreadable` unless a good answer is a list: without one, the libraries make an empty one."""
    _require(response, "value", list)


def _require(response: Any, field: str, kind: type) -> None:  # noqa: ANN401  the same
    if response.http_response.status_code != HTTPStatus.OK:
        return
    try:
        found: Any = json.loads(response.http_response.text())[field]
    except (LookupError, RecursionError, TypeError, ValueError):
        found = None
    if not isinstance(found, kind):
        raise Unreadable("The answer is of another shape.")


def require_text(response: Any) -> None:  # noqa: ANN401  the same
    """Raise `Unreadable` for a web page in the place of a text."""
    answer = response.http_response
    if answer.status_code == HTTPStatus.OK and "html" in str(answer.headers.get("Content-Type", "")).lower():
        raise Unreadable("The answer is a web page.")


@contextmanager
def answered(what: str, right: Right | None = None) -> Generator[None]:
    """Raise `CloudRefused` or `CloudUnreachable` for whatever goes wrong; `what` is what was to be done."""
    try:
        yield
    except CloudError:
        raise
    except ResourceNotFoundError as error:
        raise refused(what, error, HTTPStatus.NOT_FOUND) from None
    except ClientAuthenticationError as error:
        status = error.status_code or HTTPStatus.UNAUTHORIZED
        if status == HTTPStatus.FORBIDDEN:
            raise refused(what, error, status, right) from None
        raise _without_token(error, status) from None
    except HttpResponseError as error:
        raise _failed(what, error, right) from None
    except Unreadable:
        raise _unreadable(what) from None
    except AzureError as error:
        raise _silent(what, tls_trouble(CLOUD, error)) from None
    except Exception:  # noqa: BLE001  the libraries raise what they like on an answer that is none
        raise _unreadable(what) from None


@contextmanager
def none_if_missing() -> Generator[None]:
    """Swallow the answer that a resource is not there: the caller returns None."""
    try:
        yield
    except CloudRefused as error:
        # What is in a subscription that this account does not see is not missing.
        if error.status != HTTPStatus.NOT_FOUND or error.code == NO_SUBSCRIPTION:
            raise


def _unreadable(what: str) -> CloudUnreachable:
    return CloudUnreachable(
        f"{CLOUD} was asked to {what}, and its answer cannot be read.",
        f"Try again; if it stays so, {_PROXY}",
    )


def _without_token(error: ClientAuthenticationError, status: int) -> CloudRefused:
    # Without a status and a number of the vendor's, none of the credentials gave a token, for an unknown reason.
    if error.status_code or "AADSTS" in str(error.message):
        return CloudRefused(f"{CLOUD} does not accept the sign-in.", _SIGN_IN, status=int(status))
    return CloudRefused(
        f"{CLOUD} gave no token.", f"{_SIGN_IN} If that is done, {_PROXY}", status=int(status), code=NO_TOKEN
    )


def _silent(what: str, tls: str = "") -> CloudUnreachable:
    if tls:
        return CloudUnreachable(f"{tls} It was asked to {what}.")
    return CloudUnreachable(
        f"{CLOUD} was asked to {what}, and gave no whole answer.",
        "Try again in some minutes; if it stays so, look at this machine's network.",
    )


def _failed(what: str, error: HttpResponseError, right: Right | None) -> CloudError:
    status = error.status_code or 0
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return CloudUnreachable(f"{CLOUD} was asked too often (429) to {what}.", f"Try again{_after(error)}.")
    if status == 0:  # an answer that broke off
        return _silent(what)
    if status < HTTPStatus.BAD_REQUEST:
        return _unreadable(what)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return CloudUnreachable(f"{CLOUD} failed ({status}) to {what}.", "Try again in some minutes.")
    return refused(what, error, status, right)


def refused(what: str, error: HttpResponseError, status: int, right: Right | None = None) -> CloudRefused:
    """Return a refusal with the vendor's own words, or with the missing right and the command that gives it."""
    code, message = _own_words(error)
    sentence = f"{CLOUD} refused ({code or int(status)}) to {what}"
    if status == HTTPStatus.FORBIDDEN:
        if right is None:
            return CloudRefused(f"{sentence}.", _RIGHTS, status=int(status), code=code)
        why = f"{sentence}: the account that is signed in has no right {right.action} on {right.scope}."
        return CloudRefused(why, _grant(right, error), status=int(status), code=code)
    details = f": {message}" if message else "."
    todo = _TODO.get(code, "")
    if not todo and status == HTTPStatus.CONFLICT:
        todo = "Another change may be under way: try again in a minute."
    return CloudRefused(f"{sentence}{details}", todo, status=int(status), code=code)


def _grant(right: Right, error: HttpResponseError) -> str:
    found = _OBJECT.search(str(error.message))
    who = found[1] if found else "ITS_OBJECT_ID"
    command = f"az role assignment create --assignee {who} --role Reader --scope {right.scope}"
    return f"Let somebody who may give rights type `{command}`."


def _own_words(error: HttpResponseError) -> tuple[str, str]:
    """Return the code and the message of an answer; without the addresses in it, which may be credentials."""
    found: Any = error.error
    code, message = getattr(found, "code", None) or "", getattr(found, "message", None) or ""
    words = (word for word in one_line(str(message)).split() if "://" not in word)
    return one_line(str(code), 60), " ".join(words)[:LONGEST_MESSAGE]


def _after(error: HttpResponseError) -> str:
    response: Any = error.response
    seconds = str(response.headers.get("Retry-After", "")) if response is not None else ""
    return f" in {seconds} s" if seconds.isdecimal() else " in some minutes"
