"""Microsoft's own library against the sandbox."""

import asyncio
import json
from datetime import UTC

from kiota_abstractions.method import Method

from tests.sandbox.graph.official import Message, official
from tests.sandbox.graph.reading import IMMUTABLE, INBOX
from tests.support.graph import GraphBox

BOB = "bob@corp.example"


def test_its_iterator_follows_the_pages(box: GraphBox) -> None:
    """Every message comes once, newest first, with the ids that the header asks for on each page."""
    box.fill(BOB, 25)

    async def read() -> list[Message]:
        async with official(box, BOB) as graph:
            return await graph.messages(f"{INBOX}?%24top=10&%24select=subject,receivedDateTime", **IMMUTABLE)

    found = asyncio.run(read())
    times = [one.received for one in found if one.received is not None]
    assert len({one.id for one in found}) == len(found) == len(times) > 25
    assert times == sorted(times, reverse=True)
    assert times[0].tzinfo == UTC
    assert {str(one.id)[:4] for one in found} == {"AAkA"}


def test_it_drafts_a_reply(box: GraphBox) -> None:
    """By names with a capital, as its models write them; and restores what the reply marked as read."""
    original = box.arrive(BOB, subject="Answer me")

    async def draft() -> tuple[bytes, bytes]:
        async with official(box, BOB) as graph:
            path = f"/me/messages/{original['id']}"
            made = await graph.content(Method.POST, f"{path}/createReply", b'{"Comment": "Yes, gladly."}')
            return made, await graph.content(Method.PATCH, path, b'{"isRead": false}')

    made, restored = (json.loads(one) for one in asyncio.run(draft()))
    assert (made["isDraft"], made["subject"], restored["isRead"]) == (True, "Re: Answer me", False)
    assert "Yes, gladly." in made["body"]["content"]
