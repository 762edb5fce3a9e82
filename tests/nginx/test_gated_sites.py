"""A site with the printed configuration keeps its practice pages closed, on each web server alike (issue 40)."""

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import get_args
from urllib.parse import urlencode

import httpx2
import pytest

from orrery.checkout.site.web_servers import WebServer
from orrery.errors import StoreUnavailable
from orrery.sandbox.site import DemoSite, sites
from tests.nginx.gated import AT, MARK, PLAIN, SERVERS, VISITOR, Answer, GatedSite, expect_away, gated_site
from tests.support.certificates import make_certificate
from tests.support.checkout import BUYER, OTHER, PRODUCT, metadata_of
from tests.support.hosted import OF_PAGE, sold
from tests.support.ports import free_ports
from tests.support.soak import SOAKING
from tests.support.tables import each_case
from tests.support.waiting import PATIENCE, until

SPELLINGS = [
    AT,
    f"/{AT}/data.json",
    "/practice//cissp/data.json",
    f"{AT}//data.json",
    f"/../{AT[1:]}/data.json",
    f"/nothing/..{AT}/data.json",
    "/practice/../practice/cissp/data.json",
    "/practice/./cissp/data.json",
    f"{AT}/more/../data.json",
    "/practice%2fcissp%2fdata.json",
    "/practice%2Fcissp/data.json",
    "/practice%252fcissp/data.json",
    "/nothing/%2e%2e/practice/cissp/data.json",
    "/%70ractice/cissp%2f%zz%2f..%2fdata.json",
    "/nothing%2f..%2fpractice/cissp/data.json",
    "/%70ractice/%63issp/data.json",
    "/%ff%2f..%2fpractice/cissp/data.json",
    "/PRACTICE/CISSP/DATA.JSON",
    "/Practice/cissp/data.json",
    "/practice\\cissp\\data.json",
    "/practice%5ccissp/data.json",
    f"{AT}/data.json;a=b",
    f"{AT}/data.json%00",
    f"{AT}/data.json?a=/about.html",
    f"{AT}/data.json?a=1&product=isc2/ccsp",
    f"/orrery-gate/{PRODUCT.name}",
    f"http://SITE{AT}/data.json",
]
"""Each way of writing a path that one server or another takes for that of a file."""

WAYS: list[tuple[str, dict[str, str], bytes | None]] = [
    ("GET", {}, None),
    ("HEAD", {}, None),
    ("POST", {"Content_Type": "text/plain"}, b"a body"),
    ("PUT", {}, b"a body"),
    ("DELETE", {}, None),
    ("OPTIONS", {}, None),
    ("GET", {"Range": "bytes=0-3"}, None),
    ("GET", {"Range": "bytes=9999-"}, None),
    ("GET", {"If_None_Match": "*"}, None),
    ("GET", {"If_Modified_Since": "Fri, 01 Jan 2100 00:00:00 GMT"}, None),
    ("GET", {"Authorization": "Basic YTpi"}, None),
    ("GET", {"Connection": "Upgrade", "Upgrade": "websocket"}, None),
    ("GET", {"X_Forwarded_Uri": "/about.html", "X_Original_URL": "/about.html"}, None),
    ("GET", {"X_HTTP_Method_Override": "OPTIONS", "X_Forwarded_Method": "OPTIONS"}, None),
]


@pytest.fixture(scope="module", params=SERVERS)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatedSite]:
    """Run a site on each web server."""
    with gated_site(request.param, tmp_path_factory.mktemp("site")) as one:
        yield one


@pytest.fixture(scope="module")
def cookie(site: GatedSite) -> str:
    """Return the cookie of a browser that opened the product."""
    return site.shop.opened("cs_1")


def test_a_folder_without_a_page_is_no_access_that_ended(site: GatedSite, cookie: str) -> None:
    """nginx answers 403 then, as the access gate does for access that ended."""
    answer = site.ask(f"{AT}/empty/", Cookie=cookie)
    assert (answer.status, answer.location) in {(403, ""), (404, "")}
    assert site.ask(f"{AT}/empty/").status == 303


