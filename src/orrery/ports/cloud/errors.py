"""Why a call to the cloud did not succeed."""

from orrery.errors import OrreryError


class CloudError(OrreryError):
    """A call to the cloud did not succeed: `why` is the reason, `todo` what to do about it."""

    def __init__(self, why: str, todo: str = "") -> None:
        super().__init__(f"{why} {todo}".strip())
        self.why = why
        self.todo = todo


class CloudRefused(CloudError):
    """The cloud understood the request and refused it: `status` is its HTTP status, `code` its word for why."""

    def __init__(self, why: str, todo: str = "", *, status: int, code: str = "") -> None:
        super().__init__(why, todo)
        self.status = status
        self.code = code


class CloudUnreachable(CloudError):
    """No usable answer: none in time, one that cannot be read, a 5xx, too many requests; a change may be made."""
