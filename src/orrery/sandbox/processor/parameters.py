"""The parameters of every operation: the bracket notation, the kinds of values, and a description of each request.

A test compares the descriptions with the published contract.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from orrery.sandbox.ground import Document
from orrery.sandbox.processor.world import invalid, missing_parameter, unknown_parameter

Form = str | list["Form"] | dict[str, "Form"]
"""A parsed parameter: text, a list or a map."""

_Tree = dict[str, "str | _Tree"]


def parse_form(encoded: bytes) -> dict[str, Form]:
    """Return the nested parameters of a form-encoded body or query; `Refusal` for one that is text and a map."""
    tree: _Tree = {}
    for name, value in parse_qsl(encoded.decode(errors="replace"), keep_blank_values=True):
        _plant(tree, name.replace("]", "").split("["), value)
    return {name: _grow(value) for name, value in tree.items()}


def _plant(tree: _Tree, path: list[str], value: str) -> None:
    *branches, leaf = path
    for part in branches:
        below = tree.setdefault(part or str(len(tree)), {})
        if isinstance(below, str):
            raise invalid("Invalid request: a parameter is given more than once.", path[0])
        tree = below
    tree[leaf or str(len(tree))] = value


def _grow(value: str | _Tree) -> Form:
    if isinstance(value, str):
        return value
    grown = {key: _grow(below) for key, below in value.items()}
    return list(grown.values()) if all(key.isdigit() for key in grown) else grown


_WHOLE_DIGITS = 18
MAX_LABEL_VALUE = 500
"""The vendor's published limit of a value of `metadata`."""

Scalar = Callable[[str, str], object]
"""Returns the value of a text, or raises the refusal that names the parameter."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A map of named parameters, `others` the kind of those with any name.

    `refused` is why this account may not send it.
    """

    fields: dict[str, "Kind"] = field(default_factory=dict[str, "Kind"])
    required: frozenset[str] = frozenset()
    others: Scalar | None = None
    refused: str = ""


Kind = Scalar | Shape | list["Kind"]
"""A list has the kind of its members."""


def text(value: str, name: str) -> str:
    if not value:
        why = f"You passed an empty string for '{name}', which cannot be unset."
        raise invalid(why, name, "parameter_invalid_empty")
    return value


def limited(most: int) -> Scalar:
    """Describe a text of at most that many code points."""

    def read(value: str, name: str) -> str:
        if len(value) > most:
            why = f"Invalid string: {value[:12]}...; must be at most {most} characters"
            raise invalid(why, name, "parameter_invalid_string_length")
        return text(value, name)

    return read


def whole(value: str, name: str) -> int:
    if not value.removeprefix("-").isdecimal() or len(value) > _WHOLE_DIGITS:
        raise invalid(f"Invalid integer: {value[:40]}", name, "parameter_invalid_integer")
    return int(value)


def choice(values: str, *, beyond: str = "") -> Scalar:
    """Describe a set of values separated by spaces; `beyond` are those that the contract does not have."""

    def read(value: str, name: str) -> str:
        if value not in [*values.split(), *beyond.split()]:
            raise invalid(f"Invalid {name}: must be one of {', '.join(values.split())}", name)
        return value

    return read


_BOOLEAN = choice("true false")


def flag(value: str, name: str) -> bool:
    return _BOOLEAN(value, name) == "true"


def shape(required: str = "", **fields: Kind) -> Shape:
    """Describe a map; `required` are names separated by spaces."""
    return Shape(fields, frozenset(required.split()))


def read_parameters(kind: Shape, form: dict[str, Form]) -> Document:
    """Return the typed parameters, or raise the vendor's refusal of the first that is wrong."""
    return _read_shape(kind, form, "")


def _read(kind: Kind, value: Form, name: str) -> object:
    match kind, value:
        case Shape(refused=why), _ if why:
            raise invalid(why, name)
        case Shape(), dict():
            return _read_shape(kind, value, name)
        case [item], list():
            return [_read(item, below, f"{name}[{number}]") for number, below in enumerate(value)]
        case ((Shape() | list()), _):
            raise invalid(f"Invalid {'array' if isinstance(kind, list) else 'object'}", name)
        case _, str():
            return kind(value, name)
        case _:
            raise invalid("Invalid string", name)


def _read_shape(kind: Shape, value: dict[str, Form], name: str) -> Document:
    known = {key: kind.fields.get(key, kind.others) for key in value}
    for key in sorted(kind.required - value.keys()):
        raise missing_parameter(_inside(name, key))
    read: Document = {}
    for key, below in value.items():
        if (its := known[key]) is None:
            raise unknown_parameter(_inside(name, key))
        read[key] = _read(its, below, _inside(name, key))
    return read


