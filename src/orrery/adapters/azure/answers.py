"""What the management API's answers mean: a missing resource, a refusal, or no answer."""

from collections.abc import Generator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    HttpResponseError,
    ResourceNotFoundError,
)

from orrery.errors import CloudError, CloudRefused, CloudUnreachable
from orrery.syntax.lines import one_line
from orrery.tls import tls_trouble

LONGEST_MESSAGE = 200
"""Characters of the vendor's message that an error repeats."""

CLOUD = "The cloud"

_SIGN_IN = "type `az login` with an account of the right tenant, or set the variables of a service principal."

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
"""What to do, by the vendor's code, where its message does not say it."""


@contextmanager
def answered(what: str) -> Generator[None]:
    """Raise `CloudRefused` or `CloudUnreachable` for an error of the libraries; `what` is what was to be done."""
    try:
        yield
    except ResourceNotFoundError as error:
        raise refused(what, error, HTTPStatus.NOT_FOUND) from None
    except ClientAuthenticationError as error:
        status = error.status_code or HTTPStatus.UNAUTHORIZED
        if status == HTTPStatus.FORBIDDEN:
            raise refused(what, error, status) from None
        raise CloudRefused(f"{CLOUD} does not accept the sign-in: {_SIGN_IN}", status=int(status)) from None
    except HttpResponseError as error:
        raise _failed(what, error) from None
    except AzureError as error:
        why = tls_trouble(CLOUD, error) or f"{CLOUD} cannot be reached ({type(error).__name__})."
        raise CloudUnreachable(f"{why} It was to {what}.") from None


@contextmanager
def none_if_missing() -> Generator[None]:
    """Swallow the answer that a resource is not there: the caller returns None."""
    try:
        yield
    except CloudRefused as error:
        # What is in a subscription that this account does not see is not missing.
        if error.status != HTTPStatus.NOT_FOUND or error.code == NO_SUBSCRIPTION:
            raise


def _failed(what: str, error: HttpResponseError) -> CloudError:
    status = error.status_code or 0
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return CloudUnreachable(f"{CLOUD} was asked too often (429) to {what}. Try again{_after(error)}.")
    if status == 0:  # an answer that broke off
        return CloudUnreachable(f"{CLOUD} cannot be reached ({type(error).__name__}). It was to {what}.")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return CloudUnreachable(f"{CLOUD} failed ({status}) to {what}. Try again in some minutes.")
    return refused(what, error, status)


def refused(what: str, error: HttpResponseError, status: int) -> CloudRefused:
    """Return a refusal with the vendor's own words."""
    code, message = _own_words(error)
    sentence = f"{CLOUD} refused ({code or int(status)}) to {what}"
    if status == HTTPStatus.FORBIDDEN:
        return CloudRefused(f"{sentence}. {_RIGHTS}", status=int(status), code=code)
    said = f": {message}" if message else "."
    if code in _TODO:
        said += f" {_TODO[code]}"
    elif status == HTTPStatus.CONFLICT:
        said += " Another change may be under way: try again in a minute."
    return CloudRefused(f"{sentence}{said}", status=int(status), code=code)


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
