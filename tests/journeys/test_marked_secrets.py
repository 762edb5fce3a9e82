"""Every secret and every buyer's address is marked here, and the mark is looked for in all that comes out."""

import asyncio
import json
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest

from orrery.app.composition import opened
from orrery.app.http_apps import apps_of
from orrery.app.settings.reader import load
from orrery.runtime.index_key import index_key
from tests.journeys.live_counter import GUIDED, INTEL, REFRESH, LiveCounter
from tests.support.deployment import CounterSettings, Deployment, Product
from tests.support.marked import ADMIN_PASSWORD, MARK, SECRETS, assert_unmarked, mark_in
from tests.support.program import run_orrery
from tests.support.sandbox import SESSIONS
from tests.support.visiting import CHECKOUT, Visitor, expect_equal
from tests.support.waiting import PATIENCE, eventually
from tests.support.webhooks import send, signed

CHECK = "/guided/api/access/check"
TRACKER = 'tracker = "github"\ngithub_url = "{sandbox}/tracker"\nrepository = "orrery/sandbox"'
TRACKER_FAULTS = ("tracker_401", "tracker_500")
TWICE = ("403", "429_day", "500", "html_200", "html_404", "cut")
ANALYTICS_FAULTS = dict.fromkeys(TWICE, 2) | {"401": 4, "token_down": 1}
"""The provider's failures, with the requests of one refresh that meet them: after a 401 each is sent again."""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """Run a deployment that has seen every kind of traffic."""
    products = [Product("withdrawn", "price_withdrawn")]
    deployment = Deployment(tmp_path_factory.mktemp("marked"), products, counter=CounterSettings(monitor=TRACKER))
    try:
        deployment.start_sandbox()
        deployment.start_service()
        deployment.await_reconciled()
        tour(deployment)
        yield deployment
    finally:
        deployment.clear_away()


def tour(shop: Deployment) -> None:
    """Do everything that can be done, right and wrong."""
    sell_with_trouble(shop)
    let_the_processor_fail(shop)
    send_nonsense(shop)
    let_the_counter_fail(shop)
    lose_notifications(shop)
    meet_a_broken_record(shop)


def sell_with_trouble(shop: Deployment) -> None:
    """Sell, ask for access rightly and wrongly, leave one payment open."""
    buyer, late = Visitor(shop), Visitor(shop)
    buyer.await_told(buyer.buy())
    late.pay(late.start(), "delayed")
    for token in (SECRETS["access_service_token"], SECRETS["access_service_token"] + "x", MARK):
        asked = {"email": buyer.email, "certCode": buyer.product}
        shop.client.post(shop.public + CHECK, json=asked, headers={"Authorization": f"Bearer {token}"})


def let_the_processor_fail(shop: Deployment) -> None:
    """Meet each failure of the processor twice, and a refusal."""
    for fault in ("server_error", "rate_limit", "html_200", "html_502", "cut"):
        shop.sandbox.fault(fault, count=2, path=SESSIONS)
        assert Visitor(shop, "cert-1").check_out(f"{MARK}-{fault}").status_code == 503
    shop.sandbox.price("price_withdrawn", unit_amount=4900, active=False)
    assert Visitor(shop, "withdrawn").check_out().status_code == 502


def send_nonsense(shop: Deployment) -> None:
    """Send marked values where they do not belong."""
    event = {"id": "evt_nonsense", "object": "event", "type": MARK, "created": MARK, "data": {"object": MARK}}
    assert send(shop, *signed(shop, event)).status_code == 200
    assert send(shop, MARK.encode(), f"t=1,v1={MARK}").status_code == 400
    asked = {"productType": "cert", "certCode": f"{MARK}@shop.example.test", MARK: SECRETS["push_token"]}
    assert shop.client.post(shop.public + CHECKOUT, json=asked).status_code == 422
    assert shop.client.get(f"{shop.public}/{MARK}?token={SECRETS['push_token']}").status_code == 404


