"""The made-up mailbox: what it shows, and how it keeps drafts; what the port asks of it is in conformance/."""

import asyncio
import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import get_args

import pytest

from orrery.adapters.sample_mailbox.mailbox import BATCH, SampleMailbox
from orrery.app.adapters import Adapters
from orrery.app.settings.reader import Secrets, settings_from
from orrery.ports.comms.errors import MailboxRefused, RowGone
from orrery.ports.comms.mailboxes import Mailboxes, ReplyRequest
from orrery.ports.comms.messages import MailboxMessage, Priority
from orrery.syntax.track import Track
from tests.support.clock import START, ManualClock
from tests.support.mailboxes import reply_to
from tests.support.tables import each_case

TRACKS: Sequence[Track] = get_args(Track)
MANY = 5000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where the drafts go: a folder that is not there yet, in another one."""
    return tmp_path / "data" / "drafts"


def mailbox(folder: Path, track: Track = "A", messages: int = 0) -> SampleMailbox:
    """Return a mailbox that was opened at the clock's start."""
    return SampleMailbox("ann@corp.example", track, folder, ManualClock(), messages)


def listed(opened: SampleMailbox) -> list[MailboxMessage]:
    """Return every message of a mailbox."""

    async def read() -> list[MailboxMessage]:
        return [*chain.from_iterable([batch.messages async for batch in opened.messages()])]

    return asyncio.run(read())


def answer_to(opened: SampleMailbox, source_id: str, key: str = "k", comment: str = "") -> ReplyRequest:
    """Return a reply to one of the messages."""
    message = next(one for one in listed(opened) if one.source_id == source_id)
    return reply_to(key, message, comment, asyncio.run(opened.body(message.source, source_id)))


