"""The files of `web`, which people are shown: as texts, and as templates."""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment, Template


@cache
def web_file(name: str) -> str:
    """Return the text of a file."""
    return files("orrery").joinpath("web", name).read_text(encoding="utf-8")


def web_template(name: str) -> "Template":
    """Return a file as the template of a page, which escapes whatever is put into it, and misses nothing."""
    return _templates().get_template(name)


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # noqa: PLC0415  it is needed here only

    return Environment(
        loader=FunctionLoader(web_file),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
