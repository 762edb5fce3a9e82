"""One request to the API with an account's token, over HTTP."""

import httpx2

from orrery.bounded import LONGEST_ANSWER
from orrery.ports.delegated import ApiAnswer, ApiUnreachable
from orrery.tls import unreachable
from orrery.trust import WELL_KNOWN, Trust

TIMEOUT = 60.0
"""Seconds to connect, and for each piece of the answer."""

_WHO = "The API"


class HttpDelegatedApi:
    """Asks the API at one address only: a token is worth as much as a password."""

    def __init__(self, address: str, trust: Trust = WELL_KNOWN) -> None:
        self._address = address.rstrip("/")
        self._trust = trust

    def ask(self, method: str, path: str, token: str, body: bytes | None, media_type: str) -> ApiAnswer:
        """See `DelegatedApi`."""
        headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"}
        if body is not None:
            headers["Content-Type"] = media_type
        try:
            with (
                httpx2.Client(timeout=TIMEOUT, verify=self._trust.web, follow_redirects=False) as client,
                client.stream(method, self._address + path, content=body, headers=headers) as answer,
            ):
                found = b""
                for piece in answer.iter_raw():
                    found += piece
                    if len(found) > LONGEST_ANSWER:
                        raise ApiUnreachable(f"{_WHO}'s answer is longer than {LONGEST_ANSWER >> 20} MB.")
                named = {name.lower(): value for name, value in answer.headers.items()}
                return ApiAnswer(answer.status_code, named, found)
        except httpx2.HTTPError as error:
            raise ApiUnreachable(unreachable(_WHO, error)) from None
