"""What every adapter of the task book's port does: the cockpit's own ledger, and Microsoft To Do (decision 35)."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from orrery.cockpit.ledger import Ledger
from orrery.ports.comms.tasks import Task, TaskBook
from tests.conformance.microsoft.signed_in import signed_in_at, to_do
from tests.conformance.microsoft.to_do_account import ToDoAccount
from tests.support.clock import ManualClock
from tests.support.graph import graph
from tests.support.stores import ADAPTERS, opened
from tests.support.tasks import a_task


@dataclass(frozen=True)
class Subject:
    """A task book, the same one as the next process has it, and what a person does with it."""

    book: TaskBook
    afterwards: TaskBook
    waiting: Callable[[], Awaitable[list[str]]]
    finish: Callable[[Task], Awaitable[object]]


@asynccontextmanager
async def ledger(adapter: str, folder: Path) -> AsyncGenerator[Subject]:
    """Return the cockpit's own."""
    clock = ManualClock()
    async with opened(adapter, folder, clock) as store:
        found = Ledger(store, clock)

        async def waiting() -> list[str]:
            return [one.title for one in (await found.all()).whole() if one.dismissed_at is None]

        yield Subject(found, Ledger(store, clock), waiting, lambda one: found.act(one.id, "dismiss"))


@pytest.fixture
def microsoft(tmp_path: Path) -> Iterator[Subject]:
    """Return the tasks of an account at the sandbox's Microsoft Graph."""
    with graph(tmp_path) as box:
        tokens = signed_in_at(box, tmp_path)
        account = ToDoAccount(box)

        async def waiting() -> list[str]:
            return [one["title"] for one in account.tasks() if one["status"] != "completed"]

        async def finish(task: Task) -> None:
            account.complete(task.id)

        yield Subject(to_do(box, tokens), to_do(box, tokens), waiting, finish)


@pytest.fixture(params=[*ADAPTERS, "microsoft"])
async def subject(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Subject]:
    """Return a task book of each adapter, without tasks."""
    if request.param == "microsoft":
        yield request.getfixturevalue("microsoft")
    else:
        async with ledger(request.param, tmp_path) as found:
            yield found


async def test_one_task_for_a_row(subject: Subject) -> None:
    """Ten clicks at once, one later and one after a restart make one task; the first call says that it is new."""
    made = await asyncio.gather(*(subject.book.add(a_task()) for _ in range(10)))
    made.append(await subject.book.add(a_task(title="Another subject meanwhile")))
    made.append(await subject.afterwards.add(a_task()))
    assert sorted(one.already_existed for one in made) == [False, *[True] * 11]
    assert {(one.id, one.title) for one in made} == {(made[0].id, "Hello")}
    assert await subject.waiting() == ["Hello"]


async def test_tasks_are_told_apart(subject: Subject) -> None:
    """By source and source id: each makes another task, several at once too."""
    several = [a_task(), a_task(source="teams"), a_task("m-2"), a_task("m-3")]
    made = await asyncio.gather(*map(subject.book.add, several))
    assert [one.already_existed for one in made] == [False] * 4
    assert len({one.id for one in made}) == len(await subject.waiting()) == 4


async def test_a_task_is_as_the_mapping_tables_say(subject: Subject) -> None:
    """Score, kind and bucket are those of the row; a subject that is none gets words."""
    made = await subject.book.add(a_task(title=" \n\u202e"))
    assert (made.score, made.kind, made.bucket) == (50, "answer", "Inbox")
    assert made.title == "\ufffd"
    assert (await subject.book.add(a_task("m-2", title=" "))).title == "(no subject)"


async def test_a_task_that_is_done_comes_back(subject: Subject) -> None:
    """Adding its row again opens it, and says that it was there."""
    made = await subject.book.add(a_task())
    await subject.finish(made)
    assert await subject.waiting() == []
    again = await subject.book.add(a_task())
    assert (again.id, again.already_existed) == (made.id, True)
    assert await subject.waiting() == ["Hello"]