def draft_in(folder: Path, key: str = "k") -> dict[str, str]:
    """Return what is kept of a draft."""
    found: dict[str, str] = json.loads((folder / f"{key}.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize("track", TRACKS)
def test_it_shows_what_the_list_can_show(track: Track, folder: Path) -> None:
    """Each priority is there, what begins within hours, and one message that nobody can reply to."""
    found = listed(mailbox(folder, track))
    assert {one.priority for one in found} == {*get_args(Priority)}
    ahead = [one.received_at - START for one in found if one.received_at > START]
    assert len(ahead) >= 3
    assert max(ahead) < timedelta(days=2)
    assert sum(not one.address for one in found) == 1
    assert len(found) >= 25


@pytest.mark.parametrize("track", TRACKS)
def test_one_message_is_hostile(track: Track, folder: Path) -> None:
    """Mark-up in every field, a character that turns the direction, a word of 200 letters, no web link."""
    opened = mailbox(folder, track)
    one = next(one for one in listed(opened) if one.source_id == "m-hostile")
    assert all("<" in text for text in (one.sender, one.subject, one.preview))
    assert "\u202e" in one.sender + one.subject
    assert max(map(len, one.preview.split())) > 200
    assert not one.web_link.startswith("http")
    assert "<script>" in asyncio.run(opened.body("mail", "m-hostile")).content


@pytest.mark.parametrize("name", ["corp.toml", "lab.toml"])
def test_every_address_is_made_up(name: str) -> None:
    """Every name of a domain is one that nobody can have."""
    text = files("orrery.adapters.sample_mailbox").joinpath(name).read_text("utf-8")
    domains = re.findall(r"(?:@|https?://)([\w.-]+)", text)
    assert domains
    assert [one for one in domains if not one.endswith(".example")] == []


def test_ages_count_from_the_start(folder: Path) -> None:
    """A mailbox that is opened a day later has the same messages, a day younger."""
    clock = ManualClock()
    clock.advance(86_400)
    later = SampleMailbox("ann@corp.example", "A", folder, clock)
    day = timedelta(days=1)
    a_day_younger = [
        replace(one, received_at=one.received_at + day, ends_at=one.ends_at and one.ends_at + day)
        for one in listed(mailbox(folder))
    ]
    assert listed(later) == a_day_younger


@pytest.mark.parametrize("track", TRACKS)
def test_a_large_mailbox(track: Track, folder: Path) -> None:
    """It has as many messages as were asked for, the first as ever, the others older, with a number."""
    few, many = listed(mailbox(folder, track)), listed(mailbox(folder, track, MANY))
    assert len(many) == MANY
    assert many[: len(few)] == few
    assert [one.subject for one in many[len(few) :][: len(few)]] == [f"{one.subject} (2)" for one in few]
    assert len({one.source_id for one in many}) == MANY
    assert many == sorted(many, key=lambda one: one.received_at, reverse=True)


def test_it_comes_in_batches(folder: Path) -> None:
    """No batch is larger than the others, and all but the last are full."""

    async def sizes() -> list[int]:
        return [len(batch.messages) async for batch in mailbox(folder, messages=2 * BATCH + 1).messages()]

    assert asyncio.run(sizes()) == [BATCH, BATCH, 1]


def test_a_small_mailbox(folder: Path) -> None:
    """With fewer messages than there are the newest are shown; the others are not there."""
    every = listed(mailbox(folder))
    small = mailbox(folder, messages=3)
    assert listed(small) == every[:3]
    with pytest.raises(RowGone):
        asyncio.run(small.body(every[3].source, every[3].source_id))


@each_case("turn", [".0", ".01", ".3", ".", ".-1", ".1.1", ".\u0661", "." + "9" * 5000, "\n"])
def test_an_id_is_written_in_one_way(turn: str, folder: Path) -> None:
    """What no listing shows is not there, however like an id it looks."""
    opened = mailbox(folder, messages=60)  # two turns and a part of the third
    first = listed(opened)[0]
    assert asyncio.run(opened.body(first.source, f"{first.source_id}.1"))
    with pytest.raises(RowGone):
        asyncio.run(opened.body(first.source, f"{first.source_id}{turn}"))


def test_drafts_are_their_owners_own(folder: Path) -> None:
    """The folder and the drafts in it are for nobody else to read, whatever the process allows by itself."""
    umask = os.umask(0)
    try:
        asyncio.run(mailbox(folder).draft(answer_to(mailbox(folder), "m-checkout-down")))
    finally:
        os.umask(umask)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "k.json").stat().st_mode & 0o777 == 0o600


def test_what_a_reply_holds(folder: Path) -> None:
    """A reply to plain text quotes it line by line, and names the mail that it answers."""
    opened = mailbox(folder)
    asyncio.run(opened.draft(answer_to(opened, "m-budget-thread", comment="Done <ok>.")))
    kept = draft_in(folder)
    assert kept["subject"] == "Re: Re: Budget of the next quarter"
    assert (kept["from"], kept["in_reply_to"]) == ("ann@corp.example", "m-budget-thread")
    assert kept["text"].startswith("Done <ok>.\n\nOn 2026-03-01 at 06:50 UTC, Odile Marchetti wrote:\n> Fine")
    assert "\n>\n> Odile\n" in kept["text"]


def test_a_comment_of_broken_characters(folder: Path) -> None:
    """Half a character pair, which no file can hold, is replaced."""
    opened = mailbox(folder)
    asyncio.run(opened.draft(answer_to(opened, "c-lunch", comment="\ud800 žluťoučký 🪐")))
    assert draft_in(folder)["text"].startswith("? žluťoučký 🪐")


def test_the_answer_to_a_chat(folder: Path) -> None:
    """It is a new mail to its sender: it is no reply to a mail."""
    opened = mailbox(folder)
    asyncio.run(opened.draft(answer_to(opened, "c-lunch")))
    kept = draft_in(folder)
    assert (kept["to"], "in_reply_to" in kept) == ("tomasz.lis@corp.example", False)


def test_nobody_to_reply_to(folder: Path) -> None:
    """Without an address there is no draft."""
    opened = mailbox(folder)
    with pytest.raises(MailboxRefused, match="no address"):
        asyncio.run(opened.draft(answer_to(opened, "m-no-address")))
    assert not folder.exists()


@each_case("key", ["", ".", "..", "../k", "a/b", "a.b", "a b", "a\n", "ä", "k" * 101])
def test_a_key_that_is_no_name(key: str, folder: Path) -> None:
    """A key that could name anything but a file of this folder is refused, and nothing is written."""
    opened = mailbox(folder)
    with pytest.raises(MailboxRefused, match="key"):
        asyncio.run(opened.draft(answer_to(opened, "c-lunch", key)))
    assert not folder.parent.exists()


@pytest.mark.parametrize("blocked", ["folder", "parent"])
def test_a_folder_that_cannot_be_used(blocked: str, folder: Path) -> None:
    """Where a file is in the way, draft and check say in a sentence that the folder cannot be used."""
    opened = mailbox(folder)
    place = folder if blocked == "folder" else folder.parent
    place.parent.mkdir(exist_ok=True)
    place.touch()
    for call in (opened.check(), opened.draft(answer_to(opened, "c-lunch"))):
        with pytest.raises(MailboxRefused, match=r"^The folder of the drafts cannot be used: .+[.]$"):
            asyncio.run(call)


def test_the_mailboxes_of_the_settings(tmp_path: Path) -> None:
    """Each table of `cockpit.mailboxes` is a mailbox, in their order."""
    tables = [
        {"kind": "sample", "account": "ann@lab.example", "track": "B", "folder": "lab", "messages": 2},
        {"kind": "sample", "account": "ann@corp.example", "track": "A", "folder": "corp"},
    ]
    settings = settings_from({"cockpit": {"mailboxes": tables}}, tmp_path, "cockpit")
    found = Adapters(settings, Secrets.of({}, "cockpit"), ManualClock()).port(Mailboxes).all
    assert [(one.track, one.account) for one in found] == [("B", "ann@lab.example"), ("A", "ann@corp.example")]
    asyncio.run(found[0].check())
    assert (tmp_path / "lab").is_dir()
