"""The fault switches of the analytics provider, as its client meets them."""

import pytest

from orrery.sandbox.analytics.quota import TEXTS
from orrery.sandbox.faults import KINDS
from tests.sandbox.analytics import DAY, PAGE, PROJECT_HOUR, REPORTS, THRESHOLDED, TOTAL, Provider, bearer, by
from tests.sandbox.held import CUT, late

STATUSES = {
    "analytics_401": 401,
    "analytics_403": 403,
    "analytics_429_concurrent": 429,
    "analytics_429_hour": 429,
    "analytics_429_day": 429,
    "analytics_429_thresholded": 429,
    "analytics_500": 500,
    "analytics_html_404": 404,
    "analytics_html_200": 200,
}
BROKEN = ("analytics_cut", "analytics_timeout", "analytics_down", "analytics_token_down")


def test_every_fault_is_tried_here() -> None:
    """No switch of the analytics provider is left out of these tests."""
    assert {*STATUSES, *BROKEN} == {kind for kind in KINDS if kind.startswith("analytics_")}


@pytest.mark.parametrize("kind", STATUSES)
def test_an_answer_instead(provider: Provider, kind: str) -> None:
    """The answer has the fault's status once, costs no tokens, and the next request goes through."""
    provider.fault(kind)
    token = provider.token()
    assert provider.ask(token=token).status_code == STATUSES[kind]
    assert provider.left(DAY) == 25_000
    assert provider.ask(token=token).headers["content-type"] == "application/json; charset=UTF-8"


@pytest.mark.parametrize(
    ("kind", "quota"),
    [
        ("analytics_429_concurrent", "concurrentRequests"),
        ("analytics_429_hour", PROJECT_HOUR),
        ("analytics_429_day", DAY),
        ("analytics_429_thresholded", THRESHOLDED),
    ],
)
def test_exhausted_quotas(provider: Provider, kind: str, quota: str) -> None:
    """A quota's fault speaks in the words of that quota."""
    provider.fault(kind)
    assert provider.refusal(TOTAL)["message"] == TEXTS[quota]


@pytest.mark.parametrize("kind", ["analytics_html_404", "analytics_html_200"])
def test_html(provider: Provider, kind: str) -> None:
    """A wrong path, or something in front of the provider, answers HTML."""
    provider.fault(kind)
    assert provider.ask().headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("kind", [*STATUSES, "analytics_cut"])
def test_where(provider: Provider, kind: str) -> None:
    """A fault with a dimension for its path strikes that query only; `total` is the one without."""
    token = provider.token()
    provider.fault(kind, path=PAGE, count=None)
    assert provider.ask(TOTAL, token).status_code == 200
    provider.web.delete("/_faults")
    provider.fault(kind, path="total", count=None)
    assert provider.ask(by(PAGE), token).headers["content-type"] == "application/json; charset=UTF-8"
    assert provider.ask(by(PAGE), token).status_code == 200


@pytest.mark.parametrize("kind", ["analytics_cut", "analytics_down"])
def test_cut_connections(provider: Provider, kind: str) -> None:
    """The connection ends without an answer, and nothing was charged."""
    token = provider.token()
    provider.fault(kind)
    with pytest.raises(CUT):
        provider.ask(token=token)
    assert provider.left(DAY) == 25_000


def test_down_until_switched_off(provider: Provider) -> None:
    """A provider that is down stays so for tokens and reports until it is switched off, whatever the count."""
    provider.fault("analytics_down", count=1)
    for _ in range(3):
        with pytest.raises(CUT):
            provider.mint()
    provider.web.delete("/_faults?kind=analytics_down")
    assert provider.ask().status_code == 200


def test_the_token_endpoint_alone(provider: Provider) -> None:
    """A token endpoint that is down leaves reports alone."""
    token = provider.token()
    provider.fault("analytics_token_down")
    with pytest.raises(CUT):
        provider.mint()
    assert provider.ask(token=token).status_code == 200


def test_late_answers(provider: Provider) -> None:
    """A report comes late by the seconds that were said, and was charged."""
    token = provider.token()
    provider.fault("analytics_timeout", value=60)
    assert late(provider.web, 60, REPORTS, json=TOTAL, headers=bearer(token)).status_code == 200
    # Not by what is left of the day, which may end in that minute.
    newest = next(one for one in provider.known()["requests"] if one["what"] != "token")
    assert (newest["what"], newest["status"], newest["tokens"]) == ("total", 200, 10)


def test_calls_are_counted(provider: Provider) -> None:
    """Every report request is counted, by what it asked for, also when it fails."""
    before = provider.known()
    provider.fault("analytics_500")
    provider.ask()
    provider.ask(by(PAGE))
    after = provider.known()
    assert after["report_calls"] - before["report_calls"] == 2
    assert after["calls"][PAGE] - before["calls"].get(PAGE, 0) == 1
    shown = [(one["what"], one["status"], one["tokens"]) for one in after["requests"] if one["what"] != "token"]
    assert shown[:2] == [(PAGE, 200, 10), ("total", 500, 0)]
