"""A service that hangs, is away, or is not what it claims: practice pages stay closed, and nothing else is."""

from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse

from orrery.checkout.site.web_servers import WebServer
from tests.nginx.gated import AT, PLAIN, expect_away, gated_site
from tests.support.certificates import make_certificate
from tests.support.serving import bound, serving


@pytest.mark.parametrize(("kind", "wait"), [("nginx", "5s"), ("caddy", "5s"), ("worker", "5000")])
def test_a_service_that_hangs(kind: WebServer, wait: str, tmp_path: Path) -> None:
    """It is given up, and the page stays closed."""
    listener, url = bound()
    with listener, gated_site(kind, tmp_path, url, changed=(wait, "100ms" if wait == "5s" else "100")) as site:
        expect_away(site.ask(f"{AT}/"))


def test_errors_that_the_owner_handles(tmp_path: Path) -> None:
    """An owner who answers every error of Caddy's with the file that was asked for hands out no practice page."""
    answers_with_files = f"handle_errors {{\n root * {tmp_path}/files\n file_server\n}}"
    with gated_site("caddy", tmp_path, more=answers_with_files) as site:
        cookie = site.shop.opened("cs_1")
        site.shop.stop()
        for path in PLAIN:
            expect_away(site.ask(path))
            expect_away(site.ask(path, Cookie=cookie))


@pytest.mark.parametrize("kind", ["nginx", "caddy"])
def test_a_service_that_is_not_what_it_claims(kind: WebServer, tmp_path: Path) -> None:
    """One that answers by https without a certificate that the machine trusts is believed nothing."""
    listener, url = bound()
    certificate = make_certificate(tmp_path, host="127.0.0.1")
    with (
        serving(PlainTextResponse("Come in.", 204), listener, certificate),
        gated_site(kind, tmp_path, url.replace("http:", "https:")) as site,
    ):
        expect_away(site.ask(f"{AT}/"))
