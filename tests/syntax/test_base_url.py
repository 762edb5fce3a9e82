"""The address of a service, wherever one is given."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orrery.errors import Invalid
from orrery.syntax.base_url import checked_base_url
from tests.support.tables import each_case

BASE = "https://counter.example.org"

GOOD = [
    BASE,
    f"{BASE}/",
    f"{BASE}:8443",
    f"{BASE}/one/two-3/~four_5.six",
    "https://xn--bcher-kva.example",
    "https://192.0.2.7:8443",
    "https://[2001:db8::1]",
    "http://localhost:8080",
    "http://127.0.0.1:8080",
    "http://127.8.8.8",
    "http://[::1]:8080",
    "HTTPS://Counter.Example.ORG",
]

STRANGE = [
    "",
    "counter.example.org",
    "ftp://counter.example.org",
    "https://",
    "https://-x.example",
    "https://x..example",
    "https://bücher.example",
    "https://user@counter.example.org",
    "https://user:pass@counter.example.org",
    f"{BASE}?x=1",
    f"{BASE}#x",
    f"{BASE}//x",
    f"{BASE}/../x",
    f"{BASE}/.",
    f"{BASE}:0",
    f"{BASE}:65536",
    f"{BASE}:99999999",
    "https://[::zz]",
    "https://[:::]",
    f"{BASE}/{'x' * 300}",
]

INJECTIONS = [
    f'{BASE}"; alert(1); "',
    f"{BASE}'",
    f"{BASE}\\",
    f"{BASE}`id`",
    f"{BASE}/$(id)",
    f"{BASE}/${{{{ secrets.OTHER }}}}",
    f"{BASE}/%n",
    f"{BASE}/%22",
    f"{BASE}/\nExecStartPre=/bin/true",
    f"{BASE}\n",
    f"{BASE}\r\nx: y",
    f"{BASE}/\u2028",
    f"{BASE} --config /etc/passwd",
    f"{BASE}; rm -rf x",
    f"{BASE}/@REFRESH_URL@",
    f"{BASE}/</script>",
    f"{BASE}/\x00",
]

CLEAR = ["http://counter.example.org", "http://192.0.2.7", "http://[2001:db8::1]", "http://localhost.example.org"]


@each_case("address", GOOD)
def test_an_address_of_a_service_is_taken(address: str) -> None:
    """Web addresses are taken, in clear for this machine only, and lose the slash at their end."""
    assert checked_base_url(address) == address.rstrip("/")


@each_case("address", [*STRANGE, *INJECTIONS])
def test_any_other_address_is_refused(address: str) -> None:
    """What is no plain address, or could mean something to a unit, a workflow or a script, is refused."""
    with pytest.raises(Invalid, match="The address must be like"):
        checked_base_url(address)


@pytest.mark.parametrize("address", CLEAR)
def test_another_machine_is_not_asked_in_clear(address: str) -> None:
    """An address to which the password would travel in clear is refused."""
    with pytest.raises(Invalid, match="must begin with https://"):
        checked_base_url(address)


@given(st.text(max_size=40))
def test_only_harmless_characters_get_in(text: str) -> None:
    """Whatever follows a good address, it is refused, or made of letters, digits and seven signs."""
    try:
        taken = checked_base_url(BASE + text)
    except Invalid:
        return
    assert all(letter.isascii() and (letter.isalnum() or letter in "-._~:/") for letter in taken)
