"""A store that was lost and made anew, while the processor has paid sessions of it."""

from pathlib import Path

from orrery.adapters.sqlite import create
from tests.support.deployment import Deployment, beside_a_sandbox, stop
from tests.support.visiting import Visitor
from tests.support.waiting import until


def test_the_service_starts_and_finds_the_sales(tmp_path: Path) -> None:
    """It sells, and the sale of before has its access again."""
    shop = Deployment(tmp_path)
    with beside_a_sandbox(shop):
        program = shop.start_service()
        visitor = Visitor(shop)
        session = visitor.buy()
        visitor.await_access(session)
        stop(program)
        for file in shop.store.parent.iterdir():
            file.unlink()
        create(shop.store)
        _ = shop.start_service()
        until(lambda: shop.records.access(session))
        visitor = Visitor(shop)
        visitor.await_access(visitor.buy())
