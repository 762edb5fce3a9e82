"""The sandbox from outside: its switches, its payment page, what it was asked, what it delivered."""

from dataclasses import dataclass
from typing import Any

import httpx2

from tests.support.waiting import IN_CLEAR, PATIENCE

SESSIONS = "/v1/checkout/sessions"


@dataclass(frozen=True)
class Sandbox:
    """A running sandbox. `api_key` is the one that it accepts."""

    base_url: str
    api_key: str

    def ask(self, method: str, path: str, json: object = None, **fields: str) -> Any:  # noqa: ANN401  any JSON
        """Send one request and return the JSON of the answer."""
        headers = {"Accept": "application/json", "Authorization": f"Bearer {self.api_key}"}
        with httpx2.Client(trust_env=False, timeout=PATIENCE, verify=IN_CLEAR) as client:
            answer = client.request(method, self.base_url + path, json=json, params=fields, headers=headers)
        assert answer.is_success, answer.text
        return answer.json()

    def fault(self, kind: str, *, count: int | None = 1, path: str = "", value: float | None = None) -> None:
        """Switch a fault on: for the next `count` times, or with None until `clear_faults`."""
        self.ask("POST", "/_faults", {"kind": kind, "count": count, "path": path, "value": value})

    def faults(self) -> list[str]:
        """Return the kinds of the faults that are on."""
        return [one["kind"] for one in self.ask("GET", "/_faults")["active"]]

    def clear_faults(self) -> None:
        """Switch every fault off."""
        self.ask("DELETE", "/_faults")

    def advance(self, seconds: float) -> None:
        """Move the clock of sandbox and service forward."""
        self.ask("POST", "/_clock", {"advance": seconds})

    def now(self) -> int:
        """Return the sandbox's time in Unix seconds."""
        return int(self.ask("GET", "/_clock")["now"])

    def price(self, price_id: str, **changes: object) -> None:
        """Create or change a price."""
        self.ask("POST", "/_price", {"id": price_id, **changes})

    def settle(self, session_id: str, *, paid: bool = True) -> None:
        """Let a delayed payment arrive, or fail."""
        self.ask("POST", f"/_settle/{session_id}", {"paid": paid})

    def pay(self, session_id: str, email: str, verdict: str = "approved") -> None:
        """Fill in the hosted payment page and pay."""
        assert self.try_to_pay(session_id, email, verdict)

    def try_to_pay(
        self, session_id: str, email: str, verdict: str = "approved", address: str = "127.0.0.1"
    ) -> bool:
        """Do so from a client address; tell whether the payment went through, or was declined or stopped."""
        form, headers = {"email": email, "method": "card", "verdict": verdict}, {"X-Forwarded-For": address}
        page = f"{self.base_url}/pay/{session_id}"
        answer = httpx2.post(page, data=form, headers=headers, trust_env=False, timeout=PATIENCE, verify=IN_CLEAR)
        assert answer.status_code in {303, 402}, answer.status_code
        return answer.status_code == 303

    def sessions(self, cert_code: str | None = None) -> list[dict[str, Any]]:
        """Return the sessions of a product (or all of them), newest first."""
        found = self.ask("GET", SESSIONS, limit="100")["data"]
        return [one for one in found if cert_code in (None, one["metadata"].get("certCode"))]

    def charges(self) -> list[dict[str, Any]]:
        """Return every charge."""
        return [one for world in self.ask("GET", "/")["worlds"] for one in world["charges"]]

    def completed(self, session_id: str) -> dict[str, Any]:
        """Return the event that a session is completed."""
        events = self.ask("GET", "/v1/events", limit="100", type="checkout.session.completed")["data"]
        return next(one for one in events if one["data"]["object"]["id"] == session_id)

    def mail_to(self, email: str) -> list[dict[str, Any]]:
        """Return the messages to an address."""
        return [one for one in self.ask("GET", "/mail") if email in one["to"]]

    def pushes_about(self, words: str) -> list[dict[str, Any]]:
        """Return the pushes whose title or message has `words`."""
        return [one for one in self.ask("GET", "/push") if words in one.get("title", "") + one["message"]]

    def visitors(self, count: int) -> None:
        """Let there be so many visitors on the sites."""
        self.ask("POST", "/_visitors", {"count": count})

    def quota(self, **changes: object) -> None:
        """Set the analytics provider's `cost` of a report, `size` or `left` of a `bucket`, or `refill` all."""
        self.ask("POST", "/_quota", changes)

    def analytics(self) -> dict[str, Any]:
        """Return what the analytics provider has been asked, its quotas and its visitors."""
        found: dict[str, Any] = self.ask("GET", "/_analytics")
        return found

    def run_analytics(self, *, running: bool) -> None:
        """Stop the analytics provider and its token endpoint, or let them run again."""
        self.ask("POST", "/_analytics", {"running": running})
