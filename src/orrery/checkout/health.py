"""The checks of the checkout: those for `readyz`, and those of `orrery doctor`, which ask the processor."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from orrery.checkout.catalogue import Catalogue
from orrery.checkout.records import COMPLETED
from orrery.checkout.settings import CheckoutPlan
from orrery.ports.health import Finding, of_secret
from orrery.ports.processor import Processor, WebhookEndpoint, split_unreadable

RETIRING = "2026-09-30.endive"
"""From this API version on, session creation takes no payment_method_types (decision 1)."""

_NAMELESS = "Receipts name no seller, and the law of most places asks for one."
_NAME_IT = (
    "Set seller and postal_address in [checkout], or in the site's table, and tax_number where you have one."
)
_SEPARATE = "Give each seller a separate number_series."

HealthCheck = Callable[[], Awaitable[Finding]]

_WEBHOOK = "processor webhook"

_AGAIN = "`orrery doctor` reads it again."


@dataclass(frozen=True, slots=True)
class CheckoutHealth:
    """The checks of the checkout's settings and of the processor."""

    plan: CheckoutPlan
    catalogue: Catalogue
    processor: Processor
    deliveries: HealthCheck

    async def local(self) -> list[Finding]:
        """Return the findings of the checks that need no network."""
        if not self.catalogue:
            todo = "Add `[[checkout.products]]` to the settings, if you sell."
            return [Finding("checkout", "off", "No product is configured.", todo, essential=True, of_machine=True)]
        return [
            *self._shared_codes(),
            *(self._sellers() if self.plan.livemode else []),
            *(
                of_secret(part, name, what, present=bool(present), essential=True, of_settings=True)
                for part, name, what, present in (
                    ("processor key", "processor_api_key", "the key", self.plan.has_api_key),
                    ("webhook secret", "webhook_signing_secret", "it", self.plan.signing_secrets),
                )
            ),
            self._access_check(),
        ]

    def _access_check(self) -> Finding:
        part, name, tokens = "access check", "access_service_token", self.plan.service_tokens
        if tokens or self.plan.settings.needs_access_check(self.plan.sites):
            return of_secret(part, name, "a token", present=bool(tokens), essential=True, of_settings=True)
        todo = f"A server that asks by itself needs a token in the secret file {name}."
        return Finding(part, "off", "The web servers of the sites ask the access gate.", todo, essential=True)

    def _shared_codes(self) -> list[Finding]:
        todo = "Every access check of it must carry vendorSlug; without it the check answers 422."
        return [
            Finding(
                "catalogue",
                "ok",
                f"{code} is sold by {' and '.join(self.catalogue.vendors_of(code))}.",
                todo,
                of_settings=True,
                of_machine=True,
                essential=True,
            )
            for code in self.catalogue.shared_codes()
        ]

    def _sellers(self) -> list[Finding]:
        """Return what of the sellers keeps receipts from being receipts: no name, or one series of two sellers."""
        sellers = {self.plan.settings.seller_at(one.site) for one in self.catalogue.listed}
        found = [] if all(one.seller for one in sellers) else [(_NAMELESS, _NAME_IT)]
        named = Counter(series for series, _ in {(one.number_series, one.seller) for one in sellers} if series)
        found += [(f"{one} numbers the sales of two sellers.", _SEPARATE) for one, of in named.items() if of > 1]
        return [
            Finding("seller", "broken", why, todo, essential=False, of_settings=True, of_machine=True, severity=3)
            for why, todo in found[:1]
        ]

    def remote(self) -> list[tuple[str, HealthCheck]]:
        """Return the checks that ask the processor."""
        if not self.catalogue or not self.plan.has_api_key:
            return []
        return [
            ("processor account", self._account),
            (_WEBHOOK, self._webhook),
            ("webhook deliveries", self.deliveries),
        ]

    async def _account(self) -> Finding:
        account = await self.processor.get_account()
        currency = (account.default_currency or "?").upper()
        return Finding(
            "processor account", "ok", f"{account.id}, {account.country}, base currency {currency}", essential=True
        )

    async def _webhook(self) -> Finding:
        known, unread = split_unreadable([one async for one in self.processor.list_webhook_endpoints()])
        if unread:
            why = f"{unread[0]} Its id: {unread[0].item_id or 'none'}."
            return Finding(
                _WEBHOOK,
                "broken",
                why,
                f"Look at it in the dashboard. {_AGAIN}",
                essential=True,
            )
        return self._of_endpoints([one for one in known if _sends_completed(one.events)])

    def _of_endpoints(self, endpoints: Sequence[WebhookEndpoint]) -> Finding:
        version, disabled = self.plan.settings.api_version, [one for one in endpoints if not one.enabled]
        state, why, todo = (
            "broken",
            f"No enabled endpoint sends {COMPLETED}.",
            "Add one in the dashboard.",
        )
        if others := {one.api_version for one in endpoints if one.enabled} - {version}:
            why, todo = (
                self._wrong_versions(others),
                f"Re-create the endpoint with version {version}.",
            )
        elif len(disabled) < len(endpoints):
            state, why, todo = "ok", f"version {version}", ""
            if same := _same_address([one for one in endpoints if one.enabled]):
                why = f"{_ids(same)} have the same address: an event comes more than once, and grants only once."
                todo = "Remove all but one in the dashboard."
            elif disabled:
                why += f"; disabled: {_ids(disabled)}"
                todo = "Is it this service's? Then enable it in the dashboard."
        elif disabled:
            why = f"Disabled: {_ids(disabled)}. The processor does that when deliveries keep failing."
            todo = "Enable it in the dashboard, then look at `orrery checkout events --failed`."
        return Finding(_WEBHOOK, state, why, todo, essential=True)

    def _wrong_versions(self, others: set[str | None]) -> str:
        versions = ", ".join(sorted(one or "the account's default" for one in others))
        why = f"It sends version {versions}; this service reads {self.plan.settings.api_version}."
        retired = any(one is not None and one >= RETIRING for one in others)
        return f"{why} From {RETIRING} on, sessions lose payment_method_types." if retired else why


def _sends_completed(events: tuple[str, ...]) -> bool:
    return COMPLETED in events or "*" in events


def _same_address(endpoints: Sequence[WebhookEndpoint]) -> list[WebhookEndpoint]:
    """Return the endpoints whose address another one has, too."""
    count = Counter(one.url.rstrip("/").lower() for one in endpoints)
    return [one for one in endpoints if count[one.url.rstrip("/").lower()] > 1]


def _ids(endpoints: Sequence[WebhookEndpoint]) -> str:
    return ", ".join(sorted(one.id for one in endpoints))
