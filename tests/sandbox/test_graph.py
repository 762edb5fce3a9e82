"""Microsoft Graph by its official library: answers and scopes as published, and the known traps."""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from kiota_abstractions.method import Method

from orrery.sandbox.graph.api import OPERATIONS, SENDS
from orrery.sandbox.identity.directory import TENANT_A
from tests.sandbox.contracts import check_graph, needs_contract, published
from tests.sandbox.official_graph import DRAFTS, IMMUTABLE, INBOX, Item, Message, listed, named, official, refused
from tests.support.graph import GraphBox, graph


@pytest.fixture(scope="module")
def module_box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphBox]:
    """A sandbox with Microsoft Graph: starting one takes a tenth of a second."""
    with graph(tmp_path_factory.mktemp("graph")) as box:
        yield box


@pytest.fixture
def box(module_box: GraphBox) -> Iterator[GraphBox]:
    """The module's sandbox, in which nothing was sent when the test ends."""
    yield module_box
    assert module_box.sends == []


@pytest.fixture
def ann(box: GraphBox) -> Iterator[httpx2.Client]:
    """Ann of corp.example, who may read and draft."""
    with box.client("ann@corp.example") as web:
        yield web


DAY = {"startDateTime": "2000-01-01T00:00:00Z", "endDateTime": "2100-01-01T00:00:00Z", "$top": 100}


ELSEWHERE = {
    "GET /me/calendarView": "GET /me/calendar/calendarview",
}
"""Where the vendor publishes the scopes of a call under another address."""


NOT_ASKED = {"GET /me/messages", "GET /chats/{chat-id}/messages"}
"""Calls that are described and that no client of ours makes."""


NOT_IN_THE_EXCERPT = {"GET /me/messages/{id}/attachments"}
"""Calls that the vendor publishes scopes of, which our excerpt of its list does not have."""


def one_of_each(web: httpx2.Client) -> list[httpx2.Response]:
    """Make each call that is described, and return the answers."""
    inbox = web.get("/me/mailFolders/inbox/messages", params={"$top": 50, "$count": "true"})
    message = f"/me/messages/{inbox.json()['value'][0]['id']}"
    chats = web.get("/me/chats", params={"$expand": "members,lastMessagePreview"})
    first = chats.json()["value"][0]
    lists = web.get("/me/todo/lists")
    tasks = f"/me/todo/lists/{lists.json()['value'][0]['id']}/tasks"
    task = web.post(tasks, json={"title": "Answer", "linkedResources": [{"externalId": "1"}]})
    one_task = f"{tasks}/{task.json()['id']}"
    return [
        web.get("/me"),
        inbox,
        web.get(message),
        web.patch(message, json={"isRead": False}),
        web.post(f"{message}/createReply", json={"comment": "Yes"}),
        chats,
        web.get(f"/chats/{first['id']}/messages/{first['lastMessagePreview']['id']}"),
        web.get("/me/calendarView", params=DAY),
        lists,
        web.post("/me/todo/lists", json={"displayName": "Cockpit"}),
        task,
        web.get(tasks, params={"$expand": "linkedResources"}),
        web.patch(one_task, json={"status": "completed"}),
        web.post(f"{one_task}/linkedResources", json={"externalId": "1"}),
        web.get("/me/messages/short"),
    ]


@needs_contract
def test_answers_are_those_of_the_description(box: GraphBox) -> None:
    """Each operation that is described gives its status, and those fields and no other."""
    seen: set[str] = set()
    for account in ("ann@corp.example", "ann@lab.example"):
        with box.client(account) as web:
            seen |= {check_graph(one) for one in one_of_each(web)}
    paths = published("mail.openapi")["paths"]
    described = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert described - seen == NOT_ASKED


@needs_contract
def test_scopes_are_those_that_are_published() -> None:
    """Each call that the vendor publishes scopes of takes those."""
    known_scopes = published("mail.permissions")
    found: set[str] = set()
    for call, scopes in ((one.call, one.right) for one in OPERATIONS):
        known = known_scopes.get(ELSEWHERE.get(call, f"{call.partition(' ')[0]} {call.partition(' ')[2].lower()}"))
        if known is not None:
            assert (call, sorted(scopes)) == (call, sorted(one.rstrip("*") for one in known["DelegatedWork"]))
            found.add(call)
    assert found >= {one.call for one in OPERATIONS} - SENDS - NOT_IN_THE_EXCERPT


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


ANN = "ann@corp.example"


def view(web: httpx2.Client, since: datetime, days: int, **headers: str) -> list[Item]:
    """Return the meetings of some days."""
    window = {"startDateTime": since.isoformat(), "endDateTime": (since + timedelta(days=days)).isoformat()}
    answer = web.get("/me/calendarView", params=window | {"$top": "100"}, headers=headers)
    assert answer.is_success, answer.text
    return answer.json()["value"]


