"""Sends the reports of the cloud to a site over HTTP."""

from collections.abc import Mapping
from http import HTTPStatus

from orrery.outside import NoAnswer, Outside
from orrery.ports.notifier import DeliveryFailed
from orrery.trust import WELL_KNOWN, Trust

TIMEOUT = 30.0
"""Seconds."""

_SITE = "The site"

_REFUSALS: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: "does not accept the token of the pings.",
    HTTPStatus.NOT_FOUND: "expects no pings: set `pings` in [gateway] of its settings.",
    HTTPStatus.UNPROCESSABLE_ENTITY: (
        "does not understand the report (422), as one of an earlier release does not in which a part of the cloud "
        "is not known: upgrade the site."
    ),
}


class HttpSiteReports:
    """Posts to `/ping` of a site, with the token of the pings."""

    def __init__(self, url: str, token: str, trust: Trust = WELL_KNOWN) -> None:
        self._url = f"{url.rstrip('/')}/ping"
        self._token = token
        self._site = Outside(_SITE, TIMEOUT, trust)

    def send(self, report: Mapping[str, object]) -> None:
        headers = {"Authorization": f"Bearer {self._token}"}
        try:
            status = self._site.ask_at_once("POST", self._url, json=report, headers=headers).status_code
        except NoAnswer as error:
            raise DeliveryFailed(str(error), permanent=False) from None
        if why := _REFUSALS.get(status):
            raise DeliveryFailed(f"{_SITE} {why}", permanent=True)
        if status != HTTPStatus.NO_CONTENT:
            raise DeliveryFailed(f"{_SITE} answered {status} to the report.", permanent=False)
