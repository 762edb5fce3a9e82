"""What may be passed to the tool, so that it acts for the named account and for no other. Pure.

Such tools know many ways to name an account: a flag and its abbreviations, a short form among others, a response
file. Where the rule cannot know whether a word is one of them, the word is refused.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote

from orrery.errors import Invalid
from orrery.tenants.settings import ToolSettings

DIRECTLY = "`orrery tenants request --account NAME METHOD URL` asks directly, for the account of the token."

_LINE_ENDS = re.compile("[\0\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
_DASHES = "-\u2013\u2014\u2015"
"""PowerShell reads the longer ones, which word processors put there, as `-`, too."""
_NO_MARKS = dict.fromkeys(map(ord, f"_{_DASHES}"))

_RESPONSE_FILE = re.compile(rf"@|[{_DASHES}]+[^=:]*[=:]@|[{_DASHES}]\w@")


def arguments(tool: ToolSettings, account: str, accounts: Iterable[str], given: Sequence[str]) -> list[str]:
    """Return the arguments with which the tool acts for `account`, one of `accounts`; raise `Invalid`.

    The account is in front, or behind the words of a command where the tool wants it there: behind an option that
    wants a value, that would take the flag for it.
    """
    if not given:
        raise Invalid(
            "ARGS is missing: without arguments, the tool may open a shell in which the account can be changed."
        )
    anyone = _any_of(accounts)
    for place, argument in enumerate(given, 1):
        for why in _objections(tool, account, anyone, argument):
            raise Invalid(f"Argument {place}{why}")
    ahead, rest = given[: tool.words_ahead], given[tool.words_ahead :]
    if len(ahead) < tool.words_ahead or any(map(_is_flag, ahead)):
        raise Invalid(
            f"ARGS must begin with {tool.words_ahead} words that are no options: the account goes behind them "
            "(words_ahead in [tenants.tool])."
        )
    return [*ahead, tool.account_flag, account, *rest]


def _objections(tool: ToolSettings, account: str, anyone: re.Pattern[str], argument: str) -> Iterator[str]:
    """Yield why an argument is refused; it is quoted only where it cannot be a name."""
    if _LINE_ENDS.search(argument):
        yield " has a line break or a NUL in it."
    if any(found[0] != account.casefold() for found in anyone.finditer(_decoded(argument).casefold())):
        yield " names another account of the settings."
    plain = argument.strip()
    if _RESPONSE_FILE.match(plain):
        yield " begins with @ or has a value that does: a response file may name another account."
    word = re.split("[=:]" if _is_flag(plain) else "=", plain, maxsplit=1)[0]
    for flag in (tool.account_flag, *tool.account_aliases):
        if _may_be(flag, word):
            shown = f", {word}," if _abbreviates(flag, word) else ""
            yield (
                f"{shown} may be read as the flag {flag}, which `orrery tenants run` sets. "
                "If it is another option, write its long form."
            )
    for mode in tool.server_mode:
        if _bare(mode) == _bare(word) or (mode.startswith("-") and _abbreviates(mode, word)):
            yield (
                f", {word}, may start the tool's server mode, which ignores the account and uses the last cached "
                f"one. {DIRECTLY}"
            )


def _may_be(flag: str, word: str) -> bool:
    """Return whether a parser may read a word as the flag: itself, shortened, or as one of several short flags."""
    if not _is_flag(word):
        return False
    if _abbreviates(flag, word):
        return True
    name = _bare(flag)
    return len(name) == 1 and word[1:2] not in _DASHES and name in _bare(word)


def _abbreviates(flag: str, word: str) -> bool:
    return _is_flag(word) and bool(_bare(word)) and _bare(flag).startswith(_bare(word))


def _is_flag(word: str) -> bool:
    return word[:1] != "" and word[0] in _DASHES


def _bare(word: str) -> str:
    """Return a word without the marks and the case that parsers disregard: `--accountName` is `--account-name`."""
    return word.translate(_NO_MARKS).casefold()


def _decoded(text: str) -> str:
    """Return a text with every `%40` as @, however often that was encoded."""
    while (plain := unquote(text)) != text:
        text = plain
    return text


def _any_of(accounts: Iterable[str]) -> re.Pattern[str]:
    # The longest first: ann@corp.example.org is not ann@corp.example, with which it begins.
    names = sorted({one.casefold() for one in accounts}, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, names)))
