"""The hosted payment page, and what a payment leaves behind."""

from html.parser import HTMLParser

import httpx2
import pytest

from orrery.sandbox.ground import Document
from tests.sandbox.conftest import SESSION, Running, until


class Page(HTMLParser):
    """The form controls, links and text of a page."""

    def __init__(self, answer: httpx2.Response) -> None:
        super().__init__()
        self.controls: dict[str, list[dict[str, str | None]]] = {}
        self.labelled: set[str | None] = set()
        self.addresses: list[str] = []
        self.text = ""
        self.feed(answer.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note controls, labels and addresses."""
        named = dict(attrs)
        if tag in ("input", "select", "button") and named.get("name"):
            self.controls.setdefault(named["name"] or "", []).append(named)
        if tag == "label":
            self.labelled.add(named.get("for"))
        self.addresses += [value for key, value in attrs if key in ("href", "src", "action") and value]

    def handle_data(self, data: str) -> None:
        """Collect the text."""
        self.text += " " + " ".join(data.split())


def read(box: Running, session: Document) -> Document:
    """Return a session as it is now."""
    return box.get(f"/v1/checkout/sessions/{session['id']}").json()


def charges(box: Running, email: str) -> list[Document]:
    """Return the charges of one buyer, newest first."""
    found = box.get("/v1/charges?limit=100").json()["data"]
    return [charge for charge in found if charge["billing_details"]["email"] == email]


def test_the_page(box: Running) -> None:
    """The page shows product, amount, the message above the button, the methods, the field and the way back."""
    answer = box.web.get(box.session()["url"])
    page = Page(answer)
    assert "CISSP practice questions" in page.text
    assert page.text.index(SESSION["custom_text[submit][message]"]) < page.text.rindex("Pay 49.00 USD")
    methods = [one["value"] for one in page.controls["method"]]
    assert methods == ["card", "apple_pay", "google_pay", "link"]
    assert "field_marketing_consent" in page.controls
    assert SESSION["cancel_url"] in page.addresses


def test_the_page_stands_alone(box: Running) -> None:
    """The page loads nothing from elsewhere and runs no script."""
    answer = box.web.get(box.session()["url"])
    outside = [one for one in Page(answer).addresses if "//" in one and not one.startswith("http://127.0.0.1:1/")]
    assert outside == []
    assert "<script" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert box.web.get("/assets/sandbox.css").status_code == 200


def test_a_payment(box: Running) -> None:
    """A payment completes the session and makes intent, charge and buyer that name each other."""
    session = box.session()
    answer = box.pay(session, email="paying@example.org", field_marketing_consent="yes", method="google_pay")
    assert answer.status_code == 303
    assert answer.headers["location"] == f"http://127.0.0.1:1/thanks?session={session['id']}"
    paid = read(box, session)
    assert (paid["status"], paid["payment_status"], paid["url"]) == ("complete", "paid", None)
    assert paid["customer_details"]["email"] == "paying@example.org"
    assert paid["custom_fields"][0]["dropdown"]["value"] == "yes"
    [charge] = charges(box, "paying@example.org")
    assert (charge["status"], charge["paid"], charge["amount"]) == ("succeeded", True, 4900)
    assert charge["payment_intent"] == paid["payment_intent"]
    assert charge["customer"] == paid["customer"]
    assert charge["outcome"]["network_status"] == "approved_by_network"
    assert charge["payment_method_details"]["card"]["wallet"]["type"] == "google_pay"


def test_a_declined_card(box: Running) -> None:
    """A declined card leaves a failed charge with its reasons; the session stays open and can be paid then."""
    session = box.session()
    answer = box.pay(session, email="declined@example.org", verdict="declined")
    assert answer.status_code == 402
    assert "declined" in Page(answer).text
    [charge] = charges(box, "declined@example.org")
    assert (charge["status"], charge["failure_code"]) == ("failed", "card_declined")
    assert charge["outcome"]["network_status"] == "declined_by_network"
    assert read(box, session)["status"] == "open"
    assert box.pay(session, email="declined@example.org").status_code == 303


def test_a_blocked_buyer(box: Running) -> None:
    """A buyer on a block list is refused before the network is asked."""
    blocklist = box.get("/v1/radar/value_lists?alias=email_blocklist").json()["data"][0]
    box.post("/v1/radar/value_list_items", {"value": "thief@example.org", "value_list": blocklist["id"]})
    assert box.pay(box.session(), email="Thief@example.org").status_code == 402
    [charge] = charges(box, "Thief@example.org")
    assert (charge["outcome"]["type"], charge["outcome"]["network_status"]) == ("blocked", "not_sent_to_network")


def test_a_challenge(box: Running) -> None:
    """With 3-D Secure the bank asks first; after yes the charge is authenticated."""
    session = box.session()
    asked = box.pay(session, email="asked@example.org", verdict="challenge", field_marketing_consent="no")
    page = Page(asked)
    assert "is this you?" in page.text
    assert read(box, session)["status"] == "open"
    carried = {name: one[0].get("value") or "" for name, one in page.controls.items() if name != "confirmed"}
    assert box.pay(session, **carried, confirmed="yes").status_code == 303
    [charge] = charges(box, "asked@example.org")
    assert charge["payment_method_details"]["card"]["three_d_secure"]["result"] == "authenticated"
    assert read(box, session)["custom_fields"][0]["dropdown"]["value"] == "no"


def test_a_delayed_payment(box: Running) -> None:
    """A delayed payment completes unpaid; settling it pays and announces it; it settles once."""
    session = box.session()
    box.pay(session, email="later@example.org", verdict="delayed")
    assert (read(box, session)["status"], read(box, session)["payment_status"]) == ("complete", "unpaid")
    assert charges(box, "later@example.org")[0]["status"] == "pending"
    assert box.web.post(f"/_settle/{session['id']}").status_code == 200
    assert read(box, session)["payment_status"] == "paid"
    assert charges(box, "later@example.org")[0]["status"] == "succeeded"
    until(lambda: "checkout.session.async_payment_succeeded" in box.receiver.types())
    assert box.web.post(f"/_settle/{session['id']}").status_code == 400


@pytest.mark.parametrize(
    "fields", [{"email": "no-address"}, {"email": ""}, {"method": "gold"}, {"verdict": "maybe"}]
)
def test_wrong_fields(box: Running, fields: dict[str, str]) -> None:
    """A wrong field is named beside it, and nothing is charged."""
    session = box.session()
    answer = box.pay(session, **fields)
    assert answer.status_code == 422
    assert f'id="{next(iter(fields))}-problem"' in answer.text
    assert read(box, session)["status"] == "open"


def test_terms_of_service(box: Running) -> None:
    """Required terms must be accepted, and the session has that."""
    session = box.session(**{"consent_collection[terms_of_service]": "required"})
    assert box.pay(session).status_code == 422
    assert box.pay(session, terms="yes").status_code == 303
    assert read(box, session)["consent"]["terms_of_service"] == "accepted"


def test_paying_twice(box: Running) -> None:
    """A complete session cannot be paid again: its page shows that."""
    session = box.session()
    box.pay(session, email="twice@example.org")
    again = box.pay(session, email="twice@example.org")
    assert (again.status_code, "is complete" in Page(again).text) == (200, True)
    assert len(charges(box, "twice@example.org")) == 1


def test_paying_too_late(box: Running) -> None:
    """An expired session cannot be paid: its page shows that and leads back to the shop."""
    session = box.session()
    box.post(f"/v1/checkout/sessions/{session['id']}/expire", {})
    answer = box.pay(session)
    assert (answer.status_code, "has expired" in Page(answer).text) == (410, True)
    assert SESSION["cancel_url"] in Page(answer).addresses


def test_attempts_share_a_payment(box: Running) -> None:
    """A declined attempt makes the payment by which the open session is found; the next goes on with it."""
    session = box.session()
    box.pay(session, email="stubborn@example.org", verdict="declined")
    [declined] = charges(box, "stubborn@example.org")
    found = box.client().checkout.sessions.list({"payment_intent": declined["payment_intent"]})
    assert [(one.id, one.status) for one in found.data] == [(session["id"], "open")]
    box.pay(session, email="stubborn@example.org")
    paid, again = charges(box, "stubborn@example.org")
    assert (again["id"], paid["status"]) == (declined["id"], "succeeded")
    assert paid["payment_intent"] == declined["payment_intent"] == read(box, session)["payment_intent"]
