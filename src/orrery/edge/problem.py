"""A refusal at the edge, as an error; `problems.py` makes the answer of it, and loads the framework."""

from collections.abc import Mapping


class Problem(Exception):
    """A refusal at the edge: status, kebab-case tag and one sentence."""

    def __init__(self, status: int, tag: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.tag = tag
        self.message = message
        self.headers = headers
