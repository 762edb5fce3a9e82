"""A session id is a ticket: it leaves in no push, no log line and no mail header (decision 46)."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from subprocess import CompletedProcess
from typing import Any

import httpx2
import pytest

from orrery.app.composition import opened
from orrery.app.settings.reader import load
from orrery.ports.health import Finding
from orrery.runtime.findings import Findings
from orrery.runtime.jobs import Workers
from tests.support.deployment import Deployment
from tests.support.marked import ADMIN_PASSWORD
from tests.support.sandbox import SESSIONS
from tests.support.visiting import Visitor, expect_equal
from tests.support.waiting import PATIENCE, eventually

HOUR = 3600
TELLING = 24
"""So many letters at the end of an id tell it from all others, also where its beginning was cut."""


@dataclass(frozen=True)
class Journey:
    """A deployment that has seen every kind of trouble, with the sessions that each of them is about."""

    shop: Deployment
    sold: str
    unpaid: str
    undelivered: str
    drifting: str
    refunded: str
    damaged: str
    replayed: str
    granted: str

    def tickets(self) -> list[str]:
        """Return the ids of all sessions, in a form that is found wherever a piece of one stands."""
        known = [str(one["session_id"]) for one in self.shop.records.objects("offer:")]
        known += [self.drifting, self.granted]
        return [one[-TELLING:] for one in known]

    def pushes(self) -> str:
        """Return everything that was pushed."""
        return json.dumps(self.shop.sandbox.ask("GET", "/push"))

    def headers(self) -> str:
        """Return the headers of every e-mail."""
        return json.dumps([mail["headers"] for mail in self.shop.sandbox.ask("GET", "/mail")])

    def owners_page(self) -> str:
        """Return the owner's page."""
        answer = self.shop.client.get(f"{self.shop.private}/owner?open", auth=("owner", ADMIN_PASSWORD))
        assert answer.status_code == 200
        return answer.text


@pytest.fixture(scope="module")
def journey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    """Sell, and meet each trouble that is told of with a session in it."""
    shop = Deployment(tmp_path_factory.mktemp("tickets"))
    try:
        shop.start_sandbox()
        shop.start_service()
        yield travelled(shop)
    finally:
        shop.clear_away()


def travelled(shop: Deployment) -> Journey:
    """Return the journey, once all of it was told."""
    sold, refunded, damaged = sale(shop), sale(shop), sale(shop)
    unpaid = unpaid_sale(shop)
    undelivered = undelivered_sale(shop)
    replayed = replayed_sale(shop)
    granted = grant(shop)
    drifting = drifting_session(shop)
    refund(shop, refunded)
    shop.records.write(f"access:{damaged}", b'{"v":1,"session_id":""}')
    assert shop.client.get(f"{shop.public}/guided/api/access/{damaged}").status_code == 503
    shop.sandbox.advance(6 * HOUR)
    found = Journey(shop, sold, unpaid, undelivered, drifting, refunded, damaged, replayed, granted)
    eventually(lambda: expect_told(found))
    return found


def expect_told(journey: Journey) -> None:
    """Fail, for now, unless the owner was told of every trouble."""
    assert [name for name, words in TOLD.items() if words not in journey.pushes()] == []


TOLD = {
    "unpaid": "Completed, but no access yet",
    "undelivered": "Broken: e-mail to ",
    "refunded": "Broken: payments and access",
    "damaged": "Broken: payments and access",
}
"""The pushes that name a session: whose, and how each is headed."""


def sale(shop: Deployment) -> str:
    """Sell something, and return its session."""
    visitor = Visitor(shop)
    session = visitor.buy()
    visitor.await_told(session)
    return session


def unpaid_sale(shop: Deployment) -> str:
    """Have a payment completed whose money does not come."""
    visitor = Visitor(shop)
    session = visitor.start()
    visitor.pay(session, "delayed")
    return session


def undelivered_sale(shop: Deployment) -> str:
    """Sell to somebody whose mailbox does not exist."""
    shop.sandbox.fault("mail_550")
    session = Visitor(shop).buy()
    eventually(lambda: expect_equal(shop.records.notifications("dead"), [f"buyer-{session}"]))
    return session


def replayed_sale(shop: Deployment) -> str:
    """Sell while no webhook comes, and take the event in by hand."""
    shop.sandbox.fault("webhook_down", count=None)
    visitor = Visitor(shop)
    session = visitor.buy()
    came = shop.orrery("checkout", "events", "--replay", shop.sandbox.completed(session)["id"])
    assert came.returncode == 0, came.stderr
    shop.sandbox.clear_faults()
    visitor.await_told(session)
    return session


