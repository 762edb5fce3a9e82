"""Threads for blocking calls that keep no process from ending."""

import threading
from threading import Barrier, Event

import pytest

from orrery.adapters.stripe.threads import Threads
from tests.support.waiting import PATIENCE


def named(name: str) -> list[threading.Thread]:
    """Return the threads of that name."""
    return [thread for thread in threading.enumerate() if thread.name == name]


def test_what_a_call_returns_and_raises() -> None:
    """A call's result and its error reach anyone who waits, and the thread serves the next."""
    threads = Threads(1, "outcome")
    with pytest.raises(ZeroDivisionError):
        threads.submit(lambda: 1 // 0).result(PATIENCE)
    assert threads.submit(lambda: 7).result(PATIENCE) == 7


def test_no_thread_keeps_the_process() -> None:
    """A thread whose call never ends is a daemon, for which the interpreter does not wait."""
    threads, end = Threads(1, "endless"), Event()
    waiting = threads.submit(end.wait)
    assert [thread.daemon for thread in named("endless")] == [True]
    end.set()
    assert waiting.result(PATIENCE)


def test_as_many_at_once_as_there_are_threads() -> None:
    """Calls run side by side, up to the number of threads and no further."""
    threads, together, end = Threads(3, "abreast"), Barrier(4), Event()

    def meet() -> bool:
        together.wait(PATIENCE)
        return end.wait(PATIENCE)

    running = [threads.submit(meet) for _ in range(3)]
    waiting = threads.submit(end.wait)
    together.wait(PATIENCE)
    assert (waiting.running(), len(named("abreast"))) == (False, 3)
    end.set()
    assert all(call.result(PATIENCE) for call in [*running, waiting])


def test_cancelled_before_its_turn() -> None:
    """A call that nobody waits for any more is not made."""
    threads, end, made = Threads(1, "busy"), Event(), list[int]()
    running = threads.submit(end.wait)
    given_up = threads.submit(lambda: made.append(1))
    assert given_up.cancel()
    end.set()
    assert running.result(PATIENCE)
    assert threads.submit(lambda: 7).result(PATIENCE) == 7
    assert made == []
