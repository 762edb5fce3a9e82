"""What may become public goes to a destination of track B, and nothing else does (spec 3, Authentication 4).

Everything that can be refused is, before a byte is written; and what is written is what was scanned.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath

from orrery.errors import Invalid, NotConfigured, NotFound, TrackRefused
from orrery.ports.publications import MOST_BYTES, Material, PublicationRefused, Publications
from orrery.ports.scanner import NO_NAMES, Leak, Scanner
from orrery.syntax.track import Track, labels_in
from orrery.tenants.gate import Gate, overlap
from orrery.tenants.settings import Destination, DestinationKind, TenantsSettings

PUBLIC: Track = "B"

_SHOWN = 20
"""How many leaks a refusal names."""


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """One file as it was published."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Published:
    """What was published, and where: `path` is inside the destination, and empty for a post.

    `notes` name what the scanner did not search for.
    """

    destination: str
    kind: DestinationKind
    track: Track
    path: str
    bytes: int
    files: tuple[PublishedFile, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """Where to publish: `path` is what was written behind the destination's name, as it was written."""

    destination: Destination
    path: str

    def inside(self, name: str) -> PurePosixPath:
        """Return the place in the destination's folder, for something with this name; raise `Invalid`."""
        path = PurePosixPath(self.path + name if self.path.endswith("/") or not self.path else self.path)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise Invalid(f"{str(path)!r} is no path inside the folder of {self.destination.name}.")
        return path


@dataclass(frozen=True, slots=True)
class Publishing:
    """Publishes. `private` are places of Orrery's own, with data of both tracks or with sign-ins.

    `without_watch_list` allows what was searched for no names; it is called with a sentence about it before
    anything is written, and what it raises stops all.
    """

    settings: TenantsSettings
    scanner: Scanner
    publications: Publications
    private: tuple[Path, ...] = ()
    without_watch_list: Callable[[str], None] | None = None

    def publish(self, source: Path, to: str) -> Published:
        """Publish a file or a folder."""
        target = self.target(to)
        folder = target.destination.folder
        if folder is None:
            raise Invalid(f"{to} takes text: write `orrery tenants publish --stdin {to}`.")
        inside = target.inside(source.name if source.name not in {"", ".."} else source.resolve().name)
        self._require_place(folder, inside)
        self._require_source(source)
        material = self.publications.read(source)
        notes = self._require_fit(to, material.files, inside, is_folder=material.is_folder)
        self.publications.write(material, folder, inside)
        return _published(target.destination, inside.as_posix(), material.files, notes)

    def publish_text(self, content: bytes, to: str) -> Published:
        """Publish what came by standard input: to a file, or as a post, which the caller passes on."""
        target = self.target(to)
        folder = target.destination.folder
        if len(content) > MOST_BYTES:
            raise PublicationRefused(f"It is larger than {MOST_BYTES // (1024 * 1024)} MiB, the most at once.")
        if folder is None:
            return self._publish_post(content, target)
        if not target.path or target.path.endswith("/"):
            raise Invalid(f"Name the file that it becomes, such as {target.destination.name}/note.md.")
        inside = target.inside("")
        self._require_place(folder, inside)
        files = {inside.name: content}
        notes = self._require_fit(to, files, inside)
        self.publications.write(Material(files), folder, inside)
        return _published(target.destination, inside.as_posix(), files, notes)

    def target(self, to: str) -> Target:
        """Return where to publish, by what was written; raise `NotFound` and `TrackRefused`."""
        name, _, path = to.partition("/")
        own = [one.name for one in self.settings.require(PUBLIC).destinations]
        for owner, one in self.settings.destinations():
            if one.name != name:
                continue
            if owner != PUBLIC:
                raise TrackRefused(
                    f"{name} is of track {owner}, whose data is internal: nothing is published there."
                )
            return Target(one, path)
        raise NotFound(f"There is no destination {name!r}; track {PUBLIC} has {', '.join(own) or 'none'}.")

    def _publish_post(self, content: bytes, target: Target) -> Published:
        if target.path:
            raise Invalid(f"{target.destination.name} is social, and has no files: name it alone.")
        try:
            text = content.decode()
        except UnicodeDecodeError:
            raise PublicationRefused("A post is UTF-8 text, and this is none.") from None
        if not text.strip():
            raise PublicationRefused("There is no text to publish.")
        files = {"standard input": content}
        notes = self._require_fit(target.destination.name, files, PurePosixPath("standard input"))
        return _published(target.destination, "", files, notes)

    def _require_place(self, folder: Path, inside: PurePosixPath) -> None:
        Gate(self.settings).require((PUBLIC,), folder / inside)
        self.publications.check(folder)
        try:
            within = (folder / inside).resolve().relative_to(folder.resolve())
        except ValueError:
            raise PublicationRefused(f"{inside} leads out of {folder} by a symbolic link.") from None
        if ".git" in (part.casefold() for part in within.parts):
            raise PublicationRefused(f"{inside} is git's own: nothing is published there.")

    def _require_source(self, source: Path) -> None:
        for one in Gate(self.settings).touched_by(source):
            if one.track != PUBLIC:
                raise TrackRefused(f"{source} {one}: what is there is internal, and is not published.")
        for one in self.private:
            if overlap(source, one) or _is_beside(source, one):
                raise TrackRefused(f"{source} holds what Orrery keeps in {one}, which is not published.")

    def _require_fit(
        self, to: str, files: Mapping[str, bytes], inside: PurePosixPath, *, is_folder: bool = False
    ) -> tuple[str, ...]:
        """Return the scanner's notes; raise when something must not be public."""
        for name, content in files.items():
            if foreign := sorted(labels_in(content) - {PUBLIC}):
                raise TrackRefused(f"{name} has the label of track {foreign[0]}: nothing was published.")
        # By the names that they get, which are public, too.
        public = {str(inside / name if is_folder else inside): content for name, content in files.items()}
        found = self.scanner.scan(public)
        if found.leaks:
            raise PublicationRefused(f"Nothing was published: {_listed(found.leaks)}.")
        if self.settings.A and not found.knows_names:
            if self.without_watch_list is None:
                raise NotConfigured(NO_NAMES)
            self.without_watch_list(f"Published to {to} without a watch-list: no name was searched for.")
        return found.notes


def _is_beside(source: Path, private: Path) -> bool:
    """Return whether a place is named after a private one beside it, as a database's log and its copies are."""
    where, kept = source.resolve(), private.resolve()
    return where.parent == kept.parent and where.name.lstrip(".").startswith((f"{kept.name}-", f"{kept.name}."))


def _listed(leaks: Sequence[Leak]) -> str:
    named = [f"{one.kind} in {one.place}" for one in leaks[:_SHOWN]]
    more = [f"and {len(leaks) - _SHOWN} more"] if len(leaks) > _SHOWN else []
    return "; ".join([*named, *more])


def _published(
    destination: Destination, path: str, files: Mapping[str, bytes], notes: tuple[str, ...]
) -> Published:
    listed = tuple(PublishedFile(name, len(one), sha256(one).hexdigest()) for name, one in files.items())
    size = sum(one.bytes for one in listed)
    return Published(destination.name, destination.kind, PUBLIC, path, size, listed, notes)
