"""A family of sites (decision 53): each product is sold by one of them, with that site's addresses."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from orrery.app.settings.reader import settings_from
from orrery.app.settings.variables import SettingsError
from orrery.checkout.access.emails import Emails
from orrery.checkout.catalogue import Product, session_parameters
from orrery.checkout.settings import CheckoutSettings, SitesSettings
from orrery.runtime.module import Role
from orrery.runtime.references import References
from tests.support.checkout import INDEX_KEY, record
from tests.support.tables import each_case

NORTH = {
    "origin": "https://north.example",
    "name": "North",
    "success_url": "https://north.example/thanks?id={CHECKOUT_SESSION_ID}",
    "cancel_url": "https://north.example/back?product={vendorSlug}/{certCode}",
}
SOUTH = {
    "origin": "http://localhost:8080",
    "name": "South",
    "success_url": "https://south.example/thanks?id={CHECKOUT_SESSION_ID}",
    "cancel_url": "https://south.example/back/{certCode}",
}
OWN = {"success_url": "https://own.example/s?id={CHECKOUT_SESSION_ID}", "cancel_url": "https://own.example/c"}


def sold(site: str, *sites: dict[str, str], **checkout: str) -> tuple[CheckoutSettings, SitesSettings, Product]:
    """Return the settings of one product, and that product as it is sold."""
    product = {"vendor_slug": "acme", "cert_code": "one", "title": "One", "price_id": "price_1", "site": site}
    settings = CheckoutSettings.model_validate({"products": [product], **checkout})
    listed = SitesSettings.model_validate(sites)
    return settings, listed, settings.catalogue(listed.sites()).listed[0]


@pytest.mark.parametrize(
    ("site", "sites", "checkout", "success", "cancel"),
    [
        ("", [], OWN, OWN["success_url"], OWN["cancel_url"]),
        ("", [NORTH], OWN, OWN["success_url"], OWN["cancel_url"]),
        (
            "North",
            [NORTH, SOUTH],
            OWN,
            NORTH["success_url"],
            "https://north.example/back?product=acme/one",
        ),
        (
            "",
            [NORTH],
            {},
            NORTH["success_url"],
            "https://north.example/back?product=acme/one",
        ),
        ("http://localhost:8080", [NORTH, SOUTH], {}, SOUTH["success_url"], "https://south.example/back/one"),
        (
            "East",
            [NORTH, {"origin": "https://east.example", "name": "East"}],
            {},
            "https://east.example/guided/success?session_id={CHECKOUT_SESSION_ID}",
            "https://east.example/guided/cancelled?product=acme/one",
        ),
    ],
)
def test_the_addresses_of_a_sale(
    site: str, sites: list[dict[str, str]], checkout: dict[str, str], success: str, cancel: str
) -> None:
    """A site's own addresses, or the hosted pages; a product that names no site has those of `[checkout]`."""
    settings, listed, product = sold(site, *sites, **checkout)
    terms = settings.terms(listed.sites())
    assert terms
    sent = session_parameters(product, terms)
    assert (sent["success_url"], sent["cancel_url"]) == (success, cancel)


@each_case(
    ("own", "practice"),
    [
        ({}, "https://own.example/{certCode}"),
        ({"practice_url": "https://north.example/p"}, "https://north.example/p"),
    ],
)
def test_the_practice_address_of_a_site(own: dict[str, str], practice: str) -> None:
    """A site that names none has that of `[checkout]`, and so has what is not sold any more."""
    at = "https://own.example/{certCode}"
    settings, listed, product = sold("North", {**NORTH, **own}, SOUTH, practice_url=at)
    catalogue = settings.catalogue(listed.sites())
    assert product.site
    assert (product.site.practice_url, catalogue.default.practice_url) == (practice, at)


@pytest.mark.parametrize(("site", "sites"), [("East", [NORTH]), ("", [NORTH, SOUTH])])
def test_a_product_of_no_site_is_not_sold(site: str, sites: list[dict[str, str]]) -> None:
    """A site that is not there, or none where there are several: the mistake names the key."""
    settings, listed, product = sold(site, *sites)
    assert settings.catalogue(listed.sites()).mistakes[product.name].startswith("site must be")


@each_case(
    "wrong",
    [
        [{**NORTH, "origin": "https://north.example/"}],
        [{**NORTH, "origin": "https://north.example/shop"}],
        [{**NORTH, "origin": "http://north.example"}],
        [{**NORTH, "cancel_url": ""}],
        [{**NORTH, "success_url": "https://north.example/thanks"}],
        [{**NORTH, "language": "xx"}],
        [{**NORTH, "colour": "green"}],
        [{**NORTH, "colour": "#888888"}],
        [NORTH, {**SOUTH, "name": "North"}],
        [NORTH, {**SOUTH, "name": NORTH["origin"]}],
    ],
)
def test_what_no_site_may_be(wrong: list[dict[str, str]]) -> None:
    """An origin is one; an address is whole; white words are read on a colour; two sites are told apart."""
    with pytest.raises(ValidationError):
        _ = SitesSettings.model_validate(wrong)


@pytest.mark.parametrize(
    ("success", "has_pages"),
    [
        ("https://own.example/guided/success?session_id={CHECKOUT_SESSION_ID}", True),
        ("https://own.example/thanks?session_id={CHECKOUT_SESSION_ID}", False),
        ("https://own.example/thanks?to=/guided/success?session_id={CHECKOUT_SESSION_ID}", False),
    ],
)
def test_the_pages_of_the_default_site(success: str, has_pages: bool) -> None:  # noqa: FBT001  a column of the table
    """The site of `[checkout]` has them where its buyers come back to one; only then its e-mails have a link."""
    settings, _, product = sold("", success_url=success, cancel_url=OWN["cancel_url"])
    assert product.site
    assert product.site.has_pages == has_pages
    references = References.of_store(INDEX_KEY)
    emails = Emails(settings.catalogue(), settings.details(), references)
    email = emails.opened(record(vendor_slug="acme", cert_code="one"), "buyer-cs_1")
    link = f"https://own.example/guided/open?link={references.link_to('cs_1', 0)}"
    assert (f"{link}\n" in email.body) == has_pages


def test_the_sites_of_a_file(tmp_path: Path) -> None:
    """`[[sites]]` stands in the file beside the sections, whose mistakes are named by their keys."""
    assert [one.name for one in settings_from({"sites": [NORTH]}, tmp_path)[SitesSettings].sites()] == ["North"]
    with pytest.raises(SettingsError, match=r"sites\.0\.nmae: there is no such key"):
        _ = settings_from({"sites": [{**NORTH, "nmae": "x"}]}, tmp_path)


@pytest.mark.parametrize("role", ["cockpit", "scan", "cloud"])
def test_another_role_does_not_look_at_the_sites(tmp_path: Path, role: Role) -> None:
    """One file serves several roles: a list of another role's tables is as little read as a table of its."""
    assert settings_from({"sites": [{"anything": 1}], "checkout": {"anything": 1}}, tmp_path, role).role == role
