"""The options of the recovery, and the file on the host that keeps them. Pure."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace

from orrery.errors import Invalid
from orrery.gateway.guest.errors import OptionsUnreadable
from orrery.syntax.base_url import checked_base_url
from orrery.syntax.lines import is_line

LONGEST = 1000
"""Characters of one option."""

LONGEST_PATIENCE: Mapping[str, int] = {"start_within": 600, "answer_within": 20, "stop_within": 60}
"""Seconds: with the hold time they add up to less than the time-out of the recovery, which ends before the timer
comes again."""

_HEAD = """\
# The settings of the recovery. `orrery gateway guest install` writes this file, and keeps what it is not given.
"""
_LINE = re.compile(r"([A-Z_]+)='([^']*)'")
_PATH = re.compile(r"/[!-~]*[!-.0-~]")
_ADDRESS = re.compile(r"https?://[!-~]+", re.IGNORECASE)
_SECONDS = re.compile(r"([1-9][0-9]{0,3})(s|m|)")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Options:
    """What the scripts are to do, beside restarting: an empty text is off.

    `probe` is a web address or a command; `push` the address of an ntfy server, whose topic is in `topic_file`;
    `ping` the address that takes pings, with the token in `ping_token_file`; `token_script` fetches the unit's
    credential, and is named in advice only. The last three are the patience: the seconds that a healthy
    service may take to start, to answer and to stop; empty where that is not known.
    """

    unit: str
    probe: str = ""
    push: str = ""
    topic_file: str = ""
    ping: str = ""
    ping_token_file: str = ""
    token_script: str = ""
    start_within: str = ""
    answer_within: str = ""
    stop_within: str = ""

    @property
    def runs_a_command(self) -> bool:
        """Whether the probe is a command."""
        return bool(self.probe) and not self.probe.startswith(("http://", "https://"))


def with_given(options: Options, given: Mapping[str, str | None]) -> Options:
    """Return the options with those that were given, checked; None keeps a value, and an empty text turns it off.

    Without a push there is no topic file, and without a ping no token file.
    """
    values = {name: value for name, value in given.items() if value is not None}
    for feature, file in (("push", "topic_file"), ("ping", "ping_token_file")):
        if values.get(feature) == "":
            _ = values.setdefault(file, "")
    return checked(replace(options, **values))


def checked(options: Options) -> Options:
    """Return the options as they are stored; raise `Invalid` for a value that cannot be used."""
    return replace(
        options,
        probe=_checked_probe(options.probe),
        push=_checked_address("--push", options.push),
        ping=_checked_address("--ping", options.ping),
        topic_file=_checked_pair("--topic-file", options.topic_file, "--push", options.push),
        ping_token_file=_checked_pair("--ping-token-file", options.ping_token_file, "--ping", options.ping),
        token_script=_checked_path("--token-script", options.token_script),
        **{name: _checked_seconds(name, getattr(options, name)) for name in LONGEST_PATIENCE},
    )


def rendered_options(options: Options) -> str:
    """Return the text of the file: assignments of the shell, as `parsed_options` reads them."""
    return _HEAD + "".join(f"{name.upper()}='{value}'\n" for name, value in asdict(options).items())


def parsed_options(text: str, path: str) -> Options:
    """Return the options in a file that `rendered_options` wrote; raise `OptionsUnreadable` for any other text."""
    known = {field.name.upper(): field.name for field in fields(Options)}
    values: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        found = _LINE.fullmatch(line)
        if found and found[1] in known:
            values[known[found[1]]] = found[2]
        elif line.strip() and not line.startswith("#"):
            raise OptionsUnreadable(
                f"Line {number} of {path} is not as `install` writes it: correct it, or remove the file and "
                "give all options again."
            )
    if not values.get("unit"):
        raise OptionsUnreadable(f"{path} names no unit: remove it, and give all options again.")
    return Options(**values)


def _checked_probe(text: str) -> str:
    if text and not (is_line(text, LONGEST) and "'" not in text):
        raise Invalid(f"--probe must be one line of at most {LONGEST} characters, without a single quote.")
    if not _SCHEME.match(text):
        return text
    if not _ADDRESS.fullmatch(text) or '"' in text:
        raise Invalid(
            "--probe must be a web address (http:// or https://) of printable ASCII without spaces and quotes, "
            "or a command."
        )
    scheme, _, rest = text.partition("://")  # the scripts know an address by its scheme
    return f"{scheme.lower()}://{rest}"


def _checked_seconds(name: str, text: str) -> str:
    found, longest = _SECONDS.fullmatch(text), LONGEST_PATIENCE[name]
    seconds = int(found[1]) * (60 if found[2] == "m" else 1) if found else 0
    if text and not 0 < seconds <= longest:
        option = flag(name)
        raise Invalid(f"{option} must be whole seconds or minutes, such as 8s or 2m, and at most {longest}s.")
    return str(seconds) if text else ""


def flag(name: str) -> str:
    """Return how an option is typed."""
    return f"--{name.replace('_', '-')}"


def _checked_address(option: str, text: str) -> str:
    try:
        return checked_base_url(text) if text else ""
    except Invalid as error:
        raise Invalid(f"{option}: {error}") from None


def _checked_pair(option: str, path: str, feature: str, address: str) -> str:
    if address and not path:
        raise Invalid(f"{feature} needs {option} too: the file that holds its secret.")
    if path and not address:
        raise Invalid(f"{option} needs {feature} too.")
    return _checked_path(option, path)


def _checked_path(option: str, text: str) -> str:
    if text and (not _PATH.fullmatch(text) or len(text) > LONGEST or set(text) & set("'\"")):
        raise Invalid(f"{option} must be the absolute path of a file, without spaces and quotes.")
    return text
