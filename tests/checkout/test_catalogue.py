"""The products on sale, their slugs and their trust copy (decisions 2 and 4)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.checkout.catalogue import (
    CUSTOM_TEXT_MAXIMUM,
    TRUST_COPY,
    Catalogue,
    Product,
    ProductKey,
    is_slug,
    mistake_in,
)
from orrery.errors import Invalid, NotFound
from tests.support.tables import each_case

PRODUCT = Product("isc2", "cissp", "CISSP", "price_cissp")
OTHER = Product("isc2", "ccsp", "CCSP", "price_ccsp")


def checked(product: Product) -> Product:
    """Return a product that has no mistake, or raise it."""
    if why := mistake_in(product):
        raise Invalid(why)
    return product


FAMILY = "\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"
"""One picture, three code points."""


def with_copy(text: str, title: str = "CISSP") -> Product:
    """Return a product with this trust copy."""
    return Product("isc2", "cissp", title, "price_cissp", text)


@each_case("unit", ["a", "é", "e\N{COMBINING ACUTE ACCENT}", "\N{GRINNING FACE}", FAMILY, "字"])
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


LINKS = ["https://shop.example/terms", "example.com", "owner@example.com", "10.0.0.1", "localhost:8080"]


@each_case("text", LINKS)
def test_what_looks_like_a_web_address_is_refused(text: str) -> None:
    """A web address in the trust copy is a mistake, and the message shows it (decision 4)."""
    with pytest.raises(Invalid, match=rf"^trust_copy holds '{re.escape(text)}', which looks like a web address"):
        checked(with_copy(f"One year. {text}"))


@each_case("text", LINKS)
def test_a_title_is_no_way_around(text: str) -> None:
    """A web address that comes in by the title is refused, too; a title that is not shown may be anything."""
    with pytest.raises(Invalid, match=r"^title, which trust_copy shows, holds .* looks like a web address"):
        checked(with_copy("Practice for {CERT}!", text))
    assert checked(with_copy("One year.", text))


def test_copy_and_title_together() -> None:
    """A web address that only the two together make is the trust copy's."""
    with pytest.raises(Invalid, match=r"^trust_copy holds 'Shop.example'"):
        checked(with_copy("{CERT}.example", "Shop"))


@pytest.mark.parametrize("title", ["OpenJS Node.js Application Developer", "ASP.NET Core", "VB.NET", ".NET 8"])
def test_a_certification_named_like_a_domain(title: str) -> None:
    """Names of products that hold a dot are sold."""
    product = Product("isc2", "cissp", title, "price_cissp")
    assert checked(product) == product
    assert title in product.submit_message


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


@each_case("slug", ["a", "7", "cissp", "az-104", "a-b-c", "0-0", "a" * 64])
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


@each_case("slug", NOT_SLUGS)
def test_nothing_else_is_a_slug(slug: str) -> None:
    """Paths, capitals, blanks, foreign digits and too long words are refused as either slug."""
    assert not is_slug(slug)
    for product in (Product(slug, "cissp", "C", "price"), Product("isc2", slug, "C", "price")):
        with pytest.raises(Invalid, match="lower-case words"):
            checked(product)


@pytest.mark.parametrize(
    ("title", "price", "field"),
    [("", "price", "title"), (" ", "price", "title"), ("CISSP", "", "price_id"), ("CISSP", "\t", "price_id")],
)
def test_title_and_price_are_needed(title: str, price: str, field: str) -> None:
    """A product with an empty title or price is refused, naming the field."""
    with pytest.raises(Invalid, match=f"^{field} is empty"):
        checked(Product("isc2", "cissp", title, price))


def test_a_product_is_found_by_its_key() -> None:
    """A catalogue answers to type, code and vendor together, in the order of the settings."""
    other = Product("isc2", "ccsp", "CCSP", "price_ccsp")
    catalogue = Catalogue((PRODUCT, other))
    assert catalogue.find(ProductKey("cert", "ccsp", "isc2")) == other
    assert catalogue.find(ProductKey("cert", "ccsp", "comptia")) is None
    assert catalogue.find(ProductKey("book", "ccsp", "isc2")) is None
    assert list(catalogue) == [PRODUCT, other]


MISTAKES = {
    "vendor_slug": Product("ISC2", "issap", "C", "price"),
    "cert_code": Product("isc2", "../x", "C", "price"),
    "title": Product("isc2", "issap", " ", "price"),
    "price_id": Product("isc2", "issap", "C", ""),
    "trust_copy": Product("isc2", "issap", "C", "price", "See example.com."),
    "trust_copy has 1201": Product("isc2", "issap", "C", "price", "x" * 1201),
    "title, which": Product("isc2", "issap", "example.com", "price"),
}


@each_case("field", MISTAKES)
def test_a_mistake_stops_its_own_product_only(field: str) -> None:
    """A product with a mistake is listed, and the reason names the field; the others are sound."""
    wrong = MISTAKES[field]
    catalogue = Catalogue((wrong, PRODUCT))
    assert list(catalogue) == [PRODUCT]
    assert catalogue.listed == catalogue.named([]) == [wrong, PRODUCT]
    assert catalogue.find(wrong.key) == wrong
    ((name, why),) = catalogue.mistakes.items()
    assert name == wrong.name
    assert why.startswith(field)


def test_a_product_that_is_listed_twice() -> None:
    """Two products of one vendor and code are a mistake: whose price counts is not known. The first stays."""
    catalogue = Catalogue((PRODUCT, Product("isc2", "cissp", "Another", "price_other"), OTHER))
    assert (list(catalogue), list(catalogue.mistakes)) == ([OTHER], ["isc2/cissp"])
    assert catalogue.listed == [PRODUCT, OTHER]


def test_a_catalogue_without_a_sound_product() -> None:
    """A catalogue whose products all hold a mistake sells nothing, and is not empty."""
    catalogue = Catalogue((MISTAKES["title"],))
    assert (list(catalogue), bool(catalogue), bool(Catalogue())) == ([], True, False)


def test_the_owners_names() -> None:
    """The owner names products as vendor/cert: those are returned once each, without a name all are."""
    other = Product("isc2", "ccsp", "CCSP")
    catalogue = Catalogue((PRODUCT, other))
    assert catalogue.named([]) == [PRODUCT, other]
    assert catalogue.named(["isc2/ccsp", "isc2/cissp", "isc2/ccsp"]) == [other, PRODUCT]


@each_case("name", ["", "ccsp", "isc2/", "/ccsp", "isc2/CCSP", "isc2/cissp ", "isc2/cissp/x"])
def test_a_name_of_no_product(name: str) -> None:
    """What names no product is refused, whatever it resembles."""
    with pytest.raises(NotFound):
        Catalogue((PRODUCT,)).named(["isc2/cissp", name])


def test_a_product_in_the_making() -> None:
    """A product may be listed before it has a price; an empty price is a mistake."""
    assert checked(Product("isc2", "ccsp", "CCSP")).price_id is None
    for empty in ("", " "):
        with pytest.raises(Invalid, match="price_id is empty"):
            checked(Product("isc2", "ccsp", "CCSP", empty))
