"""Tasks in Microsoft To Do, against the sandbox and the vendor's traps (decision 35)."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from orrery.adapters.microsoft_mailbox.to_do import ToDo, key_of
from orrery.errors import TrackRefused
from orrery.ports.comms.errors import MailboxRefused, MailboxUnreachable, SignInNeeded
from orrery.ports.comms.tasks import Task
from orrery.tenants.account_tokens import AccountTokens
from tests.conformance.microsoft.signed_in import signed_in_at, to_do
from tests.conformance.microsoft.to_do_account import ToDoAccount
from tests.support.graph import READING, GraphBox
from tests.support.tasks import a_task
from tests.support.tracks import ANN_A, BOB_A

LISTS = "GET /me/todo/lists"
TASKS = "GET /me/todo/lists/{id}/tasks"
NEW_LIST = "POST /me/todo/lists"
NEW_TASK = "POST /me/todo/lists/{id}/tasks"


@pytest.fixture
def box(shared: tuple[GraphBox, AccountTokens]) -> Iterator[GraphBox]:
    """Return it without faults."""
    yield shared[0]
    shared[0].clear_faults()


@pytest.fixture
def account(box: GraphBox, request: pytest.FixtureRequest) -> ToDoAccount:
    """Return Ann's list that only this test uses."""
    return ToDoAccount(box, name=request.node.name)


@pytest.fixture
def book(shared: tuple[GraphBox, AccountTokens], account: ToDoAccount) -> ToDo:
    """Return the tasks of that list."""
    return to_do(shared[0], shared[1], name=account.name)


async def test_a_task_says_where_it_comes_from(book: ToDo, account: ToDoAccount) -> None:
    """Title, importance, from whom, and a link to the message."""
    link = "https://outlook.corp.example/m-1"
    _ = await book.add(replace(a_task(), priority="high", web_link=link))
    [made] = account.tasks()
    assert (made["title"], made["importance"]) == ("Hello", "high")
    assert made["body"]["content"] == "From: bo@lab.example"
    assert [(one["applicationName"], one["webUrl"]) for one in made["linkedResources"]] == [("Orrery", link)]


async def test_the_list_is_made_once(book: ToDo, account: ToDoAccount) -> None:
    """The answer to making it is lost: the retry finds it by its name."""
    account.box.fault("graph_half", NEW_LIST, count=1)
    with pytest.raises(MailboxUnreachable, match="To Do: "):
        await book.add(a_task())
    assert not (await book.add(a_task())).already_existed
    assert len(account.lists()) == 1


async def test_a_task_whose_answer_was_lost(book: ToDo, account: ToDoAccount) -> None:
    """Made at the vendor, and not reported here: the retry finds it, with its link."""
    account.box.fault("graph_half", NEW_TASK, count=1)
    with pytest.raises(MailboxUnreachable):
        await book.add(a_task())
    assert (await book.add(a_task())).already_existed
    assert len(account.tasks()) == 1


async def test_a_lost_answer_while_others_wait(book: ToDo, account: ToDoAccount) -> None:
    """What was read ahead of it is not believed: the second click on the row finds the task of the first."""
    account.box.fault("graph_half", NEW_TASK, count=1, skip=1)
    clicks = (book.add(a_task(one)) for one in ("m-0", "m-1", "m-1"))
    _, lost, found = await asyncio.gather(*clicks, return_exceptions=True)
    assert isinstance(lost, MailboxUnreachable)
    assert isinstance(found, Task)
    assert found.already_existed
    assert len(account.tasks()) == 2


async def test_several_with_one_link(book: ToDo, account: ToDoAccount) -> None:
    """Nothing at the vendor keeps a link unique: the open one is the task, and nothing is made or opened."""
    made, key = await book.add(a_task()), key_of(a_task())
    account.complete(made.id)
    account.make("A copy", key)
    found = await book.add(a_task())
    assert (found.title, found.already_existed) == ("A copy", True)
    assert [one["status"] for one in account.tasks()].count("completed") == 1


async def test_a_long_list(book: ToDo, account: ToDoAccount) -> None:
    """A task is found on whichever page it is."""
    made = await book.add(a_task())
    account.make_all([f"By hand {number}" for number in range(120)])
    assert await book.add(a_task()) == replace(made, already_existed=True)


async def test_many_at_once_read_the_list_twice(book: ToDo, account: ToDoAccount) -> None:
    """Once for the first, and once for all that were waiting then."""
    _ = await book.add(a_task("m-0"))
    before = account.box.calls(ANN_A)
    made = await asyncio.gather(*(book.add(a_task(f"m-{number}")) for number in range(10)))
    assert [one.already_existed for one in made] == [True, *[False] * 9]
    assert account.box.calls(ANN_A) - before == {LISTS: 2, TASKS: 2, NEW_TASK: 9}


async def test_a_task_that_was_deleted_is_made_anew(book: ToDo, account: ToDoAccount) -> None:
    """Nothing is believed of an earlier call."""
    _ = await book.add(a_task())
    account.box.lever("reset", ANN_A)
    assert not (await book.add(a_task())).already_existed


async def test_no_task_crosses_the_tracks(book: ToDo, account: ToDoAccount) -> None:
    """A task of the other track is refused ahead of asking."""
    before = account.box.calls(ANN_A)
    with pytest.raises(TrackRefused):
        await book.add(a_task(track="B"))
    assert account.box.calls(ANN_A) == before


async def test_an_account_that_did_not_sign_in(box: GraphBox, shared: tuple[GraphBox, AccountTokens]) -> None:
    """It needs a person."""
    with pytest.raises(SignInNeeded):
        await to_do(box, shared[1], BOB_A).add(a_task())


async def test_a_scope_that_is_missing(box: GraphBox, tmp_path: Path) -> None:
    """An account whose track asks to read tasks only: the sentence names the scope that is needed."""
    reading = to_do(box, signed_in_at(box, tmp_path, BOB_A, scopes=READING), BOB_A)
    with pytest.raises(MailboxRefused, match=r"To Do: .*Tasks\.ReadWrite in the scopes of \[tenants\.A\]"):
        await reading.add(a_task())
