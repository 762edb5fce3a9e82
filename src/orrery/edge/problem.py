"""A refusal at the edge, as an error and as a body; `problems.py`, which loads the framework, makes its answer."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, Field


class Problem(Exception):
    """A refusal at the edge: status, kebab-case tag and one sentence."""

    def __init__(self, status: int, tag: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.tag = tag
        self.message = message
        self.headers = headers


# The docstring is part of the operations' reference: it cites no source.
class ProblemBody(BaseModel):
    """Every error: a kebab-case tag and one sentence."""

    error: Annotated[str, Field(pattern=r"^[a-z-]{1,40}$")]
    message: str
