"""How much is unpacked of one file: a small archive may hold more than a disk does."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, cast

MB = 1024 * 1024

BROKEN = "It is damaged: repair it or leave it out, because the rest of it may hold anything."


@dataclass(frozen=True, slots=True)
class UnpackLimits:
    """What one file may unpack to: bytes and members in all, members within members, and times its packed size.

    `ratio` counts above `ratio_from` bytes. Up to `memory` bytes of a member stay in memory. `pdf_seconds` are of
    the processor, for each PDF.
    """

    total: int = 1024 * MB
    members: int = 100_000
    depth: int = 6
    ratio: int = 200
    ratio_from: int = 10 * MB
    memory: int = 8 * MB
    pdf_bytes: int = 256 * MB
    pdf_seconds: int = 120
    pdf_memory: int = 1024 * MB


class DamagedFile(Exception):
    """A file is not what it looks like, or is damaged. Its words name nothing of what is in it."""


class LimitReached(Exception):
    """Nothing more of a file is unpacked."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(why)
        self.place = place


@contextmanager
def breaking(*kinds: type[Exception]) -> Generator[None]:
    """Turn a library's errors into `DamagedFile`, without their words."""
    try:
        yield
    except kinds:
        raise DamagedFile(BROKEN) from None


@dataclass(slots=True)
class UnpackBudget:
    """What was unpacked of one file so far."""

    limits: UnpackLimits = field(default_factory=UnpackLimits)
    total: int = 0
    members: int = 0

    def take_member(self, place: str) -> None:
        """Count a member; raise `LimitReached` for one too many."""
        self.members += 1
        if self.members > self.limits.members:
            raise LimitReached(
                place, f"It has more than {self.limits.members} members: pack it in smaller archives."
            )

    def take_bytes(self, place: str, size: int) -> None:
        """Count unpacked bytes; raise `LimitReached` for too many."""
        self.total += size
        if self.total > self.limits.total:
            most = self.limits.total // MB
            raise LimitReached(place, f"It unpacks to more than {most} MB: pack it in smaller archives.")

    @contextmanager
    def unpacked(self, place: str, pieces: Iterable[bytes], packed: int) -> Generator[tuple[BinaryIO, str]]:
        """Yield a file of what could be unpacked, and why that is not all of it; it is deleted afterwards."""
        from tempfile import SpooledTemporaryFile  # noqa: PLC0415  a commit without archives starts faster

        with SpooledTemporaryFile(max_size=self.limits.memory) as content:
            why, reached = "", None
            try:
                for piece in self._within(place, pieces, packed):
                    _ = content.write(piece)
            except DamagedFile as broken:
                why = str(broken)
            except LimitReached as limit:
                reached = limit
            _ = content.seek(0)
            yield cast("BinaryIO", content), why
            if reached:  # only now: what was unpacked until then is searched
                raise reached

    def _within(self, place: str, pieces: Iterable[bytes], packed: int) -> Iterator[bytes]:
        size = 0
        for piece in pieces:
            self.take_bytes(place, len(piece))
            size += len(piece)
            if size > max(self.limits.ratio_from, self.limits.ratio * packed):
                ratio = self.limits.ratio
                raise DamagedFile(
                    f"It unpacks to more than {ratio} times its size, as an attack does: leave it out."
                )
            yield piece
