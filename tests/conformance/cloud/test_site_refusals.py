"""What a site answers to a report of the cloud is one sentence with the next step."""

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from orrery.adapters.site_reports import HttpSiteReports
from orrery.ports.notifier import DeliveryFailed
from tests.support.serving import served
from tests.support.tables import each_case

TOKEN = "a-token-of-the-tests"  # noqa: S105  it opens nothing
WORDS = {
    401: ("does not accept the token", True),
    404: ("set `pings` in [gateway]", True),
    422: ("an earlier release", True),
    503: ("answered 503", False),
}
"""The words of the sentence, and whether another attempt is useless."""


@each_case("status", [204, *WORDS])
def test_each_answer_of_the_site_is_a_sentence(status: int) -> None:
    """A site of an earlier release refuses a report with unknown parts: it is to be upgraded."""
    heard: list[str] = []

    async def answer(request: Request) -> Response:
        heard.append(request.headers["authorization"])
        return Response(status_code=status)

    app = Starlette(routes=[Route("/ping", answer, methods=["POST"])])
    with served(app) as url:
        reports = HttpSiteReports(f"{url}/", TOKEN)
        if status in WORDS:
            with pytest.raises(DeliveryFailed, match="site") as raised:
                reports.send({"report": {}})
            words, permanent = WORDS[status]
            assert words in str(raised.value)
            assert raised.value.permanent == permanent
        else:
            reports.send({"report": {}})
    assert heard == [f"Bearer {TOKEN}"]
