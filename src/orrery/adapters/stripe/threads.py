"""Threads for calls that block, which do not keep a process from ending."""

from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import TypeVar

T = TypeVar("T")


class Threads:
    """At most `count` threads, started when needed, kept for the next call.

    The interpreter waits for the threads of `concurrent.futures` before it ends, however long their calls last; a
    server that sends a byte now and then would keep the whole service from stopping.
    """

    def __init__(self, count: int, name: str) -> None:
        self._name = name
        self._not_started = count
        self._idle = Semaphore(0)
        self._work: SimpleQueue[Callable[[], None]] = SimpleQueue()

    def submit(self, call: Callable[[], T]) -> Future[T]:
        """Return what `call` will return or raise; cancelled before its turn, it is not called."""
        future: Future[T] = Future()
        self._work.put(lambda: _settle(future, call))
        if self._not_started and not self._idle.acquire(blocking=False):
            self._not_started -= 1
            Thread(target=self._run, name=self._name, daemon=True).start()
        return future

    def _run(self) -> None:
        while True:
            self._work.get()()
            self._idle.release()


def _settle(future: Future[T], call: Callable[[], T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(call())
    except BaseException as error:  # noqa: BLE001  the waiting caller gets the error, and the thread goes on
        future.set_exception(error)
