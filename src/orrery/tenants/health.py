"""How each part of the tracks is: the tracks, their destinations, what Orrery keeps, the tool, the scanner."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orrery.errors import OrreryError
from orrery.ports.comms.errors import SignInNeeded
from orrery.ports.health import Finding
from orrery.ports.publications import Publications
from orrery.ports.scanner import Scanner
from orrery.syntax.track import TRACKS, Track, label
from orrery.tenants.accounts import TrackAccount, sign_in_command
from orrery.tenants.gate import Gate
from orrery.tenants.settings import Destination, TenantsSettings
from orrery.tenants.sign_in_file import SignIn
from orrery.tenants.sign_ins import SignIns

_EXECUTABLE = 0o111


@dataclass(frozen=True, slots=True)
class TracksHealth:
    """Examines the parts, without the store. `kept` are the places of Orrery's own, by their names.

    `sign_ins` returns the findings about the accounts that signed in.
    """

    settings: TenantsSettings
    scanner: Scanner
    publications: Publications
    kept: Mapping[str, Path]
    sign_ins: Callable[[], Sequence[Finding]] = tuple

    def examine(self) -> list[Finding]:
        """Return the findings."""
        return [
            *map(self._track, TRACKS),
            *self.sign_ins(),
            *(self._destination(track, one) for track, one in self.settings.destinations()),
            *self._kept(),
            self._tool(),
            *self._scanner(),
        ]

    def _track(self, track: Track) -> Finding:
        found = self.settings.tracks.get(track)
        if found is None:
            todo = f"Add [tenants.{track}] to the settings, with its tenant and its client."
            return Finding(f"track {label(track)}", "off", "It is not configured.", todo, essential=False)
        return Finding(f"track {label(track)}", "ok", f"{found.label}, tenant {found.tenant}", essential=False)

    def _destination(self, track: Track, destination: Destination) -> Finding:
        part = f"destination {destination.name} {label(track)}"
        folder = destination.folder
        if folder is None:
            return Finding(part, "ok", f"{destination.kind}: takes text", essential=False)
        try:
            others = [one for one in Gate(self.settings).touched_by(folder) if one.track != track]
            self.publications.check(folder)
        except OrreryError as error:
            return Finding(
                part,
                "broken",
                str(error),
                "Make the folder, or correct `folder` in the settings.",
                essential=False,
            )
        if others:
            todo = "Give each track its own folders: until then, data of neither goes there."
            return Finding(part, "broken", f"{folder} {others[0]}.", todo, essential=False)
        if destination.kind == "repository" and not (folder / ".git").exists():
            return Finding(
                part, "broken", f"{folder} is no git repository.", "Name its topmost folder.", essential=False
            )
        return Finding(part, "ok", f"{destination.kind} {folder}", essential=False)

    def _kept(self) -> Iterator[Finding]:
        """Yield how each place of Orrery's own is: it holds data of both tracks, or sign-ins."""
        for name, place in self.kept.items():
            try:
                Gate(self.settings).require(TRACKS, place)
            except OrreryError as error:
                yield Finding(
                    name, "broken", str(error), "Move it, and name its new place in the settings.", essential=False
                )
            else:
                yield Finding(name, "ok", "is in no destination", essential=False)

    def _tool(self) -> Finding:
        program = self.settings.tool.program
        if program is None:
            why, todo = "None is configured.", "Set `program` in [tenants.tool] of the settings."
            return Finding("tool", "off", why, todo, essential=False)
        try:
            usable = program.is_file() and bool(program.stat().st_mode & _EXECUTABLE)
        except OSError:
            usable = False
        if not usable:
            why = f"{program} is missing, or no program."
            return Finding(
                "tool", "broken", why, "Install it, or correct `program` in the settings.", essential=False
            )
        return Finding("tool", "ok", str(program), essential=False)

    def _scanner(self) -> Sequence[Finding]:
        try:
            todo = "Correct that: until then nothing is published. `orrery tenants doctor` looks again."
            return [
                Finding(
                    f"scanner: {one.part}",
                    one.state,
                    one.why,
                    todo if one.state == "broken" else "",
                    essential=False,
                )
                for one in self.scanner.check()
            ]
        except OrreryError as error:
            todo = "Until it is fixed, nothing is published."
            return [Finding("scanner", "broken", str(error), todo, essential=False)]


def sign_in_findings(sign_ins: SignIns) -> list[Finding]:
    """Return how each account's sign-in is; the provider is asked for a token of each."""
    return [_sign_in(sign_ins, account, found) for account, found in sign_ins.all()]


def _sign_in(sign_ins: SignIns, account: TrackAccount, found: SignIn | OrreryError | None) -> Finding:
    part, todo = f"sign-in {account.name} {label(account.track)}", f"Type: {sign_in_command(account)}"
    if found is None:
        return Finding(part, "off", "Not signed in.", todo, essential=False)
    if isinstance(found, OrreryError):
        return Finding(part, "broken", str(found), todo, essential=False)
    try:
        token = sign_ins.token(account.name)
    except SignInNeeded as error:
        return Finding(part, "broken", str(error), todo, essential=False)
    except OrreryError as error:
        return Finding(part, "broken", str(error), todo, essential=False)
    return Finding(part, "ok", f"since {found.signed_in_at:%Y-%m-%d}: {', '.join(token.scopes)}", essential=False)
