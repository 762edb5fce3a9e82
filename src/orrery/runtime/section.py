"""The base class of the settings' sections, and the forms of value that several of them have."""

from ipaddress import ip_network
from typing import Annotated, ClassVar, Literal, Protocol, TypeVar, cast
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationInfo, model_validator
from pydantic.fields import FieldInfo

from orrery.runtime.former_names import FormerName, joined, names_of
from orrery.syntax.base_url import THIS_MACHINE

Mode = Literal["live", "test", "sandbox"]


class Section(BaseModel):
    """Frozen; refuses unknown keys, and never repeats a value in an error.

    A key that had another name declares it: `most: Annotated[int, renamed("limit", since="0.2")]`; one that is no
    more is in `RETIRED`. The context of a validation, a set, is given each such name that it met, with the class.
    """

    RETIRED: ClassVar[tuple[FormerName, ...]] = ()

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _by_names_of_today(cls, given: object, info: ValidationInfo) -> object:
        if not isinstance(given, dict):
            return given
        table = cast("dict[str, object]", given)
        met = [(name, one) for name, one in _former_names(cls) if one.old in table]
        for name in dict.fromkeys(name for name, _ in met):
            given = {each: table[each] for each in names_of_key(name, cls) if each in table}
            table = {key: value for key, value in table.items() if key not in given} | {name: joined(name, given)}
        gone = [one for one in cls.RETIRED if one.old in table]
        if info.context is not None:
            info.context.update((cls, one) for one in (*(each for _, each in met), *gone))
        return {key: value for key, value in table.items() if key not in {one.old for one in gone}}


def names_of_key(name: str, model: type[BaseModel]) -> list[str]:
    """Return every name of a key, today's first."""
    return names_of(name, former_names(model.model_fields[name]))


def former_names(field: FieldInfo) -> list[FormerName]:
    """Return the declarations beside a key."""
    return [one for one in field.metadata if isinstance(one, FormerName)]


def _former_names(model: type[BaseModel]) -> list[tuple[str, FormerName]]:
    return [(name, one) for name, field in model.model_fields.items() for one in former_names(field)]


S = TypeVar("S")


class Sections(Protocol):
    """The sections of a deployment's settings, by their classes."""

    def __getitem__(self, kind: type[S], /) -> S:
        """Return the section of a class."""
        ...


def _https_or_here(address: str) -> str:
    parts = urlsplit(address)
    if not parts.hostname or (parts.scheme, parts.hostname in THIS_MACHINE) not in _ENCRYPTED_OR_HERE:
        raise ValueError("the address must begin with https:// (http:// only for this machine)")
    return address


_ENCRYPTED_OR_HERE = {("https", False), ("https", True), ("http", True)}

Address = Annotated[str, AfterValidator(_https_or_here)]
"""A web address that a secret may be sent to."""


def zone_name(name: str) -> str:
    """Return the name of a time zone; refuse what is none."""
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("time_zone must be one of the IANA database, such as Europe/Paris") from None


_MAPPED = ip_network("::ffff:0:0/96")
"""IPv4 addresses in IPv6 form: client addresses are compared without them."""


def _are_networks(networks: tuple[str, ...]) -> tuple[str, ...]:
    try:
        found = list(map(ip_network, networks))
    except ValueError:
        raise ValueError("each must be a network such as 10.0.0.0/8, no bit of it beyond its length") from None
    if any(network.network_address in _MAPPED for network in found):
        raise ValueError("a network of IPv4 is written as one, such as 10.0.0.0/8: its addresses are read so")
    return networks


Networks = Annotated[tuple[str, ...], AfterValidator(_are_networks)]
"""Networks and single addresses, as `ipaddress` reads them."""
