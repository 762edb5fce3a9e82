"""The adapter of each port, by the settings."""

from orrery.adapters.clock import SystemClock
from orrery.adapters.ga4 import GoogleAnalytics
from orrery.adapters.movable_clock import MovableClock
from orrery.adapters.snapshot_folder import SnapshotFolder
from orrery.adapters.stripe.connection import Connection
from orrery.owner.outbox import Channel
from orrery.ports.analytics import Analytics
from orrery.ports.clock import Clock
from orrery.ports.heartbeat import Heartbeat
from orrery.ports.notifier import Notifier
from orrery.ports.tracker import Tracker
from orrery.settings import Secrets, Settings
from orrery.trust import Trust


def clock_of(settings: Settings) -> Clock:
    """Return the machine's clock, or in sandbox mode the one shared with the sandbox."""
    shared = settings.sandbox.clock_file if settings.mode == "sandbox" else None
    return MovableClock(shared) if shared else SystemClock()


def snapshots_of(settings: Settings) -> SnapshotFolder | None:
    """Return the folder of dated snapshots, if one is configured."""
    backup = settings.backup
    return SnapshotFolder(backup.directory, backup.keep) if backup.directory else None


def trust_of(settings: Settings) -> Trust:
    """Return whose certificates the clients below believe; made once, it reads the certificates once."""
    return Trust(settings.tls.ca_file)


def processor_connection(settings: Settings, secrets: Secrets, trust: Trust) -> Connection:
    """Return the one connection over which the processor is asked."""
    return Connection(
        secrets.reveal("processor_api_key"),
        base_url=settings.checkout.processor_url,
        api_version=settings.checkout.api_version,
        trust=trust,
    )


def analytics_of(settings: Settings, secrets: Secrets, clock: Clock, trust: Trust) -> Analytics:
    """Return whom the live counter asks."""
    live = settings.live
    return GoogleAnalytics(
        secrets.reveal("analytics_service_account_key"),
        live.property_id,
        base_url=live.provider_url,
        planet_dimension=live.planet_dimension,
        window_minutes=live.window_minutes,
        clock=clock,
        trust=trust,
    )


# These adapters are imported when first needed: a service that does not use them starts sooner and weighs less.


def notifiers_of(settings: Settings, secrets: Secrets, clock: Clock, trust: Trust) -> dict[Channel, Notifier]:
    """Return how each kind of message is sent, as far as it is configured."""
    found: dict[Channel, Notifier] = {}
    push, mail = settings.push, settings.mail
    if push.url and push.topic:
        from orrery.adapters.ntfy import NtfyNotifier  # noqa: PLC0415  see above

        found["push"] = NtfyNotifier(push.url, push.topic, secrets.reveal("push_token"), trust)
    if mail.host and mail.sender:
        from orrery.adapters.smtp import Relay, SmtpNotifier  # noqa: PLC0415  see above

        password = secrets.reveal("mail_password")
        relay = Relay(mail.host, mail.port, mail.sender, mail.security, mail.username, password)
        found["email"] = SmtpNotifier(relay, clock, trust)
    return found


def tracker_of(settings: Settings, secrets: Secrets, clock: Clock, trust: Trust) -> Tracker:
    """Return where the monitor opens its issue."""
    if settings.monitor.tracker == "github":
        from orrery.adapters.github import GitHubTracker  # noqa: PLC0415  see above

        token = secrets.reveal("tracker_token")
        return GitHubTracker(settings.monitor.github_url, settings.monitor.repository, token, trust)
    from orrery.adapters.issue_file import FileTracker  # noqa: PLC0415  see above

    return FileTracker(settings.monitor.file, clock)


def heartbeat_of(url: str, trust: Trust) -> Heartbeat:
    """Return the adapter that sends heartbeats."""
    from orrery.adapters.heartbeat import HttpHeartbeat  # noqa: PLC0415  see above

    return HttpHeartbeat(url, trust)
