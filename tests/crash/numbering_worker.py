"""A program that the crash tests start: it numbers sales as a node does, under the lease of that job.

`numbering_worker.py ADDRESS HOLDER` prints `ready`, and goes on until it is killed.
"""

import asyncio
import sys
from contextlib import suppress
from datetime import timedelta

from orrery.adapters.clock import SystemClock
from orrery.adapters.postgres import PostgresStore
from orrery.checkout.access.emails import Emails
from orrery.checkout.access.numbering import Numbering
from orrery.checkout.catalogue import Catalogue
from orrery.checkout.collections import CheckoutRecords
from orrery.checkout.module import MODULE
from orrery.checkout.sites import SellerDetails
from orrery.runtime.fence import LeaseLost, fenced
from orrery.runtime.lease import Lease
from orrery.runtime.own_store import Marked, OwnStore
from tests.support.checkout import INDEX_KEY, PRODUCT

JOB = "number sales"
SERIES = {"NW": "Europe/Berlin"}
TERM = timedelta(seconds=1)
"""How long the other node waits after a kill; a service has half a minute."""


async def number(address: str, holder: str) -> None:
    """Number what waits, again and again."""
    clock = SystemClock()
    store = OwnStore(await PostgresStore.open(address, clock), MODULE, Marked())
    stored = CheckoutRecords(store, clock, INDEX_KEY)
    seller = SellerDetails(seller="Northwind GmbH", number_series="NW", time_zone=SERIES["NW"])
    numbering = Numbering(stored, Emails(Catalogue((PRODUCT,)), seller, stored.references), SERIES)
    lease = Lease(store, clock, JOB, holder, TERM)
    print("ready", flush=True)  # noqa: T201  this is how it speaks to the test
    while True:
        if fence := await lease.take():
            with suppress(LeaseLost), fenced(fence):
                _ = await numbering.run()
        await clock.sleep(TERM.total_seconds() / 20)


if __name__ == "__main__":
    asyncio.run(number(*sys.argv[1:]))
