"""What the recovery needs beside systemd's values, and what it has done lately. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from orrery.gateway.guest.comparison import file_change
from orrery.gateway.guest.files import HostFile
from orrery.gateway.guest.observed import Observed, SecretFile, StoredFile
from orrery.gateway.guest.options import LONGEST_PATIENCE, Options, flag
from orrery.gateway.guest.patience import ASSUMED
from orrery.ports.health import Finding

FLAP_SECONDS = 3600
"""The window of a flap (spec 3, Limits)."""

_NEEDS_ROOT = "Cannot be known without root."
_AS_ROOT = "Type it as root."


def file_findings(files: Sequence[tuple[HostFile, StoredFile | None]]) -> Iterator[Finding]:
    """Yield the files that are not as they were installed."""
    wrong = [change for file, stored in files if (change := file_change(file, stored)).change != "same"]
    if not wrong:
        yield Finding("files", "ok", f"all {len(files)} are as installed", essential=False)
    for change in wrong:
        notes = [line.removeprefix("# ") for line in change.diff.splitlines() if line.startswith("# /")]
        what = "is missing" if change.change == "new" else "is not as installed"
        why = f"{change.path} {what}." if not notes else f"{notes[0]}."
        yield Finding("files", "broken", why, "Install again; `plan` shows the difference.", essential=False)


def feature_findings(options: Options, secrets: Mapping[str, SecretFile]) -> Iterator[Finding]:
    """Yield what is off, and whether the secret files of the rest can be used."""
    if options.probe:
        yield Finding("probe", "ok", options.probe, essential=False)
    else:
        why = "A service that hangs is not noticed."
        yield Finding("probe", "off", why, "Install with --probe URL or --probe COMMAND.", essential=False)
    yield _feature("push", options.push, options.topic_file, secrets, "This machine notifies no one.")
    yield _feature("ping", options.ping, options.ping_token_file, secrets, "The site does not notice its silence.")


def patience_finding(options: Options) -> Finding:
    """Return for how long the service may start, answer and stop, and how that is learnt which is not known."""
    seconds = {name: getattr(options, name) or str(ASSUMED[name]) for name in LONGEST_PATIENCE}
    shown = ", ".join(f"{flag(name)} {value}s" for name, value in seconds.items())
    open_ = [name for name in LONGEST_PATIENCE if not getattr(options, name)]
    if not options.probe and "answer_within" in open_:
        open_.remove("answer_within")
    if not open_:
        return Finding("patience", "ok", shown, essential=False)
    verb = "drill" if open_ == ["start_within"] else "guest install"
    todo = f"While it runs, type: sudo orrery gateway {verb} --unit {options.unit}"
    return Finding(
        "patience", "off", f"{shown}; not measured: {', '.join(map(flag, open_))}", todo, essential=False
    )


def _feature(name: str, address: str, path: str, secrets: Mapping[str, SecretFile], without: str) -> Finding:
    if not address:
        file = "--topic-file" if name == "push" else "--ping-token-file"
        return Finding(name, "off", without, f"Install with --{name} URL {file} FILE.", essential=False)
    secret = secrets.get(path, SecretFile(path, exists=False))
    why, todo = _secret_fault(secret)
    if why:
        return Finding(name, "broken", f"{path} {why}.", todo, essential=False)
    if secret.is_filled is None:
        return Finding(
            name, "ok", f"{address}; whether {path} is filled cannot be known without root", essential=False
        )
    return Finding(name, "ok", address, essential=False)


def _secret_fault(secret: SecretFile) -> tuple[str, str]:
    if not secret.exists:
        return "is missing", "Write the secret into it, as root, with mode 0600."
    if secret.is_filled is False:
        return "is empty", "Write the secret into it."
    if secret.mode and not secret.is_roots:
        return "does not belong to root", f"Type: chown root:root {secret.path}"
    if secret.mode & 0o077:
        return f"can be read by others (mode {secret.mode:04o})", f"Type: chmod 0600 {secret.path}"
    return "", ""


def tool_findings(observed: Observed, options: Options) -> Iterator[Finding]:
    """Yield whether the programs that the scripts use are there."""
    for program in observed.tools.missing:
        yield Finding(
            "tools", "broken", f"There is no {program}.", "Install it: the scripts need it.", essential=False
        )
    needed = bool(options.push or options.ping or options.probe.startswith(("http://", "https://")))
    if observed.tools.curl:
        yield Finding("tools", "ok", "curl", essential=False)
    elif not observed.tools.wget:
        state = "broken" if needed else "off"
        yield Finding(
            "tools",
            state,
            "There is neither curl nor wget: nothing can be probed or sent.",
            "Install curl.",
            essential=False,
        )
    elif observed.tools.wget == "busybox":
        why = "busybox wget does not verify certificates, and shows topic and token in the list of processes."
        yield Finding(
            "tools", "broken" if options.push or options.ping else "ok", why, "Install curl.", essential=False
        )
    else:
        why = "wget shows topic and token in the list of processes."
        yield Finding("tools", "ok", why, "Install curl.", essential=False)


def progress_findings(observed: Observed, options: Options) -> Iterator[Finding]:
    """Yield what the recovery has noted: a pause, its fires, an outage, what was not accepted."""
    progress = observed.progress
    if progress is None:
        yield Finding("recoveries", "off", _NEEDS_ROOT, _AS_ROOT, essential=False)
        return
    if left := progress.pause_left(observed.now):
        yield Finding(
            "pause",
            "off",
            f"The unit is left alone for {_minutes(left)} min more.",
            "`resume` ends it.",
            essential=False,
        )
    fires = sum(abs(observed.now - at) < FLAP_SECONDS for at in progress.fires)
    if progress.flap_since is not None:
        yield Finding(
            "recoveries",
            "broken",
            f"It flaps: {fires} in the last hour.",
            "Look at the unit's log.",
            essential=False,
        )
    else:
        yield Finding("recoveries", "ok", f"{fires} in the last hour", essential=False)
    if progress.outage_since is not None:
        lasts = _minutes(observed.now - progress.outage_since)
        why = f"It was reported {lasts} min ago, and is over once the service has answered for a minute."
        yield Finding("outage", "broken", why, "Look at the unit's log.", essential=False)
    if progress.waiting_pushes:
        why = f"{progress.waiting_pushes} wait: the server has not accepted them."
        yield Finding(
            "pushes", "broken", why, f"Look at: journalctl -t {observed.own_name}-recover", essential=False
        )
    if progress.ping_refusal and options.ping:
        why = f"The last one was not accepted: {progress.ping_refusal}."
        yield Finding(
            "pings",
            "broken",
            why,
            "Compare address and token with the site's; `orrery doctor` there.",
            essential=False,
        )


def _minutes(seconds: int) -> int:
    return max(0, seconds + 59) // 60
