"""The secret of the waitlist."""

from orrery.runtime.secret import SecretKind, SecretUse
from orrery.runtime.section import Sections


def _use(_: Sections) -> SecretUse:
    return SecretUse(needed=False, stops="the mirror cannot be asked.", idle="There is no mirror.")


TOKEN = SecretKind(use=_use)
