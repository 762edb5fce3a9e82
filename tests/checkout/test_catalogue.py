"""The products on sale, their slugs and their trust copy (decisions 2 and 4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.checkout.catalogue import (
    CUSTOM_TEXT_MAXIMUM,
    TRUST_COPY,
    Catalogue,
    Product,
    ProductKey,
    check_custom_text,
    checked,
    is_slug,
)
from orrery.errors import Invalid, NotFound

PRODUCT = Product("isc2", "cissp", "CISSP", "price_cissp")
FAMILY = "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"
"""One picture, three code points."""


def with_copy(text: str, title: str = "CISSP") -> Product:
    """Return a product with this trust copy."""
    return Product("isc2", "cissp", title, "price_cissp", text)


@pytest.mark.parametrize("unit", ["a", "é", "e\N{COMBINING ACUTE ACCENT}", "\N{GRINNING FACE}", FAMILY, "字"])
def test_1200_code_points_are_accepted(unit: str) -> None:
    """Exactly 1200 code points pass, whatever they are made of, and one more is refused."""
    text = unit * (CUSTOM_TEXT_MAXIMUM // len(unit))
    assert len(checked(with_copy(text)).submit_message) == 1200
    with pytest.raises(Invalid, match="1201 characters; at most 1200"):
        checked(with_copy(text + "a"))


def test_the_title_counts() -> None:
    """What is counted is the text as it is shown, with the title in it."""
    text = "{CERT}" + "a" * 1190
    assert checked(with_copy(text, "0123456789"))
    with pytest.raises(Invalid, match="1201"):
        checked(with_copy(text, "0123456789x"))


def test_the_title_stands_for_the_placeholder() -> None:
    """{CERT} is replaced by the title wherever it stands, and no other brace is touched."""
    assert with_copy("{CERT}, {CERT} {cert} {}").submit_message == "CISSP, CISSP {cert} {}"


def test_the_default_copy_says_what_the_specification_wants() -> None:
    """Instant access, one year, the certification, no subscription, no auto-renewal (spec 1)."""
    message = PRODUCT.submit_message
    for words in (
        "Instant access",
        "one year of practice questions for CISSP",
        "no subscription",
        "no auto-renewal",
    ):
        assert words in message
    assert "{CERT}" in TRUST_COPY


LINKS = [
    "See https://shop.example/terms",
    "HTTP://SHOP.EXAMPLE",
    "ftp://files",
    "Visit shop.example for more",
    "visit SHOP.EXAMPLE.",
    "(shop.example)",
    "a.b.shop.example/path",
    "www.shop",
    "WWW.",
    "mailto:owner",
    "owner@shop.example",
    "žluťoučký.example",
    "пример.рф",
    "例え.テスト",
    "उदाहरण.भारत",
    "shop\N{FULLWIDTH FULL STOP}example",
    "xn--e1afmkfd.xn--p1ai",
    "exa\N{COMBINING ACUTE ACCENT}mple.co\N{COMBINING ACUTE ACCENT}m",
    "shop.example:8080",
    "first line\nshop.example\nlast line",
]


@pytest.mark.parametrize("text", LINKS)
def test_what_looks_like_a_web_address_is_refused(text: str) -> None:
    """A URL, a bare domain in any script or a mailto in the trust copy stops the start-up (decision 4)."""
    with pytest.raises(Invalid, match="looks like a web address"):
        checked(with_copy(f"One year. {text}"))


@pytest.mark.parametrize("text", LINKS)
def test_a_title_is_no_way_around(text: str) -> None:
    """A web address that comes in by the title is refused too."""
    with pytest.raises(Invalid, match="looks like a web address"):
        checked(with_copy("Practice for {CERT}!", text))


@pytest.mark.parametrize(
    "text",
    [
        "One year. No subscription.",
        "Pass rate 99.9 percent, version 3.2.1, 1.000.000 questions",
        "e.g. this, i.e. that, at 5 p.m. sharp",
        "Wait... and see… Well?No!",
        "Ready; set: go (24/7) - it's 50% off & fun",
        "CompTIA A+ N10-009, AZ-104",
        "一年間の問題集です。自動更新はありません。",
        "एक वर्ष। कोई सदस्यता नहीं।",
    ],
)
def test_plain_sentences_are_accepted(text: str) -> None:
    """Ordinary punctuation is no web address."""
    assert checked(with_copy(text)).submit_message == text


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\N{NO-BREAK SPACE}"])
def test_an_empty_copy_is_refused(text: str) -> None:
    """Change rule 2 wants a non-empty message."""
    with pytest.raises(Invalid, match="the buyer must see it"):
        checked(with_copy(text))


@given(st.text(max_size=1300), st.text(max_size=40))
def test_whatever_is_accepted_can_be_shown(copy: str, title: str) -> None:
    """Each product that passes has a message of 1 to 1200 code points without a link."""
    product = with_copy(copy, title)
    try:
        message = checked(product).submit_message
    except Invalid:
        return
    assert 0 < len(message) <= 1200
    assert "://" not in message
    assert "www." not in message.lower()


@given(
    st.from_regex(r"[a-z0-9]{1,20}(\.[a-z]{2,8}){1,3}", fullmatch=True),
    st.sampled_from(["", " ", "(", "\n", '"']),
    st.sampled_from(["", " ", ")", "/path", ".", ",", "!"]),
)
def test_every_plain_domain_is_refused(domain: str, before: str, after: str) -> None:
    """A bare domain is found wherever it stands."""
    with pytest.raises(Invalid):
        check_custom_text(f"Access{before or ' '}{domain}{after}", "The copy")


@pytest.mark.parametrize("slug", ["a", "7", "cissp", "az-104", "a-b-c", "0-0", "a" * 64])
def test_slugs(slug: str) -> None:
    """Lower-case words and digits joined by single hyphens, up to 64 characters, are slugs."""
    assert is_slug(slug)


NOT_SLUGS = [
    "",
    "../x",
    "..",
    "CISSP",
    "a" * 65,
    "cissp\n",
    "\ncissp",
    " cissp",
    "a b",
    "a_b",
    "a--b",
    "-a",
    "a-",
    "a.b",
    "a/b",
    "é",
    "\N{ARABIC-INDIC DIGIT ONE}",
    "\N{FULLWIDTH DIGIT ONE}",
    "\N{LATIN SMALL LETTER LONG S}",
    "\N{KELVIN SIGN}",
    "\N{GRINNING FACE}",
    "a\x00",
    "a\u200b",
]


@pytest.mark.parametrize("slug", NOT_SLUGS)
def test_nothing_else_is_a_slug(slug: str) -> None:
    """Paths, capitals, blanks, foreign digits and too long words are refused as either slug."""
    assert not is_slug(slug)
    for product in (Product(slug, "cissp", "C", "price"), Product("isc2", slug, "C", "price")):
        with pytest.raises(Invalid, match="lower-case words"):
            checked(product)


@pytest.mark.parametrize(("title", "price"), [("", "price"), (" ", "price"), ("CISSP", ""), ("CISSP", "\t")])
def test_title_and_price_are_needed(title: str, price: str) -> None:
    """A product without a title or a price is refused."""
    with pytest.raises(Invalid, match="needs a title, and a price_id"):
        checked(Product("isc2", "cissp", title, price))


def test_a_product_is_found_by_its_key() -> None:
    """A catalogue answers to type, code and vendor together, in the order of the settings."""
    other = Product("isc2", "ccsp", "CCSP", "price_ccsp")
    catalogue = Catalogue((PRODUCT, other))
    assert catalogue.find(ProductKey("cert", "ccsp", "isc2")) == other
    assert catalogue.find(ProductKey("cert", "ccsp", "comptia")) is None
    assert catalogue.find(ProductKey("book", "ccsp", "isc2")) is None
    assert list(catalogue) == [PRODUCT, other]


def test_a_product_is_listed_once() -> None:
    """Two products of one vendor and code are refused, even at different prices."""
    with pytest.raises(Invalid, match="same vendor_slug and cert_code"):
        Catalogue((PRODUCT, Product("isc2", "cissp", "Another", "price_other")))


def test_a_catalogue_checks_its_products() -> None:
    """A product that can not be sold can not be listed."""
    with pytest.raises(Invalid):
        Catalogue((Product("isc2", "CISSP", "CISSP", "price"),))


def test_the_owners_names() -> None:
    """The owner names products as vendor/cert: those are returned once each, without a name all are."""
    other = Product("isc2", "ccsp", "CCSP")
    catalogue = Catalogue((PRODUCT, other))
    assert catalogue.named([]) == [PRODUCT, other]
    assert catalogue.named(["isc2/ccsp", "isc2/cissp", "isc2/ccsp"]) == [other, PRODUCT]


@pytest.mark.parametrize("name", ["", "ccsp", "isc2/", "/ccsp", "isc2/CCSP", "isc2/cissp ", "isc2/cissp/x"])
def test_a_name_of_no_product(name: str) -> None:
    """What names no product is refused, whatever it resembles."""
    with pytest.raises(NotFound):
        Catalogue((PRODUCT,)).named(["isc2/cissp", name])


def test_a_product_in_the_making() -> None:
    """A product may be listed before it has a price; an empty price is a mistake."""
    assert checked(Product("isc2", "ccsp", "CCSP")).price_id is None
    for empty in ("", " "):
        with pytest.raises(Invalid, match="a price_id that is not empty"):
            checked(Product("isc2", "ccsp", "CCSP", empty))
