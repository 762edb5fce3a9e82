"""What looks like a web address, in whatever script and disguise, and what does not."""

from hypothesis import given
from hypothesis import strategies as st

from orrery.syntax.web_address import PRODUCT_NAMES, find_web_address
from tests.support.tables import each_case

ZERO_WIDTH = "\N{ZERO WIDTH SPACE}"

ADDRESSES = [
    "https://shop.example/terms",
    "HTTP://SHOP.EXAMPLE",
    "ftp://files",
    "shop.example",
    "SHOP.EXAMPLE.",
    "(shop.example)",
    "a.b.shop.example/path",
    "www.shop",
    "WWW.",
    "mailto:owner",
    "owner@shop.example",
    "owner@intranet",
    "example.com",
    "Example.Com",
    "example.net",
    "example.museum",
    "bbc.co.uk",
    "x.ck",
    "žluťoučký.example",
    "пример.рф",
    "ПРИМЕР.РФ",
    "例え.みんな",
    "उदाहरण.भारत",
    "xn--e1afmkfd.xn--p1ai",
    "exa\N{COMBINING ACUTE ACCENT}mple.co\N{COMBINING ACUTE ACCENT}m",
    "shop\N{FULLWIDTH FULL STOP}example",
    "example\N{IDEOGRAPHIC FULL STOP}com",
    "example\N{HALFWIDTH IDEOGRAPHIC FULL STOP}com",
    "example\N{ONE DOT LEADER}com",
    f"example{ZERO_WIDTH}.{ZERO_WIDTH}com",
    "example.\N{ZERO WIDTH NON-JOINER}com",
    "exam\N{SOFT HYPHEN}ple.com",
    "example.\N{COMBINING GRAPHEME JOINER}com",
    f"http:{ZERO_WIDTH}//x",
    "shop.example:8080",
    "localhost:8080",
    "LOCALHOST/path",
    "127.0.0.1",
    "http:127.0.0.1:8080",
    "10.0.0.1/admin",
    "192.168.0.1.",
    "[::1]:8080",
    "::1",
    "2001:db8::8a2e:370:7334",
    "2001:DB8::1.",
    "::ffff:127.0.0.1",
    "printer.local",
    "_dmarc.example.com",
    "-example.com-",
    "example.com_",
    "example.com.Then go on",
    "evil.ASP.NET",
    "asp.net",
    "ASP.net",
    "first line\nshop.example\nlast line",
]


@each_case("text", ADDRESSES)
def test_an_address_is_found(text: str) -> None:
    """A URL, a domain in any script, an IP address, an e-mail address: also beside what cannot be seen."""
    for around in ("{}", "One year. {}", "{} is here", "Look: «{}»!"):
        assert find_web_address(around.format(text)), around


@each_case(
    "text",
    [
        "",
        "One year. No subscription.",
        "Pass rate 99.9 percent, version 3.2.1, 1.000.000 questions, 1.000.000.000 answers",
        "e.g. this, i.e. that, at 5 p.m. sharp, U.S. and Ph.D.",
        "Wait... and see… Well?No!",
        "Ready; set: go (24/7) - it's 50% off & fun",
        "CompTIA A+ N10-009, AZ-104, ISO/IEC 27001:2022, ISO:27001",
        "OpenJS Node.js Application Developer, Vue.js, Next.js, D3.js",
        "Microsoft ASP.NET Core, ASP.NET/MVC, ADO.NET, VB.NET, ML.NET and .NET 8",
        "C++ std::vector, a :: b, at 12:30:45",
        "questions @ 9 USD, 10@5",
        "example . com",
        "localhost is a word",
        "section 1.2.3.4.5, 256.1.1.1",
        "一年間の問題集です。自動更新はありません。",
        "एक वर्ष। कोई सदस्यता नहीं।",
        "👩‍👧 one family",
    ],
)
def test_plain_text_is_none(text: str) -> None:
    """Sentences, figures, versions, times and the names of products are no web addresses."""
    assert find_web_address(text) is None


def test_what_is_found_is_shown() -> None:
    """What is found is returned, so that a message can name it."""
    assert find_web_address("Questions? Ask at help.example.com, any time.") == "help.example.com"
    assert find_web_address("See https://example.com/a b") == "https://example.com/a"


HIDING = st.text(st.characters(categories=["Cf"]), max_size=3)
DOTS = st.sampled_from(".\N{FULLWIDTH FULL STOP}\N{IDEOGRAPHIC FULL STOP}\N{HALFWIDTH IDEOGRAPHIC FULL STOP}")
TOP = st.sampled_from(["com", "net", "org", "io", "de", "museum", "рф", "xn--p1ai", "example", "みんな", "भारत"])


@given(st.from_regex(r"[a-z0-9]{1,20}(-[a-z0-9]{1,5})?", fullmatch=True), HIDING, DOTS, HIDING, TOP)
def test_no_disguise_helps(name: str, before: str, dot: str, after: str, top: str) -> None:
    """A domain is found whatever stands unseen beside its dot, and whatever dot that is."""
    assert find_web_address(f"Access: {name}{before}{dot}{after}{top}!")


@given(st.text(max_size=200))
def test_any_text_is_judged(text: str) -> None:
    """No text makes it fail, and none that has no dot, colon, slash or at-sign is taken for an address."""
    found = find_web_address(text)
    if found:
        assert any(one in found for one in ".:@/")


def test_names_are_names_of_products_only() -> None:
    """A name that is let through ends like a domain; others need no exception."""
    assert all(find_web_address(name.lower()) for name in PRODUCT_NAMES)
