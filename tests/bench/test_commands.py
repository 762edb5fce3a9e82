"""The commands that the growth of a store is measured with: its short round has one of them."""

import asyncio
from pathlib import Path

from bench.commands import reading
from bench.large_store import sell
from bench.service import prepare, serving
from bench.webhook import offer_sessions
from tests.support.program import typed


def test_each_command_that_is_measured_reads_what_was_sold(tmp_path: Path) -> None:
    """A new command that needs more than it is given is red here, and not after an hour of measuring."""
    settings = prepare(tmp_path / "service")
    asyncio.run(offer_sessions(settings, ["cs_test_sold"]))
    with serving(settings) as service:
        sell(service, ["cs_test_sold"])
    ended = {words: typed(*words, "--config", str(settings)) for words in map(tuple, reading("cs_test_sold"))}
    assert {words: one.stderr for words, one in ended.items() if one.returncode not in {0, 1}} == {}
