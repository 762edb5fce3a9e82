"""The parameters of every simulated operation, described compactly (the tests hold them against the contract)."""

from orrery.sandbox.processor.schema import Flag, Labels, Many, NotAllowed, Shape, Text, Whole, choice, shape

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
_WITHOUT_OPTIONS = {"bizum", "blik", "mb_way", "nz_bank_account", "promptpay", "zip"}
_OPTION_SLUGS = " ".join(sorted((_SLUGS | {"demo_pay"}) - _WITHOUT_OPTIONS - {"card", "link"}))
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
_LOCALES = (
    "auto bg cs da de el en en-GB es es-419 et fi fil fr fr-CA hr hu id it ja ko lt lv ms mt nb nl pl pt "
    "pt-BR ro ru sk sl sv th tr vi zh zh-HK zh-TW"
)

_CARD_OPTIONS = shape(
    request_three_d_secure=choice("any automatic challenge", beyond="any_3ds_required"),
    not_simulated="capture_method installments request_extended_authorization request_incremental_authorization "
    "request_multicapture request_overcapture restrictions setup_future_usage statement_descriptor_suffix_kana "
    "statement_descriptor_suffix_kanji",
)
_LINK_OPTIONS = shape(not_simulated="capture_method setup_future_usage")
_BOUNDS = "default_value maximum_length minimum_length"
_CUSTOM_FIELD = shape(
    "key label type",
    key=Text(200),
    label=shape("custom type", custom=Text(50), type=choice("custom")),
    type=choice("dropdown numeric text"),
    optional=_FLAG,
    dropdown=shape(
        "options",
        default_value=_TEXT,
        options=Many(shape("label value", label=Text(100), value=Text(100))),
    ),
    numeric=shape(not_simulated=_BOUNDS),
    text=shape(not_simulated=_BOUNDS),
)
_MESSAGE = Shape({"message": Text(CUSTOM_TEXT_LIMIT)}, frozenset({"message"}), clearable=True)
_BRANDING = "This account cannot set branding per session: it is set in the account's settings."

CREATE_SESSION = shape(
    mode=choice("payment setup subscription"),
    line_items=Many(
        shape(
            price=_TEXT,
            quantity=_WHOLE,
            not_simulated="adjustable_quantity metadata price_data tax_rates",
        )
    ),
    payment_method_types=Many(choice(METHOD_SLUGS)),
    payment_method_options=shape(card=_CARD_OPTIONS, link=_LINK_OPTIONS, not_simulated=_OPTION_SLUGS),
    payment_method_configuration=_TEXT,
    custom_text=shape(
        submit=_MESSAGE, after_submit=_MESSAGE, shipping_address=_MESSAGE, terms_of_service_acceptance=_MESSAGE
    ),
    custom_fields=Many(_CUSTOM_FIELD),
    consent_collection=shape(
        promotions=choice("auto none"),
        terms_of_service=choice("none required"),
        not_simulated="payment_method_reuse_agreement",
    ),
    branding_settings=NotAllowed(_BRANDING),
    success_url=Text(5000),
    cancel_url=Text(5000),
    client_reference_id=Text(200),
    customer_email=Text(800),
    customer_creation=choice("always if_required"),
    currency=_TEXT,
    expires_at=_WHOLE,
    locale=choice(_LOCALES),
    metadata=_LABELS,
    submit_type=choice("auto book donate pay subscribe"),
    ui_mode=choice("elements embedded_page form hosted_page"),
    expand=_EXPAND,
    not_simulated="adaptive_pricing after_expiration allow_promotion_codes automatic_tax "
    "billing_address_collection customer customer_account customer_update discounts excluded_payment_method_types "
    "integration_identifier invoice_creation managed_payments name_collection optional_items "
    "origin_context payment_intent_data payment_method_collection payment_method_data permissions "
    "phone_number_collection redirect_on_completion return_url saved_payment_method_options "
    "setup_intent_data shipping_address_collection shipping_options subscription_data tax_id_collection "
    "wallet_options",
)

ONLY_EXPAND = shape(expand=_EXPAND)
NOTHING = shape()
_CREATED = Shape({"gt": _WHOLE, "gte": _WHOLE, "lt": _WHOLE, "lte": _WHOLE}, or_whole="eq")
_PAGE = shape(limit=_WHOLE, starting_after=_TEXT, ending_before=_TEXT, expand=_EXPAND)


def _list(required: str = "", *, not_simulated: str = "", **fields: Text | Flag | Shape | Many) -> Shape:
    extra = shape(required, not_simulated=not_simulated, **fields)
    return Shape(_PAGE.fields | extra.fields, extra.required)


LIST_PAGE = _list()
LIST_SESSIONS = Shape(
    _list(
        created=_CREATED,
        payment_intent=_TEXT,
        customer=_TEXT,
        customer_details=shape("email", email=_TEXT),
        not_simulated="customer_account payment_link subscription",
    ).fields
    | {"status": choice("complete expired open")}
)
LIST_PRICES = Shape(
    _list(
        active=_FLAG,
        created=_CREATED,
        currency=_TEXT,
        product=_TEXT,
        not_simulated="lookup_keys recurring",
    ).fields
    | {"type": choice("one_time recurring")}
)
LIST_CHARGES = _list(created=_CREATED, customer=_TEXT, payment_intent=_TEXT, not_simulated="transfer_group")
LIST_CUSTOMERS = _list(created=_CREATED, email=_TEXT, not_simulated="test_clock")
LIST_CONFIGURATIONS = _list(active=_FLAG, not_simulated="application")
LIST_VALUE_LISTS = _list(alias=_TEXT, contains=_TEXT, created=_CREATED)
LIST_VALUE_LIST_ITEMS = _list("value_list", created=_CREATED, value=_TEXT, value_list=_TEXT)
LIST_REVIEWS = _list(created=_CREATED)
LIST_EVENTS = _list(created=_CREATED, delivery_success=_FLAG, type=_TEXT, types=Many(_TEXT))

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
    not_simulated="connect",
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
        not_simulated="annual_revenue estimated_worker_count mcc minority_owned_business_designation "
        "monthly_estimated_revenue support_address",
    ),
    settings=shape(
        branding=shape(icon=_TEXT, logo=_TEXT, primary_color=_TEXT, secondary_color=_TEXT),
        payments=shape(
            statement_descriptor=Text(22), not_simulated="statement_descriptor_kana statement_descriptor_kanji"
        ),
        not_simulated="bacs_debit_payments card_issuing card_payments invoices payouts treasury",
    ),
    metadata=_LABELS,
    expand=_EXPAND,
    not_simulated="account_token business_type capabilities company default_currency documents email "
    "external_account groups individual tos_acceptance",
)
