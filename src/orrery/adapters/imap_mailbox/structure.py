"""The parts of a large message as the server describes them (RFC 3501, BODYSTRUCTURE). Pure."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from orrery.adapters.imap_mailbox.parts import DEEPEST, MOST, MimePart
from orrery.adapters.imap_mailbox.responses import Item, number_of

_DISPOSITIONS = frozenset({b"attachment", b"inline"})
_ALTERNATIVE = b"alternative"
_LEAST = 7
"""Items of a part that every server gives: type, subtype, parameters, id, description, encoding, size."""


def described_parts(structure: Item | None) -> Iterator[tuple[MimePart, int]]:
    """Yield the parts that have no parts, with their sizes in bytes; a message inside is one of them."""
    waiting: list[tuple[Item, int, bool]] = [(structure, 0, False)] if structure else []
    for _ in range(MOST):
        if not waiting:
            return
        item, depth, is_choice = waiting.pop()
        if not isinstance(item, list) or not item:
            continue
        if isinstance(item[0], list):
            parts = [*takewhile(lambda one: isinstance(one, list), item)]
            kind = item[len(parts)] if len(parts) < len(item) else b""
            is_choice = is_choice or _bytes(kind).lower() == _ALTERNATIVE
            if depth < DEEPEST:
                waiting += [(one, depth + 1, is_choice) for one in reversed(parts)]
        elif len(item) >= _LEAST:
            yield _part(item, is_choice=is_choice), _size(item)


def _part(item: Sequence[Item], *, is_choice: bool) -> MimePart:
    """Return a part with the same headers and without content."""
    kind, subkind, parameters, content_id = item[:4]
    inline: list[Item] = [b"inline"]
    placed = next(filter(None, map(_disposition, item[_LEAST:])), inline)
    head = b"Content-Type: " + b"/".join(map(_bytes, (kind, subkind))) + _written(parameters)
    if _bytes(content_id):
        head += b"\r\nContent-ID: " + _bytes(content_id)
    head += b"\r\nContent-Disposition: " + _bytes(placed[0]) + _written(placed[1] if len(placed) > 1 else b"")
    return MimePart(head, b"-" if _size(item) else b"", is_choice=is_choice)


def _disposition(item: Item) -> list[Item] | None:
    is_one = isinstance(item, list) and bool(item) and _bytes(item[0]).lower() in _DISPOSITIONS
    return item if is_one and isinstance(item, list) else None


def _written(parameters: Item) -> bytes:
    names = [_bytes(one) for one in parameters] if isinstance(parameters, list) else []
    quoted = (one.replace(b"\\", b"\\\\").replace(b'"', b'\\"') for one in names[1::2])
    return b"".join(b';\r\n %b="%b"' % pair for pair in zip(names[::2], quoted, strict=False))


def _size(item: Sequence[Item]) -> int:
    """Return how many bytes a part has, about: without what Base64 adds, and its ends of lines."""
    size = number_of(item[6]) or 0
    return size * 57 // 78 if _bytes(item[5]).lower() == b"base64" else size


def _bytes(item: Item) -> bytes:
    return item.replace(b"\r", b" ").replace(b"\n", b" ") if isinstance(item, bytes) else b""
