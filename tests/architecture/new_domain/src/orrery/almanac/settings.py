"""The section `[almanac]` of `orrery.toml`."""

from typing import Annotated

from pydantic import Field

from orrery.runtime.former_names import renamed, retired
from orrery.runtime.section import Section


class Edition(Section):
    """A table inside."""

    name: Annotated[str, renamed("title", since="0.3")] = "first"


class Page(Section):
    """A table of a list."""

    number: Annotated[int, renamed("count", since="0.3")]


class AlmanacSettings(Section):
    """What is printed."""

    RETIRED = (retired("colour", since="0.2", instead="It is printed in black."),)

    most: Annotated[int, renamed("limit", since="0.2"), renamed("maximum", since="0.3")] = Field(100, ge=1)
    days: Annotated[tuple[int, ...], renamed("dates", since="0.2")] = (1, 2)
    edition: Annotated[Edition, renamed("issue", since="0.3")] = Edition()
    pages: tuple[Page, ...] = ()
