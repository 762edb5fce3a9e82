"""One request to the API with an account's token, over HTTP."""

from orrery.outside import NoAnswer, Outside
from orrery.ports.delegated import ApiAnswer, ApiUnreachable
from orrery.trust import WELL_KNOWN, Trust

SILENCE = 60.0
"""Seconds to connect, and for each piece of the answer."""

DEADLINE, UPLOAD_DEADLINE = 60.0, 900.0
"""Seconds for all of it, without a body and with one: that may be a large file over a slow line."""


class HttpDelegatedApi:
    """Asks the API at one address only: a token is worth as much as a password."""

    def __init__(self, address: str, trust: Trust = WELL_KNOWN) -> None:
        self._address = address.rstrip("/")
        self._trust = trust

    def ask(self, method: str, path: str, token: str, body: bytes | None, media_type: str) -> ApiAnswer:
        """See `DelegatedApi`."""
        deadline = DEADLINE if body is None else UPLOAD_DEADLINE
        api = Outside("The API", deadline, self._trust, silence=SILENCE)
        headers = {"Authorization": f"Bearer {token}"}
        if body is not None:
            headers["Content-Type"] = media_type
        try:
            answer = api.ask_at_once(method, self._address + path, content=body, headers=headers)
        except NoAnswer as error:
            arrived = " What was asked for may be done all the same." if error.sent else ""
            raise ApiUnreachable(f"{error}{arrived}") from None
        named = {name.lower(): value for name, value in answer.headers.items()}
        return ApiAnswer(answer.status_code, named, answer.content)
