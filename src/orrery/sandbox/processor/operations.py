"""The table of the processor's operations (spec 1, Endpoints; decision 16)."""

from orrery.sandbox.processor import requests, resources, sessions
from orrery.sandbox.processor.call import Operation
from orrery.sandbox.processor.lists import page

_CONFIGURATIONS = "/v1/payment_method_configurations"
_ENDPOINTS = "/v1/webhook_endpoints"
_ITEMS = "/v1/radar/value_list_items"
_SESSIONS = "/v1/checkout/sessions"

OPERATIONS: tuple[Operation, ...] = tuple(
    Operation(*row)
    for row in (
        ("POST", _SESSIONS, "checkout_session_write", requests.CREATE_SESSION, sessions.create),
        ("GET", _SESSIONS, "checkout_session_read", requests.LIST_SESSIONS, sessions.list_all),
        ("GET", f"{_SESSIONS}/{{session}}", "checkout_session_read", requests.ONLY_EXPAND, sessions.retrieve),
        (
            "POST",
            f"{_SESSIONS}/{{session}}/expire",
            "checkout_session_write",
            requests.ONLY_EXPAND,
            sessions.expire_one,
        ),
        ("GET", "/v1/prices", "price_read", requests.LIST_PRICES, resources.lister("price")),
        ("GET", "/v1/charges", "charge_read", requests.LIST_CHARGES, resources.lister("charge")),
        ("GET", "/v1/customers", "customer_read", requests.LIST_CUSTOMERS, resources.lister("customer")),
        (
            "GET",
            _CONFIGURATIONS,
            "payment_method_configuration_read",
            requests.LIST_PAGE,
            resources.lister("payment_method_configuration"),
        ),
        (
            "POST",
            _CONFIGURATIONS,
            "payment_method_configuration_write",
            requests.CREATE_CONFIGURATION,
            resources.create_configuration,
        ),
        (
            "GET",
            f"{_CONFIGURATIONS}/{{configuration}}",
            "payment_method_configuration_read",
            requests.ONLY_EXPAND,
            resources.get_configuration,
        ),
        (
            "POST",
            f"{_CONFIGURATIONS}/{{configuration}}",
            "payment_method_configuration_write",
            requests.UPDATE_CONFIGURATION,
            resources.update_configuration,
        ),
        (
            "GET",
            "/v1/radar/value_lists",
            "value_list_read",
            requests.LIST_VALUE_LISTS,
            resources.list_value_lists,
        ),
        ("GET", _ITEMS, "value_list_read", requests.LIST_VALUE_LIST_ITEMS, resources.list_value_list_items),
        ("POST", _ITEMS, "value_list_write", requests.CREATE_VALUE_LIST_ITEM, resources.create_value_list_item),
        ("DELETE", f"{_ITEMS}/{{item}}", "value_list_write", requests.NOTHING, resources.delete_value_list_item),
        ("GET", "/v1/reviews", "review_read", requests.LIST_BY_TIME, resources.list_reviews),
        ("GET", "/v1/balance", "balance_read", requests.ONLY_EXPAND, resources.get_balance),
        ("GET", "/v1/account", "account_read", requests.ONLY_EXPAND, resources.get_account),
        ("PATCH", "/v1/account", "account_write", requests.UPDATE_ACCOUNT, resources.patch_account),
        ("GET", "/v1/events", "event_read", requests.LIST_EVENTS, resources.list_events),
        ("GET", "/v1/events/{id}", "event_read", requests.ONLY_EXPAND, resources.get_event),
        ("GET", _ENDPOINTS, "webhook_read", requests.LIST_PAGE, resources.list_endpoints),
        ("POST", _ENDPOINTS, "webhook_write", requests.CREATE_WEBHOOK_ENDPOINT, resources.create_endpoint),
        (
            "POST",
            f"{_ENDPOINTS}/{{webhook_endpoint}}",
            "webhook_write",
            requests.UPDATE_WEBHOOK_ENDPOINT,
            resources.update_endpoint,
        ),
        (
            "DELETE",
            f"{_ENDPOINTS}/{{webhook_endpoint}}",
            "webhook_write",
            requests.NOTHING,
            resources.delete_endpoint,
        ),
    )
)

UNUSED: tuple[Operation, ...] = tuple(
    Operation(
        "GET", f"/v1/{name}s", f"{name}_read", requests.LIST_PAGE, lambda call: page([], call.params, call.path)
    )
    for name in ("invoice", "payout", "subscription")
)
"""Empty lists that no client of ours needs: only to check whether a restricted key is refused here."""
