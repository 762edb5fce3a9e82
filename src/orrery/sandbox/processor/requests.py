"""The parameters of every simulated operation, described compactly (the tests hold them against the contract)."""

from orrery.sandbox.processor.schema import (
    Flag,
    Kind,
    Labels,
    Many,
    NotAllowed,
    Shape,
    Text,
    Whole,
    choice,
    shape,
)

CUSTOM_TEXT_LIMIT = 1200
"""Code points of each custom_text message (spec 1, Limits)."""

METHOD_SLUGS = (
    "acss_debit affirm afterpay_clearpay alipay alma amazon_pay au_becs_debit bacs_debit bancontact "
    "billie bizum blik boleto card cashapp crypto customer_balance eps fpx giropay grabpay ideal "
    "kakao_pay klarna konbini kr_card link mb_way mobilepay multibanco naver_pay nz_bank_account oxxo p24 "
    "pay_by_bank payco paynow paypal payto pix promptpay revolut_pay samsung_pay satispay scalapay "
    "sepa_debit sofort sunbit swish twint upi us_bank_account wechat_pay zip"
)
"""What `payment_method_types` may name."""

_SLUGS = set(METHOD_SLUGS.split())
_WALLETS_AND_BRANDS = {
    "apple_pay",
    "apple_pay_later",
    "cartes_bancaires",
    "fr_meal_voucher_conecs",
    "google_pay",
    "jcb",
}
CONFIGURABLE_METHODS = tuple(sorted(_SLUGS | _WALLETS_AND_BRANDS))
"""The payment methods that a configuration switches on and off."""

_TEXT, _FLAG, _WHOLE, _LABELS = Text(), Flag(), Whole(), Labels()
_EXPAND = Many(_TEXT)
_ON_OFF = choice("none off on")
_MESSAGE = shape("message", message=Text(CUSTOM_TEXT_LIMIT))
_BRANDING = "This account cannot set branding per session: it is set in the account's settings."
_DROPDOWN = shape("options", options=Many(shape("label value", label=Text(100), value=Text(100))))

CREATE_SESSION = shape(
    "line_items mode success_url",
    mode=choice("payment setup subscription"),
    line_items=Many(shape("price quantity", price=_TEXT, quantity=_WHOLE)),
    payment_method_types=Many(choice(METHOD_SLUGS)),
    payment_method_options=shape(
        card=shape(request_three_d_secure=choice("any automatic challenge", beyond="any_3ds_required"))
    ),
    custom_text=shape(
        submit=_MESSAGE, after_submit=_MESSAGE, shipping_address=_MESSAGE, terms_of_service_acceptance=_MESSAGE
    ),
    custom_fields=Many(
        shape(
            "key label type",
            key=Text(200),
            label=shape("custom type", custom=Text(50), type=choice("custom")),
            type=choice("dropdown numeric text"),
            optional=_FLAG,
            dropdown=_DROPDOWN,
        )
    ),
    consent_collection=shape(promotions=choice("auto none"), terms_of_service=choice("none required")),
    branding_settings=NotAllowed(_BRANDING),
    success_url=Text(5000),
    cancel_url=Text(5000),
    customer_creation=choice("always if_required"),
    expires_at=_WHOLE,
    metadata=_LABELS,
    expand=_EXPAND,
)

ONLY_EXPAND = shape(expand=_EXPAND)
NOTHING = shape()
_CREATED = Shape({"gt": _WHOLE, "gte": _WHOLE, "lt": _WHOLE, "lte": _WHOLE}, or_whole="eq")
_PAGE = shape(limit=_WHOLE, starting_after=_TEXT, expand=_EXPAND)


def _list(required: str = "", **fields: Kind) -> Shape:
    return Shape(_PAGE.fields | fields, frozenset(required.split()))


LIST_PAGE = _list()
LIST_SESSIONS = _list(
    created=_CREATED,
    payment_intent=_TEXT,
    customer_details=shape("email", email=_TEXT),
    status=choice("complete expired open"),
)
LIST_PRICES = _list(active=_FLAG, created=_CREATED)
LIST_BY_TIME = _list(created=_CREATED)
LIST_VALUE_LISTS = _list(alias=_TEXT, created=_CREATED)
LIST_CHARGES = _list(created=_CREATED, payment_intent=_TEXT)
LIST_CUSTOMERS = _list(created=_CREATED, email=_TEXT)
LIST_VALUE_LIST_ITEMS = _list("value_list", created=_CREATED, value=_TEXT, value_list=_TEXT)
LIST_EVENTS = _list(created=_CREATED, type=_TEXT, types=Many(_TEXT), delivery_success=_FLAG)

CREATE_VALUE_LIST_ITEM = shape("value value_list", value=Text(800), value_list=_TEXT, expand=_EXPAND)

_METHOD_SWITCH = shape(display_preference=shape(preference=_ON_OFF))
_METHOD_SWITCHES = dict.fromkeys(CONFIGURABLE_METHODS, _METHOD_SWITCH)
CREATE_CONFIGURATION = Shape({**_METHOD_SWITCHES, "name": Text(100), "parent": _TEXT, "expand": _EXPAND})
UPDATE_CONFIGURATION = Shape({**_METHOD_SWITCHES, "name": Text(100), "active": _FLAG, "expand": _EXPAND})

CREATE_WEBHOOK_ENDPOINT = shape(
    "enabled_events url",
    url=_TEXT,
    enabled_events=Many(_TEXT),
    api_version=_TEXT,
    description=Text(5000),
    metadata=_LABELS,
    expand=_EXPAND,
)
UPDATE_WEBHOOK_ENDPOINT = shape(
    url=_TEXT, enabled_events=Many(_TEXT), description=Text(5000), metadata=_LABELS, disabled=_FLAG, expand=_EXPAND
)

UPDATE_ACCOUNT = shape(
    business_profile=shape(
        name=_TEXT,
        product_description=_TEXT,
        support_email=_TEXT,
        support_phone=_TEXT,
        support_url=_TEXT,
        url=_TEXT,
    ),
    settings=shape(
        branding=shape(icon=_TEXT, logo=_TEXT, primary_color=_TEXT, secondary_color=_TEXT),
        payments=shape(statement_descriptor=Text(22)),
    ),
    metadata=_LABELS,
    expand=_EXPAND,
)
