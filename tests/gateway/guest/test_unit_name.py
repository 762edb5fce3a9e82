"""Which names the gateway's unit may have, and what is derived from them."""

import pytest

from orrery.errors import Invalid
from orrery.gateway.guest.unit_name import unit_name
from tests.support.tables import each_case


@each_case(
    ("text", "unit", "name"),
    [
        ("gateway", "gateway.service", "gateway"),
        ("gateway.service", "gateway.service", "gateway"),
        ("gw.eu", "gw.eu.service", "gw.eu"),
        ("gw@eu.service", "gw@eu.service", "gw-eu"),
        ("gw@a@b", "gw@a@b.service", "gw-a-b"),
        (r"my\x2dgw.service", r"my\x2dgw.service", r"my\x2dgw"),
        ("-gw.service", "-gw.service", "-gw"),
        ("A:b_c", "A:b_c.service", "A:b_c"),
        ("x" * 239, "x" * 239 + ".service", "x" * 239),
    ],
)
def test_a_legal_name_is_taken(text: str, unit: str, name: str) -> None:
    """The suffix may be left out, and an instance's files have no @ in their names."""
    found = unit_name(text)
    assert (found.unit, found.name) == (unit, name)


@each_case(
    ("text", "said"),
    [
        ("", "not the name of a unit"),
        ("a b", "not the name of a unit"),
        ("gw/eu", "not the name of a unit"),
        ("gw;reboot", "not the name of a unit"),
        ("gw\n", "not the name of a unit"),
        ("gw'", "not the name of a unit"),
        ("gw.timer", "of type timer"),
        ("gw.socket", "of type socket"),
        ("gw@.service", "is a template"),
        ("gw@", "is a template"),
        ("@eu.service", "something must come before"),
        (".service", "something must come before"),
        ("x" * 240, "too long"),
    ],
)
def test_another_name_is_refused_with_its_reason(text: str, said: str) -> None:
    """Characters, other types of units, templates, empty and too long names each have their sentence."""
    with pytest.raises(Invalid, match=said):
        _ = unit_name(text)
