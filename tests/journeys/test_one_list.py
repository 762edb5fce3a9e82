"""Doctor, readiness, the owner's page, pushes and metrics are views of one list of problems (decision 59)."""

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from html import unescape
from ipaddress import IPv4Address
from pathlib import Path

import httpx2
import pytest

from orrery.app.composition import opened
from orrery.app.deployment import Orrery
from orrery.app.http_apps import apps_of
from orrery.app.settings.reader import load
from orrery.checkout.build import CheckoutDomain
from orrery.checkout.outage_records import CreationOutage, ProxySighting
from orrery.checkout.records import (
    DriftResult,
    LastReconciliation,
    RefusedWebhooks,
    StoredDiscrepancy,
    UnknownSales,
)
from orrery.checkout.site_records import CheckedSite
from orrery.fraud.records import FoundCluster, LastSearch, last_search
from orrery.gateway.reports import CloudReport, Reports
from orrery.ports.clock import Clock
from orrery.ports.health import Finding
from orrery.runtime import outbox
from orrery.runtime.collection import FOR_EVER, Collection, write
from orrery.runtime.findings import Findings
from orrery.runtime.jobs import Workers
from orrery.runtime.outbox import OutboxDraft, rows_of
from orrery.runtime.planned_pause import PlannedPauses
from orrery.runtime.problems import Problems
from orrery.runtime.references import References
from orrery.runtime.watch import PUSHED_AFTER, OutageWatch
from orrery.secrets.baseline import Alarm, Baseline
from orrery.secrets.check import BASELINE
from tests.journeys.test_preflight import LIVE_KEY
from tests.support.checkout import record
from tests.support.deployment import CounterSettings, Deployment, Product
from tests.support.marked import ADMIN_PASSWORD
from tests.support.requests import client_of

MISSING = (
    "webhook_signing_secret",
    "access_service_token",
    "analytics_service_account_key",
    "gateway_ping_token",
)
SESSION = "cs_test_a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5"
BUYER = "ann@buyer.example.test"
SITE = "https://site.example.test"
OF_A_SITE = f"""
[[sites]]
origin = "{SITE}"
name = "Site"
practice_url = "{SITE}/practice/"
seller = "The sellers"
number_series = "TS"
[[checkout.products]]
vendor_slug = "northwind"
cert_code = "of-a-site"
title = "Exam of a site"
site = "Site"
"""


OF_A_MACHINE = {
    *("access check", "admin password", "analytics key", "backup", "checkout addresses", "checkout prices"),
    *("client addresses", "gateway", "job", "processor key", "product", "webhook secret"),
}
"""What one machine has for itself: its files, its settings, its processes."""

SHARED = {
    *("dispute", "e-mail to", "fraud clusters", "gateway cloud", "gateway webhook"),
    *("live counter", "notifications", "numbers of sales", "payments and access", "practice pages of"),
    *("refused notifications", "sales of this store", "secret", "session creation", "site", "store"),
    *("webhooks", "what visitors get"),
}
"""What the store knows, whichever node looks."""


@dataclass(frozen=True)
class Broken:
    """A deployment with a problem of every kind, after the rounds that push them."""

    shop: Deployment
    orrery: Orrery
    private: httpx2.AsyncClient

    @property
    def keys(self) -> set[str]:
        """The keys of the list."""
        return {one.key for one in self.orrery[Problems].last}

    async def asked(self, path: str) -> str:
        """Return what the private listener answers."""
        return (await self.private.get(path, auth=("owner", ADMIN_PASSWORD))).text

    async def listed_on_the_page(self) -> list[str]:
        """Return the first cell of each row of the list on the owner's page."""
        _, _, after = (await self.asked("/owner?open")).partition(">Problems</h2>")
        rows = re.findall(r"<tr[^>]*>\s*<td[^>]*>(.*?)</td>", after.partition("</section>")[0], re.DOTALL)
        return [unescape(re.sub(r"<[^>]+>", "", one)).strip() for one in rows]

    async def counted(self) -> dict[str, int]:
        """Return the figure of each severity."""
        found = re.findall(r'orrery_problems\{severity="(\d)"\} (\d+)', await self.asked("/metrics"))
        return {severity: int(count) for severity, count in found}

    async def pushes(self) -> list[outbox.Notification]:
        """Return what was pushed."""
        return [row async for row in self.orrery[outbox.Outbox].rows() if row.channel == "push"]