def grant(shop: Deployment) -> str:
    """Open access by the owner's word, and send the letter twice."""
    words = ("--vendor", "northwind", "--cert", "cert-1", "--reason", "a prize")
    came = shop.orrery("access", "grant", "pat@buyer.example.test", *words)
    session = came.stderr.split()[-1]
    assert session.startswith("owner_")
    assert shop.orrery("access", "resend", shop.reference(session), "--reason", "lost").returncode == 0
    return session


def drifting_session(shop: Deployment) -> str:
    """Have a session that is not as it was sent be the newest of all."""
    shop.sandbox.advance(120)
    form = {
        "mode": "payment",
        "line_items[0][price]": "price_cloud_navigator",
        "line_items[0][quantity]": "1",
        "success_url": "https://other.example.test/",
        "metadata[productType]": "cert",
        "metadata[certCode]": "cert-1",
        "metadata[vendorSlug]": "northwind",
    }
    headers = {"Authorization": f"Bearer {shop.sandbox.api_key}"}
    answer = httpx2.post(
        shop.sandbox.base_url + SESSIONS, data=form, headers=headers, trust_env=False, timeout=PATIENCE
    )
    return str(answer.json()["id"])


def refund(shop: Deployment, session: str) -> None:
    """Give the money back at the processor's dashboard."""
    payment = shop.sandbox.ask("GET", f"{SESSIONS}/{session}")["payment_intent"]
    charges: list[dict[str, Any]] = shop.sandbox.ask("GET", "/v1/charges", limit="100")["data"]
    charge = next(one["id"] for one in charges if one["payment_intent"] == payment)
    shop.sandbox.ask("POST", f"/_charges/{charge}/refund", {})


def assert_no_ticket(journey: Journey, text: str) -> None:
    """Fail with the surroundings of the first session id in a text."""
    found = [text.find(one) for one in journey.tickets() if one in text]
    assert found == [], text[max(0, found[0] - 200) : found[0] + 100]


@pytest.mark.parametrize("about", TOLD)
def test_push_names_the_reference(journey: Journey, about: str) -> None:
    """Each push about a session names its reference, and no push any id."""
    reference = journey.shop.reference(getattr(journey, about))
    pushes = journey.shop.sandbox.pushes_about(reference)
    assert any(push["title"].startswith(TOLD[about]) for push in pushes)
    assert_no_ticket(journey, journey.pushes())


def test_no_log_line_names_a_session(journey: Journey) -> None:
    """The service's whole log, of requests, jobs and trouble, names sessions by references only."""
    printed = journey.shop.printed()
    lines = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    seen = {(line["event"], line.get("session", line.get("id", ""))) for line in lines}
    of = journey.shop.reference
    assert ("session created", of(journey.sold)) in seen
    assert ("access granted", of(journey.sold)) in seen
    assert ("access withheld", of(journey.unpaid)) in seen
    assert ("notification delivered", f"buyer-{of(journey.sold)}") in seen
    assert ("notification not accepted", f"buyer-{of(journey.undelivered)}") in seen
    assert ("the checkout drifts", of(journey.drifting)) in seen
    assert f"The record access:{of(journey.damaged)} cannot be read" in printed
    assert '"route": "/guided/api/access/{session_id}"' in printed
    assert_no_ticket(journey, printed)


def test_no_mail_header_names_a_session(journey: Journey) -> None:
    """Every e-mail's Message-ID holds the reference, and its text the number; no part of it has an id."""
    mails = journey.shop.sandbox.ask("GET", "/mail")
    of = journey.shop.reference
    told = {mail["message_id"].partition("@")[0].removeprefix("<") for mail in mails}
    assert {f"buyer-{of(one)}" for one in (journey.sold, journey.replayed, journey.granted)} <= told
    assert_no_ticket(journey, journey.headers())
    written = "".join(mail["body"] + mail["html"] for mail in mails)
    assert_no_ticket(journey, written)
    assert of(journey.sold).removeprefix("ref_").upper() in written.replace("-", "")


@pytest.mark.parametrize("page", ["/metrics", "/readyz", "/secrets", "/healthz"])
def test_private_pages(journey: Journey, page: str) -> None:
    """No page of the private listener holds an id."""
    answer = journey.shop.client.get(journey.shop.private + page)
    assert_no_ticket(journey, f"{answer.headers} {answer.text}")


