"""The secret of the waiting list."""

from orrery.runtime.secret import SecretKind, SecretUse
from orrery.runtime.section import Sections


def _use(_: Sections) -> SecretUse:
    return SecretUse(needed=False, stops="the partner cannot be asked.", idle="There is no partner.")


TOKEN = SecretKind(use=_use)
