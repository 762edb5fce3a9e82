"""Which forms a hosted page takes."""

import re

import pytest

from tests.support.hosted import NORTH, OF_PAGE, HostedShop, Visitor, links, said_of, sold
from tests.support.tables import each_case

pytestmark = pytest.mark.anyio

FROM: dict[str, tuple[dict[str, str], str, bool]] = {
    "a page of ours": (OF_PAGE, "", True),
    "typed again": ({"Sec-Fetch-Site": "none"}, "", True),
    "a sibling": ({"Sec-Fetch-Site": "same-site"}, "own", False),
    "another site": ({"Sec-Fetch-Site": "cross-site", "Origin": "null"}, "own", False),
    "an old browser": ({"Origin": NORTH.origin}, "", True),
    "an old browser elsewhere": ({"Origin": "https://evil.example"}, "own", False),
    "no referrer": ({"Origin": "null"}, "own", True),
    "no header": ({}, "own", True),
    "no token": ({"Origin": "null"}, "", False),
    "a forged token": ({"Origin": "null"}, "forged", False),
    "a token that is none": ({"Origin": "null"}, "²³.x", False),
    "a late token": ({"Origin": "null"}, "late", False),
}


@each_case("case", FROM)
async def test_where_a_form_may_come_from(case: str) -> None:
    """What a browser says decides; where it says nothing of use, the token of the form."""
    headers, which, taken = FROM[case]
    shop = HostedShop()
    await sold(shop)
    [link] = await links(shop)
    page = (await Visitor(shop).get(link)).text
    own = re.search(r'name="form_token" value="([^"]+)"', page)
    assert own
    made = {"own": own[1], "late": own[1], "forged": "0" * 32}.get(which, which)
    shop.clock.advance((48 if which == "late" else 35) * 3600)  # from noon
    answer = await Visitor(shop).post(link, headers, form_token=made)
    assert (answer.status_code, "set-cookie" in answer.headers) == ((303, True) if taken else (403, False))
    assert taken or said_of(answer.text, "again")


async def test_a_form_of_another_kind() -> None:
    """JSON, which a page elsewhere may not send, and a form that is far too large, are no forms."""
    shop = HostedShop()
    assert (await Visitor(shop).post("/guided/lost", {**OF_PAGE, "Content-Type": "text/plain"})).status_code == 415
    assert (await Visitor(shop).post("/guided/lost", email="a" * 5000)).status_code == 413
