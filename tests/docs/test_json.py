"""Every command that prints data prints it for machines, too (issue 39, line 5)."""

from tests.support.commands import commands

WITHOUT = {
    "its output is JSON in any case": {"access show", "privacy export", "cockpit privacy export"},
    "it runs until it is ended": {"serve", "demo", "sandbox", "cockpit", "tenants run", "tenants watch"},
    "it does one thing, and says so in a sentence": {
        "access change-email",
        "access grant",
        "access import",
        "access keep",
        "access resend",
        "access revoke",
        "approvals close",
        "approvals settle",
        "approvals sign",
        "approvals withdraw",
        "backup",
        "cockpit backup",
        "cockpit ledger add",
        "cockpit ledger dismiss",
        "cockpit ledger import",
        "cockpit ledger undo",
        "cockpit privacy erase",
        "cockpit restore",
        "cockpit store create",
        "fraud block",
        "fraud propose",
        "fraud unblock",
        "gateway guest pause",
        "gateway guest resume",
        "init",
        "live test",
        "nodes forget",
        "notifications drop",
        "notifications release",
        "notifications test",
        "privacy erase",
        "restore",
        "secrets announce",
        "secrets reload",
        "setup",
        "store copy",
        "store create",
        "store migrate",
        "tenants canary",
        "tenants canary new",
        "tenants hooks",
        "tenants journal add",
        "tenants sign-in",
        "tenants sign-out",
        "tenants watch add",
        "tenants watch import",
        "tenants watch new-key",
        "tenants watch remove",
    },
    "its output is a text to be used as it is": {
        "admin hash",
        "live schedule",
        "processor rules",
        "site caddy",
        "site nginx",
        "site worker",
        "tenants request",
    },
    "its sentences are the verdict, and its exit code is for machines": {"approvals verify"},
    "it shows terms to a person at a terminal only": {"tenants watch show"},
}
"""The commands without `--json`, by the reason."""


def test_what_prints_data_prints_json() -> None:
    """Each command has `--json`, or is here with the reason why it needs none; a new one is one or the other."""
    with_json = {
        name.removeprefix("orrery ")
        for name, parameters in commands().items()
        if any("--json" in one.names for one in parameters)
    }
    without = {name for names in WITHOUT.values() for name in names}
    assert with_json | without == {name.removeprefix("orrery ") for name in commands()}
    assert not with_json & without
