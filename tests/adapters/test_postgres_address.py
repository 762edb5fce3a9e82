"""Which addresses of a store are taken, and how the server is verified then."""

from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from orrery.adapters.postgres.address import connection_string
from orrery.errors import Invalid
from tests.support.tables import each_case

PASSWORD = "something"  # noqa: S105  of nothing
ANYWHERE = "postgresql://orrery@db.example.test/orrery"


@each_case(
    ("address", "why"),
    [
        ("postgresql://[", "cannot be read"),
        (f"postgresql://orrery:{PASSWORD}@db.example.test/orrery", "may not have a password"),
        (f"{ANYWHERE}?password={PASSWORD}", "may not have a password"),
        ("postgresql://orrery@db.example.test", "names no database"),
        ("postgresql://orrery@/orrery", "names no host"),
        ("postgresql://db.example.test/orrery", "names no user"),
        ("postgresql://orrery@db.example.test/orrery?service=far", "may not have service"),
        (f"{ANYWHERE}?passfile=/tmp/x", "may not have passfile"),
        *(
            (f"{ANYWHERE}?sslmode={mode}", "may not weaken")
            for mode in ("disable", "prefer", "require", "verify-ca")
        ),
        ("postgresql://orrery@localhost,db.example.test/orrery?sslmode=disable", "may not weaken"),
        ("postgresql://orrery@localhost/orrery?hostaddr=198.51.100.7&sslmode=disable", "may not weaken"),
    ],
)
def test_what_is_refused(address: str, why: str) -> None:
    """Each with one sentence, which repeats nothing of the address."""
    with pytest.raises(Invalid, match=why) as refused:
        connection_string(address, None, None)
    assert PASSWORD not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        ANYWHERE,
        "postgresql://orrery@localhost,db.example.test/orrery",
        "postgresql://orrery@localhost/orrery?hostaddr=198.51.100.7",
    ],
)
def test_a_server_elsewhere_is_verified(address: str) -> None:
    """By the authorities of the settings, else by this machine's."""
    given = conninfo_to_dict(connection_string(address, "a password", Path("/etc/orrery/authority.pem")))
    assert (given["sslmode"], given["sslrootcert"]) == ("verify-full", "/etc/orrery/authority.pem")
    assert given["password"] == "a password"  # noqa: S105  of nothing
    assert conninfo_to_dict(connection_string(address, None, None))["sslrootcert"]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "%2Frun%2Fpostgresql"])
def test_this_machine(host: str) -> None:
    """Nothing is between it and the server."""
    given = conninfo_to_dict(connection_string(f"postgresql://orrery@{host}/orrery", None, None))
    assert given["sslmode"] == "prefer"
