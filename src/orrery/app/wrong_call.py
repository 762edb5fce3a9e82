"""What is printed about a wrong call: one sentence of ours, and the command that shows what is right."""

from datetime import datetime
from typing import Literal, cast, get_args, get_origin

import typer


def sentence_about(error: typer.TyperException) -> str:
    """Return why a call was refused; a group without a command is answered with its help."""
    refusal = error.format_message()
    if isinstance(error, typer.BadParameter) and error.param and error.message:
        name, takes = error.param.get_error_hint().replace("'", ""), _takes(error)
        refusal = f"{name} takes {takes}." if takes else f"{error.message[:1].upper()}{error.message[1:]}"
    context: typer.Context | None = getattr(error, "ctx", None)
    if context is None or "\n" in refusal:
        return refusal
    end = "" if refusal.endswith((".", "?")) else "."
    return f"{refusal}{end} Type `{context.command_path} --help`."


def _takes(error: typer.BadParameter) -> str:
    """Return what an option of another type than text takes, or nothing where the error names it."""
    option = error.param
    kind: object = option.type_descriptor.annotation if option else str
    if get_origin(kind) is Literal:
        *others, last = map(str, get_args(kind))
        return f"{', '.join(others)} or {last}"
    days = "a day, such as 2026-12-31"
    what = {int: "a whole number", float: "a number", datetime: days}.get(cast("type", kind), "")
    lowest, highest = getattr(option, "min", None), getattr(option, "max", None)
    if lowest is None:
        return f"{what} of at most {highest}" if highest is not None else what
    return f"{what} from {lowest} to {highest}" if highest is not None else f"{what} of at least {lowest}"
