"""Which commits of a group share one statement, and the parameters of that statement."""

from collections.abc import Sequence
from datetime import datetime

from orrery.ports.store import Absent, Check, Committed, Conflict, Delete, Put, encode_key
from orrery.store_calls import REMEMBERED, Request, microseconds

Parameters = dict[str, int | list[bytes] | list[int] | list[int | None]]
Row = tuple[int, int | None, list[bytes] | None]
"""The commit's number within its wave, from 1; its version; the keys of its failed checks."""


def waves(requests: Sequence[Request]) -> list[list[Request]]:
    """Return the requests in waves: none of a wave reads or writes what another of the same wave writes.

    A check that came before a write of its key may share its wave: checks see what was there before the wave.
    """
    written, checked, ids = dict[str, int](), dict[str, int](), dict[str, int]()
    found = list[list[Request]]()
    for request in requests:
        writes, checks = [one.key for one in request.writes], [one.key for one in request.checks]
        after = [written.get(key, -1) + 1 for key in (*writes, *checks)]
        wave = max([0, *after, *(checked.get(key, 0) for key in writes), ids.get(request.commit_id, -1) + 1])
        written |= dict.fromkeys(writes, wave)
        checked |= {key: max(wave, checked.get(key, 0)) for key in checks}
        ids[request.commit_id] = wave
        found += [[] for _ in range(wave + 1 - len(found))]
        found[wave].append(request)
    return found


def parameters(wave: Sequence[Request], now: datetime) -> Parameters:
    """Return the parameters of `statements.WAVE`."""
    checks = [(check, number) for number, one in enumerate(wave, 1) for check in one.checks]
    writes = [(write, number) for number, one in enumerate(wave, 1) for write in one.writes]
    puts = sorted((encode_key(put.key), put, number) for put, number in writes if isinstance(put, Put))
    deletes = [(encode_key(write.key), number) for write, number in writes if isinstance(write, Delete)]
    return {
        "now": microseconds(now),
        "remembered": REMEMBERED,
        "ids": [encode_key(one.commit_id) for one in wave],
        "check_keys": [encode_key(check.key) for check, _ in checks],
        "check_versions": [_version(check) for check, _ in checks],
        "check_of": [number for _, number in checks],
        "put_keys": [key for key, _, _ in puts],
        "put_values": [bytes(put.value) for _, put, _ in puts],
        "put_expiry": [None if put.ttl is None else microseconds(now + put.ttl) for _, put, _ in puts],
        "put_of": [number for _, _, number in puts],
        "delete_keys": [key for key, _ in deletes],
        "delete_of": [number for _, number in deletes],
    }


def answers(wave: Sequence[Request], rows: Sequence[Row]) -> list[Committed | Conflict]:
    """Return what the rows of `statements.WAVE` say of each commit."""
    by_number = {number: (version, failed) for number, version, failed in rows}
    return [_answer(*by_number[number]) for number in range(1, len(wave) + 1)]


def _answer(version: int | None, failed: list[bytes] | None) -> Committed | Conflict:
    if version is not None:
        return Committed(version)
    return Conflict(tuple(dict.fromkeys(key.decode() for key in failed or [])))


def _version(check: Check) -> int | None:
    return None if isinstance(check, Absent) else check.version
