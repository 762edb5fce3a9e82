"""The parameters of a payment session: one pure function for every use (decision 5)."""

from dataclasses import dataclass

from orrery.checkout.catalogue import Product
from orrery.errors import Invalid, NotConfigured
from orrery.ports.processor import Parameter, Parameters

QUANTITY = 1
"""The line item quantity (spec 1, Limits)."""

METHODS = ("card", "link")
"""The payment methods that change rule 2 demands (spec 1, Change rules)."""

THREE_D_SECURE = ("automatic", "any_3ds_required")
"""The permitted values (spec 1, change rule 3; decision 6)."""

CHANGE_RULE_3 = (
    "Automatic 3-D Secure must stay on. To reduce friction the only permitted direction is the value "
    "any_3ds_required; turning it off is not permitted. The value any is not used because it hurts conversion."
)


@dataclass(frozen=True, slots=True)
class SessionTerms:
    """The parameters that all sessions of this deployment share.

    `success_url` and `cancel_url` may hold {vendorSlug} and {certCode}; `success_url` must hold
    {CHECKOUT_SESSION_ID}, which the processor fills in.
    """

    success_url: str
    cancel_url: str
    payment_method_types: tuple[str, ...] = METHODS
    three_d_secure: str = "automatic"
    marketing_consent: bool = True
    terms_of_service: str | None = None
    promotions: str | None = None

    def __post_init__(self) -> None:
        if self.three_d_secure not in THREE_D_SECURE:
            raise Invalid(f"three_d_secure is neither {' nor '.join(THREE_D_SECURE)}. {CHANGE_RULE_3}")
        if "{CHECKOUT_SESSION_ID}" not in self.success_url:
            raise Invalid("success_url must contain {CHECKOUT_SESSION_ID}.")
        if not self.payment_method_types:
            raise Invalid("payment_method_types is empty: the processor would fall back to card only.")


def session_parameters(product: Product, terms: SessionTerms) -> Parameters:
    """Return exactly the parameters that are sent to the processor for `product` (spec 1, Session parameters).

    Raises `NotConfigured` for a product without a price.
    """
    if product.price_id is None:
        raise NotConfigured(f"{product.name} names no price: it cannot be sold.")
    parameters: Parameters = {
        "mode": "payment",
        "line_items": [{"price": product.price_id, "quantity": QUANTITY}],
        "payment_method_types": list(terms.payment_method_types),
        "payment_method_options": {"card": {"request_three_d_secure": terms.three_d_secure}},
        "custom_text": {"submit": {"message": product.submit_message}},
        "success_url": _address(terms.success_url, product),
        "cancel_url": _address(terms.cancel_url, product),
        "metadata": {
            "productType": product.key.product_type,
            "certCode": product.cert_code,
            "vendorSlug": product.vendor_slug,
        },
    }
    if terms.marketing_consent:
        parameters["custom_fields"] = [_marketing_consent()]
    if consents := _consents(terms):
        parameters["consent_collection"] = consents
    return parameters


def _address(template: str, product: Product) -> str:
    return template.replace("{vendorSlug}", product.vendor_slug).replace("{certCode}", product.cert_code)


def _marketing_consent() -> Parameter:
    return {
        "key": "marketing_consent",
        "label": {"type": "custom", "custom": "May we write to you about new practice questions?"},
        "type": "dropdown",
        "dropdown": {"options": [{"label": "Yes", "value": "yes"}, {"label": "No", "value": "no"}]},
        "optional": True,
    }


def _consents(terms: SessionTerms) -> dict[str, Parameter]:
    asked = {"terms_of_service": terms.terms_of_service, "promotions": terms.promotions}
    return {name: value for name, value in asked.items() if value is not None}
