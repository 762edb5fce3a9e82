"""What the tracks refuse."""

from orrery.errors import OrreryError


class SignInRefused(OrreryError):
    """A sign-in or a token is not what a track allows; the sentence names the claim. Nothing is kept of it."""