def test_owners_page_names_references(journey: Journey) -> None:
    """The owner's page lists what does not add up by references, and holds no id."""
    page = journey.owners_page()
    assert journey.shop.reference(journey.refunded) in page.replace("<wbr>", "")
    assert_no_ticket(journey, page.replace("<wbr>", ""))


def test_readiness_of_a_failing_job(journey: Journey) -> None:
    """A job that failed on a session's record is told to `readyz` and `doctor` without its id."""
    settings, secrets = load(journey.shop.config)

    async def findings() -> list[Finding]:
        async with opened(settings, secrets) as orrery:
            orrery[Workers].failing["reconcile"] = f"The record access:{journey.sold} cannot be read."
            return [one for one in await orrery[Findings].all() if one.part == "job: reconcile"]

    (found,) = asyncio.run(findings())
    assert journey.shop.reference(journey.sold) in found.why
    assert_no_ticket(journey, found.why)


def told(came: CompletedProcess[str]) -> str:
    """Return what a command printed, having seen that it went well."""
    assert came.returncode == 0, came.stderr
    return came.stdout + came.stderr


def test_sales_are_listed_and_added_up(journey: Journey) -> None:
    """The list, as JSON and CSV, adds up to the totals; a file that is passed on has no ticket in it."""
    shop, references = journey.shop, {journey.shop.reference(one) for one in (journey.refunded, journey.sold)}
    came = shop.orrery("sales", "30d", "--list", "--json")  # one record is damaged
    listed = json.loads(came.stdout)
    assert (came.returncode, "cannot be read" in came.stderr) == (1, True)
    assert references <= {one["reference"] for one in listed if one["what"] == "sale"}
    (refund,) = [one for one in listed if one["what"] == "refund"]
    assert refund["reference"] == shop.reference(journey.refunded)
    assert refund["amount"] < 0
    (totals,) = json.loads(shop.orrery("sales", "30d", "--json").stdout)
    assert totals["net"] == sum(one["amount"] for one in listed)
    assert totals["gross"] - totals["refunded"] - totals["disputed"] == totals["net"]
    cut = shop.orrery("sales", "--list", "--limit", "1")
    assert f"1 of {len(listed)}: see more with --limit." in cut.stderr
    lines = shop.orrery("sales", "--list", "--csv", "--limit", "1").stdout.splitlines()
    assert lines[0] == "at,what,product,currency,amount,number,reference"
    assert len(lines) == 1 + len(listed)
    assert all(line.split(",")[0].endswith("Z") for line in lines[1:])
    assert_no_ticket(journey, "".join(lines))
    named = {line.split(",")[0] for line in shop.orrery("sales", "--csv").stdout.splitlines()}
    assert named == {"period", "today", "7d", "30d", "month", "last-month"}
    nothing = shop.orrery("sales", "2001-01-01", "--csv")
    assert nothing.stdout.splitlines()[0] == "period,since,until,currency,sold,gross,refunded,disputed,net"
    assert nothing.stdout.endswith(",USD,0,0.00,0.00,0.00,0.00\n")
    assert shop.orrery("sales", "--csv", "--json").returncode == 2


def test_today_on_one_screen(journey: Journey) -> None:
    """What was sold and went back, who needs help, and what is broken: of a buyer no address and no session."""
    shop = journey.shop
    _ = sale(shop)  # the journey's own may be of yesterday: its clock went on by hours
    asked = shop.orrery("today", "--json")
    found = json.loads(asked.stdout)
    (money,) = found["money"]
    (totals,) = json.loads(shop.orrery("sales", "today", "--json").stdout)
    assert money == {name: totals[name] for name in money}
    in_need = {one["reference"]: one for one in found["help"]}
    undelivered, unpaid = (in_need[shop.reference(one)] for one in (journey.undelivered, journey.unpaid))
    assert "The mail server answered 550." in undelivered["why"]
    assert unpaid["why"] == "The payment has not arrived"
    assert f"change-email {undelivered['reference']} ADDRESS --resend" in undelivered["todo"]
    assert "payments and access" in {one["key"] for one in found["broken"]}
    assert undelivered["reference"] not in json.dumps(found["broken"])
    screen = shop.orrery("today")
    assert (asked.returncode, screen.returncode) == (1, 1)
    for text in (asked.stdout, screen.stdout + screen.stderr):
        assert undelivered["email"] in text
        assert_no_ticket(journey, text)
    assert len((screen.stdout + screen.stderr).splitlines()) <= 24