def a_poor_deployment(folder: Path, mode: str = "sandbox") -> Deployment:
    """Return one whose settings and secrets leave much to find."""
    products = [Product("wrong", trust_copy="Questions by example.com are best."), Product("unpriced", None)]
    shop = Deployment(folder, products, counter=CounterSettings(), mode=mode)
    shop.secrets = {name: value for name, value in shop.secrets.items() if name not in MISSING}
    shop.secrets |= {"processor_api_key": LIVE_KEY} if mode == "live" else {}
    shop.more = f'[backup]\ndirectory = "{folder}"\n[gateway]\npings = true\n{OF_A_SITE}'
    shop.configure()
    return shop


@pytest.fixture
async def broken(tmp_path: Path) -> AsyncIterator[Broken]:
    """Break whatever a check looks at, and let the watch see it twice."""
    shop = a_poor_deployment(tmp_path)
    async with opened(*load(shop.config)) as orrery:
        await break_records(orrery)
        await break_machines(orrery)
        orrery[Workers].failing["backup"] = "The disk is full."
        _, private = apps_of(orrery)
        async with client_of(private) as client:
            for offset in (0, 2 * PUSHED_AFTER.total_seconds()):
                (tmp_path / "sandbox").mkdir(exist_ok=True)
                (tmp_path / "sandbox" / "clock").write_text(str(offset))
                await orrery[OutageWatch].notify()
            yield Broken(shop, orrery, client)


async def break_records(orrery: Orrery) -> None:
    """Store what is kept of each trouble that the checks read."""
    now, stored = orrery[Clock].now(), orrery[CheckoutDomain].stored
    listed = StoredDiscrepancy(session_id=SESSION, reason="another price")
    dispute = StoredDiscrepancy(
        session_id=SESSION, reason="charge ch_1 is disputed", item="du_1", amount=4900, currency="usd"
    )
    last = LastReconciliation(
        at=now,
        since=now,
        examined=1,
        granted=0,
        unpaid=0,
        without_access=1,
        without_payment=0,
        paid_without_access=(listed,),
        access_without_payment=(),
        disputes=(dispute,),
    )
    failing = CreationOutage(
        since=now, last_failure_at=now, failures=5, product=None, why="It is down.", todo="Wait. `orrery doctor`."
    )
    proxy = ProxySighting(address=IPv4Address("10.0.0.9"), forwards=True, refused=0, seen_at=now)
    cluster = FoundCluster(
        id="fc-1", trait="card", first=now, last=now, declines=4, stopped=0, newest_charge="ch_2"
    )
    search = LastSearch(looked_at=now, clusters=(cluster,))
    site = CheckedSite(
        checked_at=now, since=now, not_reached="It does not answer.", faults=("without a cookie",), leaks=True
    )
    refused = OutboxDraft(f"buyer-{SESSION}", "email", "Title", "Body", to=BUYER)
    unnumbered = record("cs_test_unnumbered", sale_series="TS", granted_at=now - timedelta(hours=1))
    writes = [
        stored.access.put(record(SESSION, email=BUYER), SESSION),
        *stored.access.writes(unnumbered, unnumbered.session_id),
        stored.reconciled.put(last),
        stored.drift.put(DriftResult(session_id=SESSION, looked_at=now, kinds=("price",))),
        stored.unknown_sales.put(UnknownSales(since=now)),
        stored.creation_outage.put(failing),
        stored.proxy.put(proxy),
        stored.refused_webhooks.put(RefusedWebhooks(reason="clock", since=now)),
        last_search(orrery.store, orrery[Clock]).put(search),
        stored.checked_sites.put(site, SITE),
        *outbox.enqueue([refused], now),
    ]
    await write(orrery.store, writes)
    rows = rows_of(orrery.store, orrery[Clock])
    old = await rows.require(refused.id)
    changes = rows.changes(refused.id, old, old.record.change(state="dead", last_error="550"))
    await write(orrery.store, list(changes.writes))


