"""Web sites over HTTP, asked for paths that a browser would tidy first."""

from orrery.outside import NoAnswer, Outside
from orrery.ports.web_sites import SiteAnswer, SiteNotReached, SiteRequest
from orrery.trust import WELL_KNOWN, Trust

SECONDS = 10.0
"""How long one request may take."""

BEGINNING = 64 * 1024
"""Bytes that are read of an answer: enough to tell two pages apart."""


class HttpWebSites:
    """See `WebSites`."""

    def __init__(self, trust: Trust = WELL_KNOWN) -> None:
        self._trust = trust

    async def ask(self, origin: str, request: SiteRequest) -> SiteAnswer:
        site = Outside(origin, SECONDS, self._trust)
        raw = {"target": request.path.encode("ascii")}  # the client would resolve `/../` in an address
        try:
            async with site.answer(
                request.method, origin, headers=dict(request.headers), extensions=raw
            ) as answer:
                body = b""
                async for piece in answer.aiter_bytes():
                    body += piece
                    if len(body) >= BEGINNING:
                        break
        except NoAnswer as error:
            raise SiteNotReached(str(error)) from None
        return SiteAnswer(answer.status_code, dict(answer.headers), body[:BEGINNING])
