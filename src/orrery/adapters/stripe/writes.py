"""What only an approval may do (change rule 4), over Stripe."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from orrery.adapters.stripe.connection import StripeConnection
from orrery.adapters.stripe.objects import Session
from orrery.adapters.stripe.settings import AccountObject, ConfigurationObject, RemovedObject, ValueListItem
from orrery.ports.processor import (
    CheckoutSession,
    Configuration,
    ListEntry,
    ProcessorAccount,
    ProcessorRefused,
    ProcessorUnreachable,
)

_ELSEWHERE = (
    "The processor does not take the account's branding by its API ({status}): set it in the dashboard, under "
    "Settings > Business."
)


class StripeWrites:
    """The port `ProcessorWrites` over Stripe's API."""

    def __init__(self, connection: StripeConnection) -> None:
        self._connection = connection

    async def expire_session(self, session_id: str, *, idempotency_key: str) -> CheckoutSession:
        path_id, options = _id(session_id), _once(idempotency_key)
        expired = await self._connection.call(
            lambda client: client.v1.checkout.sessions.expire(path_id, {}, options), Session
        )
        return expired.to_value()

    async def add_entry(self, list_id: str, value: str, *, idempotency_key: str) -> ListEntry:
        """Add an entry to a fraud screening list."""
        options = _once(idempotency_key)
        added = await self._connection.call(
            lambda client: client.v1.radar.value_list_items.create(
                {"value_list": list_id, "value": value}, options
            ),
            ValueListItem,
        )
        return added.to_value()

    async def remove_entry(self, entry_id: str) -> None:
        path_id = _id(entry_id)
        _ = await self._connection.call(
            lambda client: client.v1.radar.value_list_items.delete(path_id), RemovedObject
        )

    async def create_configuration(
        self, name: str, methods: Mapping[str, bool], *, parent: str | None, idempotency_key: str
    ) -> Configuration:
        body: Any = {"name": name, **_switches(methods)} | ({"parent": parent} if parent else {})
        options = _once(idempotency_key)
        created = await self._connection.call(
            lambda client: client.v1.payment_method_configurations.create(body, options), ConfigurationObject
        )
        return created.to_value()

    async def update_configuration(
        self,
        configuration_id: str,
        methods: Mapping[str, bool],
        *,
        name: str | None,
        active: bool | None,
        idempotency_key: str,
    ) -> Configuration:
        """Change a configuration; values that are not named stay."""
        named = {"name": name, "active": active}
        body: Any = _switches(methods) | {key: value for key, value in named.items() if value is not None}
        path_id, options = _id(configuration_id), _once(idempotency_key)
        changed = await self._connection.call(
            lambda client: client.v1.payment_method_configurations.update(path_id, body, options),
            ConfigurationObject,
        )
        return changed.to_value()

    async def update_account(self, branding: Mapping[str, str]) -> ProcessorAccount:
        """Change account-level branding (decision 17)."""
        form = {_bracketed(name): value for name, value in branding.items()}
        try:
            changed = await self._connection.patch("/v1/account", form, AccountObject)
        except (ProcessorRefused, ProcessorUnreachable) as error:
            # A 405 counts with any body; a 404 only with the processor's own message: else it is a gateway's.
            status = error.status or 0
            is_not_found = status == HTTPStatus.NOT_FOUND and isinstance(error, ProcessorRefused)
            if is_not_found or status == HTTPStatus.METHOD_NOT_ALLOWED:
                raise ProcessorRefused(_ELSEWHERE.format(status=status), status=status) from None
            raise
        return changed.to_value()


def _id(vendor_id: str) -> str:
    """Return an id that goes into a path: without one, a change would go to the whole collection."""
    if not vendor_id.strip():
        raise ProcessorRefused("An empty id names nothing.", status=HTTPStatus.NOT_FOUND)
    return vendor_id


def _once(idempotency_key: str) -> Any:  # noqa: ANN401  the library's own type of it is in a private module
    return {"idempotency_key": idempotency_key}


def _switches(methods: Mapping[str, bool]) -> dict[str, Any]:
    return {slug: {"display_preference": {"preference": "on" if on else "off"}} for slug, on in methods.items()}


def _bracketed(name: str) -> str:
    first, *inner = name.split(".")
    return first + "".join(f"[{part}]" for part in inner)