async def break_machines(orrery: Orrery) -> None:
    """Store what another machine reported, and that another process misses a secret."""
    clock, now = orrery[Clock], orrery[Clock].now()
    report = CloudReport(
        at=now, power="running", health="Available", health_alert="off", deallocate_alert="missing"
    )
    alarm = Alarm(trouble="vanished", fingerprint="", observer="another process", since=now, seen_at=now)
    vanished = Baseline(name="push_token", fingerprint="abc", since=now, alarms=(alarm,))
    secrets = Collection(orrery.store, clock, Baseline, BASELINE, life=FOR_EVER)
    reports = Reports(orrery.store, clock).last
    await write(orrery.store, [reports.put(report), secrets.put(vanished, "push_token")])


async def test_every_check_finds_something(broken: Broken) -> None:
    """Each check of each module finds something broken here: a new one is held to the views by itself.

    A planned pause is no fault.
    """
    of_modules = [check for parts in broken.orrery.modules for check in parts.checks]
    calm = [
        check.__qualname__
        for check in (*of_modules, broken.orrery[Findings].health.local)
        if all(one.state != "broken" for one in await check())
    ]
    assert calm == [PlannedPauses.check.__qualname__]


async def test_each_part_is_shared_or_of_a_machine(broken: Broken) -> None:
    """Nodes share a store: whether they share what a part is about, too, is decided here for each."""
    found = await broken.orrery[Findings].all()
    assert {_kind(one.part) for one in found if one.of_machine} == OF_A_MACHINE
    assert {_kind(one.part) for one in found if not one.of_machine} == SHARED


@pytest.mark.parametrize("mode", ["sandbox", "live"])
async def test_nodes_with_other_settings_agree_on_what_they_share(tmp_path: Path, mode: str) -> None:
    """By turns each would push what the other has not, or its end: so what they share is judged from the store."""
    shop, other = a_poor_deployment(tmp_path / "a", mode), Deployment(tmp_path / "b", mode=mode, plain=1)
    other.secrets["processor_api_key"], other.store = f"{shop.secrets['processor_api_key']}1", shop.store
    other.more = OF_A_SITE.replace("TS", "US")
    other.configure()
    async with opened(*load(shop.config)) as a, opened(*load(other.config)) as b:
        await break_records(a)
        await break_machines(a)
        found = [await one[Findings].all() for one in (a, b)]
    at_a, at_b = ({one.part: one for one in each if not one.of_machine} for each in found)
    both = at_a.keys() & at_b.keys()
    assert {_kind(part) for part in both} >= SHARED - {"gateway cloud", "gateway webhook"}
    assert [part for part in both if pushed(at_a[part]) != pushed(at_b[part])] == []
    receipts = {
        (one.part, one.items) for each in found for one in each if one.part.startswith("checkout receipts")
    }
    assert len(receipts) == (2 if mode == "live" else 0)


def pushed(finding: Finding) -> tuple[object, ...]:
    """Return of a finding what is pushed at the first look, or again when it changes."""
    return finding.settled, finding.settled and finding.state, finding.settled and finding.early, {*finding.items}


def _kind(part: str) -> str:
    """Return the name of a part without what it is about."""
    return re.split(r":(?=du_)|: | (?=https?:|ref_|northwind/|push_token)", part)[0]


async def test_every_view_says_the_same(broken: Broken) -> None:
    """Doctor, the page, readiness, the figures and the list agree, problem by problem."""
    assert set(await broken.listed_on_the_page()) == broken.keys
    ready = json.loads(await broken.asked("/readyz"))
    assert ({one["part"] for one in ready["parts"] if one["state"] == "broken"}, ready["ready"]) == (
        broken.keys,
        False,
    )
    last = broken.orrery[Problems].last
    assert await broken.counted() == broken.orrery[Problems].by_severity()
    assert sum((await broken.counted()).values()) == len(last)
    came = broken.shop.orrery("doctor", "--json")
    doctor = {one["part"]: one for one in json.loads(came.stdout) if one["state"] == "broken"}
    asked = {name for parts in broken.orrery.modules for name, _ in parts.remote_checks} | {"push", "email"}
    assert doctor.keys() - (asked - broken.keys) - {"approval log"} == broken.keys - {"job: backup"}
    for one in last:
        if one.key in doctor:
            assert (doctor[one.key]["severity"], doctor[one.key]["since"][:19]) == (
                one.severity,
                f"{one.since:%Y-%m-%dT%H:%M:%S}",
            )
    assert came.returncode == 1
    assert "need attention." in broken.shop.orrery("doctor").stdout