def test_a_person_is_exported_by_what_the_owner_has(journey: Journey) -> None:
    """By the reference or the charge of a payment as by the address."""
    shop = journey.shop
    record = shop.records.access(journey.sold)
    assert record
    charge = next(one["id"] for one in shop.sandbox.charges() if one["payment_intent"] == record["payment_intent"])
    by_address = json.loads(shop.orrery("privacy", "export", record["email"]).stdout)
    for named in (shop.reference(journey.sold), charge, journey.sold):
        assert json.loads(told(shop.orrery("privacy", "export", named))) == by_address
    assert shop.orrery("privacy", "export", "ref_000000000000").returncode == 2


def test_a_charge_leads_to_its_own_session(journey: Journey) -> None:
    """Of many charges each names the session that it paid for, and what is none names nothing."""
    shop = journey.shop
    charges = {one["payment_intent"]: one["id"] for one in shop.sandbox.charges()}
    for session in (journey.sold, journey.refunded):
        record = shop.records.access(session)
        assert record
        shown = json.loads(
            told(shop.orrery("access", "show", charges[record["payment_intent"]])).partition("\n]")[0] + "]"
        )
        assert [one["session_id"] for one in shown] == [session]
    assert shop.orrery("access", "show", "ch_none").returncode == 2


def test_the_list_of_access_by_state(journey: Journey) -> None:
    """Only the state that was asked for is listed, and a list that is cut says so."""
    shop = journey.shop
    everything = json.loads(shop.orrery("access", "list", "--json").stdout)
    for state in ("open", "ended", "revoked"):
        found = json.loads(shop.orrery("access", "list", "--state", state, "--json").stdout)
        assert found == [one for one in everything if one["state"] == state]
    whole = shop.orrery("access", "list", "--limit", str(len(everything)))
    assert "see more" not in whole.stderr
    cut = shop.orrery("access", "list", "--limit", "1").stderr
    # One more cannot be read.
    assert f"1 of {len(everything) + 1}: see more with --limit." in cut


def test_commands_take_the_reference(journey: Journey) -> None:
    """What a push names can be typed: to show, change, revoke and resend access, to look at the processor."""
    shop, reference = journey.shop, journey.shop.reference(journey.refunded)
    assert journey.refunded in told(shop.orrery("access", "show", reference))
    assert reference in told(shop.orrery("access", "show", journey.refunded))
    assert journey.refunded in told(shop.orrery("processor", "session", reference))
    told(shop.orrery("access", "change-email", reference, "new@buyer.example.test", "--reason", "asked"))
    told(shop.orrery("access", "resend", reference, "--reason", "lost"))
    told(shop.orrery("access", "revoke", reference, "--reason", "refunded"))
    record = shop.records.access(journey.refunded)
    assert record
    assert (record["email"], bool(record["revoked_at"])) == ("new@buyer.example.test", True)


def test_grant_takes_the_reference_of_a_refused_session(journey: Journey) -> None:
    """A session that was not granted is granted by the reference that the push about it named."""
    shop, reference = journey.shop, journey.shop.reference(journey.unpaid)
    words = ("access", "grant", "late@buyer.example.test", "--vendor", "northwind", "--cert", "cert-1")
    told(shop.orrery(*words, "--session", reference, "--reason", "paid by transfer"))
    assert shop.records.access(journey.unpaid) is not None
    made_up = shop.orrery(*words, "--session", "order-7", "--reason", "a slip")
    assert (made_up.returncode, "begins with cs_" in made_up.stderr) == (2, True)


def test_notification_is_released_by_its_reference(journey: Journey) -> None:
    """The push about a letter that was refused names the command for its buyer; the letter can be released."""
    shop, reference = journey.shop, journey.shop.reference(journey.undelivered)
    (push,) = shop.sandbox.pushes_about(f"e-mail to {reference}")
    assert f"orrery access change-email {reference} ADDRESS --resend" in push["message"]
    told(shop.orrery("notifications", "release", f"buyer-{reference}"))
    eventually(lambda: expect_equal(shop.records.notifications("dead"), []))


def test_unknown_reference(journey: Journey) -> None:
    """A reference of no session here is refused in one sentence."""
    came = journey.shop.orrery("access", "revoke", "ref_000000000000", "--reason", "x")
    assert (came.returncode, came.stderr.strip()) == (2, "No session here has this reference.")


def test_report_of_a_reconciliation(journey: Journey) -> None:
    """What `checkout reconcile` prints, by hand or by a timer, names references."""
    came = journey.shop.orrery("checkout", "reconcile", "--dry-run")
    assert journey.shop.reference(journey.damaged) in came.stderr
    assert_no_ticket(journey, came.stdout + came.stderr)
