"""The file of further certificate authorities, which is checked before anything starts (decision 0048)."""

from pathlib import Path

from orrery.app.settings.ownership import read_own
from orrery.app.settings.variables import SettingsError
from orrery.errors import Invalid, words_of

_WHAT = "The certificate file (tls.ca_file)"


def check_authority(file: Path | None) -> None:
    """Raise `SettingsError` unless a file that is named holds certificates, and no other user may write it."""
    if file is None:
        return
    from orrery.trust import certificates  # noqa: PLC0415  it imports a web client, and most settings name no file

    try:
        text = read_own(file, _WHAT)
    except UnicodeDecodeError:
        text = ""  # certificates, perhaps, but not as text
    except FileNotFoundError:
        raise SettingsError(f"{_WHAT} {file} is not there.") from None
    except OSError as error:
        raise SettingsError(f"{_WHAT} {file} cannot be read: {words_of(error)}.") from None
    try:
        _ = certificates(text)
    except Invalid as error:
        raise SettingsError(f"{_WHAT} {file} {error}.") from None