async def test_pushes_name_the_problem_and_the_command(broken: Broken) -> None:
    """What the watch pushes names the part in its title or its line, and a command; no push names an address."""
    last = broken.orrery[Problems].last
    assert [one.key for one in last if "`orrery " not in one.finding.todo] == []
    text = "\n".join(f"{row.title}\n{row.body}" for row in await broken.pushes())
    untold = [one for one in last if not one.cause and not one.finding.early]
    titles = {one.key: (f"{one.key}: ", f"Broken: {one.finding.heading}\n") for one in untold}
    assert [key for key, either in titles.items() if not any(one in text for one in either)] == []
    assert [line for line in text.splitlines() if "`orrery " not in line and not line.startswith("Broken: ")] == []
    assert "@" not in text


async def test_a_dispute_names_whom_it_concerns(broken: Broken) -> None:
    """A dispute is a problem of its own, with product, amount and masked address, and a command that shows it."""
    (dispute,) = [one for one in await broken.orrery[Problems].all() if one.key == "dispute:du_1"]
    reference = broken.orrery[References].of(SESSION)
    assert (dispute.severity, dispute.finding.command) == (5, f"orrery access show {reference}")
    concern = dispute.finding.concern
    assert concern is not None
    assert (concern.amount, concern.currency, concern.address) == (4900, "usd", "a…@buyer.example.test")
    assert f"It concerns: 49.00 USD, {concern.product}, a…@buyer.example.test." in dispute.shown[0]
    assert concern.address not in dispute.finding.in_a_push


async def test_put_aside_everywhere(broken: Broken) -> None:
    """`orrery ack` folds a problem in every view, and none stops counting it."""
    before = await broken.counted()
    came = broken.shop.orrery("ack", "fraud", "clusters", "--for", "2h")
    assert (came.returncode, "fraud clusters is acknowledged until " in came.stderr) == (0, True), came.stderr
    await broken.orrery[OutageWatch].notify()
    assert await broken.counted() == before
    assert "1 acknowledged" in await broken.asked("/owner?open")
    assert "1 acknowledged" in broken.shop.orrery("doctor").stdout
    listed = json.loads(broken.shop.orrery("ack", "--list", "--json").stdout)
    assert [(one["key"], one["acknowledged"]) for one in listed] == [("fraud clusters", True)]
    assert broken.shop.orrery("ack", "fraud", "clusters", "--end").returncode == 0
    assert json.loads(broken.shop.orrery("ack", "--list", "--json").stdout) == []
    asked = broken.shop.orrery("ack", "processor account")
    assert (asked.returncode, "processor account is acknowledged until " in asked.stderr) == (0, True), (
        asked.stderr
    )
    assert "1 acknowledged" in broken.shop.orrery("doctor").stdout
    (row,) = json.loads(broken.shop.orrery("ack", "--list", "--json").stdout)
    assert row["key"] == "processor account"
    refused = broken.shop.orrery("ack", "sales", "of", "this", "store", "--for", "2d")
    assert (refused.returncode, "24 h at most" in refused.stderr) == (2, True)


async def test_a_planned_pause_everywhere(broken: Broken) -> None:
    """`orrery pause` is shown by every view until it is ended; it has a reason, and a limit."""
    shop = broken.shop
    for words, why in (
        (["13h", "--reason", "x"], "12 h at most"),
        (["2h"], "--reason"),
        (["--end"], "No planned pause runs"),
        (["2h", "--end", "--reason", "x"], "or --end"),
    ):
        refused = shop.orrery("pause", *words)
        assert (refused.returncode, why in refused.stderr) == (2, True), refused.stderr
    views = {
        "doctor": lambda: shop.orrery("doctor").stdout,
        "today": lambda: shop.orrery("today").stderr,
        "pause": lambda: shop.orrery("pause").stdout,
    }
    assert shop.orrery("pause", "2h", "--reason", "New disks").returncode == 0
    assert {name for name, view in views.items() if "New disks" not in view()} == set()
    assert "New disks" in await broken.asked("/owner")
    (planned,) = json.loads(shop.orrery("pause", "--json").stdout)
    assert json.loads(shop.orrery("today", "--json").stdout)["pause"] == planned
    assert shop.orrery("pause", "--end").returncode == 0
    assert {name for name, view in views.items() if "New disks" in view()} == set()
    assert "New disks" not in await broken.asked("/owner")