def _inside(name: str, key: str) -> str:
    return f"{name}[{key}]" if name else key


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

_LABELS = Shape(others=limited(MAX_LABEL_VALUE))
_EXPAND: list[Kind] = [text]
_ON_OFF = choice("none off on")
_MESSAGE = shape("message", message=limited(CUSTOM_TEXT_LIMIT))
_BRANDING = "This account cannot set branding per session: it is set in the account's settings."
_DROPDOWN = shape("options", options=[shape("label value", label=limited(100), value=limited(100))])

CREATE_SESSION = shape(
    "line_items mode success_url",
    mode=choice("payment setup subscription"),
    line_items=[shape("price quantity", price=text, quantity=whole)],
    payment_method_types=[choice(METHOD_SLUGS)],
    payment_method_options=shape(
        card=shape(request_three_d_secure=choice("any automatic challenge", beyond="any_3ds_required"))
    ),
    custom_text=shape(
        submit=_MESSAGE, after_submit=_MESSAGE, shipping_address=_MESSAGE, terms_of_service_acceptance=_MESSAGE
    ),
    custom_fields=[
        shape(
            "key label type dropdown",
            key=limited(200),
            label=shape("custom type", custom=limited(50), type=choice("custom")),
            type=choice("dropdown"),
            optional=flag,
            dropdown=_DROPDOWN,
        )
    ],
    consent_collection=shape(promotions=choice("auto none"), terms_of_service=choice("none required")),
    branding_settings=Shape(refused=_BRANDING),
    success_url=limited(5000),
    cancel_url=limited(5000),
    customer_creation=choice("always if_required"),
    expires_at=whole,
    metadata=_LABELS,
    expand=_EXPAND,
)

ONLY_EXPAND = shape(expand=_EXPAND)
NOTHING = shape()
_CREATED = shape(gt=whole, gte=whole, lt=whole, lte=whole)
_PAGE = shape(limit=whole, starting_after=text, expand=_EXPAND)


def _list(required: str = "", **fields: Kind) -> Shape:
    return Shape(_PAGE.fields | fields, frozenset(required.split()))


LIST_PAGE = _list()
LIST_SESSIONS = _list(
    created=_CREATED,
    payment_intent=text,
    customer_details=shape("email", email=text),
    status=choice("complete expired open"),
)
LIST_PRICES = _list(active=flag, created=_CREATED)
LIST_BY_TIME = _list(created=_CREATED)
LIST_VALUE_LISTS = _list(alias=text, created=_CREATED)
LIST_CHARGES = _list(created=_CREATED, payment_intent=text)
LIST_CUSTOMERS = _list(created=_CREATED, email=text)
LIST_VALUE_LIST_ITEMS = _list("value_list", created=_CREATED, value=text, value_list=text)
LIST_EVENTS = _list(created=_CREATED, type=text, types=[text], delivery_success=flag)

CREATE_VALUE_LIST_ITEM = shape("value value_list", value=limited(800), value_list=text, expand=_EXPAND)

_METHOD_SWITCH = shape(display_preference=shape(preference=_ON_OFF))
_METHOD_SWITCHES = dict.fromkeys(CONFIGURABLE_METHODS, _METHOD_SWITCH)
CREATE_CONFIGURATION = Shape({**_METHOD_SWITCHES, "name": limited(100), "parent": text, "expand": _EXPAND})
UPDATE_CONFIGURATION = Shape({**_METHOD_SWITCHES, "name": limited(100), "active": flag, "expand": _EXPAND})

CREATE_WEBHOOK_ENDPOINT = shape(
    "enabled_events url",
    url=text,
    enabled_events=[text],
    api_version=text,
    description=limited(5000),
    metadata=_LABELS,
    expand=_EXPAND,
)

UPDATE_WEBHOOK_ENDPOINT = shape(disabled=flag, expand=_EXPAND)

UPDATE_ACCOUNT = shape(
    business_profile=shape(
        name=text,
        product_description=text,
        support_email=text,
        support_phone=text,
        support_url=text,
        url=text,
    ),
    settings=shape(
        branding=shape(icon=text, logo=text, primary_color=text, secondary_color=text),
        payments=shape(statement_descriptor=limited(22)),
    ),
    metadata=_LABELS,
    expand=_EXPAND,
)