def meeting_of(found: list[Item], subject: str) -> Item:
    """Return the one meeting with a subject."""
    [one] = [one for one in found if one["subject"] == subject]
    return one


def test_a_series_keeps_its_hour_over_a_change_of_clocks(box: GraphBox, ann: httpx2.Client) -> None:
    """By the clocks of its zone; in UTC it is an hour later or earlier."""
    box.lever(
        "meeting", ANN, subject="Weekly", start="2027-03-21T09:00:00", zone="Europe/Berlin", every_days=7, times=2
    )
    found = view(ann, datetime.fromisoformat("2027-03-20T00:00:00+00:00"), 14)
    starts = [one["start"]["dateTime"] for one in found if one["subject"] == "Weekly"]
    assert starts == ["2027-03-21T08:00:00.0000000", "2027-03-28T07:00:00.0000000"]


def test_one_meeting(box: GraphBox, ann: httpx2.Client) -> None:
    """By its id, with its text where Calendars.Read was granted; a basic reader sees none."""
    found = view(ann, box.clock.now() - timedelta(days=1), 7)
    path = f"/me/events/{meeting_of(found, 'Call with the museum')['id']}"
    assert "body" not in ann.get(path).json()
    with box.client(ANN, "Calendars.Read") as web:
        assert "side door" in web.get(path).json()["body"]["content"]
    assert refused(ann.get(path, params={"$select": "body"})) == (403, "ErrorAccessDenied")
    assert refused(ann.get("/me/events/AAMkADNkYjVhNWYxLTQ1AAAAAAAA=")) == (404, "ErrorItemNotFound")


@pytest.fixture
def bob(box: GraphBox) -> Iterator[httpx2.Client]:
    """Bob, who reads."""
    box.lever("reset", BOB)
    with box.client(BOB) as web:
        yield web


def round_of(bob: httpx2.Client, link: str, size: int = 2, **headers: str) -> tuple[list[Item], str]:
    """Follow a link to the end of its round, and return what came and the link of the next round."""
    found: list[Item] = []
    while True:
        answer = bob.get(link, headers={"Prefer": f"odata.maxpagesize={size}"} | headers)
        assert answer.is_success, answer.text
        page = answer.json()
        found += page["value"]
        if "@odata.deltaLink" in page:
            return found, page["@odata.deltaLink"]
        link = page["@odata.nextLink"]


def test_a_filtered_round_has_5000_messages(box: GraphBox, bob: httpx2.Client) -> None:
    """The rest is left out without a word: without a filter it comes."""
    box.fill(BOB, 6000)
    filtered, _ = round_of(bob, f"{INBOX}/delta?$select=id&$filter=receivedDateTime ge 2000-01-01", 1000)
    whole, _ = round_of(bob, f"{INBOX}/delta?$select=id", 1000)
    assert (len(filtered), len(whole) > 6000) == (5000, True)


@pytest.mark.parametrize("lever", ["expire", "renumber"])
def test_a_token_that_is_too_old(box: GraphBox, bob: httpx2.Client, lever: str) -> None:
    """It is refused, and the answer names where to begin again."""
    _, link = round_of(bob, f"{INBOX}/delta")
    box.lever(lever, BOB)
    answer = bob.get(link)
    assert refused(answer) == (410, "syncStateNotFound")
    assert round_of(bob, answer.headers["Location"])[0]


def test_a_move_changes_the_ordinary_id(box: GraphBox, ann: httpx2.Client) -> None:
    """The immutable one leads to the message before and after, whatever the answer has."""
    ids = box.arrive(ANN, subject="Moving")
    moved = box.lever("move", ANN, id=ids["id"], folder="archive")
    assert (moved["id"] != ids["id"], moved["immutable_id"]) == (True, ids["immutable_id"])
    assert refused(ann.get(f"/me/messages/{ids['id']}")) == (404, "ErrorItemNotFound")
    path = f"/me/messages/{ids['immutable_id']}"
    assert ann.get(path).json()["id"] == moved["id"]
    assert ann.get(path, headers=IMMUTABLE).json()["id"] == ids["immutable_id"]


def test_a_mailbox_that_is_moved_has_other_ids(box: GraphBox, ann: httpx2.Client) -> None:
    """None of those from before leads anywhere."""
    ids = box.arrive(ANN, subject="Renumbered")
    box.lever("renumber", ANN)
    for one in (ids["id"], ids["immutable_id"]):
        assert refused(ann.get(f"/me/messages/{one}")) == (404, "ErrorItemNotFound")
    assert "Renumbered" in {one["subject"] for one in listed(ann, top=100)}


