"""The address of the store: `postgresql://user@host-a,host-b/database`."""

import ssl
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from orrery.errors import Invalid

_CONNECTION = {
    "application_name": "orrery",
    "client_encoding": "UTF8",
    "target_session_attrs": "read-write",
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 2,
    "tcp_user_timeout": 4000,
    "gssencmode": "disable",  # a ticket of Kerberos would go before TLS, and leave the certificate unverified
    "ssl_min_protocol_version": "TLSv1.2",
}

_REFUSED = ("service", "passfile", "sslpassword", "ssl_min_protocol_version")
"""What would lead elsewhere, or take away from what is verified."""

_EXPLICIT = {"hostaddr": "", "port": "5432", "options": "", "sslmode": "prefer"}
"""What is given goes before a variable of the environment, and before the service that `PGSERVICE` names."""


def connect(connection_string: str, seconds: int = 5) -> psycopg.Connection:
    """Connect to whichever server takes writes; each statement is a transaction unless one is begun.

    `seconds` is what each host has: a frozen one may be the first.
    """
    given = make_conninfo(connection_string, **_CONNECTION, connect_timeout=seconds)
    return psycopg.connect(given, autocommit=True)


def each_host(connection_string: str) -> list[str]:
    """Return a connection string for each host of this one."""
    given = conninfo_to_dict(connection_string)
    lists = {key: str(given[key]).split(",") for key in ("host", "hostaddr", "port") if given.get(key)}
    return [
        make_conninfo(connection_string, **{key: one[number % len(one)] for key, one in lists.items()})
        for number in range(max(map(len, lists.values()), default=1))
    ]


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
    for key, what in {"dbname": "database", "host": "host", "user": "user"}.items():
        if not given.get(key):
            raise Invalid(f"The address of the store names no {what}: write postgresql://USER@HOST/DATABASE.")
    if refused := [key for key in _REFUSED if given.get(key)]:
        raise Invalid(f"The address of the store may not have {', '.join(refused)} in it.")
    return make_conninfo("", **{**_EXPLICIT, **given, **_transport(given, authorities), **_login(password)})


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
    return {"sslmode": "verify-full", "sslrootcert": str(given.get("sslrootcert") or authorities or _system())}


def _system() -> str:
    """Return the file of this machine's authorities: the client library may have been built for another place."""
    return ssl.get_default_verify_paths().cafile or "system"


def _is_local(host: str) -> bool:
    if host == "localhost" or host.startswith("/"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
