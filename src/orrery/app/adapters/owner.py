"""The adapters of what the owner gets, gives and asks: messages, heartbeats, signatures, snapshots, answers."""

from orrery.adapters.running_service import HttpRunningService
from orrery.adapters.snapshot_folder import SnapshotFolder
from orrery.adapters.ssh_keygen import SshKeygen, SshKeys
from orrery.app.adapters import Adapters
from orrery.approvals.intents import NAMESPACE
from orrery.approvals.settings import ApprovalSettings
from orrery.errors import NotConfigured
from orrery.ports.domain_records import DomainRecords
from orrery.ports.heartbeat import Heartbeat
from orrery.ports.notifier import Notifier, Notifiers
from orrery.ports.running_service import RunningService
from orrery.ports.signatures import OwnerKeys, Signatures
from orrery.runtime.settings import BackupSettings, HeartbeatSettings, MailSettings, PushSettings, ServerSettings

# Some adapters are imported when they are used: a service that does not use them starts sooner and weighs less.


def notifiers(adapters: Adapters) -> Notifiers:
    """Return how each kind of message is sent, as far as it is configured."""
    found: dict[str, Notifier] = {}
    push, mail = adapters.settings[PushSettings], adapters.settings[MailSettings]
    if push.url and push.topic:
        from orrery.adapters.ntfy import NtfyNotifier  # noqa: PLC0415  see above

        found["push"] = NtfyNotifier(push.url, push.topic, adapters.secrets.reveal("push_token"), adapters.trust)
    if mail.host and mail.sender:
        from orrery.adapters.smtp import Relay, SmtpNotifier  # noqa: PLC0415  see above

        password = adapters.secrets.reveal("mail_password")
        relay = Relay(mail.host, mail.port, mail.sender, mail.security, mail.username, password)
        found["email"] = SmtpNotifier(relay, adapters.clock, adapters.trust)
    return Notifiers(found)


def domain_records(adapters: Adapters) -> DomainRecords:  # noqa: ARG001  as each adapter is made
    from orrery.adapters.dns_records import DnsRecords  # noqa: PLC0415  see above

    return DnsRecords()


def heartbeat(adapters: Adapters) -> Heartbeat:
    from orrery.adapters.heartbeat import HttpHeartbeat  # noqa: PLC0415  see above

    url = adapters.settings[HeartbeatSettings].url
    if url is None:
        raise NotConfigured("No [heartbeat] url is configured.")
    return HttpHeartbeat(url, adapters.trust)


def signatures(adapters: Adapters) -> Signatures:
    return SshKeygen(adapters.settings[ApprovalSettings].owner_keys, NAMESPACE)


def owner_keys(adapters: Adapters) -> OwnerKeys:
    approvals = adapters.settings[ApprovalSettings]
    return SshKeys(approvals.owner_keys, approvals.signing_key, NAMESPACE)


def running_service(adapters: Adapters) -> RunningService:
    server = adapters.settings[ServerSettings]
    return HttpRunningService(server.address, server.private_address)


def snapshots(adapters: Adapters) -> SnapshotFolder:
    """Return the folder of dated snapshots; raise `NotConfigured` without one."""
    backup = adapters.settings[BackupSettings]
    if backup.directory is None:
        raise NotConfigured("No [backup] directory is configured.")
    return SnapshotFolder(backup.directory, backup.keep)
