"""The address of the store: `postgresql://user@host-a,host-b/database`."""

from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from orrery.errors import Invalid

PREFIXES = ("postgresql://", "postgres://")


def connection_string(address: str, password: str | None, authorities: Path | None) -> str:
    """Return what the client library connects by; raise `Invalid` for an address that is not usable or not safe.

    On anything but loopback the server's certificate is verified, by the authorities of `authorities`.
    """
    try:
        given = conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        raise Invalid("The address of the store cannot be read: write postgresql://USER@HOST/DATABASE.") from None
    if given.get("password"):
        raise Invalid("The address of the store may not have a password in it: that is the secret store_password.")
    if not given.get("dbname"):
        raise Invalid("The address of the store names no database: write postgresql://USER@HOST/DATABASE.")
    return make_conninfo("", **{**given, **_transport(given, authorities), **_login(password)})


def _login(password: str | None) -> dict[str, str]:
    return {"password": password} if password else {}


def _transport(given: Mapping[str, object], authorities: Path | None) -> dict[str, str]:
    hosts = [host for key in ("host", "hostaddr") for host in str(given.get(key) or "").split(",") if host]
    if all(map(_is_local, hosts)):
        return {}
    if given.get("sslmode") not in (None, "verify-full"):
        raise Invalid(
            "The address of the store may not weaken sslmode: "
            "beyond this machine the server's certificate is verified."
        )
    return {"sslmode": "verify-full", "sslrootcert": str(given.get("sslrootcert") or authorities or "system")}


def _is_local(host: str) -> bool:
    if host == "localhost" or host.startswith("/"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
