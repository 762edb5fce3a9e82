"""Corporate addresses and domains."""

from orrery.scanner.detectors.all import detectors
from orrery.scanner.policy import Policy
from tests.support.tables import each_case

POLICY = Policy(
    addresses=frozenset({"ann@corp.example", "bob@other.example"}), domains=frozenset({"corp.example"})
)
DETECTOR = detectors(POLICY)[0]


@each_case(
    ("text", "kinds"),
    [
        ("ann@corp.example", ["corporate-address"]),
        ("Ann@CORP.example", ["corporate-address"]),
        ("ann[at]corp[.]example", ["corporate-address"]),
        ("ann&#64;corp.example", ["corporate-address"]),
        ("ann@corp.example or corp.example", ["corporate-address", "corporate-domain"]),
        ("eve@corp.example", ["corporate-domain"]),
        ("joann@corp.example", ["corporate-domain"]),
        ("https://x.corp.example/", ["corporate-domain"]),
        ("cоrp.example", ["corporate-domain"]),  # noqa: RUF001  a look-alike
        ("bob@other.example", ["corporate-address"]),
        ("eve@other.example", []),
        ("corp.example.org", []),
        ("ann@notcorp.example", []),
    ],
)
def test_corporate_is_found(text: str, kinds: list[str]) -> None:
    """An address is one finding, and not its domain again."""
    assert sorted(one.kind for one in DETECTOR.matches(f"zz {text} zz".encode(), "")) == kinds


def test_what_is_no_domain_is_left_out() -> None:
    """An empty line of the settings is searched for in no text."""
    empty = detectors(Policy(addresses=frozenset({""}), domains=frozenset({"", "local"})))[0]
    assert list(empty.matches(b"any text local @", "")) == []