def expect_closed(answer: Answer) -> None:
    """Expect nothing of a practice page, not even that it is there as it was."""
    assert MARK not in answer.body
    assert answer.status in {301, 303, 308, 400, 404, 405}, answer


@each_case(
    ("path", "method", "headers", "body"),
    [(path, *way) for path in SPELLINGS for way in WAYS[: len(WAYS) if SOAKING else 1]],
)
def test_no_spelling_opens_it(
    path: str, method: str, headers: dict[str, str], body: bytes | None, site: GatedSite, cookie: str
) -> None:
    """However a path is written, a stranger sees nothing, and the buyer of another product neither."""
    path = path.replace("SITE", f"127.0.0.1:{site.port}")
    expect_closed(site.ask(path, method, body, **headers))
    other = path.replace("issp", "csp").replace("ISSP", "CSP")
    expect_closed(site.ask(other, method, body, **headers, Cookie=cookie))


def test_no_spelling_opens_it_by_http_2(tmp_path: Path) -> None:
    """Over TLS, and with the paths of HTTP/2, which nginx reads by another way than those of HTTP/1."""
    certificate, (port,) = make_certificate(tmp_path), free_ports(1)
    more = f"listen 127.0.0.1:{port} ssl http2; ssl_certificate {certificate}; ssl_certificate_key {certificate};"
    trusted = ssl.create_default_context(cafile=str(certificate))
    with gated_site("nginx", tmp_path, more=more) as site:
        cookie = site.shop.opened("cs_1")
        at = f"https://localhost:{port}"
        with httpx2.Client(base_url=at, http2=True, verify=trusted, trust_env=False, timeout=PATIENCE) as web:
            for path in SPELLINGS:
                raw = {"target": path.replace("SITE", f"localhost:{port}").encode()}
                answer = web.get("/", extensions=raw)
                assert answer.http_version == "HTTP/2"
                expect_closed(Answer(answer.status_code, {}, answer.text))
            assert web.get(f"{AT}/data.json", headers={"Cookie": cookie}).status_code == 200


def test_no_spelling_opens_it_where_slashes_are_kept(tmp_path: Path) -> None:
    """An owner who has nginx leave // in paths has more names of each file."""
    with gated_site("nginx", tmp_path, more="merge_slashes off;\n") as site:
        cookie = site.shop.opened("cs_1")
        for path in SPELLINGS:
            expect_closed(site.ask(path.replace("SITE", f"127.0.0.1:{site.port}")))
        assert site.ask(f"{AT}/data.json", Cookie=cookie).status == 200
        assert site.ask("//about.html").status == 200


@each_case(("path", "method", "headers", "body"), [(path, *way) for path in PLAIN for way in WAYS])
def test_no_method_and_no_header_opens_it(
    path: str, method: str, headers: dict[str, str], body: bytes | None, site: GatedSite, cookie: str
) -> None:
    """A stranger is led to where access is found again, the buyer of another product to why it is closed."""
    lost = site.ask(path, method, body, **headers)
    assert (lost.status, lost.location.partition("&")[0]) == (303, f"/guided/lost?product={PRODUCT.name}")
    ended = site.ask(path.replace("cissp", "ccsp"), method, body, **headers, Cookie=cookie)
    assert (ended.status, ended.location) == (303, f"/guided/ended?product={OTHER.name}")
    for answer in (lost, ended):
        assert MARK not in answer.body
        assert answer.headers["cache-control"] == ["private, no-cache"]
        assert answer.headers["strict-transport-security"] == ["max-age=31536000"]


@each_case(
    ("path", "back"),
    [
        (f"{AT}/data.json?a=1&back=//evil.example", f"{AT}/data.json"),
        (f"{AT}/more/", f"{AT}/more/"),
        (f"{AT}/c++.html", f"{AT}/c++.html"),
        (f"/{AT}/", ""),
        (f"//evil.example/..{AT}/", ""),
    ],
)
def test_the_way_back_is_a_path_of_the_site(path: str, back: str, site: GatedSite) -> None:
    """What a stranger writes into an address leads to no other site, by the page that it leads to."""
    answer = site.ask(path)
    assert answer.status == 303
    page = site.ask(answer.location)
    assert page.status == 200
    assert "evil.example" not in page.body
    assert (f'href="{back}"' in page.body) == bool(back)


