"""What the vendor's library asks by: one session of `requests`, bounded and with deadlines."""

from typing import Any

import requests

from orrery.outside import session
from orrery.ports.identity import IdentityUnreachable
from orrery.trust import Trust

DEADLINE = (10.0, 30.0)
"""Seconds to connect, and for each piece of an answer."""


class DeadlineSession:
    """The `http_client` of the library: it follows no redirection, which could carry a refresh token elsewhere."""

    def __init__(self, trust: Trust) -> None:
        self._session = session(trust)

    def get(self, url: str, **given: Any) -> requests.Response:  # noqa: ANN401  as the library calls it
        """Send a GET request."""
        return self._ask("GET", url, **given)

    def post(self, url: str, **given: Any) -> requests.Response:  # noqa: ANN401  the same
        """Send a POST request."""
        return self._ask("POST", url, **given)

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def _ask(self, method: str, url: str, **given: Any) -> requests.Response:  # noqa: ANN401  the same
        try:
            return self._session.request(method, url, timeout=DEADLINE, allow_redirects=False, **given)
        except requests.RequestException:
            raise
        except OSError:
            raise IdentityUnreachable(
                "The certificates that REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE names cannot be read: unset it."
            ) from None
