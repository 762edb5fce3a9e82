"""The desk."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Desk:
    """What is on it, in a sentence."""

    sentence: str