@each_case("path", PLAIN)
def test_the_buyer_sees_it(path: str, site: GatedSite, cookie: str) -> None:
    """Its own product as the site has it, in no cache on the way, asked for again each time."""
    answer = site.ask(path, Cookie=cookie)
    assert (answer.status, MARK in answer.body) == (200, True)
    assert answer.headers["cache-control"] == ["private, no-cache"]
    assert answer.headers["strict-transport-security"] == ["max-age=31536000"]
    assert site.ask(path, "HEAD", Cookie=cookie).status == 200
    assert site.ask(path, Cookie=cookie, If_None_Match=answer.headers["etag"][0]).status == 304
    part = site.ask(path, Cookie=cookie, Range="bytes=0-3")
    assert (part.status, part.body) == (206, "ciss")


def test_a_folder_without_its_slash(site: GatedSite, cookie: str) -> None:
    """The buyer is led to the folder, on the same site."""
    answer = site.ask(AT, Cookie=cookie)
    assert answer.status in {301, 307, 308}
    assert answer.location.endswith(f"{AT}/")


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("nginx", "location / { try_files $uri $uri/index.html =404; }"),
        ("nginx", "merge_slashes off; location / { try_files $uri $uri/index.html =404; }"),
        ("caddy", "handle {\ntry_files {path} {path}/index.html\nfile_server\n}"),
    ],
)
def test_a_folder_whose_page_the_owner_finds(kind: WebServer, more: str, tmp_path: Path) -> None:
    """An owner's `try_files` hands out the index page of a folder without its slash, but not of this one."""
    with gated_site(kind, tmp_path, more=more) as site:
        for path in (AT, f"/{AT}", f"{AT}?a=1", f"{AT}/more"):
            expect_closed(site.ask(path))
        assert MARK in site.ask(f"{AT}/", Cookie=site.shop.opened("cs_1")).body


@each_case(("method", "headers", "body"), WAYS)
def test_the_gate_is_asked_by_the_cookie_alone(
    method: str, headers: dict[str, str], body: bytes | None, site: GatedSite, cookie: str
) -> None:
    """Nothing of a request that could make its answer another one reaches the access gate."""
    _ = site.ask(f"{AT}/data.json", method, body, **headers, Cookie=cookie)
    asked, path, sent, came = site.shop.at_the_gate()
    assert (asked, path, came) == ("GET", f"/guided/api/gate/{PRODUCT.name}", b"")
    assert (sent["cookie"], f"http://{sent['host']}") == (cookie, site.shop.service)
    assert not {"authorization", "range", "if-none-match", "if-modified-since", "content-type"} & {*sent}
    assert sent.get("content-length", "0") == "0"


def test_what_is_for_all_stays_open(site: GatedSite) -> None:
    """The rest of the site is as it was."""
    for path, text in (("/", "<title>"), ("/about.html", "For all."), ("/open.json", "For all.")):
        answer = site.ask(path)
        assert (answer.status, text in answer.body) == (200, True)


def test_a_percent_sign_closes_no_open_page(tmp_path: Path) -> None:
    """The worker leaves an address that encodes nothing to what hands out the files."""
    with gated_site("worker", tmp_path) as site:
        _ = (tmp_path / "files" / "100%.html").write_text("For all.", encoding="utf-8")
        assert site.ask("/100%.html").body == "For all."
        assert site.ask("/about.html/%zz").status == 404


def test_an_alias_without_its_slash(tmp_path: Path) -> None:
    """An owner's `alias` for a folder beside the practice pages leads out of it, and not into them."""
    with gated_site("nginx", tmp_path, more=f"location /site {{ alias {tmp_path}/files/site/; }}\n") as site:
        assert site.ask("/site../about.html").body.startswith("For all.")
        for path in (f"/site..{AT}/index.html", f"/site..{AT}/", f"/site../{AT}/more/index.html"):
            expect_closed(site.ask(path))


