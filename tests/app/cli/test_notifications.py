"""`orrery notifications list` says where it ends before what it lists does."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from orrery.adapters.clock import SystemClock
from orrery.adapters.sqlite import SqliteStore, create
from orrery.app.cli.notifications import group
from orrery.app.runner import runner_of
from orrery.runtime.outbox import OutboxDraft, enqueue


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Write settings with a store, in which three notifications are held back and three wait."""
    create(tmp_path / "orrery.db")
    (tmp_path / "orrery.toml").write_text('[store]\npath = "orrery.db"\n')
    assert listed(tmp_path / "orrery.toml").exit_code == 0
    asyncio.run(fill(tmp_path / "orrery.db"))
    return tmp_path / "orrery.toml"


async def fill(path: Path) -> None:
    """Enqueue them."""
    store, now = await SqliteStore.open(path, SystemClock()), SystemClock().now()
    waiting = [OutboxDraft(f"w{one}", "push" if one else "email", "A title", "A body") for one in range(3)]
    held = [OutboxDraft(f"h{one}", "push", "A title", "A body") for one in range(3)]
    await store.commit([*enqueue(waiting, now), *enqueue(held, now, held_because="A reason.")])
    await store.close()


def listed(config: Path, *words: str) -> Result:
    """Return what came of the list."""
    return CliRunner().invoke(group, ["list", *words, "--json", "--config", str(config)], obj=runner_of)


@pytest.mark.parametrize(
    ("words", "shown", "more"),
    [
        ([], ["h0", "h1", "h2", "w0", "w1", "w2"], ""),
        (["--limit", "3"], ["h0", "h1", "h2", "w0", "w1", "w2"], ""),
        (["--limit", "2"], ["h0", "h1", "w0", "w1"], "4 of 6: see more with --limit.\n"),
        (["--limit", "2", "--state", "held"], ["h0", "h1"], "2 of 3: see more with --limit.\n"),
        (["--limit", "2", "--state", "waiting"], ["w0", "w1"], "2 of 3: see more with --limit.\n"),
        (["--limit", "2", "--state", "dead"], [], ""),
    ],
)
def test_a_list_that_ends_early(config: Path, words: list[str], shown: list[str], more: str) -> None:
    """The limit is that of each state; where it leaves any out, the last line counts all."""
    result = listed(config, *words)
    assert result.exit_code == 0, result.output
    assert [one["id"] for one in json.loads(result.stdout)] == shown
    assert result.stderr == more


def test_what_quiet_hours_hold(config: Path) -> None:
    """Within quiet hours each push that waits is listed with the time until which it is held; no e-mail is."""
    now = SystemClock().now()
    begins, ends = now - timedelta(hours=1), now + timedelta(hours=2)
    settings = f'[push]\nquiet = "{begins:%H:%M}-{ends:%H:%M}"\n'
    config.write_text(config.read_text() + settings)
    rows = {one["id"]: one for one in json.loads(listed(config, "--state", "waiting").stdout)}
    until = {row_id: row["held_until"] for row_id, row in rows.items()}
    expected = f"{ends:%Y-%m-%dT%H:%M:00}"
    assert {row_id: (end or "")[:19] for row_id, end in until.items()} == {
        "w0": "",
        "w1": expected,
        "w2": expected,
    }
    assert rows["w1"]["why"] == f"Held until {ends:%Y-%m-%d %H:%M} UTC: quiet hours."
    assert rows["w0"]["why"] == "No email service is configured."
