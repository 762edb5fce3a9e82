"""The section `[scan]` of `orrery.toml`."""

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from orrery.runtime.section import Section

_DOMAIN = re.compile(r"(?:[\w-]{1,63}\.)+[\w-]{2,63}")


def _is_domain(text: str) -> str:
    if not _DOMAIN.fullmatch(text):
        raise ValueError("a domain is written as in corp.example")
    return text.lower()


Domain = Annotated[str, AfterValidator(_is_domain)]


class ScanSettings(Section):
    """What is searched for beyond the tracks, and where the files of the scanner are.

    `watch_list` and `told` are in the user's folders by default.
    """

    watch_list: Path | None = None
    baseline: Path | None = None
    rules: tuple[Path, ...] = ()
    domains: tuple[Domain, ...] = ()
    told: Path | None = None
