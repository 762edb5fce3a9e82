"""The secret of the scanner: the key of the watch-list."""

from orrery.runtime.secret import SecretKind, SecretUse, why_no_single_value
from orrery.runtime.section import Mode, Sections
from orrery.scanner.watch_list import is_key


def _use(_: Sections) -> SecretUse:
    return SecretUse(
        needed=False, stops="a scan fails where there is a watch-list.", idle="A scan without a list needs none."
    )


def _unusable(name: str, text: str, _mode: Mode) -> str:
    if why := why_no_single_value(name, text):
        return why
    return "" if is_key(text) else f"The secret {name} is none that `orrery tenants watch new-key` made."


WATCH_LIST_KEY = SecretKind(use=_use, unusable=_unusable)
