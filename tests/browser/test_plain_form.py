"""A static site sells by a plain form, without a script: its nginx, a real service and sandbox, and a browser."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, Watch
from tests.support import nginx
from tests.support.deployment import Deployment, Product, running
from tests.support.ports import free_ports
from tests.support.tables import each_case

STRICT = "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

_FORM = """<!doctype html><html lang="en"><title>Exam</title><main><h1>Exam</h1>
<form method="post" action="/guided/api/checkout">
<input type="hidden" name="productType" value="cert">
<input type="hidden" name="vendorSlug" value="northwind">
<input type="hidden" name="certCode" value="exam">
<button>Buy the exam</button>
</form></main></html>"""

_SITE = """\
server {{
    listen 127.0.0.1:{port};
    root {root};
    index index.html;
    default_type text/html;
    add_header Content-Security-Policy "{policy}" always;
    access_log {folder}/access.log;
    location = /no-referrer/ {{
        add_header Content-Security-Policy "{policy}" always;
        add_header Referrer-Policy no-referrer always;
    }}
    include {folder}/orrery-site.conf;
}}
"""

_SETTINGS = """\
[[sites]]
origin = "{origin}"
name = "Northwind"
practice_url = "{origin}/practice/{{certCode}}/"
"""


@dataclass(frozen=True, slots=True)
class StaticSite:
    """A folder of files behind nginx, with the configuration that `orrery site nginx` prints."""

    origin: str
    shop: Deployment
    folder: Path

    def sessions(self) -> int:
        """Return how many sessions were made for its product."""
        return len(self.shop.sandbox.sessions("exam"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StaticSite]:
    """Run service, sandbox and nginx."""
    folder, (port,) = tmp_path_factory.mktemp("site"), free_ports(1)
    origin = f"http://127.0.0.1:{port}"
    shop = Deployment(
        tmp_path_factory.mktemp("shop"), [Product("exam", site="Northwind")], more=_SETTINGS.format(origin=origin)
    )
    texts = {"": _FORM, "no-referrer": _FORM, "practice/exam": "<title>Questions</title><h1>Questions</h1>"}
    for place, text in texts.items():
        (folder / "files" / place).mkdir(parents=True, exist_ok=True)
        (folder / "files" / place / "index.html").write_text(text, encoding="utf-8")
    printed = shop.orrery("site", "nginx", "--site", "Northwind").stdout
    (folder / "orrery-site.conf").write_text(printed, encoding="utf-8")
    text = _SITE.format(port=port, root=folder / "files", folder=folder, policy=STRICT)
    with running(shop), nginx.running(nginx.write(folder, text), port):
        yield StaticSite(origin, shop, folder)


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    """Return a page without scripts."""
    return open_page(java_script_enabled=False)


@each_case("place", ["/", "/no-referrer/"])
def test_a_form_sells(place: str, site: StaticSite, open_page: OpenPage) -> None:
    """From the form to the practice page, although the site's policy lets no form's answer leave it."""
    page = open_page(java_script_enabled=False)
    page.goto(f"{site.origin}{place}")
    page.get_by_role("button", name="Buy the exam").click()
    expect(page.get_by_role("heading", name="Your order")).to_be_visible()
    session_id = page.url.rpartition("/")[2]
    page.get_by_label("E-mail").fill("ada@example.test")
    page.get_by_role("button", name="Pay").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Access until")
    page.get_by_role("link", name="Start practising").click()
    expect(page.get_by_role("heading", name="Questions")).to_be_visible()
    logged = (site.folder / "access.log").read_text(encoding="utf-8")
    assert "/practice/exam/" in logged
    assert session_id.startswith("cs_")
    assert not [word for word in (session_id, "order=", "/pay") if word in logged]
    assert session_id not in site.shop.printed()


def test_a_double_click_is_one_order(site: StaticSite, page: Page) -> None:
    """However often it is pressed, one payment page opens; Back leads to the form, which sells again."""
    page.goto(site.origin)
    page.get_by_role("button", name="Buy the exam").dblclick()
    expect(page.get_by_role("heading", name="Your order")).to_be_visible()
    first = page.url
    page.go_back()
    expect(page.get_by_role("heading", name="Exam")).to_be_visible()
    page.get_by_role("button", name="Buy the exam").click()
    expect(page.get_by_role("heading", name="Your order")).to_be_visible()
    assert page.url != first


def test_an_order_is_of_one_browser(site: StaticSite, page: Page, open_page: OpenPage) -> None:
    """Its address leads its browser to the same payment page again, and shows any other one a button."""
    page.goto(site.origin)
    with page.expect_request(lambda one: "/guided/pay?" in one.url) as order:
        page.get_by_role("button", name="Buy the exam").click()
    expect(page.get_by_role("heading", name="Your order")).to_be_visible()
    payment = page.url
    page.goto(order.value.url, wait_until="commit")
    expect(page.get_by_role("heading", name="Your order")).to_be_visible()
    assert page.url == payment
    other = open_page(java_script_enabled=False)
    other.goto(order.value.url, wait_until="commit")
    other.get_by_role("button", name="Go on to the payment").click()
    expect(other.get_by_role("heading", name="Your order")).to_be_visible()
    assert other.url != payment


def test_a_page_elsewhere_is_asked_about(site: StaticSite, page: Page, watch: Watch) -> None:
    """The form of another origin leads to a button on the site's own, which sells; no session is made before."""
    made = site.sessions()
    elsewhere = site.origin.replace("127.0.0.1", "shop.localhost")
    form = _FORM.replace('action="', f'action="{site.origin}')
    page.route(f"{elsewhere}/**", lambda route: route.fulfill(body=form, content_type="text/html"))
    page.goto(f"{elsewhere}/shop")
    page.get_by_role("button", name="Buy the exam").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Buy exam exam")
    watch.forgive("403")
    assert site.sessions() == made
    page.get_by_role("button", name="Go on to the payment").click()
    expect(page.get_by_role("heading", name="Your order")).to_be_visible()
    assert site.sessions() == made + 1
