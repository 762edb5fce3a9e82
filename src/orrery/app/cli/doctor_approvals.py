"""What `orrery doctor` reports about approvals: whether the owner's signatures can be made and checked here."""

from pathlib import Path

from orrery.adapters.ssh_keygen import SshKeygen
from orrery.approvals.intents import NAMESPACE
from orrery.errors import NotConfigured
from orrery.ports.health import Finding

_PART = "approvals"
_KEY_PART = "signing key"

_ELSEWHERE = "The settings name none: you sign as yourself, and not as the user of the service."
_SIGN_ELSEWHERE = (
    "Sign what `orrery approvals show ID --statement` prints, as docs/how-to/approve-a-change.md shows."
)


async def approval_findings(owner_keys: tuple[str, ...], signing_key: Path | None) -> list[Finding]:
    """Return how the owner's keys are, and the tool that checks and signs."""
    found = [await _checking(owner_keys)]
    if signing_key:
        return [*found, _signing(signing_key)]
    return (
        [*found, Finding(_KEY_PART, "off", _ELSEWHERE, _SIGN_ELSEWHERE, essential=False)] if owner_keys else found
    )


async def _checking(owner_keys: tuple[str, ...]) -> Finding:
    if not owner_keys:
        todo = "Make a key and set [approvals] owner_keys."
        return Finding(
            _PART, "off", "No key of the owner is configured: nothing can be approved.", todo, essential=False
        )
    try:
        await SshKeygen(owner_keys, NAMESPACE).examine()
    except NotConfigured as error:
        return Finding(
            _PART,
            "broken",
            str(error),
            "Until then no approval counts, and none can be given here.",
            essential=False,
        )
    return Finding(_PART, "ok", essential=False)


def _signing(key: Path) -> Finding:
    try:
        with key.expanduser().open("rb"):
            return Finding(_KEY_PART, "ok", essential=False)
    except OSError as error:
        why = f"The file {key} cannot be read ({error.strerror})."
        todo = "Set [approvals] signing_key to your key, or take it out and sign with --key."
        return Finding(_KEY_PART, "broken", why, todo, essential=False)