def test_capitals_tell_ids_apart(box: GraphBox, ann: httpx2.Client) -> None:
    """Two messages have ids that differ in a capital only."""
    ids = {box.arrive(ANN, subject=f"Twin {number}")["id"] for number in range(3)}
    assert len({one.lower() for one in ids}) == 2
    assert {ann.get(f"/me/messages/{one}").json()["id"] for one in ids} == ids


def test_no_id(ann: httpx2.Client) -> None:
    """What cannot be an id is another error than what is none any more."""
    assert refused(ann.get("/me/messages/17")) == (400, "ErrorInvalidIdMalformed")


def test_a_reply_has_one_text(ann: httpx2.Client) -> None:
    """A comment together with a body is refused, and makes no draft."""
    path = f"/me/messages/{named(ann, 'Lunch?')['id']}/createReply"
    both = {"comment": "Yes", "message": {"body": {"contentType": "text", "content": "Yes"}}}
    drafts = listed(ann, DRAFTS)
    assert refused(ann.post(path, json=both)) == (400, "BadRequest")
    assert listed(ann, DRAFTS) == drafts


def test_a_draft_is_changed_and_found_again(ann: httpx2.Client) -> None:
    """By an extended property, which is shown where it is asked for only; its id is kept in lower case."""
    name = "String {66F5A359-4659-4830-9070-00047EC6AC6E} Name Orrery"
    draft = ann.post("/me/messages", json={"subject": "Offer", "toRecipients": []}).json()
    path = f"/me/messages/{draft['id']}"
    marked = {
        "toRecipients": [{"emailAddress": {"address": "mira@northwind.example"}}],
        "singleValueExtendedProperties": [{"id": name, "value": "key-1"}],
    }
    assert ann.patch(path, json=marked).is_success
    condition = f"singleValueExtendedProperties/Any(ep: ep/id eq '{name}' and ep/value eq 'key-1')"
    [found] = listed(ann, DRAFTS, filter=condition)
    assert (found["id"], "singleValueExtendedProperties" in found) == (draft["id"], False)
    assert found["toRecipients"][0]["emailAddress"]["address"] == "mira@northwind.example"
    expanded = ann.get(path, params={"$expand": f"singleValueExtendedProperties($filter=id eq '{name}')"}).json()
    shown = name.replace("66F5A359", "66f5a359").replace("00047EC6AC6E", "00047ec6ac6e")
    assert expanded["singleValueExtendedProperties"] == [{"id": shown, "value": "key-1"}]
    assert refused(ann.get(path, params={"$expand": "attachments"})) == (400, "RequestBroker--ParseUri")


def test_a_guest_has_no_mailbox(box: GraphBox) -> None:
    """Its mail, meetings and tasks are at home; it has no chats here."""
    with box.client("ann@lab.example", tenant=TENANT_A) as web:
        assert refused(web.get(INBOX)) == (404, "MailboxNotEnabledForRESTAPI")
        assert refused(web.get("/me/todo/lists")) == (404, "MailboxNotEnabledForRESTAPI")
        assert listed(web, "/me/chats") == []


REFUSED: list[tuple[dict[str, str], str]] = [
    ({"$filter": "isRead eq false", "$orderby": "receivedDateTime desc"}, "InefficientFilter"),
    (
        {"$filter": "isRead eq false and receivedDateTime ge 2020-01-01", "$orderby": "receivedDateTime desc"},
        "InefficientFilter",
    ),
    ({"$filter": "isRead eq"}, "RequestBroker--ParseUri"),
    ({"$filter": "mood eq 'good'"}, "RequestBroker--ParseUri"),
    ({"$orderby": "mood"}, "RequestBroker--ParseUri"),
    ({"$filter": "startswith(subject, 'trip')"}, "RequestBroker--ParseUri"),
    ({"$top": "1001"}, "RequestBroker--ParseUri"),
]


def test_queries_that_are_refused(ann: httpx2.Client) -> None:
    """With the vendor's code, each."""
    for query, code in REFUSED:
        assert (query, refused(ann.get(INBOX, params=query))) == (query, (400, code))


SENDING = ("Mail.Send", "ChatMessage.Send", "ChannelMessage.Send")


def test_each_send_is_noted(box: GraphBox, ann: httpx2.Client) -> None:
    """It is refused without its scope, and accepted with it; both are noted."""
    with box.client(ANN, *SENDING) as sender:
        for call in sorted(SENDS):
            method, path = call.replace("{id}", "1").split()
            assert [web.request(method, path, json={}).status_code for web in (ann, sender)] == [403, 202]
            sends = box.taken_sends()
            assert [(one["call"], one["refused"]) for one in sends] == [(call, True), (call, False)]
