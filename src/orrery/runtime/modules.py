"""The modules that every deployment has beside its domains, such as notifications and backups."""

from orrery.runtime.module import Module, Named, Role

READS_SETTINGS: frozenset[Role] = frozenset({"site", "cockpit", "cloud"})
"""A guest needs no settings file."""

SCANS_TOO: frozenset[Role] = frozenset({"site", "cockpit", "cloud", "scan"})

PUSHES: frozenset[Role] = frozenset({"site", "scan"})

RUNTIME = Module(
    "runtime",
    sections=(
        Named("server", "orrery.runtime.settings:ServerSettings"),
        Named("store", "orrery.runtime.settings:StoreSettings"),
        Named("log", "orrery.runtime.settings:LogSettings", READS_SETTINGS),
        Named("secrets", "orrery.runtime.settings:SecretFiles", SCANS_TOO),
        Named("tls", "orrery.runtime.settings:TlsSettings", SCANS_TOO),
        Named("sandbox", "orrery.runtime.settings:SandboxSettings", READS_SETTINGS),
    ),
    secrets=(Named("store_password", "orrery.runtime.secrets:STORE_PASSWORD"),),
    prefixes=("index-key", "lease:", "record-erased:", "restored-at", "wrong-passwords:", "written"),
)

NODES = Module(
    "nodes",
    needs=("orrery.runtime.nodes:NodeIdentity",),
    provides=("orrery.runtime.nodes:Nodes",),
    prefixes=("node:",),
    build="orrery.runtime.build:nodes",
)

NOTIFICATIONS = Module(
    "notifications",
    sections=(
        Named("push", "orrery.runtime.settings:PushSettings", PUSHES),
        Named("mail", "orrery.runtime.settings:MailSettings"),
    ),
    secrets=(
        Named("push_token", "orrery.runtime.secrets:PUSH_TOKEN", PUSHES),
        Named("mail_password", "orrery.runtime.secrets:MAIL_PASSWORD"),
    ),
    reads=("orrery.runtime.settings:StoreSettings",),
    ports=("orrery.ports.notifier:Notifiers", "orrery.ports.domain_records:DomainRecords"),
    needs=(
        "orrery.runtime.jobs:Workers",
        "orrery.runtime.references:References",
        "orrery.runtime.nodes:Nodes",
    ),
    provides=(
        "orrery.runtime.outbox:Outbox",
        "orrery.runtime.findings:Findings",
        "orrery.runtime.readiness:Readiness",
    ),
    prefixes=("outbox:", "outbox-next:", "outbox-due:", "outbox-dead:", "outbox-held:", "outbox-unreadable:"),
    build="orrery.runtime.build:notifications",
)

WATCH = Module(
    "watch",
    sections=(Named("heartbeat", "orrery.runtime.settings:HeartbeatSettings"),),
    ports=("orrery.ports.heartbeat:Heartbeat", "orrery.ports.notifier:Notifiers"),
    needs=(
        "orrery.runtime.jobs:Workers",
        "orrery.runtime.findings:Findings",
        "orrery.runtime.outbox:Outbox",
        "orrery.runtime.readiness:Readiness",
        "orrery.runtime.nodes:Nodes",
    ),
    provides=(
        "orrery.runtime.problems:Problems",
        "orrery.runtime.watch:OutageWatch",
        "orrery.runtime.planned_pause:PlannedPauses",
    ),
    prefixes=("outage:", "planned-pause"),
    build="orrery.runtime.build:watch",
)

BACKUPS = Module(
    "backups",
    sections=(Named("backup", "orrery.runtime.settings:BackupSettings"),),
    ports=("orrery.ports.snapshots:Snapshots",),
    build="orrery.runtime.build:backups",
)
