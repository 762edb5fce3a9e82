"""A store of an earlier release with imports whose ids can be computed from the addresses.

`tests/checkout/stores/imports-by-address.db.xz` was written by the code of commit ca6978c, the last before
ids were random, by the services of `tests.support.checkout`: the lines below were imported; then bob's
address was changed, eve's access revoked, kim erased; the letter was sent again to una (delivered), max
(refused permanently, the owner was told) and joe (waits); zoe's record was cut. Beside them there are a grant
(pat), a sale (sue) and an unpaid session, whose messages wait. Its store key is the tests' own.
"""

import lzma
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from orrery.checkout.collections import former_import_id
from tests.support.checkout import PRODUCT

_FILE = Path(__file__).parents[1] / "checkout" / "stores" / "imports-by-address.db.xz"
END = datetime(2099, 1, 31, tzinfo=UTC)
LINES = {
    **dict.fromkeys(["ann", "bob", "eve", "joe", "kim", "max", "una", "zoe"], END),
    "lee": END.replace(year=2098),
    "LEE": datetime(2099, 1, 31, tzinfo=timezone(timedelta(hours=2))),
}
"""Whose access was imported, until when; lee has two lines."""

UNREADABLE = "zoe"


def former_id(name: str) -> str:
    """Return the id that anybody can compute who knows an address."""
    return former_import_id(f"{name.lower()}@example.org", PRODUCT.key, LINES[name])


FORMER = {name: former_id(name) for name in LINES}


def put_store(file: Path) -> None:
    """Put a copy of the store there."""
    file.write_bytes(lzma.decompress(_FILE.read_bytes()))
