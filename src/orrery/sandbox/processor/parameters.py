"""The parameters of every operation: the bracket notation, the kinds of values, and a description of each request.

A test compares the descriptions with the published contract.
"""

import re
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from orrery.sandbox.faults import Refusal
from orrery.sandbox.ground import Document
from orrery.sandbox.processor.world import invalid, missing_parameter, unknown_parameter

Form = str | list["Form"] | dict[str, "Form"]
"""A parsed parameter: text, a list or a map."""

_NAME = re.compile(r"([^\[\]]+)((?:\[[^\[\]]*\])*)")
_PART = re.compile(r"\[([^\[\]]*)\]")
_Tree = dict[str, "str | _Tree"]
MAX_PARAMETERS = 1000
"""More than this many pairs in one request are refused."""


def parse_form(encoded: bytes) -> dict[str, Form]:
    """Return the nested parameters of a form-encoded body or query; `Refusal` when it is malformed."""
    tree: _Tree = {}
    pairs = [pair for pair in encoded.split(b"&") if pair]
    if len(pairs) > MAX_PARAMETERS:
        raise invalid("Too many parameters.")
    for pair in pairs:
        name, _, value = pair.partition(b"=")
        _plant(tree, _path(_decode(name)), _decode(value))
    return {name: _grow(value, name) for name, value in tree.items()}


def _decode(raw: bytes) -> str:
    try:
        return unquote_to_bytes(raw.replace(b"+", b" ")).decode()
    except UnicodeDecodeError as error:
        raise invalid("Invalid UTF-8 in the request.") from error


def _path(name: str) -> list[str]:
    match = _NAME.fullmatch(name)
    if match is None:
        raise invalid(f"Invalid parameter name: {name[:80]}", name[:80])
    return [match[1], *_PART.findall(match[2])]


def _plant(tree: _Tree, path: list[str], value: str) -> None:
    *branches, leaf = path
    for number, part in enumerate(branches):
        below = tree.setdefault(part or str(len(tree)), {})
        if isinstance(below, str):
            raise _conflict(path[: number + 1])
        tree = below
    leaf = leaf or str(len(tree))
    if leaf in tree:
        raise _conflict(path)
    tree[leaf] = value


def _conflict(path: list[str]) -> Refusal:
    name = path[0] + "".join(f"[{part}]" for part in path[1:])
    return invalid(f"Invalid request: {name} is given more than once.", name)


def _grow(value: str | _Tree, name: str) -> Form:
    if isinstance(value, str):
        return value
    if all(key.isascii() and key.isdigit() for key in value):
        return _array(value, name)
    return {key: _grow(below, f"{name}[{key}]") for key, below in value.items()}


def _array(value: _Tree, name: str) -> Form:
    places = sorted(value, key=int)
    if [int(place) for place in places] != list(range(len(places))):
        raise invalid(f"Invalid array: {name} must be numbered from 0 without gaps.", name)
    return [_grow(value[place], f"{name}[{place}]") for place in places]


_WHOLE_DIGITS = 18
MAX_LABEL_VALUE = 500
"""The vendor's published limit of a value of `metadata`."""


@dataclass(frozen=True, slots=True)
class Text:
    """A string; `limit` counts code points."""

    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Whole:
    """An integer."""


@dataclass(frozen=True, slots=True)
class Flag:
    """`true` or `false`."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a set of values; `beyond` are those that the published contract does not have."""

    values: tuple[str, ...]
    beyond: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Many:
    """A list."""

    item: "Kind"


@dataclass(frozen=True, slots=True)
class Labels:
    """Free names with string values: `metadata`."""


@dataclass(frozen=True, slots=True)
class NotAllowed:
    """A parameter that this account may not send, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Shape:
    """A map of named parameters.

    With `or_whole` an integer may replace it, read as the map's field of that name.
    """

    fields: dict[str, "Kind"]
    required: frozenset[str] = frozenset()
    or_whole: str | None = None


Kind = Text | Whole | Flag | Choice | Many | Labels | NotAllowed | Shape


def shape(required: str = "", **fields: Kind) -> Shape:
    """Describe a map; `required` are names separated by spaces."""
    return Shape(fields, frozenset(required.split()))


def choice(values: str, *, beyond: str = "") -> Choice:
    """Describe a set of values separated by spaces."""
    return Choice(tuple(values.split()), tuple(beyond.split()))


def read_parameters(kind: Shape, form: dict[str, Form]) -> Document:
    """Return the typed parameters, or raise the vendor's refusal of the first that is wrong."""
    return _read_shape(kind, form, "")


def _read(kind: Kind, value: Form, name: str) -> object:  # noqa: PLR0911  one return a kind reads best
    match kind:
        case Shape():
            return _read_shape(kind, value, name)
        case Many():
            return _read_list(kind, value, name)
        case Labels():
            return _read_labels(value, name)
        case Text():
            return _read_text(kind, value, name)
        case Whole():
            return _read_whole(_scalar(value, name), name)
        case Flag():
            return _read_flag(_scalar(value, name), name)
        case Choice():
            return _read_choice(kind, _scalar(value, name), name)
        case NotAllowed():
            raise invalid(kind.reason, name)


def _read_shape(kind: Shape, value: Form, name: str) -> Document:
    if isinstance(value, str) and kind.or_whole is not None:
        return {kind.or_whole: _read_whole(value, name)}
    if not isinstance(value, dict):
        raise invalid("Invalid object", name)
    for key in value:
        if key not in kind.fields:
            raise unknown_parameter(_inside(name, key))
    for key in sorted(kind.required):
        if key not in value:
            raise missing_parameter(_inside(name, key))
    return {key: _read(kind.fields[key], below, _inside(name, key)) for key, below in value.items()}


def _inside(name: str, key: str) -> str:
    return f"{name}[{key}]" if name else key


def _read_list(kind: Many, value: Form, name: str) -> list[object]:
    if not isinstance(value, list):
        raise invalid("Invalid array", name)
    return [_read(kind.item, below, f"{name}[{number}]") for number, below in enumerate(value)]


def _read_labels(value: Form, name: str) -> dict[str, str]:
    if not isinstance(value, dict):
        raise invalid("Invalid object", name)
    return {key: _label(below, _inside(name, key)) for key, below in value.items()}


def _label(value: Form, name: str) -> str:
    if not isinstance(value, str) or len(value) > MAX_LABEL_VALUE:
        raise invalid(f"Metadata values are strings of at most {MAX_LABEL_VALUE} characters.", name)
    return value


def _scalar(value: Form, name: str) -> str:
    if not isinstance(value, str):
        raise invalid("Invalid string", name)
    if value == "":
        raise invalid(
            f"You passed an empty string for '{name}', which cannot be unset.", name, "parameter_invalid_empty"
        )
    return value


def _read_text(kind: Text, value: Form, name: str) -> str:
    text = _scalar(value, name)
    if kind.limit is not None and len(text) > kind.limit:
        message = f"Invalid string: {text[:12]}...; must be at most {kind.limit} characters"
        raise invalid(message, name, "parameter_invalid_string_length")
    return text


def _read_whole(text: str, name: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _WHOLE_DIGITS:
        raise invalid(f"Invalid integer: {text[:40]}", name, "parameter_invalid_integer")
    return int(text)


def _read_flag(text: str, name: str) -> bool:
    if text not in ("true", "false"):
        raise invalid(f"Invalid boolean: {text[:40]}", name)
    return text == "true"


def _read_choice(kind: Choice, text: str, name: str) -> str:
    if text not in kind.values + kind.beyond:
        raise invalid(f"Invalid {name}: must be one of {', '.join(kind.values)}", name)
    return text


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
