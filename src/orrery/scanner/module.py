"""The scanner as a module: its commands are plain, because each commit waits for them."""

from orrery.runtime.module import Command, Module, Named, Role

SCAN: frozenset[Role] = frozenset({"scan"})


def _command(name: str, summary: str, target: str) -> Command:
    return Command(name, summary, target and f"orrery.scanner.cli.{target}", role="scan", plain=True)


MODULE = Module(
    "scanner",
    roles=SCAN,
    sections=(Named("scan", "orrery.scanner.settings:ScanSettings", SCAN),),
    secrets=(Named("watch_list_key", "orrery.scanner.secrets:WATCH_LIST_KEY", SCAN),),
    commands=(
        _command(
            "tenants scan", "Search files, a commit or a history for what must not be public.", "scan:command"
        ),
        _command("tenants watch", "Keep the terms that must not be public, in an encrypted list.", ""),
        _command("tenants watch add", "Add terms to the watch-list.", "watch:add"),
        _command("tenants watch import", "Add the terms of a file, all or none.", "watch:import_"),
        _command("tenants watch remove", "Remove terms from the watch-list.", "watch:remove"),
        _command("tenants watch list", "List the terms by their fingerprints.", "watch:list_"),
        _command("tenants watch show", "Show the term of a fingerprint, at a terminal.", "watch:show"),
        _command("tenants watch new-key", "Make the key of a new watch-list.", "watch:new_key"),
        _command("tenants canary", "Make tokens for documents that must never leave.", ""),
        _command("tenants canary new", "Print a canary token.", "canary:new"),
        _command("tenants hooks", "Have git search each commit and each push of a repository.", "hooks:command"),
    ),
)
