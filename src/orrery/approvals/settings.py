"""The section `[approvals]` of `orrery.toml`."""

from pathlib import Path

from pydantic import field_validator

from orrery.approvals.public_keys import public_key
from orrery.errors import Invalid
from orrery.runtime.section import Section


class ApprovalSettings(Section):
    """The keys whose signatures approve an intent (decision 15): public keys as in an `authorized_keys` file.

    `signing_key` is where `orrery approvals sign` finds the private key, or the public one of a hardware key.
    """

    owner_keys: tuple[str, ...] = ()
    signing_key: Path | None = None

    @field_validator("owner_keys")
    @classmethod
    def _are_public_keys(cls, keys: tuple[str, ...]) -> tuple[str, ...]:
        try:
            return tuple(map(public_key, keys))
        except Invalid as error:
            raise ValueError(str(error)) from None