def test_files_that_nginx_hides_stay_hidden(tmp_path: Path) -> None:
    """An owner's location for names with a dot in front does not reach into the folder: the printed one does."""
    with gated_site("nginx", tmp_path, more="location ~ /\\. { deny all; }\n") as site:
        cookie = site.shop.opened("cs_1")
        for name in (".notes", "more/.git/config"):
            file = tmp_path / "files" / AT[1:] / name
            file.parent.mkdir(exist_ok=True)
            _ = file.write_text(MARK, encoding="utf-8")
            expect_closed(site.ask(f"{AT}/{name}"))
            assert site.ask(f"{AT}/{name}", Cookie=cookie).status == 404
        assert site.ask(f"{AT}/data.json", Cookie=cookie).status == 200


@pytest.mark.parametrize("demo", sites(), ids=lambda one: one.host)
@pytest.mark.parametrize("kind", get_args(WebServer))
def test_a_crawler_finds_no_practice_page(kind: WebServer, demo: DemoSite, tmp_path: Path) -> None:
    """It follows every link of each site of the demo, and of the hosted pages where it is led."""
    with gated_site(kind, tmp_path, demo=demo) as site:
        found = site.crawl()
    assert {"/about.html", *PLAIN} <= {*found}
    assert any(path.startswith("/guided/lost") for path in found)
    assert [path for path, answer in found.items() if MARK in answer.body] == []


def test_a_purchase_opens_it(site: GatedSite) -> None:
    """On the site's own origin: the hosted page gives the browser its cookie, which opens the practice pages."""
    site.shop.clock.advance(60)
    site.shop.at_owner(sold(site.shop.owner, "cs_2"))
    led = site.ask("/guided/success?session_id=cs_2", Sec_Fetch_Dest="document")
    assert (led.status, led.location) == (303, f"/guided/success?product={PRODUCT.name}&opened")
    given = led.headers["set-cookie"][0].partition(";")[0]
    page = site.ask(led.location, Cookie=given)
    assert page.headers["cache-control"] == ["no-store"]
    assert page.headers["strict-transport-security"] == ["max-age=31536000"]
    assert f'href="http://127.0.0.1{AT}/"' in page.body
    assert site.ask(f"{AT}/", Cookie=given).status == 200
    form = {**OF_PAGE, "Content-Type": "application/x-www-form-urlencoded"}
    assert site.ask("/guided/lost", "POST", f"email={BUYER}&form_token=".encode(), **form).status == 200


def test_no_ticket_is_logged(site: GatedSite) -> None:
    """The owner's web server keeps a log of the site, with no id or key of an access, whatever the answer."""
    site.shop.stop()
    try:
        expect_away(site.ask("/guided/open?session_id=cs_9&link=1&key=aticket"))
    finally:
        site.shop.start()
    assert site.ask("/guided/success?session_id=aticket").status == 404
    assert site.ask("/about.html?here").status == 200

    def written() -> str:
        return "".join(path.read_text(errors="replace") for path in site.folder.glob("*.log"))

    if site.kind != "worker":
        until(lambda: "/about.html?here" in written())  # the last of them
    assert "aticket" not in written()


def test_a_form_sells(site: GatedSite) -> None:
    """A button's form and the page that it leads to come through, with what the browser says of the form."""
    headers = {"Content_Type": "application/x-www-form-urlencoded", "Sec_Fetch_Site": "same-origin"}
    taken = site.ask("/guided/api/checkout", "POST", urlencode(metadata_of(PRODUCT)).encode(), **headers)
    assert (taken.status, taken.location.partition("&")[0]) == (303, f"/guided/pay?product={PRODUCT.name}")
    (refresh,) = site.ask(taken.location).headers["refresh"]
    assert refresh.startswith("0; url=https://pay.example/")


def test_the_live_count_is_on_the_site(site: GatedSite) -> None:
    """Its script and its numbers come from the service."""
    assert "customElements" in site.ask("/live/pill.js").body
    _ = site.ask("/api/stats?realtime=1")
    assert site.shop.asked[-1][:2] == ("GET", "/api/stats")


def test_where_a_visitor_comes_from(site: GatedSite) -> None:
    """The service is told by the web server, and not by the visitor."""
    _ = site.ask("/guided/lost", X_Forwarded_For="203.0.113.9")
    sent = site.shop.asked[-1][2]
    assert "203.0.113.9" not in str(sent)
    assert site.kind == "worker" or sent["x-forwarded-for"] == VISITOR