def let_the_counter_fail(shop: Deployment) -> None:
    """Count, show wrong bearers, meet each failure of the provider and of the issue tracker."""
    counter = LiveCounter(shop)
    for path in (INTEL, GUIDED):
        assert counter.ask("GET", path).status_code == 200
    assert counter.refresh()["ok"]
    for token in (f"{ADMIN_PASSWORD}x", SECRETS["admin_password_hash"]):
        answer = shop.client.post(shop.public + REFRESH, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401
    for fault in TRACKER_FAULTS:
        shop.sandbox.fault(fault)
    for fault, requests in ANALYTICS_FAULTS.items():
        shop.sandbox.fault(f"analytics_{fault}", count=requests)
        counter.next_morning()
        assert not counter.refresh()["ok"]
        shop.orrery("live", "monitor")
    eventually(lambda: expect_equal(shop.sandbox.faults(), []))


def lose_notifications(shop: Deployment) -> None:
    """Have mail and push refused, for now and permanently."""
    shop.sandbox.fault("mail_550")
    shop.sandbox.fault("push_500")
    buyer = Visitor(shop)
    session = buyer.buy()
    eventually(lambda: expect_equal(shop.records.notifications("dead"), [f"buyer-{session}"]))


def meet_a_broken_record(shop: Deployment) -> None:
    """Have a request and a job read what they do not understand: nobody expects the error that the job meets."""
    broken = {"id": "broken", "email": f"{MARK}@buyer.example.test", "surprise": SECRETS["push_token"]}
    shop.records.write("access:cs_broken", json.dumps(broken).encode())
    shop.records.write("outbox:broken", json.dumps(broken).encode())
    answer = shop.client.get(f"{shop.public}/guided/api/access/cs_broken")
    assert answer.status_code >= 500
    shop.records.write("outbox-next:email:20200101T000000.000000Z:20200101T000000.000000Z:broken", b"broken")
    eventually(lambda: expect_equal("notification cannot be read" in shop.printed(), wanted=True))
    shop.records.write("offer:cs_broken", json.dumps(broken).encode())
    with closing(sqlite3.connect(shop.store)) as database:  # no store writes a key that is no text
        database.execute("INSERT INTO entries VALUES (?, ?, 1, NULL)", (b"offer-address:2020\xff", MARK.encode()))
        database.commit()
    shop.sandbox.advance(3600)
    eventually(lambda: expect_equal('"job crashed"' in shop.printed(), wanted=True))


def test_no_secret_is_overlooked(shop: Deployment) -> None:
    """Were any secret printed, a line of it or a minted token, it would be found."""
    secrets = [line for secret in shop.secrets.values() for line in secret.replace("\\n", "\n").splitlines()]
    telling = [line for line in secrets if len(line.strip()) > len("-----BEGIN PRIVATE KEY-----")]
    assert len(telling) > 30
    hidden = [line for line in telling if "token_uri" not in line and "BEGIN" not in line]
    assert [line for line in hidden if mark_in(f"error: {line}!") is None] == []


def test_output(shop: Deployment) -> None:
    """No log line and no trace-back holds a secret or a buyer's address, also of errors that nobody expects."""
    printed = shop.printed()
    assert "Traceback" in printed
    assert "UnicodeDecodeError" in printed
    assert_unmarked(printed)


def test_answers(shop: Deployment) -> None:
    """No answer of the public or the private listener holds one."""
    assert len(shop.answers) > 15
    assert_unmarked("\n".join(shop.answers))


@pytest.mark.parametrize(
    "page", ["/metrics", "/readyz", "/secrets", "/openapi.json", "/docs", "/healthz", "/nothing"]
)
def test_private_pages(shop: Deployment, page: str) -> None:
    """Neither does a page of the private listener."""
    answer = shop.client.get(shop.private + page)
    assert len(answer.text) > 10
    assert_unmarked(f"{answer.headers} {answer.text}")


COMMANDS = [
    ("doctor",),
    ("secrets", "check", "--json"),
    ("notifications", "list", "--state", "delivered", "--json"),
    ("access", "show", "cs_broken"),
    ("checkout", "reconcile"),
    ("live", "monitor"),
]
SHOWS_LETTERS = ("notifications", "list", "--state", "delivered", "--json")
"""Prints whole messages, addresses included, as it is asked to."""


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_commands(shop: Deployment, words: tuple[str, ...]) -> None:
    """No command prints a secret, whether it succeeds or breaks; an address only where it is asked for."""
    came = shop.orrery(*words)
    printed = came.stdout + came.stderr
    assert printed != ""
    assert_unmarked(printed if words != SHOWS_LETTERS else printed.replace(f"{MARK}.", ""))


def test_metrics_count(shop: Deployment) -> None:
    """The metrics count requests by route, so that what was asked for is not in them."""
    text = shop.client.get(f"{shop.private}/metrics").text
    assert 'route="/guided/api/access/{session_id}"' in text


def test_refused_key(tmp_path: Path) -> None:
    """The processor's refusal of the key quotes a part of it: neither answer nor log nor readyz repeats that."""
    tail = "WXYZ"
    shop = Deployment(tmp_path)
    try:
        shop.start_sandbox()
        (tmp_path / "secrets" / "processor_api_key").write_text(f"sk_test_{MARK}_{tail}", encoding="utf-8")
        shop.start_service()
        assert "WXYZ" in refusal_of_the_sandbox(shop, f"sk_test_{MARK}_{tail}")
        answer = Visitor(shop).check_out(uuid4().hex)
        assert answer.status_code == 502
        shop.readiness()
        ready = shop.client.get(f"{shop.private}/readyz").text
        everything = [answer.text, ready, shop.printed(), shop.orrery("doctor").stdout]
        assert_unmarked("".join(everything))
        assert tail not in "".join(everything)
    finally:
        shop.clear_away()


def refusal_of_the_sandbox(shop: Deployment, key: str) -> str:
    """Return what the processor says to a wrong key."""
    headers = {"Authorization": f"Bearer {key}"}
    return httpx2.get(
        f"{shop.sandbox.base_url}/v1/account", headers=headers, trust_env=False, timeout=PATIENCE
    ).text


SLIPS = {
    "unknown key": f'api_key = "{MARK}"',
    "wrong type": f'sessions_per_minute = "{MARK}"',
    "forbidden value": f'three_d_secure = ["{MARK}"]',
    "no TOML": f'seller = "{MARK}\n',
}


@pytest.mark.parametrize("slip", SLIPS)
def test_secret_in_a_wrong_place(tmp_path: Path, slip: str) -> None:
    """A secret that was pasted into the settings stops the start with a sentence that does not repeat it."""
    shop = Deployment(tmp_path, more_checkout=SLIPS[slip])
    came = run_orrery("serve", "--config", str(shop.config))
    assert came.returncode == 2
    assert len(came.stderr.strip().splitlines()) == 1
    assert_unmarked(came.stderr)


def test_crash_on_a_damaged_store(tmp_path: Path) -> None:
    """A service that does not start on a file that is no store prints nothing of it and of the secrets."""
    shop = Deployment(tmp_path)
    shop.store.write_text(f"{MARK}\n" * 1000, encoding="utf-8")
    came = run_orrery("serve", "--config", str(shop.config))
    assert came.returncode == 1
    assert "damaged or no store at all" in came.stderr
    assert_unmarked(came.stdout + came.stderr)


def test_repr(tmp_path: Path) -> None:
    """No object of the composed service shows a secret when it is printed."""
    settings, secrets = load(Deployment(tmp_path, counter=CounterSettings(monitor=TRACKER)).config)

    async def shown() -> dict[str, str]:
        async with opened(settings, secrets) as orrery:
            apps_of(orrery)
            key = repr(await index_key(orrery.store))
            assert not any(key in repr(one) for one in reachable(orrery))
            return {type(one).__name__: f"{one!r} {one!s}" for one in reachable(orrery, settings, secrets)}

    found = asyncio.run(shown())
    assert {"Orrery", "Secrets", "Settings", "WebhookReceiver", "SmtpNotifier", "Relay", "NtfyNotifier"} <= set(
        found
    )
    assert {
        "SecretsCheck",
        "LiveDomain",
        "AdminBearer",
        "GoogleAnalytics",
        "GitHubTracker",
        "StoredBudget",
    } <= set(found)
    assert [name for name, text in found.items() if mark_in(text) is not None or "-token" in text] == []


def reachable(*roots: object) -> Generator[object]:
    """Yield every object of ours that hangs together with the roots."""
    seen: dict[int, object] = {}  # holds what was seen, so that no id is used again
    todo = list(roots)
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one
        if type(one).__module__.startswith("orrery."):
            yield one
        todo += parts(one)


def parts(one: object) -> list[object]:
    """Return what an object holds: its attributes, its slots, its items."""
    if isinstance(one, dict):
        return [*one.values()]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType] anything at all
    if isinstance(one, (list, tuple, set, frozenset)):
        return [*one]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] anything at all
    if not type(one).__module__.startswith("orrery."):
        return [bound for name in ("__self__",) if (bound := getattr(one, name, None)) is not None]
    names = {*getattr(one, "__dict__", {}), *getattr(type(one), "__slots__", ())}
    return [getattr(one, name, None) for name in names]
