"""What may be proposed to the owner, and where the owner sees it (decision 15)."""

import pytest

from orrery.approvals.approvals import IntentDraft
from orrery.errors import Invalid
from orrery.runtime.outbox import Outbox
from tests.support.approving import SECRET, Desk


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501, "a\nb", "a\x1b[2Jb", "a\u202eb", "a\udc80b"])
async def test_no_usable_reason(desk: Desk, reason: str) -> None:
    """Without a reason of one line of printable characters nothing is proposed."""
    with pytest.raises(Invalid, match="reason of 1 to 500 printable"):
        await desk.proposed(reason=reason)
    assert await desk.store.scan("") == []


@pytest.mark.parametrize("place", ["target", "summary", "reason"])
async def test_secret_in_an_intent(desk: Desk, place: str) -> None:
    """No intent holds a secret of the deployment, in whatever field."""
    with pytest.raises(Invalid, match="holds a secret") as refused:
        await desk.proposed("turn-on", **{place: f"see {SECRET}"})
    assert SECRET not in str(refused.value)
    assert await desk.store.scan("") == []


@pytest.mark.parametrize("body", [{"a": {"b": [SECRET]}}, {SECRET: True}, {"a": f"x{SECRET}x"}])
async def test_secret_in_a_body(desk: Desk, body: dict[str, object]) -> None:
    """Nor in what is sent or stood there, however deep, though JSON writes its quotation marks otherwise."""
    for place in ("body", "before"):
        with pytest.raises(Invalid, match="holds a secret"):
            await desk.proposed("turn-on", **{place: body})
    assert await desk.store.scan("") == []


async def test_text_that_is_none(desk: Desk) -> None:
    """Text that cannot be stored is refused in a sentence."""
    with pytest.raises(Invalid, match="not valid Unicode"):
        await desk.proposed(summary="a\udc80b")


async def test_what_software_proposes(desk: Desk) -> None:
    """The owner is told of what software would like to do."""
    intent = await desk.proposed(by="software")
    rows = [row async for row in Outbox(desk.store, desk.clock, {}).rows("waiting")]
    assert [(row.title, row.body) for row in rows] == [
        ("Waits for your approval", f"turn-on: see `orrery approvals show {intent.id}`.")
    ]


async def test_the_page_shows_what_waits(desk: Desk) -> None:
    """The owner's page shows what waits and what is unknown, by id and summary, with nobody's address."""
    assert (await desk.approvals.panel()).tone == "good"
    intent, done = await desk.proposed(summary="Block ann@example.org"), await desk.proposed()
    await desk.sign(done)
    panel = await desk.approvals.panel()
    assert (panel.tone, panel.headline) == ("attention", "1 waiting for your approval")
    assert panel.rows == ((intent.id, "Block [hidden]", "waiting", "2026-03-01T12:00:00Z"),)


async def test_only_what_is_allowed_can_be_proposed(desk: Desk) -> None:
    """There is no way to propose an operation that nobody gave."""
    with pytest.raises(KeyError):
        await desk.approvals.propose(IntentDraft("refund", "ch_1", {}, "Refund it.", "why not"))