def test_revoked_is_closed_within_a_second(site: GatedSite) -> None:
    """The owner revokes it at another node; the next request a second later is refused."""
    cookie = site.shop.opened("cs_3")
    assert site.ask(f"{AT}/app.js", Cookie=cookie).status == 200
    _ = site.shop.at_owner(site.shop.owner.desk.revoke("cs_3", "asked by the buyer"))
    assert site.ask(f"{AT}/app.js", Cookie=cookie).location == f"/guided/ended?product={PRODUCT.name}"


def test_a_store_that_cannot_be_read(site: GatedSite, cookie: str) -> None:
    """Nobody knows: it is closed for a moment, and the buyer reads that nothing is lost."""
    site.shop.clock.advance(1)
    site.shop.store.get_errors = [StoreUnavailable("It is full.")]
    expect_away(site.ask(f"{AT}/data.json", Cookie=cookie))
    assert site.ask(f"{AT}/data.json", Cookie=cookie).status == 200


def test_a_service_that_is_stopped(site: GatedSite, cookie: str) -> None:
    """What is for all stays open, all else is closed for as long, and says that no access is lost."""
    site.shop.stop()
    try:
        for path in (*PLAIN, "/guided/lost"):
            expect_away(site.ask(path, Cookie=cookie))
            assert MARK not in site.ask(path).body
        assert site.ask("/").status == 200
    finally:
        site.shop.start()
    assert site.ask(f"{AT}/", Cookie=cookie).status == 200


def test_paths_that_the_owner_rewrites(tmp_path: Path) -> None:
    """Caddy's `uri` comes first: a page that it leads to is asked for, and kept in no cache."""
    with gated_site("caddy", tmp_path, more="uri strip_prefix /learn") as site:
        expect_closed(site.ask(f"/learn{AT}/data.json"))
        answer = site.ask(f"/learn{AT}/data.json", Cookie=site.shop.opened("cs_1"))
        assert (answer.status, answer.headers["cache-control"]) == (200, ["private, no-cache"])


@pytest.mark.parametrize("page", ["=200 /about.html", "= /about.html", "/about.html"])
@pytest.mark.parametrize("intercept", ["on", "off"])
def test_pages_for_errors_open_nothing(page: str, intercept: str, tmp_path: Path) -> None:
    """An owner's page in place of an error, as for maintenance or a login, is no yes of the access gate."""
    more = f"proxy_intercept_errors {intercept};\nerror_page 401 403 500 502 503 504 {page};\n"
    with gated_site("nginx", tmp_path, more=more) as site:
        expect_closed(site.ask(f"{AT}/data.json"))
        cookie = site.shop.opened("cs_1")
        expect_closed(site.ask(f"{AT.replace('cissp', 'ccsp')}/data.json", Cookie=cookie))
        assert site.ask(f"{AT}/data.json", Cookie=cookie).status == 200
        site.shop.stop()
        for path in (f"{AT}/data.json", "/guided/lost"):
            expect_away(site.ask(path, Cookie=cookie))
        site.shop.start()


def test_what_nginx_keeps_opens_nothing(tmp_path: Path) -> None:
    """An owner's cache for a whole server keeps no answer of the access gate and no hosted page."""
    keeps = "proxy_cache kept; proxy_cache_valid any 10m; proxy_ignore_headers Cache-Control Set-Cookie;\n"
    with gated_site("nginx", tmp_path, more=f"{keeps}proxy_hide_header Set-Cookie;\n") as site:
        assert site.ask(f"{AT}/data.json", Cookie=site.shop.opened("cs_1")).status == 200
        expect_closed(site.ask(f"{AT}/data.json"))
        site.shop.at_owner(sold(site.shop.owner, "cs_2"))
        opening = "/guided/success?session_id=cs_2"
        assert "set-cookie" in site.ask(opening, Sec_Fetch_Dest="document").headers
        assert "set-cookie" not in site.ask(opening, Sec_Fetch_Dest="document").headers
