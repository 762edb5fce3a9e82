"""The cookie of a browser: by the site's origin, and never by a request."""

from datetime import timedelta

import pytest

from orrery.checkout.site.cookie import PROBE_LIFE, BrowserCookies, cookie_name, sent_cookie, set_cookie
from orrery.checkout.sites import Site
from tests.support.checkout import PRODUCT
from tests.support.clock import START
from tests.support.tables import each_case

COOKIES = BrowserCookies.of_store(b"a key")


@pytest.mark.parametrize(
    ("origin", "name", "secure"),
    [
        ("https://north.example", "__Host-orrery", "; Secure"),
        ("", "__Host-orrery", "; Secure"),
        ("http://localhost:8080", "orrery-local", ""),
    ],
)
def test_the_header(origin: str, name: str, secure: str) -> None:
    """What a browser needs to keep `__Host-`; on this machine without https another name."""
    made = set_cookie(Site(origin=origin), b"x" * 43)
    assert made == f"{name}={'x' * 43}; Path=/; Max-Age=34560000; HttpOnly; SameSite=Lax{secure}"
    assert cookie_name(Site(origin=origin)).decode() == name


def test_a_browser_is_known_by_its_digest() -> None:
    """Each value is another browser's; the same key reads it, and no other; the digest does not give it away."""
    values = [COOKIES.new() for _ in range(100)]
    assert len({COOKIES.browser_of(value) for value in values} - {None}) == 100
    assert all(BrowserCookies.of_store(b"other").browser_of(value) is None for value in values)
    assert BrowserCookies.of_store(b"a key").browser_of(values[0]) == COOKIES.browser_of(values[0])
    assert "a key" not in repr(COOKIES)


@each_case(
    ("sent", "value"),
    [
        ([b"n=1"], b"1"),
        ([b"a=2; n=1; b=3"], b"1"),
        ([b"a=2", b"n=1"], b"1"),
        ([b"nn=2;n=1"], b"1"),
        ([b"a=n=1"], b""),
        ([b"n"], b""),
        ([], b""),
    ],
)
def test_which_cookie_is_sent(sent: list[bytes], value: bytes) -> None:
    """The one of the whole name, in whatever header it comes."""
    assert sent_cookie([(b"host", b"x"), *((b"cookie", one) for one in sent)], b"n") == value


def test_a_probe_opens_one_product_for_five_minutes() -> None:
    """Nobody else can make one, and none of it can be changed; the cookie of a browser is no probe."""
    probe = COOKIES.new_probe(PRODUCT.key, START)
    assert COOKIES.probed(probe, START + PROBE_LIFE - timedelta(seconds=1)) == PRODUCT.name
    assert COOKIES.probed(probe, START + PROBE_LIFE) == ""
    changed = [probe[:at] + b"0" + probe[at + 1 :] for at in range(len(probe)) if probe[at : at + 1] != b"0"]
    for value in (
        b"",
        b":",
        b"a:1:",
        COOKIES.new(),
        BrowserCookies.of_store(b"other").new_probe(PRODUCT.key, START),
        *changed,
    ):
        assert COOKIES.probed(value, START) is None
    assert COOKIES.browser_of(probe) is None
