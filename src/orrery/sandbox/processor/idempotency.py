"""Idempotency keys as the vendor keeps them (facts/checkout.md, The vendor)."""

import hashlib
import json
from collections.abc import Generator
from contextlib import contextmanager

from orrery.sandbox.processor.errors import ApiError, invalid
from orrery.sandbox.processor.forms import Form
from orrery.sandbox.processor.world import World
from orrery.sandbox.state import Document

MAX_KEY_LENGTH = 255
KEPT_SECONDS = 24 * 3600
_KIND = "_idempotency"


def fingerprint(method: str, path: str, form: dict[str, Form]) -> str:
    """Return a digest of the request."""
    asked = json.dumps([method, path, form], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()


class IdempotencyKeys:
    """The keys that were used in the last day, and those in use right now."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._in_use: set[str] = set()

    def first_answer(self, key: str, asked: str) -> Document | None:
        """Return the stored `status` and `body` of this key's first use, or None when there was none.

        Raises `ApiError` for a key that is too long, in use, or was used for something else.
        """
        if len(key) > MAX_KEY_LENGTH:
            raise invalid(f"An idempotency key has at most {MAX_KEY_LENGTH} characters.")
        if key in self._in_use:
            message = "Another request with this idempotency key is in progress. Please try again later."
            raise ApiError(409, message, "idempotency_error", "idempotency_key_in_use", stored=False)
        self._prune()
        stored = self._world.state.get(_KIND, key)
        if stored is not None and stored["asked"] != asked:
            message = f"Keys for idempotent requests can only be used with the same parameters: '{key}' was not."
            raise ApiError(400, message, "idempotency_error", stored=False)
        return stored

    def keep(self, key: str, asked: str, status: int, body: Document, request_id: str) -> None:
        """Store the first answer."""
        answer = {"asked": asked, "status": status, "body": body, "request_id": request_id}
        self._world.state.save({"object": _KIND, "id": key, "created": self._world.now(), **answer})

    @contextmanager
    def held(self, key: str) -> Generator[None]:
        """Hold the key while its request is carried out."""
        self._in_use.add(key)
        try:
            yield
        finally:
            self._in_use.discard(key)

    def _prune(self) -> None:
        oldest_kept = self._world.now() - KEPT_SECONDS
        for key in self._world.state.older_than(_KIND, oldest_kept):
            self._world.state.remove(_KIND, key)
