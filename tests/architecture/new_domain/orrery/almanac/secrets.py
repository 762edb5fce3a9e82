"""The secret of the almanac."""

from orrery.runtime.secret import SecretKind, unused

TOKEN = SecretKind(use=lambda _: unused("Nobody is asked."))
