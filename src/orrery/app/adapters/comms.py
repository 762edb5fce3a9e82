"""The mailboxes of the cockpit."""

from orrery.adapters.sample_mailbox.mailbox import SampleMailbox
from orrery.app.adapters import Adapters
from orrery.cockpit.settings import CockpitSettings
from orrery.ports.comms.mailboxes import Mailboxes


def mailboxes(adapters: Adapters) -> Mailboxes:
    """Return the mailboxes that the settings name, in their order."""
    return Mailboxes(
        tuple(
            SampleMailbox(one.account, one.track, one.folder, adapters.clock, one.messages)
            for one in adapters.settings[CockpitSettings].mailboxes
        )
    )
