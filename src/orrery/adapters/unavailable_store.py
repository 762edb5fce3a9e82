"""A store that fails every call: it replaces one that could not be opened, so that the other parts are checked."""

from typing import NoReturn

from orrery.errors import OrreryError, StoreUnavailable


class UnavailableStore:
    """A `Store` that answers every call with the sentence of `why`."""

    def __init__(self, why: OrreryError) -> None:
        self._why = str(why)

    async def _refuse(self, *_given: object, **_named: object) -> NoReturn:
        raise StoreUnavailable(self._why)

    get = scan = commit = scrub = inspect = _refuse

    async def close(self) -> None:
        """Do nothing: there is no file to close."""
